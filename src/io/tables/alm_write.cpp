#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "io/fits/cards.hpp"
#include "io/fits/fits_writer.hpp"
#include "io/fits/shared_file.hpp"
#include "io/tables/alm_orders.hpp"
#include "zonal/error.hpp"
#include "zonal/io/parts.hpp"

namespace zonal::io {
namespace {

// Above it, (lmax + 1)^2 exceeds 2^31 - 1.
constexpr std::int64_t largest_l_of_32_bits = 46339;

void check_alm(const AlmFile& alm) {
    if (alm.components.size() != 1 && alm.components.size() != 3) {
        throw InvalidArgument(
            fmt::format("{} components of alm: must be 1 (T) or 3 (T, E, B)", alm.components.size()));
    }
    for (const auto& component : alm.components) {
        if (static_cast<std::int64_t>(component.size()) != alm.layout.size()) {
            throw InvalidArgument(fmt::format("{} alm: {} expected for lmax = {}, mmax = {}",
                                              component.size(), alm.layout.size(), alm.layout.lmax(),
                                              alm.layout.mmax()));
        }
    }
    check_cards(alm.cards);
}

/// In HEALPix' order: l after l, within it m growing.
void write_component(FitsWriter& writer, const AlmFile& file, const std::vector<std::complex<double>>& alm) {
    const std::int64_t at_once = writer.rows_at_once();
    std::vector<std::int64_t> indices;
    std::vector<double> real, imaginary;
    std::int64_t written = 0;
    const auto flush = [&] {
        const auto count = static_cast<std::int64_t>(indices.size());
        writer.write_column(0, written, indices.data(), count);
        writer.write_column(1, written, real.data(), count);
        writer.write_column(2, written, imaginary.data(), count);
        written += count;
        indices.clear(), real.clear(), imaginary.clear();
    };
    for (std::int64_t l = 0; l <= file.layout.lmax(); ++l) {
        for (std::int64_t m = 0; m <= std::min(l, file.layout.mmax()); ++m) {
            const auto value = alm[file.layout.index(l, m)];
            indices.push_back(l * l + l + m + 1);
            real.push_back(value.real());
            imaginary.push_back(value.imag());
            if (static_cast<std::int64_t>(indices.size()) == at_once) flush();
        }
    }
    if (!indices.empty()) flush();
}

/// Begins the table of a component.
void begin_component(FitsWriter& writer, const AlmFile& alm, std::size_t i, std::int64_t rows) {
    const std::string real = alm.precision == FilePrecision::float64 ? "D" : "E";
    const std::string index = alm.layout.lmax() > largest_l_of_32_bits ? "K" : "J";
    constexpr const char* names[] = {"T", "E", "B"};
    writer.begin_table(fmt::format("ALM_{}", names[i]), rows,
                       {{"INDEX", index, "", "l^2 + l + m + 1"},
                        {"REAL", real, alm.unit, "real part of a_lm"},
                        {"IMAG", real, alm.unit, "imaginary part of a_lm"}});
    writer.write_card({"MAX-LPOL", alm.layout.lmax(), "largest l"});
    writer.write_card({"MAX-MPOL", alm.layout.mmax(), "largest m"});
    if (alm.coordinates != CoordinateSystem::unknown) {
        writer.write_card({"COORDSYS", std::string(coordsys_key(alm.coordinates)), "G, E or C = equatorial"});
    }
    writer.write_cards(without_keys(alm.cards, {"EXTNAME", "MAX-LPOL", "MAX-MPOL"}));
}

}  // namespace

void write_alm(const std::string& path, const AlmFile& alm, const WriteOptions& options) {
    check_alm(alm);
    FitsWriter writer(path, options);
    for (std::size_t i = 0; i < alm.components.size(); ++i) {
        begin_component(writer, alm, i, alm.layout.size());
        write_component(writer, alm, alm.components[i]);
    }
    writer.commit();
}

std::vector<std::vector<std::int64_t>> orders_of_ranks(const AlmLayout& layout, const Communicator& ranks) {
    std::string bytes;
    for (std::int64_t i = 0; i < layout.n_orders(); ++i) {
        const auto m = layout.order(i);
        bytes.append(reinterpret_cast<const char*>(&m), sizeof m);
    }
    std::vector<std::vector<std::int64_t>> orders;
    for (const auto& of_rank : ranks.gather(bytes)) {
        orders.emplace_back(of_rank.size() / sizeof(std::int64_t));
        if (!of_rank.empty()) std::memcpy(orders.back().data(), of_rank.data(), of_rank.size());
    }
    return orders;
}

std::vector<std::size_t> owners_of_orders(const AlmLayout& layout, const Communicator& ranks) {
    const auto orders = orders_of_ranks(layout, ranks);
    std::vector<std::size_t> owners(static_cast<std::size_t>(layout.mmax() + 1), orders.size());
    ranks.together("the orders of ranks", [&] {
        for (std::size_t rank = 0; rank < orders.size(); ++rank)
            for (const auto m : orders[rank]) {
                if (m > layout.mmax() || owners[static_cast<std::size_t>(m)] < orders.size())
                    throw InvalidArgument("layout", fmt::format("m = {} is on two ranks", m));
                owners[static_cast<std::size_t>(m)] = rank;
            }
        const auto none = std::find(owners.begin(), owners.end(), orders.size());
        if (none != owners.end())
            throw InvalidArgument("layout", fmt::format("m = {} is on no rank", none - owners.begin()));
    });
    return owners;
}

namespace {

/// Degrees [first, end) and the number of rows before them.
struct Degrees {
    std::int64_t first, end, row;
};

/// All degrees in runs of about rows_at_once rows.
std::vector<Degrees> runs_of_degrees(const AlmLayout& layout) {
    constexpr std::int64_t rows_at_once = std::int64_t{1} << 18;
    std::vector<Degrees> runs;
    std::int64_t row = 0, begin = 0;
    for (std::int64_t l = 0; l <= layout.lmax(); ++l) {
        if (runs.empty() || row - begin >= rows_at_once) {
            begin = row;
            runs.push_back({l, l, row});
        }
        runs.back().end = l + 1;
        row += std::min(l, layout.mmax()) + 1;
    }
    return runs;
}

/// One component on its way from the ranks that have its orders to the rows of a file, which go degree by
/// degree.
class AlmWriting {
  public:
    AlmWriting(const std::string& path, const AlmFile& alm, SharedFile& file, const Communicator& ranks)
        : path_(path),
          alm_(alm),
          file_(file),
          ranks_(ranks),
          owners_(owners_of_orders(alm.layout, ranks)),
          orders_(orders_of_ranks(alm.layout, ranks)) {}

    /// Each rank writes a run of degrees in each round.
    void write(std::size_t component) {
        const auto runs = runs_of_degrees(alm_.layout);
        const auto n_ranks = orders_.size();
        for (std::size_t begin = 0; begin < runs.size(); begin += n_ranks) {
            std::vector<std::string> outgoing(n_ranks);
            for (std::size_t i = 0; i < n_ranks && begin + i < runs.size(); ++i)
                outgoing[i] = values_of(runs[begin + i], alm_.components[component]);
            const auto incoming = ranks_.exchange(std::move(outgoing));
            const auto mine = begin + static_cast<std::size_t>(ranks_.rank());
            ranks_.together("the alm of " + path_, [&] {
                if (mine < runs.size()) write_run(component, runs[mine], incoming);
            });
        }
    }

  private:
    /// This rank's, for l by l and within it m growing.
    std::string values_of(const Degrees& run, const std::vector<std::complex<double>>& values) const {
        const auto& layout = alm_.layout;
        std::string bytes;
        for (auto l = run.first; l < run.end; ++l)
            for (std::int64_t i = 0; i < layout.n_orders() && layout.order(i) <= l; ++i) {
                const auto& value = values[static_cast<std::size_t>(layout.index(l, layout.order(i)))];
                bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
            }
        return bytes;
    }

    void write_run(std::size_t component, const Degrees& run, const std::vector<std::string>& incoming) {
        const bool is_narrow = alm_.precision == FilePrecision::float32;
        const bool has_narrow_index = alm_.layout.lmax() <= largest_l_of_32_bits;
        std::vector<std::size_t> at(incoming.size());
        std::string bytes;
        for (auto l = run.first; l < run.end; ++l)
            for (std::int64_t m = 0; m <= std::min(l, alm_.layout.mmax()); ++m) {
                const auto rank = owners_[static_cast<std::size_t>(m)];
                double parts[2];
                std::memcpy(parts, incoming[rank].data() + at[rank], sizeof parts);
                at[rank] += sizeof parts;
                append_integer(bytes, l * l + l + m + 1, has_narrow_index);
                for (int i = 0; i < 2; ++i) {
                    if (is_narrow) require_float(component, i, parts[i]);
                    append_number(bytes, parts[i], is_narrow);
                }
            }
        const std::int64_t row_bytes = (has_narrow_index ? 4 : 8) + 2 * (is_narrow ? 4 : 8);
        file_.write(file_.data(component) + run.row * row_bytes, bytes);
    }
    void require_float(std::size_t component, int part, double value) const {
        if (!std::isfinite(value) || std::isfinite(static_cast<float>(value))) return;
        throw IoError(
            fmt::format("{}: HDU {}: column '{}': {} does not fit a 4-byte float; double precision holds it",
                        path_, component + 1, part == 0 ? "REAL" : "IMAG", value));
    }

    const std::string& path_;
    const AlmFile& alm_;
    SharedFile& file_;
    const Communicator& ranks_;
    const std::vector<std::size_t> owners_;
    const std::vector<std::vector<std::int64_t>> orders_;
};

}  // namespace

void write_alm_part(const std::string& path, const AlmFile& alm, const Communicator& ranks,
                    const WriteOptions& options) {
    ranks.together("writing " + path, [&] {
        check_alm(alm);
        require_finite(path, alm, "coefficients of the result");
    });
    SharedFile file(ranks, path, options, [&] {
        FitsWriter header(path, options);
        for (std::size_t i = 0; i < alm.components.size(); ++i) begin_component(header, alm, i, 1);
        const AlmLayout whole(alm.layout.lmax(), alm.layout.mmax());
        return make_frame(header.bytes(), std::vector(alm.components.size(), whole.size()));
    });
    AlmWriting writing(path, alm, file, ranks);
    for (std::size_t i = 0; i < alm.components.size(); ++i) writing.write(i);
    file.commit();
}

}  // namespace zonal::io
