#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace zonal {

/// What a file says beside its numbers: a key, its value and a comment, as a card of a FITS header has them.
/// HISTORY and COMMENT hold a string of any length, which is split over as many cards as it needs.
struct HeaderCard {
    std::string key{};
    std::variant<bool, std::int64_t, double, std::string> value{};
    std::string comment{};
    bool operator==(const HeaderCard&) const = default;
};

/// Replaces the card of that key, or adds it at the end; HISTORY and COMMENT are always added.
void set_card(std::vector<HeaderCard>& cards, HeaderCard card);
void set_cards(std::vector<HeaderCard>& cards, const std::vector<HeaderCard>& added);

/// Returns text as a FITS header can hold it: what is not printable ASCII becomes '?'.
std::string header_text(std::string text);

/// Width of the numbers in a file. In memory they are double, so that no arithmetic is done in float; what is
/// written has the precision of what was read.
enum class FilePrecision { float32, float64 };

/// Coordinates that a sky is given in. Equatorial and ecliptic are those of J2000.
enum class CoordinateSystem { unknown, galactic, ecliptic, equatorial };

/// Whether two systems are known to be different ones.
constexpr bool are_known_to_differ(CoordinateSystem a, CoordinateSystem b) {
    return a != CoordinateSystem::unknown && b != CoordinateSystem::unknown && a != b;
}

/// "galactic", "ecliptic", "equatorial" or "unknown".
std::string to_string(CoordinateSystem system);

/// Reads a COORDSYS value or a user's word, in any case: G, GAL, GALACTIC; E, ECL, ECLIPTIC; C, Q, CEL, EQU,
/// CELESTIAL, EQUATORIAL; blank or UNKNOWN. Throws InvalidArgument for anything else.
CoordinateSystem parse_coordinate_system(const std::string& text);

}  // namespace zonal
