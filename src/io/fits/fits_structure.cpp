// What makes a FITS header sound: mandatory keys, sizes without overflow, columns that fill their rows.
#include <fmt/core.h>

#include <limits>

#include "io/fits/checked_values.hpp"
#include "io/fits/fits_scan.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

// The standard's limit on NAXIS.
constexpr std::int64_t max_axes = 999;

std::int64_t check_bitpix(const FitsHeader& header) {
    const auto bitpix = required(header, "BITPIX", -64, 64);
    for (const std::int64_t permitted : {8, 16, 32, 64, -32, -64}) {
        if (bitpix == permitted) return bitpix;
    }
    throw InvalidArgument("BITPIX", bitpix, "must be 8, 16, 32, 64, -32 or -64");
}

HduType check_type(Hdu& hdu) {
    if (hdu.number == 0) {
        if (hdu.header.logical("SIMPLE") != true) throw InvalidArgument("SIMPLE is not T");
        hdu.type_name = "PRIMARY";
        return HduType::image;
    }
    hdu.type_name = hdu.header.text("XTENSION").value_or("");
    if (hdu.type_name == "IMAGE") return HduType::image;
    if (hdu.type_name == "TABLE") return HduType::ascii_table;
    if (hdu.type_name == "BINTABLE") return HduType::binary_table;
    return HduType::other;
}

/// bits = |BITPIX| GCOUNT (PCOUNT + NAXIS1 NAXIS2 ...), the FITS standard's eq. 2
std::int64_t data_bytes(const Hdu& hdu, std::int64_t bitpix) {
    if (hdu.axes.empty()) return 0;
    // Only random groups have NAXIS1 = 0 with data.
    const bool groups = hdu.number == 0 && hdu.axes[0] == 0 && hdu.header.logical("GROUPS") == true;
    std::int64_t elements = 1;
    for (std::size_t axis = groups ? 1 : 0; axis < hdu.axes.size(); ++axis) {
        elements = checked_multiply(elements, hdu.axes[axis]);
    }
    if (hdu.number > 0 || groups) {
        elements = checked_add(elements, optional_count(hdu.header, "PCOUNT", 0));
        elements = checked_multiply(elements, optional_count(hdu.header, "GCOUNT", 1));
    }
    return checked_multiply(elements, (bitpix < 0 ? -bitpix : bitpix) / 8);
}

void check_table(Hdu& hdu, std::int64_t bitpix) {
    if (bitpix != 8) throw InvalidArgument("BITPIX", bitpix, "must be 8 in a table");
    if (hdu.axes.size() != 2) throw InvalidArgument("NAXIS", hdu.axes.size(), "must be 2 in a table");
    const auto groups = optional_count(hdu.header, "GCOUNT", 1);
    if (groups != 1) throw InvalidArgument("GCOUNT", groups, "must be 1 in a table");
    const auto heap = optional_count(hdu.header, "PCOUNT", 0);
    const auto table = checked_multiply(hdu.axes[0], hdu.axes[1]);
    const auto heap_start = optional_count(hdu.header, "THEAP", table);
    if (heap_start < table || heap_start > checked_add(table, heap)) {
        throw InvalidArgument("THEAP", heap_start, fmt::format("must be from {} to {}", table, table + heap));
    }
    hdu.rows = hdu.axes[1];
    hdu.columns = check_columns(hdu.header, hdu.type, hdu.axes[0]);
}

/// The standard fixes the order of the mandatory keys. CFITSIO looks for them by position, and goes on with
/// values that it never set where one is missing.
void check_order(const Hdu& hdu) {
    std::int64_t position = 0;
    const auto next = [&](const std::string& key) { hdu.header.require_position(key, ++position); };
    next(hdu.number == 0 ? "SIMPLE" : "XTENSION");
    next("BITPIX");
    next("NAXIS");
    for (std::size_t axis = 1; axis <= hdu.axes.size(); ++axis) next(fmt::format("NAXIS{}", axis));
    if (hdu.type != HduType::binary_table && hdu.type != HduType::ascii_table) return;
    next("PCOUNT");
    next("GCOUNT");
    next("TFIELDS");
}

/// The HDUs behind it can be read: the table has the size that it says.
void refuse(Hdu& hdu, const std::string& reason) {
    hdu.type = HduType::other;
    hdu.columns.clear();
    hdu.rows = 0;
    hdu.refusal = reason;
}

void read_tiled_image(Hdu& hdu) {
    try {
        hdu.tiles = read_tiled_layout(hdu.header, hdu.columns, hdu.rows, hdu.axes[0]);
    } catch (const InvalidArgument& error) {
        hdu.tiles.emplace();  // what CFITSIO must not see has its place there
        return refuse(hdu, error.what());
    }
    hdu.type = HduType::image;
    hdu.axes = hdu.tiles->axes;
    hdu.bitpix = hdu.tiles->bitpix;
    hdu.columns.clear();
    hdu.rows = 0;
}

}  // namespace

std::int64_t check_structure(Hdu& hdu) {
    hdu.type = check_type(hdu);
    const auto bitpix = check_bitpix(hdu.header);
    const auto n_axes = required(hdu.header, "NAXIS", 0, max_axes);
    for (std::int64_t axis = 1; axis <= n_axes; ++axis) {
        hdu.axes.push_back(
            required(hdu.header, fmt::format("NAXIS{}", axis), 0, std::numeric_limits<std::int64_t>::max()));
    }
    check_order(hdu);
    if (hdu.type == HduType::binary_table || hdu.type == HduType::ascii_table) check_table(hdu, bitpix);
    const auto bytes = data_bytes(hdu, bitpix);
    hdu.bitpix = bitpix;
    if (is_tiled(hdu.header)) {
        if (hdu.type != HduType::binary_table) throw InvalidArgument("ZIMAGE = T: must be in a binary table");
        read_tiled_image(hdu);
    } else if (hdu.header.has("ZTABLE") && hdu.header.text("ZTABLE") != "F") {
        refuse(hdu, "is a tile-compressed table: unpack the file first (funpack)");
    }
    return bytes;
}

}  // namespace zonal::io
