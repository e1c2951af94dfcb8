#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Values of command-line options. Each function takes the option's name for its messages and throws
/// UsageError; nothing is accepted with anything left behind it.
namespace zonal::cli {

/// An angle and how the user wrote it.
struct Angle {
    double radians = 0;
    std::string text;
};

/// "10deg", "5 arcmin", "30arcsec", "0.1rad"; above zero and finite.
Angle parse_angle(const std::string& option, const std::string& text);
/// As parse_angle, but any finite angle, such as a coordinate.
Angle parse_signed_angle(const std::string& option, const std::string& text);

std::int64_t parse_integer(const std::string& option, const std::string& text, std::int64_t minimum,
                           std::int64_t maximum);

/// Any finite number from minimum to maximum.
double parse_number(const std::string& option, const std::string& text, double minimum, double maximum);

/// "a,b,c"; throws for an empty element.
std::vector<std::string> parse_list(const std::string& option, const std::string& text);

/// Control characters made visible, so that a message stays on one line.
std::string printable(const std::string& text);

}  // namespace zonal::cli
