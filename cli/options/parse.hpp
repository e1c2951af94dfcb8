#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "zonal/sky/binning.hpp"
#include "zonal/sky/header.hpp"

/// Values of command-line options. Each function takes the option's name for its messages and throws
/// UsageError; nothing is accepted with anything left behind it.
namespace zonal::cli {

/// An angle and how the user wrote it.
struct Angle {
    double radians = 0;
    std::string text;
};

/// "10deg", "10 degrees", "10°", "5 arcmin", "5'", "30arcsec", "0.1rad"; above 0, from 1e-6arcsec to 180deg.
Angle parse_angle(const std::string& option, const std::string& text);
/// As parse_angle, but any finite angle, such as a coordinate.
Angle parse_signed_angle(const std::string& option, const std::string& text);

/// "10GeV", "3e4 MeV", in MeV; eV, keV, MeV, GeV or TeV, above 0 and finite.
double parse_energy(const std::string& option, const std::string& text);

/// "50GeV:2TeV", ascending.
EnergyRange parse_energy_range(const std::string& option, const std::string& text);

/// "galactic", "G", "unknown" and so on.
CoordinateSystem parse_coordinates(const std::string& option, const std::string& text);

std::int64_t parse_integer(const std::string& option, const std::string& text, std::int64_t minimum,
                           std::int64_t maximum);

/// Any finite number from minimum to maximum.
double parse_number(const std::string& option, const std::string& text, double minimum, double maximum);

/// "a,b,c" or "a, b, c"; throws for an empty element.
std::vector<std::string> parse_list(const std::string& option, const std::string& text);

/// Control characters made visible, so that a message stays on one line.
std::string printable(const std::string& text);

}  // namespace zonal::cli
