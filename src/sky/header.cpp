#include "zonal/sky/header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "zonal/error.hpp"

namespace zonal {
namespace {

/// Without blanks at the ends, in capitals; ASCII only, whatever the locale.
std::string canonical(const std::string& text) {
    const char* const blanks = " \t\r\n\v\f";
    const auto first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
    std::string result = first == std::string::npos ? "" : text.substr(first, last - first + 1);
    for (char& c : result)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return result;
}

}  // namespace

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
    constexpr std::array<std::pair<const char*, CoordinateSystem>, 17> names{{{"", unknown},
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
                                                                              {"EQUATORIAL", equatorial},
                                                                              {"ICRS", equatorial},
                                                                              {"FK5", equatorial},
                                                                              {"J2000", equatorial}}};
    const std::string upper = canonical(text);
    for (const auto& [name, system] : names) {
        if (upper == name) return system;
    }
    throw InvalidArgument(fmt::format(
        "coordinate system '{}': must be G, GAL, GALACTIC, E, ECL, ECLIPTIC, C, Q, CEL, EQU, CELESTIAL, "
        "EQUATORIAL, ICRS, FK5, J2000 or UNKNOWN",
        text));
}

void set_card(std::vector<HeaderCard>& cards, HeaderCard card) {
    const auto same = [&](const HeaderCard& other) { return other.key == card.key; };
    if (card.key != "HISTORY" && card.key != "COMMENT") std::erase_if(cards, same);
    cards.push_back(std::move(card));
}

void set_cards(std::vector<HeaderCard>& cards, const std::vector<HeaderCard>& added) {
    for (const auto& card : added) set_card(cards, card);
}

std::string header_text(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
}

}  // namespace zonal
