#include <fmt/core.h>

#include <algorithm>

#include "io/fits/cards.hpp"
#include "io/fits/fits_writer.hpp"
#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"

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

}  // namespace

void write_alm(const std::string& path, const AlmFile& alm, const WriteOptions& options) {
    check_alm(alm);
    const std::string real = alm.precision == FilePrecision::float64 ? "D" : "E";
    const std::string index = alm.layout.lmax() > largest_l_of_32_bits ? "K" : "J";
    constexpr const char* names[] = {"T", "E", "B"};
    FitsWriter writer(path, options);
    for (std::size_t i = 0; i < alm.components.size(); ++i) {
        writer.begin_table(fmt::format("ALM_{}", names[i]), alm.layout.size(),
                           {{"INDEX", index, "", "l^2 + l + m + 1"},
                            {"REAL", real, alm.unit, "real part of a_lm"},
                            {"IMAG", real, alm.unit, "imaginary part of a_lm"}});
        writer.write_card({"MAX-LPOL", alm.layout.lmax(), "largest l"});
        writer.write_card({"MAX-MPOL", alm.layout.mmax(), "largest m"});
        if (alm.coordinates != CoordinateSystem::unknown) {
            writer.write_card(
                {"COORDSYS", std::string(coordsys_key(alm.coordinates)), "G, E or C = equatorial"});
        }
        writer.write_cards(without_keys(alm.cards, {"EXTNAME", "MAX-LPOL", "MAX-MPOL"}));
        write_component(writer, alm, alm.components[i]);
    }
    writer.commit();
}

}  // namespace zonal::io
