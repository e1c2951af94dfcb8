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

/// Whether a table without HEALPix' keys may still be a map: its size is one, of an nside that is a power of
/// 2, as those of maps nearly always are, and its columns are not angles.
bool has_map_size(const Hdu& hdu) {
    const auto is_angle = [](const FitsColumn& column) {
        const auto name = to_upper(column.name);
        return name == "THETA" || name == "PHI" || name == "RA" || name == "DEC" || name == "GLON" ||
               name == "GLAT";
    };
    const auto nside = nside_of_size(hdu.rows * hdu.columns[0].repeat);
    return hdu.type == HduType::binary_table && nside > 0 &&
           std::has_single_bit(static_cast<std::uint64_t>(nside)) &&
           std::none_of(hdu.columns.begin(), hdu.columns.end(), is_angle);
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
    if (is_solution(hdu)) return FileKind::solution;
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
