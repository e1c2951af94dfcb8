#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "plot/axes.hpp"
#include "plot/markup.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {

namespace {

/// Okabe and Ito (2008), told apart with any colour vision.
constexpr std::array<Rgb, 7> line_colors{{{0, 114, 178},
                                          {213, 94, 0},
                                          {0, 158, 115},
                                          {204, 121, 167},
                                          {230, 159, 0},
                                          {86, 180, 233},
                                          {60, 60, 60}}};

/// A spectrum as it is drawn: values[k] at l = lmin + k.
struct Curve {
    std::string name;
    int lmin = 0;
    std::vector<double> values;
    bool is_dashed_below_zero = false;
};

int longest_lmax(const SpectrumPlot& plot) {
    std::size_t longest = 0;
    for (const Spectrum& spectrum : plot.spectra) longest = std::max(longest, spectrum.c_l.size());
    return static_cast<int>(longest) - 1;
}

void check(const SpectrumPlot& plot) {
    if (plot.spectra.empty()) throw InvalidArgument("spectra: must hold at least one spectrum");
    const int longest = longest_lmax(plot);
    if (plot.lmax < -1 || plot.lmax > longest)
        throw InvalidArgument(fmt::format(
            "lmax = {}: must be at most {}, where the spectra end, or -1 for that", plot.lmax, longest));
    const int lmax = plot.lmax < 0 ? longest : plot.lmax;
    if (plot.lmin < 0 || plot.lmin >= lmax)
        throw InvalidArgument(
            fmt::format("lmin = {}: must be from 0 to {}, below lmax = {}", plot.lmin, lmax - 1, lmax));
    if (plot.x == Axis::log && plot.lmin == 0)
        throw InvalidArgument("lmin = 0: must be at least 1 on a logarithmic l axis");
    if (plot.minimum && plot.maximum && !(*plot.minimum < *plot.maximum))
        throw InvalidArgument(fmt::format("range = {} to {}: the first must be below the second",
                                          *plot.minimum, *plot.maximum));
}

std::vector<Curve> make_curves(const SpectrumPlot& plot) {
    std::vector<Curve> curves;
    for (const Spectrum& spectrum : plot.spectra) {
        Curve curve{spectrum.name, plot.lmin, {}};
        const int end = std::min<int>(static_cast<int>(spectrum.c_l.size()),
                                      (plot.lmax < 0 ? longest_lmax(plot) : plot.lmax) + 1);
        for (int l = plot.lmin; l < end; ++l) {
            const double factor = plot.times_l2 ? l * (l + 1.0) / (2 * std::numbers::pi) : 1;
            curve.values.push_back(factor * spectrum.c_l[l]);
        }
        curves.push_back(std::move(curve));
    }
    return curves;
}

/// Smallest and largest |value| that is not zero; {0, 0} where there is none.
Range magnitudes(const Curve& curve) {
    Range range{0, 0};
    for (const double value : curve.values) {
        const double magnitude = std::abs(value);
        if (!std::isfinite(value) || magnitude == 0) continue;
        range.minimum = range.minimum == 0 ? magnitude : std::min(range.minimum, magnitude);
        range.maximum = std::max(range.maximum, magnitude);
    }
    return range;
}

bool wants_log(const std::vector<Curve>& curves) {
    double least = 0, most = 0;
    bool is_steep = false;
    for (const Curve& curve : curves) {
        const Range range = magnitudes(curve);
        if (range.maximum == 0) continue;
        least = least == 0 ? range.maximum : std::min(least, range.maximum);
        most = std::max(most, range.maximum);
        const bool is_positive =
            std::all_of(curve.values.begin(), curve.values.end(), [](double v) { return !(v < 0); });
        is_steep |= is_positive && range.maximum > 1e4 * range.minimum;
    }
    return is_steep || most > 30 * least;
}

/// Everything from the 0.5th percentile of each curve's |values| on: a zero crossing or one small multipole
/// does not stretch the axis; at most 12 decades.
Range log_range(const std::vector<Curve>& curves) {
    Range range{0, 0};
    for (const Curve& curve : curves) {
        std::vector<double> logs;
        for (const double value : curve.values)
            if (std::isfinite(value) && value != 0) logs.push_back(std::log10(std::abs(value)));
        if (logs.empty()) continue;
        std::sort(logs.begin(), logs.end());
        const bool changes_sign =
            std::any_of(curve.values.begin(), curve.values.end(), [](double v) { return v < 0; });
        const double low = logs[static_cast<std::size_t>((changes_sign ? 0.03 : 0.005) * (logs.size() - 1))];
        range.minimum = range.minimum == 0 ? std::pow(10, low) : std::min(range.minimum, std::pow(10, low));
        range.maximum = std::max(range.maximum, std::pow(10, logs.back()));
    }
    range.minimum = std::max(range.minimum, 1e-12 * range.maximum);
    return {range.minimum / 1.5, range.maximum * 2};
}

Range linear_range(const std::vector<Curve>& curves) {
    double low = 0, high = 0;
    for (const Curve& curve : curves)
        for (const double value : curve.values)
            if (std::isfinite(value)) {
                low = std::min(low, value);
                high = std::max(high, value);
            }
    const double margin = 0.06 * (high - low);
    return {low < 0 ? low - margin : 0, high > 0 ? high + margin : 0};
}

AxisScale make_y_scale(const SpectrumPlot& plot, const std::vector<Curve>& curves) {
    const bool is_log = plot.y == Axis::log || (plot.y == Axis::automatic && wants_log(curves));
    Range range = is_log ? log_range(curves) : linear_range(curves);
    if (!(range.minimum < range.maximum))
        throw InvalidArgument("spectra: no finite value other than zero to draw");
    if (plot.minimum) range.minimum = *plot.minimum;
    if (plot.maximum) range.maximum = *plot.maximum;
    if (is_log && range.minimum <= 0)
        throw InvalidArgument(fmt::format("range = {} to {}: must lie above 0 on a logarithmic axis",
                                          range.minimum, range.maximum));
    if (!(range.minimum < range.maximum))
        throw InvalidArgument(fmt::format("range = {} to {}: the first must be below the second",
                                          range.minimum, range.maximum));
    return {range, is_log};
}

std::string y_label(const SpectrumPlot& plot, int exponent) {
    std::string label = plot.times_l2 ? "ℓ(ℓ+1)C_{ℓ} / 2π" : "C_{ℓ}";
    std::string unit = pretty_unit(plot.unit);
    if (exponent != 0) unit = format_power_of_ten(exponent) + (unit.empty() ? "" : " " + unit);
    return unit.empty() ? label : label + "  [" + unit + "]";
}

/// One sign of a curve; on a log axis the negative part is drawn apart, dashed.
void draw_part(const Canvas& canvas, const AxesFrame& frame, const Curve& curve, double sign,
               bool all_signs) {
    bool pen_down = false;
    cairo_new_path(canvas.cairo());
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
        const double value = all_signs ? curve.values[k] : sign * curve.values[k];
        if (!std::isfinite(value) || (!all_signs && value <= 0)) {
            pen_down = false;
            continue;
        }
        const Point point = frame.to_pixel(curve.lmin + static_cast<double>(k), value);
        if (pen_down)
            cairo_line_to(canvas.cairo(), point.x, point.y);
        else
            cairo_move_to(canvas.cairo(), point.x, point.y);
        pen_down = true;
    }
    const std::array<double, 2> dashes{canvas.pt(4), canvas.pt(2.5)};
    if (!all_signs && sign < 0) cairo_set_dash(canvas.cairo(), dashes.data(), 2, 0);
    canvas.stroke(1.3);
    cairo_set_dash(canvas.cairo(), nullptr, 0, 0);
}

void draw_curve(const Canvas& canvas, const AxesFrame& frame, const Curve& curve, Rgb color) {
    canvas.set_color(color);
    if (!frame.y().is_log()) return draw_part(canvas, frame, curve, 1, true);
    draw_part(canvas, frame, curve, 1, false);
    draw_part(canvas, frame, curve, -1, false);
}

std::vector<LegendEntry> legend_entries(const std::vector<Curve>& curves, bool is_log) {
    std::vector<LegendEntry> entries;
    bool any_negative = false;
    for (std::size_t i = 0; i < curves.size(); ++i) {
        entries.push_back({curves[i].name, line_colors[i % line_colors.size()], false});
        any_negative |=
            std::any_of(curves[i].values.begin(), curves[i].values.end(), [](double v) { return v < 0; });
    }
    if (is_log && any_negative) entries.push_back({"negative", Rgb{90, 90, 90}, true});
    return entries;
}

}  // namespace

Image draw_spectrum(const SpectrumPlot& plot) {
    check(plot);
    const std::vector<Curve> curves = make_curves(plot);
    const AxisScale y = make_y_scale(plot, curves);
    const int lmax = plot.lmax < 0 ? longest_lmax(plot) : plot.lmax;
    const bool log_x = plot.x == Axis::log;
    const AxisScale x({log_x || plot.lmin > 2 ? double(plot.lmin) : 0.0, double(lmax)}, log_x);

    const Canvas canvas(with_defaults(plot.image, 1600, 0.625));
    const AxesFrame frame(canvas, x, y, !plot.title.empty());
    frame.draw_grid();
    cairo_save(canvas.cairo());
    frame.clip();
    for (std::size_t i = 0; i < curves.size(); ++i)
        draw_curve(canvas, frame, curves[i], line_colors[i % line_colors.size()]);
    cairo_restore(canvas.cairo());
    frame.draw_box_and_labels("Multipole ℓ", y_label(plot, frame.y_exponent()), plot.title);

    std::vector<Point> drawn;
    for (const Curve& curve : curves)
        for (std::size_t k = 0; k < curve.values.size(); ++k)
            if (const double v = curve.values[k]; std::isfinite(v) && (!y.is_log() || v != 0))
                drawn.push_back(frame.to_pixel(curve.lmin + double(k), y.is_log() ? std::abs(v) : v));
    draw_legend(canvas, frame.area(), legend_entries(curves, y.is_log()), drawn);
    return canvas.image();
}

}  // namespace zonal::plot
