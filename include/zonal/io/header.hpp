#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace zonal::io {

/// One card of a FITS header. HISTORY and COMMENT cards hold a string of any length, which is split over as
/// many cards as it needs.
struct HeaderCard {
    std::string key{};
    std::variant<bool, std::int64_t, double, std::string> value{};
    std::string comment{};
    bool operator==(const HeaderCard&) const = default;
};

/// Width of the numbers in a file. Values are double in memory, so that no arithmetic is done in float;
/// output follows the input's precision.
enum class Precision { float32, float64 };

enum class CoordinateSystem { unknown, galactic, ecliptic, equatorial };

/// "galactic", "ecliptic", "equatorial" or "unknown".
std::string to_string(CoordinateSystem system);

/// From a COORDSYS value or a command-line option, in any case: G, GAL, GALACTIC; E, ECL, ECLIPTIC;
/// C, Q, CEL, EQU, CELESTIAL, EQUATORIAL (J2000); blank or UNKNOWN. Throws InvalidArgument for anything else.
CoordinateSystem parse_coordinate_system(const std::string& text);

/// How files are written.
struct WriteOptions {
    bool overwrite = false;  ///< false: IoError when the file exists
};

}  // namespace zonal::io
