#include "zonal/io/weights.hpp"
#include "zonal/healpix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "io/fits/fits_reader.hpp"
#include "io/fits/fits_writer.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using Kind = QuadratureWeights::Kind;

using healpix::max_nside;

/// nside whose count is this; 0: there is none.
std::int64_t nside_of_count(Kind kind, std::int64_t count) {
    if (kind == Kind::ring) return count % 2 == 0 ? count / 2 : 0;
    const auto near = static_cast<std::int64_t>(std::sqrt(4.0 / 3.0 * static_cast<double>(count)));
    for (std::int64_t nside = std::max<std::int64_t>(1, near - 3); nside <= near + 3; ++nside) {
        if (weight_count(kind, nside) == count) return nside;
    }
    return 0;
}

/// Both kinds of files from HEALPix name theirs so: "TEMPERATURE WEIGHTS", "COMPRESSED PIXEL WEIGHTS".
Kind kind_of_weights(const Hdu& hdu) {
    const std::string name = to_upper(hdu.columns[0].name);
    return name.find("PIXEL") != std::string::npos ? Kind::pixel : Kind::ring;
}

void check_values(const std::vector<double>& deviations) {
    const auto bad =
        std::find_if(deviations.begin(), deviations.end(), [](double w) { return !std::isfinite(w); });
    if (bad != deviations.end()) {
        throw InvalidArgument(fmt::format("weight {} is {}: must be finite", bad - deviations.begin(), *bad));
    }
}

QuadratureWeights read_table(FitsReader& reader, const Hdu& hdu) {
    if (hdu.columns.empty()) throw InvalidArgument("not a table of weights");
    QuadratureWeights weights;
    weights.kind = kind_of_weights(hdu);
    weights.deviations = reader.read_columns(hdu, {0}, std::nan("")).front();
    const auto count = static_cast<std::int64_t>(weights.deviations.size());
    weights.nside = hdu.header.integer("NSIDE").value_or(nside_of_count(weights.kind, count));
    if (weights.nside < 1 || weights.nside > max_nside ||
        weight_count(weights.kind, weights.nside) != count) {
        throw InvalidArgument(fmt::format("{} {} weights do not fit NSIDE = {}", count,
                                          weights.kind == Kind::ring ? "ring" : "pixel", weights.nside));
    }
    weights.lmax = hdu.header.integer(hdu.header.has("MAX_LPOL") ? "MAX_LPOL" : "MAX-LPOL").value_or(-1);
    check_values(weights.deviations);
    return weights;
}

}  // namespace

std::int64_t weight_count(Kind kind, std::int64_t nside) {
    return kind == Kind::ring ? 2 * nside : (3 * nside + 1) * (nside + 1) / 4;
}

QuadratureWeights read_weights(const std::string& path) {
    FitsReader reader(path);
    const Hdu& hdu =
        reader.select("", "table of quadrature weights (column name ... WEIGHTS)",
                      [](const Hdu& candidate) { return kind_of(candidate) == FileKind::weights; });
    return reader.in(hdu, [&] { return read_table(reader, hdu); });
}

void write_weights(const std::string& path, const QuadratureWeights& weights, const WriteOptions& options) {
    if (weights.nside < 1 || weights.nside > max_nside) {
        throw InvalidArgument("nside", weights.nside, "must be from 1 to 2^29");
    }
    const auto count = static_cast<std::int64_t>(weights.deviations.size());
    if (count != weight_count(weights.kind, weights.nside)) {
        throw InvalidArgument(fmt::format("{} weights: {} expected for nside = {}", count,
                                          weight_count(weights.kind, weights.nside), weights.nside));
    }
    check_values(weights.deviations);
    const bool ring = weights.kind == Kind::ring;
    std::vector<WriteColumn> columns;
    // HEALPix has three columns of ring weights, equal ones; readers take T's.
    if (ring) {
        for (const char* name : {"TEMPERATURE WEIGHTS", "Q-POLARISATION WEIGHTS", "U-POLARISATION WEIGHTS"}) {
            columns.push_back({name, "D", "", "deviation from 1, north pole to equator"});
        }
    } else {
        columns.push_back({"COMPRESSED PIXEL WEIGHTS", "D", "", "deviation from 1"});
    }
    FitsWriter writer(path, options);
    writer.begin_table(ring ? "RING WEIGHTS" : "PIXEL WEIGHTS", count, columns);
    writer.write_card({"NSIDE", weights.nside, "resolution parameter of HEALPIX"});
    if (weights.lmax >= 0)
        writer.write_card({ring ? "MAX-LPOL" : "MAX_LPOL", weights.lmax, "exact up to this l"});
    for (std::size_t i = 0; i < columns.size(); ++i) {
        writer.write_column(static_cast<int>(i), 0, weights.deviations.data(), count);
    }
    writer.commit();
}

}  // namespace zonal::io
