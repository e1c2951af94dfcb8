#include "plot/colormap.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "plot/colormap_tables.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {

namespace {

using Colors = std::array<Rgb, 256>;
using Triple = std::array<double, 3>;

std::uint8_t to_byte(double fraction) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(fraction, 0.0, 1.0)));
}

Rgb from_hex(std::string_view digits) {
    unsigned value = 0;
    std::from_chars(digits.data(), digits.data() + 6, value, 16);
    return {static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8),
            static_cast<std::uint8_t>(value)};
}

Colors from_table(std::string_view table) {
    Colors colors;
    for (std::size_t i = 0; i < colors.size(); ++i) colors[i] = from_hex(table.substr(6 * i, 6));
    return colors;
}

Colors make_grey() {
    Colors colors;
    for (int i = 0; i < 256; ++i) {
        const auto level = static_cast<std::uint8_t>(i);
        colors[i] = {level, level, level};
    }
    return colors;
}

struct ControlPoint {
    double position;
    std::string_view hex;
};

/// Blue over parchment to red, as the Planck collaboration draws the CMB: linear between the control points
/// that pixell (BSD) uses.
Colors make_planck() {
    static constexpr std::array<ControlPoint, 6> points{{{0.000, "0000ff"},
                                                         {0.332, "00d7ff"},
                                                         {0.500, "ffedd9"},
                                                         {0.664, "ffb400"},
                                                         {0.828, "ff4b00"},
                                                         {1.000, "640000"}}};
    Colors colors;
    for (int i = 0; i < 256; ++i) {
        const double position = i / 255.0;
        std::size_t k = 0;
        while (k + 2 < points.size() && position > points[k + 1].position) ++k;
        const double weight = (position - points[k].position) / (points[k + 1].position - points[k].position);
        const Rgb low = from_hex(points[k].hex);
        const Rgb high = from_hex(points[k + 1].hex);
        const auto mix = [&](std::uint8_t a, std::uint8_t b) {
            return to_byte(((1 - weight) * a + weight * b) / 255);
        };
        colors[i] = {mix(low.red, high.red), mix(low.green, high.green), mix(low.blue, high.blue)};
    }
    return colors;
}

/// Polar CIELAB (M = |Lab|, s = angle from the L axis, h = hue) to sRGB, white point D65.
Rgb msh_to_rgb(const Triple& msh) {
    const auto [m, s, h] = msh;
    const double lightness = m * std::cos(s);
    const double fy = (lightness + 16) / 116;
    const double fx = fy + m * std::sin(s) * std::cos(h) / 500;
    const double fz = fy - m * std::sin(s) * std::sin(h) / 200;
    const auto uncompress = [](double f) {
        return f > 6.0 / 29 ? f * f * f : 3 * (6.0 / 29) * (6.0 / 29) * (f - 4.0 / 29);
    };
    const double x = 0.95047 * uncompress(fx);
    const double y = uncompress(fy);
    const double z = 1.08883 * uncompress(fz);
    const auto gamma = [](double linear) {
        return to_byte(linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055);
    };
    return {gamma(3.2406 * x - 1.5372 * y - 0.4986 * z), gamma(-0.9689 * x + 1.8758 * y + 0.0415 * z),
            gamma(0.0557 * x - 0.2040 * y + 1.0570 * z)};
}

/// Cool to warm, K. Moreland, "Diverging color maps for scientific visualization" (2009), its table of Msh
/// control points: blue (80, 1.08, -1.1) over white (88, 0, +-1.661) to red (80, 1.08, 0.5), each half linear
/// in Msh.
Colors make_coolwarm() {
    Colors colors;
    for (int i = 0; i < 256; ++i) {
        const double side = (i - 127.5) / 127.5;  // -1: blue, 0: white, 1: red
        const double d = std::abs(side);
        const double hue_white = side < 0 ? -1.661 : 1.061;
        const double hue_end = side < 0 ? -1.1 : 0.5;
        colors[i] = msh_to_rgb({88 - 8 * d, 1.08 * d, hue_white + (hue_end - hue_white) * d});
    }
    return colors;
}

Colors make_colors(std::string_view name) {
    if (name == "viridis") return from_table(viridis_table);
    if (name == "magma") return from_table(magma_table);
    if (name == "inferno") return from_table(inferno_table);
    if (name == "plasma") return from_table(plasma_table);
    if (name == "cividis") return from_table(cividis_table);
    if (name == "coolwarm") return make_coolwarm();
    if (name == "planck") return make_planck();
    if (name == "grey") return make_grey();
    throw InvalidArgument(
        "colormap", name,
        fmt::format("must be one of {}, with _r appended to reverse it", fmt::join(colormap_names(), ", ")));
}

}  // namespace

std::vector<std::string> colormap_names() {
    return {"viridis", "magma", "inferno", "plasma", "cividis", "coolwarm", "planck", "grey"};
}

Colormap::Colormap(const std::string& name) {
    const bool reversed = name.ends_with("_r");
    colors_ = make_colors(std::string_view(name).substr(0, name.size() - (reversed ? 2 : 0)));
    if (reversed) std::reverse(colors_.begin(), colors_.end());
}

Rgb Colormap::at(double position) const {
    const int index = static_cast<int>(256 * std::clamp(position, 0.0, 1.0));
    return colors_[std::min(index, 255)];
}

}  // namespace zonal::plot
