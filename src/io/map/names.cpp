#include "io/map/names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/tables/text.hpp"

namespace zonal::io {
namespace {

// Names that HEALPix F90/C++/IDL, healpy, WMAP and Planck give. Upper case, '-' for '_' or '-'.
constexpr std::array<std::string_view, 8> intensity{"I-STOKES", "STOKES-I", "TEMPERATURE", "INTENSITY",
                                                    "I",        "T",        "I-MAP",       "SIGNAL"};
// Behind the Q or U.
constexpr std::array<std::string_view, 5> polarisation{"", "-STOKES", "-POLARISATION", "-POLARIZATION",
                                                       "-MAP"};
constexpr std::array<std::string_view, 10> hits{
    "N-OBS", "NOBS",     "N-HITS",         "NHITS",  "HITS",
    "HIT",   "HITCOUNT", "N-OBSERVATIONS", "HITMAP", "EFFECTIVE-N-OBS"};
constexpr std::array<std::string_view, 4> errors{"SERROR", "SIGMA", "ERROR", "VARIANCE"};
// healpy's names for the six elements of the covariance of I, Q, U.
constexpr std::array<std::string_view, 6> covariance{"II", "IQ", "IU", "QQ", "QU", "UU"};

std::string canonical(const std::string& name) {
    std::string result = to_upper(trim(name));
    std::replace(result.begin(), result.end(), '_', '-');
    return result;
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Stokes stokes_from_name(const std::string& name) {
    const std::string key = canonical(name);
    if (contains(intensity, key)) return Stokes::I;
    if (key.empty()) return Stokes::none;
    const std::string_view rest = std::string_view(key).substr(1);
    if (key == "STOKES-Q" || (key[0] == 'Q' && contains(polarisation, rest))) return Stokes::Q;
    if (key == "STOKES-U" || (key[0] == 'U' && contains(polarisation, rest))) return Stokes::U;
    return Stokes::none;
}

Auxiliary auxiliary_from_name(const std::string& name) {
    const std::string key = canonical(name);
    const bool covariance_name =
        key.ends_with("-COV") || key.starts_with("COV-") || key.ends_with("-COVARIANCE");
    if (contains(hits, key) || key.ends_with("-HITS")) return Auxiliary::hits;
    return contains(errors, key) || contains(covariance, key) || covariance_name || key.ends_with("-ERR") ||
                   key.ends_with("-ERROR")
               ? Auxiliary::error
               : Auxiliary::none;
}

bool is_pixel_name(const std::string& name) {
    const std::string key = canonical(name);
    return key == "PIXEL" || key == "PIX";
}

}  // namespace zonal::io
