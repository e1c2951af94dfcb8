#include "zonal/io/header.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {

std::string to_string(CoordinateSystem system) {
    switch (system) {
        case CoordinateSystem::galactic:
            return "galactic";
        case CoordinateSystem::ecliptic:
            return "ecliptic";
        case CoordinateSystem::equatorial:
            return "equatorial";
        case CoordinateSystem::unknown:
            return "unknown";
    }
    return "unknown";
}

CoordinateSystem parse_coordinate_system(const std::string& text) {
    using enum CoordinateSystem;
    constexpr std::array<std::pair<const char*, CoordinateSystem>, 14> names{{{"", unknown},
                                                                              {"UNKNOWN", unknown},
                                                                              {"G", galactic},
                                                                              {"GAL", galactic},
                                                                              {"GALACTIC", galactic},
                                                                              {"E", ecliptic},
                                                                              {"ECL", ecliptic},
                                                                              {"ECLIPTIC", ecliptic},
                                                                              {"C", equatorial},
                                                                              {"Q", equatorial},
                                                                              {"CEL", equatorial},
                                                                              {"EQU", equatorial},
                                                                              {"CELESTIAL", equatorial},
                                                                              {"EQUATORIAL", equatorial}}};
    const std::string upper = to_upper(trim(text));
    for (const auto& [name, system] : names) {
        if (upper == name) return system;
    }
    throw InvalidArgument(fmt::format(
        "coordinate system '{}': must be G, GAL, GALACTIC, E, ECL, ECLIPTIC, C, Q, CEL, EQU, CELESTIAL, "
        "EQUATORIAL or UNKNOWN",
        text));
}

}  // namespace zonal::io
