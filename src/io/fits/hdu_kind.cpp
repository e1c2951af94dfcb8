#include "io/fits/hdu_kind.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "io/tables/spectrum_names.hpp"
#include "io/tables/text.hpp"

namespace zonal::io {
namespace {

std::string text(const Hdu& hdu, const char* key) {
    return to_upper(hdu.header.text(key).value_or(""));
}

bool is_integer(const FitsColumn& column) {
    return std::string("BIJK").find(column.type) != std::string::npos;
}

bool is_alm(const Hdu& hdu) {
    if (hdu.type != HduType::binary_table || hdu.columns.size() < 3) return false;
    const auto& first = hdu.columns[0];
    if (!is_integer(first) || first.repeat != hdu.columns[1].repeat) return false;
    return to_upper(first.name).starts_with("INDEX") ||
           (hdu.header.has("MAX-LPOL") && !hdu.header.has("PIXTYPE"));
}

bool is_window(const Hdu& hdu) {
    const std::string name = to_upper(hdu.name);
    return name.find("WINDOW") != std::string::npos || name.find("BEAM") != std::string::npos ||
           std::any_of(hdu.columns.begin(), hdu.columns.end(), [](const FitsColumn& column) {
               const std::string key = to_upper(column.name);
               return key.find("BEAM") != std::string::npos || key == "BL" || key == "B_L" || key == "WL" ||
                      key == "W_L";
           });
}

bool is_solution(const Hdu& hdu) {
    const bool named = to_upper(hdu.name) == "SOLUTION" && hdu.find_column("COEFFICIENTS") >= 0;
    return hdu.type == HduType::binary_table && (named || hdu.header.has("ZONALSOL"));
}

bool is_bands(const Hdu& hdu) {
    return hdu.type == HduType::binary_table && hdu.find_column("L_MIN") >= 0 &&
           hdu.find_column("L_MAX") >= 0 && hdu.header.has("LMAX_SKY");
}

/// Whether a table without HEALPix' keys may still be a map: it holds numbers that are no angles, in every
/// column as many as a map of an nside that is a power of 2, as those of maps nearly always are. From nside 4
/// on: tables of 12 energies are common.
bool has_map_size(const Hdu& hdu) {
    constexpr std::int64_t least_nside = 4;
    const auto may_be_field = [&](const FitsColumn& column) {
        const auto name = to_upper(column.name);
        const bool is_angle = name == "THETA" || name == "PHI" || name == "RA" || name == "DEC" ||
                              name == "GLON" || name == "GLAT";
        return column.numeric() && column.repeat == hdu.columns[0].repeat && !is_angle;
    };
    const auto nside = nside_of_size(hdu.rows * hdu.columns[0].repeat);
    return hdu.type == HduType::binary_table && nside >= least_nside &&
           std::has_single_bit(static_cast<std::uint64_t>(nside)) &&
           std::all_of(hdu.columns.begin(), hdu.columns.end(), may_be_field);
}

/// Numbers of cells, or ranges of them, and no values: a region (MOC) of the sky, or of times or frequencies.
bool is_moc(const Hdu& hdu) {
    const std::string ordering = text(hdu, "ORDERING");
    return hdu.type == HduType::binary_table && hdu.columns.size() == 1 && is_integer(hdu.columns[0]) &&
           (ordering == "NUNIQ" || ordering == "RANGE" || hdu.header.has("MOCORDER") ||
            hdu.header.has("MOCVERS"));
}

}  // namespace

std::int64_t nside_of_size(std::int64_t n_pixels) {
    const auto nside = std::llround(std::sqrt(static_cast<double>(n_pixels) / 12));
    return nside > 0 && 12 * nside * nside == n_pixels ? nside : 0;
}

bool is_car_image(const Hdu& hdu) {
    return hdu.type == HduType::image && hdu.axes.size() >= 2 && text(hdu, "CTYPE1").ends_with("-CAR") &&
           text(hdu, "CTYPE2").ends_with("-CAR");
}

std::string why_no_map(const Hdu& hdu) {
    if (is_moc(hdu))
        return "is a region (MOC), which has cells but no values, and so no map; of the pixels of a region "
               "of the sky, which mocpy's MOC.flatten() gives, a mask can be written";
    const std::string longitude = text(hdu, "CTYPE1"), latitude = text(hdu, "CTYPE2");
    // xxxx-PPP: a coordinate and a projection (FITS standard, section 8.2)
    constexpr std::size_t code = 5, code_length = 3;
    const bool is_sky = hdu.type == HduType::image && hdu.axes.size() >= 2 &&
                        longitude.size() >= code + code_length && latitude.size() >= code + code_length &&
                        longitude[code - 1] == '-' && latitude[code - 1] == '-' &&
                        longitude.substr(code) == latitude.substr(code);
    const std::string projection = is_sky ? longitude.substr(code, code_length) : "";
    if (projection.empty() || projection == "CAR") return "";
    return fmt::format(
        "is an image in the {}projection {} (CTYPE1 = '{}'), whose pixels do not lie on equally spaced rings "
        "of latitude: reproject it to CAR or HEALPix first, as the packages reproject and pixell do",
        projection == "TAN" ? "gnomonic " : "", projection, longitude);
}

FileKind kind_of(const Hdu& hdu) {
    if (is_car_image(hdu)) return FileKind::map;
    if (hdu.columns.empty()) return FileKind::other;
    if (is_moc(hdu)) return FileKind::other;
    if (is_solution(hdu)) return FileKind::solution;
    if (is_bands(hdu)) return FileKind::bands;
    if (is_alm(hdu)) return FileKind::alm;
    if (to_upper(hdu.columns[0].name).ends_with("WEIGHTS")) return FileKind::weights;
    if (is_window(hdu)) return FileKind::window;
    const bool map_keys = text(hdu, "PIXTYPE") == "HEALPIX" || hdu.header.has("ORDERING");
    if (hdu.type == HduType::binary_table && map_keys) return FileKind::map;
    const auto is_spectrum = [](const FitsColumn& column) {
        return spectrum_from_name(column.name, false).has_value();
    };
    const bool spectra = std::any_of(hdu.columns.begin(), hdu.columns.end(), is_spectrum) &&
                         std::all_of(hdu.columns.begin(), hdu.columns.end(), [&](const FitsColumn& column) {
                             return is_spectrum(column) || is_multipole_name(column.name);
                         });
    if (spectra) return FileKind::spectrum;
    return has_map_size(hdu) ? FileKind::map : FileKind::other;
}

}  // namespace zonal::io
