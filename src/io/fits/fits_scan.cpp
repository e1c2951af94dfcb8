#include "io/fits/fits_scan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

struct Scanner {
    const FileBytes& file;
    std::int64_t offset = 0;

    /// Reads one header up to its END card and moves behind it.
    FitsHeader read_header();
    std::string read_block();
};

std::string Scanner::read_block() {
    std::string block = file.read(offset, fits_block);
    if (static_cast<std::int64_t>(block.size()) < fits_block) {
        throw InvalidArgument("truncated: the header has no END");
    }
    offset += fits_block;
    return block;
}

/// Whether CFITSIO takes a card for ZIMAGE, whose first one FitsHeader has if it is in the usual form.
bool is_odd_tile_card(const FitsHeader& header, std::string_view card) {
    constexpr std::string_view key = "ZIMAGE", hierarchy = "HIERARCH";
    const bool is_long = card.starts_with(hierarchy);
    if (is_long) card.remove_prefix(std::min(card.find_first_not_of(' ', hierarchy.size()), card.size()));
    if (!card.starts_with(key) ||
        (card.size() > key.size() && card[key.size()] != ' ' && card[key.size()] != '='))
        return false;
    return is_long || card.substr(8, 2) != "= " || header.has(std::string(key));
}

FitsHeader Scanner::read_header() {
    FitsHeader header;
    for (;;) {
        const std::string block = read_block();
        for (std::int64_t at = 0; at < fits_block; at += fits_card) {
            const std::string_view card = std::string_view(block).substr(at, fits_card);
            if (trim_right(card) == "END") return header;
            if (is_odd_tile_card(header, card))
                throw InvalidArgument(
                    "ZIMAGE must be one card, with '= ' in columns 9 and 10: CFITSIO would take another one "
                    "for it");
            header.add(card);
        }
    }
}

/// Only an extension may follow; anything else behind an HDU ends the file, as the standard allows.
bool at_extension(const FileBytes& file, std::int64_t offset) {
    return file.read(offset, 9) == "XTENSION=";
}

}  // namespace

std::string Hdu::label() const {
    return name.empty() ? fmt::format("HDU {}", number) : fmt::format("HDU {} '{}'", number, name);
}

int Hdu::find_column(const std::string& column_name) const {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const FitsColumn& column) {
        return equal_ignoring_case(column.name, column_name);
    });
    return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

FitsScan scan_fits(const FileBytes& file) {
    if (!file.starts_like_fits()) throw IoError(fmt::format("{}: not a FITS file", file.path()));
    FitsScan scan;
    Scanner scanner{file};
    while (scan.hdus.empty() || at_extension(file, scanner.offset)) {
        Hdu hdu;
        hdu.number = static_cast<int>(scan.hdus.size());
        try {
            const std::int64_t header_offset = scanner.offset;
            hdu.header = scanner.read_header();
            hdu.name = hdu.header.text("EXTNAME").value_or("");
            const std::int64_t data_bytes = check_structure(hdu);
            const std::int64_t available = std::max<std::int64_t>(0, file.size() - scanner.offset);
            if (data_bytes > available) {
                throw InvalidArgument(
                    fmt::format("truncated: {} bytes of data expected, {} found", data_bytes, available));
            }
            hdu.data_offset = scanner.offset;
            if (hdu.tiles) {
                hdu.tiles->header_offset = header_offset;
                hdu.tiles->offset = scanner.offset;
            }
            scanner.offset += (data_bytes + fits_block - 1) / fits_block * fits_block;
        } catch (const InvalidArgument& error) {
            scan.problem = fmt::format("{}: {}", hdu.label(), error.what());
            return scan;
        }
        scan.hdus.push_back(std::move(hdu));
    }
    return scan;
}

}  // namespace zonal::io
