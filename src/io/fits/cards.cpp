#include "io/fits/cards.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using namespace std::string_view_literals;

constexpr std::array reserved{
    // structure
    "SIMPLE"sv, "XTENSION"sv, "BITPIX"sv, "NAXIS"sv, "PCOUNT"sv, "GCOUNT"sv, "TFIELDS"sv, "EXTEND"sv, "END"sv,
    "THEAP"sv, "GROUPS"sv, "BSCALE"sv, "BZERO"sv, "BUNIT"sv, "BLANK"sv, "CONTINUE"sv, "LONGSTRN"sv,
    // pixels
    "PIXTYPE"sv, "ORDERING"sv, "ORDER"sv, "NSIDE"sv, "FIRSTPIX"sv, "LASTPIX"sv, "INDXSCHM"sv, "OBJECT"sv,
    "MOCORDER"sv, "GRAIN"sv, "COORDSYS"sv, "POLCCONV"sv, "POLAR"sv, "BAD_DATA"sv, "WCSAXES"sv, "LONPOLE"sv,
    "LATPOLE"sv,
    // tiles of packed images
    "ZIMAGE"sv, "ZCMPTYPE"sv, "ZBITPIX"sv, "ZNAXIS"sv, "ZQUANTIZ"sv, "ZDITHER0"sv, "ZBLANK"sv, "ZSCALE"sv,
    "ZZERO"sv, "ZSIMPLE"sv, "ZTENSION"sv, "ZEXTEND"sv, "ZPCOUNT"sv, "ZGCOUNT"sv, "ZHECKSUM"sv, "ZDATASUM"sv,
    "ZMASKCMP"sv, "ZBLOCKED"sv, "ZTABLE"sv,
    // the file itself
    "CHECKSUM"sv, "DATASUM"sv, "DATE"sv, "CREATOR"sv, "EXTVER"sv, "DATAMIN"sv, "DATAMAX"sv};

// Followed by a number: the column's or axis' own.
constexpr std::array numbered{"NAXIS"sv,  "TTYPE"sv,  "TFORM"sv,  "TUNIT"sv, "TBCOL"sv, "TSCAL"sv, "TZERO"sv,
                              "TNULL"sv,  "TDISP"sv,  "TDIM"sv,   "TDMIN"sv, "TDMAX"sv, "TLMIN"sv, "TLMAX"sv,
                              "TCOMM"sv,  "CTYPE"sv,  "CRPIX"sv,  "CRVAL"sv, "CDELT"sv, "CUNIT"sv, "CROTA"sv,
                              "MINVAL"sv, "MAXVAL"sv, "ZNAXIS"sv, "ZTILE"sv, "ZNAME"sv, "ZVAL"sv};

constexpr std::string_view digits = "0123456789";

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

/// CD1_2, PC1_2, PV1_3
bool is_matrix_key(std::string_view key) {
    const bool prefix = key.starts_with("CD") || key.starts_with("PC") || key.starts_with("PV");
    const auto bar = key.find('_');
    return prefix && bar != std::string_view::npos && is_number(key.substr(2, bar - 2)) &&
           is_number(key.substr(bar + 1));
}

bool is_key(const std::string& key) {
    return !key.empty() && key.size() <= 8 &&
           key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == std::string::npos;
}

}  // namespace

const char* coordsys_key(CoordinateSystem system) {
    switch (system) {
        case CoordinateSystem::galactic:
            return "G";
        case CoordinateSystem::ecliptic:
            return "E";
        case CoordinateSystem::equatorial:
            return "C";
        case CoordinateSystem::unknown:
            return "";
    }
    return "";
}

bool is_reserved_key(const std::string& key) {
    if (std::find(reserved.begin(), reserved.end(), key) != reserved.end() || is_matrix_key(key)) return true;
    return std::any_of(numbered.begin(), numbered.end(), [&](std::string_view prefix) {
        if (!key.starts_with(prefix)) return false;
        const std::string_view rest = std::string_view(key).substr(prefix.size());
        // CRPIX1A: another description of the axis, which is no truer of other pixels.
        const bool has_letter = !rest.empty() && rest.back() >= 'A' && rest.back() <= 'Z';
        return is_number(rest.substr(0, rest.size() - (has_letter ? 1 : 0)));
    });
}

std::vector<HeaderCard> free_cards(const Hdu& hdu) {
    std::vector<HeaderCard> cards;
    std::copy_if(hdu.header.cards().begin(), hdu.header.cards().end(), std::back_inserter(cards),
                 [](const HeaderCard& card) { return is_key(card.key) && !is_reserved_key(card.key); });
    return cards;
}

std::string extension_name(const std::vector<HeaderCard>& cards, const std::string& fallback) {
    for (const auto& card : cards) {
        const auto* name = std::get_if<std::string>(&card.value);
        if (card.key == "EXTNAME" && name && !name->empty()) return *name;
    }
    return fallback;
}

std::vector<HeaderCard> without_keys(const std::vector<HeaderCard>& cards,
                                     std::initializer_list<const char*> keys) {
    std::vector<HeaderCard> others;
    std::copy_if(cards.begin(), cards.end(), std::back_inserter(others), [&](const HeaderCard& card) {
        return std::find(keys.begin(), keys.end(), card.key) == keys.end();
    });
    return others;
}

void check_cards(const std::vector<HeaderCard>& cards) {
    for (const auto& card : cards) {
        if (!is_key(card.key)) {
            throw InvalidArgument(
                fmt::format("header key '{}': must be 1 to 8 of the characters A-Z, 0-9, - and _", card.key));
        }
        if (is_reserved_key(card.key)) {
            throw InvalidArgument(fmt::format("header key {}: is set by the writer itself", card.key));
        }
        const auto* number = std::get_if<double>(&card.value);
        if (number && !std::isfinite(*number)) {
            throw InvalidArgument(
                fmt::format("header key {}: {} cannot stand in a FITS header", card.key, *number));
        }
    }
}

}  // namespace zonal::io
