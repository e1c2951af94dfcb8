#include "zonal/io/alm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/fits/cards.hpp"
#include "io/fits/fits_reader.hpp"
#include "io/fits/hdu_kind.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

// l^2 + l + m + 1 fits 64 bits up to here.
constexpr std::int64_t largest_l = 3'000'000'000;
// A table may leave coefficients out, but memory must stay bounded by the file: up to this many per row, or
// this many.
constexpr std::int64_t coefficients_per_row = 64;
constexpr std::int64_t always_permitted = 1'000'000;

struct Mode {
    std::int64_t l;
    std::int64_t m;
};

/// Largest l with l^2 <= x.
std::int64_t integer_sqrt(std::int64_t x) {
    auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(x)));
    while (root * root > x) --root;
    while ((root + 1) * (root + 1) <= x) ++root;
    return root;
}

/// index = l^2 + l + m + 1, -l <= m <= l
Mode mode_of(std::int64_t index) {
    if (index < 1 || index > largest_l * largest_l) {
        throw InvalidArgument(fmt::format("index {}: must be l^2 + l + m + 1 >= 1", index));
    }
    const std::int64_t l = integer_sqrt(index - 1);
    const std::int64_t m = index - 1 - l * l - l;
    if (m < 0)
        throw InvalidArgument(fmt::format("index {}: l = {}, m = {}: only m >= 0 is stored", index, l, m));
    return {l, m};
}

struct AlmTable {
    std::vector<std::int64_t> indices;
    std::vector<std::vector<double>> parts;  ///< real, imaginary
    std::int64_t lmax = -1;
    std::int64_t mmax = -1;
};

std::int64_t declared(const Hdu& hdu, const char* key, std::int64_t found) {
    const auto value = hdu.header.integer(key);
    if (!value) return found;
    if (*value < found)
        throw InvalidArgument(fmt::format("{} = {}: the table goes up to {}", key, *value, found));
    return *value;
}

AlmTable read_table(FitsReader& reader, const Hdu& hdu) {
    AlmTable table;
    table.indices = reader.read_integers(hdu, 0);
    for (const int part : {1, 2}) {
        if (hdu.columns[part].repeat != hdu.columns[0].repeat) {
            throw InvalidArgument("its columns have different lengths");
        }
    }
    table.parts = reader.read_columns(hdu, {1, 2}, 0);
    for (const auto index : table.indices) {
        const Mode mode = mode_of(index);
        table.lmax = std::max(table.lmax, mode.l);
        table.mmax = std::max(table.mmax, mode.m);
    }
    table.lmax = declared(hdu, "MAX-LPOL", table.lmax);
    table.mmax = declared(hdu, "MAX-MPOL", table.mmax);
    if (table.lmax < 0) throw InvalidArgument("no coefficients");
    if (table.lmax > largest_l || table.mmax > table.lmax) {
        throw InvalidArgument(
            fmt::format("MAX-LPOL = {}, MAX-MPOL = {}: must be 0 <= m <= l", table.lmax, table.mmax));
    }
    return table;
}

void check_density(const AlmTable& table, const AlmLayout& layout) {
    const double size = (static_cast<double>(table.mmax) + 1) * static_cast<double>(table.lmax + 1);
    const auto rows = static_cast<double>(table.indices.size());
    if (size > always_permitted + coefficients_per_row * rows) {
        throw InvalidArgument(fmt::format("holds {} of the {} coefficients of lmax = {}, mmax = {}: too few",
                                          table.indices.size(), layout.size(), table.lmax, table.mmax));
    }
}

std::vector<std::complex<double>> place(const AlmTable& table, const AlmLayout& layout) {
    std::vector<std::complex<double>> alm(static_cast<std::size_t>(layout.size()));
    std::vector<bool> seen(alm.size());
    for (std::size_t row = 0; row < table.indices.size(); ++row) {
        const Mode mode = mode_of(table.indices[row]);
        const auto at = static_cast<std::size_t>(layout.index(mode.l, mode.m));
        if (seen[at]) {
            throw InvalidArgument(
                fmt::format("index {} (l = {}, m = {}) occurs twice", table.indices[row], mode.l, mode.m));
        }
        seen[at] = true;
        alm[at] = {table.parts[0][row], table.parts[1][row]};
    }
    return alm;
}

void read_component(FitsReader& reader, const Hdu& hdu, AlmFile& file) {
    const AlmTable table = read_table(reader, hdu);
    const AlmLayout layout(table.lmax, table.mmax);
    check_density(table, layout);
    if (file.components.empty()) {
        file.layout = layout;
        file.precision = hdu.columns[1].type == 'D' ? FilePrecision::float64 : FilePrecision::float32;
        file.unit = hdu.columns[1].unit;
        file.coordinates = parse_coordinate_system(hdu.header.text("COORDSYS").value_or(""));
        file.cards = free_cards(hdu);
    } else if (layout != file.layout) {
        throw InvalidArgument(fmt::format("lmax = {}, mmax = {}: the first component has {} and {}",
                                          layout.lmax(), layout.mmax(), file.layout.lmax(),
                                          file.layout.mmax()));
    }
    if (hdu.columns.size() > 3) {
        file.notes.push_back(fmt::format("{}: {} more columns (errors) are left out", reader.source(hdu),
                                         hdu.columns.size() - 3));
    }
    file.components.push_back(place(table, layout));
}

}  // namespace

AlmFile read_alm(const std::string& path) {
    FitsReader reader(path);
    const auto is_alm = [](const Hdu& hdu) { return kind_of(hdu) == FileKind::alm; };
    const Hdu& first = reader.select("", "table of alm (index, real, imaginary)", is_alm);
    std::vector<const Hdu*> tables;
    for (const auto& hdu : reader.hdus()) {
        if (hdu.number >= first.number && is_alm(hdu)) tables.push_back(&hdu);
    }
    if (!reader.problem().empty()) throw IoError(fmt::format("{}: {}", path, reader.problem()));
    if (tables.size() != 1 && tables.size() != 3) {
        throw IoError(fmt::format("{}: {} tables of alm: must be 1 (T) or 3 (T, E, B)", path, tables.size()));
    }
    AlmFile file;
    for (const Hdu* hdu : tables) {
        reader.in(*hdu, [&] { read_component(reader, *hdu, file); });
    }
    return file;
}

}  // namespace zonal::io
