#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "plot/axes.hpp"
#include "plot/markup.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {

namespace {

/// A spectrum as it is drawn: values[k] at l = lmin + k.
struct Curve {
    std::string name;
    int lmin = 0;
    std::vector<double> values;
    Rgb color{};
    bool is_noisy = false;  ///< an estimate from one sky rather than a theory
    bool is_points = false;
    bool is_theory = false;

    double l(std::size_t k) const { return lmin + static_cast<double>(k); }
};

/// Whether the curve jumps from l to l: the median |second difference| exceeds a hundredth of the median
/// |value|.
bool is_noisy(const std::vector<double>& values) {
    std::vector<double> sizes, bends;
    for (std::size_t k = 1; k + 1 < values.size(); ++k) {
        const double bend = values[k - 1] - 2 * values[k] + values[k + 1];
        if (!std::isfinite(bend)) continue;
        sizes.push_back(std::abs(values[k]));
        bends.push_back(std::abs(bend));
    }
    if (sizes.size() < 100) return false;  // few points are few strokes
    const auto middle = static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), sizes.begin() + middle, sizes.end());
    std::nth_element(bends.begin(), bends.begin() + middle, bends.end());
    return bends[middle] > 0.01 * sizes[middle];
}

int longest_lmax(const SpectrumPlot& plot) {
    std::size_t longest = 0;
    for (const Spectrum& spectrum : plot.spectra) longest = std::max(longest, spectrum.c_l.size());
    return static_cast<int>(longest) - 1;
}

void check(const SpectrumPlot& plot) {
    if (plot.spectra.empty()) throw InvalidArgument("spectra", "must hold at least one spectrum");
    const int longest = longest_lmax(plot);
    if (plot.lmax < -1 || plot.lmax > longest)
        throw InvalidArgument(
            "lmax", plot.lmax,
            fmt::format("must be at most {}, where the spectra end, or -1 for that", longest));
    const int lmax = plot.lmax < 0 ? longest : plot.lmax;
    if (plot.lmin < 0 || plot.lmin >= lmax)
        throw InvalidArgument("lmin", plot.lmin,
                              fmt::format("must be from 0 to {}, below lmax = {}", lmax - 1, lmax));
    if (plot.x == Axis::log && plot.lmin == 0)
        throw InvalidArgument("lmin", "0", "must be at least 1 on a logarithmic l axis");
    if (plot.minimum && plot.maximum && !(*plot.minimum < *plot.maximum))
        throw InvalidArgument("range", fmt::format("{} to {}", *plot.minimum, *plot.maximum),
                              "the first must be below the second");
}

Rgb darkened(Rgb color) {
    const auto part = [](std::uint8_t value) { return static_cast<std::uint8_t>(value * 11 / 20); };
    return {part(color.red), part(color.green), part(color.blue)};
}

Curve make_curve(const SpectrumPlot& plot, const Spectrum& spectrum, std::size_t color) {
    const int lmax = plot.lmax < 0 ? longest_lmax(plot) : plot.lmax;
    Curve curve{spectrum.name, plot.lmin, {}, line_colors[color % line_colors.size()]};
    const int end = std::min(static_cast<int>(spectrum.c_l.size()), lmax + 1);
    for (int l = plot.lmin; l < end; ++l) {
        const double factor = plot.times_l2 ? l * (l + 1.0) / (2 * std::numbers::pi) : 1;
        curve.values.push_back(factor * spectrum.c_l[l]);
    }
    return curve;
}

/// The spectra, then the theory.
std::vector<Curve> make_curves(const SpectrumPlot& plot) {
    std::vector<Curve> curves;
    for (const Spectrum& spectrum : plot.spectra) {
        curves.push_back(make_curve(plot, spectrum, curves.size()));
        curves.back().is_points = !plot.theory.empty();
        curves.back().is_noisy = plot.theory.empty() && is_noisy(curves.back().values);
    }
    for (const Spectrum& theory : plot.theory) {
        const auto same =
            std::find_if(plot.spectra.begin(), plot.spectra.end(),
                         [&](const Spectrum& spectrum) { return spectrum.name == theory.name; });
        const auto color = same - plot.spectra.begin();  // of its own where the name is new
        curves.push_back(make_curve(plot, theory, static_cast<std::size_t>(color)));
        curves.back().is_theory = true;
        curves.back().color = darkened(curves.back().color);  // to be seen on its points
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

bool has_negative(const Curve& curve) {
    return std::any_of(curve.values.begin(), curve.values.end(), [](double value) { return value < 0; });
}

bool wants_log(const std::vector<Curve>& curves) {
    double least = 0, most = 0;
    bool is_steep = false;
    for (const Curve& curve : curves) {
        const Range range = magnitudes(curve);
        if (range.maximum == 0) continue;
        least = least == 0 ? range.maximum : std::min(least, range.maximum);
        most = std::max(most, range.maximum);
        is_steep |= !has_negative(curve) && range.maximum > 1e4 * range.minimum;
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
        const double low =
            logs[static_cast<std::size_t>((has_negative(curve) ? 0.03 : 0.005) * (logs.size() - 1))];
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
        throw InvalidArgument("spectra", "no finite value other than zero to draw");
    if (plot.minimum) range.minimum = *plot.minimum;
    if (plot.maximum) range.maximum = *plot.maximum;
    if (is_log && range.minimum <= 0)
        throw InvalidArgument("range", fmt::format("{} to {}", range.minimum, range.maximum),
                              "must lie above 0 on a logarithmic axis");
    if (!(range.minimum < range.maximum))
        throw InvalidArgument("range", fmt::format("{} to {}", range.minimum, range.maximum),
                              "the first must be below the second");
    return {range, is_log};
}

std::string y_label(const SpectrumPlot& plot, int exponent) {
    std::string label = plot.times_l2 ? "ℓ(ℓ+1)C_{ℓ} / 2π" : "C_{ℓ}";
    std::string unit = pretty_unit(plot.unit);
    if (exponent != 0) unit = format_power_of_ten(exponent) + (unit.empty() ? "" : " " + unit);
    return unit.empty() ? label : label + "  [" + unit + "]";
}

enum class Part { all, positive, negative };

/// On a log axis the negative part is drawn apart, as |value| and dashed.
void draw_part(const Canvas& canvas, const AxesFrame& frame, const Curve& curve, Part part) {
    const double sign = part == Part::negative ? -1 : 1;
    bool pen_down = false;
    cairo_new_path(canvas.cairo());
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
        const double value = sign * curve.values[k];
        const bool is_drawn = std::isfinite(value) && (part == Part::all || value > 0);
        if (is_drawn) {
            const Point point = frame.to_pixel(curve.l(k), value);
            if (pen_down)
                cairo_line_to(canvas.cairo(), point.x, point.y);
            else
                cairo_move_to(canvas.cairo(), point.x, point.y);
        }
        pen_down = is_drawn;
    }
    set_dashes(canvas, part == Part::negative);
    canvas.set_color(curve.color, curve.is_noisy ? 0.6 : 1);
    canvas.stroke(curve.is_noisy ? 0.7 : curve.is_theory ? 0.9 : 1.3);
    set_dashes(canvas, false);
}

/// On a log axis negative values are hollow points at |value|.
void draw_points(const Canvas& canvas, const AxesFrame& frame, const Curve& curve) {
    constexpr double radius = 1.1;  // pt
    canvas.set_color(curve.color, 0.45);
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
        const double value = frame.y().is_log() ? std::abs(curve.values[k]) : curve.values[k];
        if (!std::isfinite(value) || (frame.y().is_log() && value == 0)) continue;
        const bool hollow = frame.y().is_log() && curve.values[k] < 0;
        draw_marker(canvas, frame.to_pixel(curve.l(k), value), radius,
                    hollow ? Stroke::hollow_points : Stroke::points);
    }
}

/// Points and estimates first, so that theory stays visible on them.
void draw_curves(const Canvas& canvas, const AxesFrame& frame, const std::vector<Curve>& curves) {
    cairo_save(canvas.cairo());
    frame.clip();
    for (const Curve& curve : curves)
        if (curve.is_points) draw_points(canvas, frame, curve);
    for (const bool noisy : {true, false})
        for (const Curve& curve : curves) {
            if (curve.is_points || curve.is_noisy != noisy) continue;
            draw_part(canvas, frame, curve, frame.y().is_log() ? Part::positive : Part::all);
            if (frame.y().is_log()) draw_part(canvas, frame, curve, Part::negative);
        }
    cairo_restore(canvas.cairo());
}

std::vector<Point> drawn_points(const AxesFrame& frame, const std::vector<Curve>& curves) {
    std::vector<Point> points;
    for (const Curve& curve : curves)
        for (std::size_t k = 0; k < curve.values.size(); ++k) {
            const double value = frame.y().is_log() ? std::abs(curve.values[k]) : curve.values[k];
            if (std::isfinite(value) && (value > 0 || !frame.y().is_log()))
                points.push_back(frame.to_pixel(curve.l(k), value));
        }
    return points;
}

std::vector<LegendEntry> legend_entries(const std::vector<Curve>& curves, bool is_log) {
    std::vector<LegendEntry> entries;
    constexpr Rgb grey{90, 90, 90};
    LegendEntry negative{"negative", {}};  // samples of the kinds of curves that have such values
    for (const Curve& curve : curves) {
        auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const LegendEntry& known) { return known.name == curve.name; });
        if (entry == entries.end()) entry = entries.insert(entries.end(), {curve.name, {}});
        entry->samples.push_back({curve.is_points ? Stroke::points : Stroke::line, curve.color});
        const Stroke stroke = curve.is_points ? Stroke::hollow_points : Stroke::dashes;
        const bool is_new =
            std::none_of(negative.samples.begin(), negative.samples.end(),
                         [&](const LegendEntry::Sample& sample) { return sample.stroke == stroke; });
        if (has_negative(curve) && is_new) negative.samples.push_back({stroke, grey});
    }
    if (is_log && !negative.samples.empty()) entries.push_back(negative);
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
    const auto entries = legend_entries(curves, y.is_log());
    const AxesFrame wide(canvas, x, y, !plot.title.empty());
    LegendPlace legend = best_corner(canvas, wide.area(), entries, drawn_points(wide, curves));
    // Beside the axes where it would hide data, unless that leaves too little of the picture.
    const bool beside = legend.covered > 0 && legend.box.width < 0.3 * canvas.width();
    const double strip = beside ? legend.box.width : 0;
    const AxesFrame frame(canvas, {0, 0, canvas.width() - strip, double(canvas.height())}, x, y,
                          !plot.title.empty());
    if (beside)
        legend.box = {canvas.width() - strip - canvas.pt(6), frame.area().y, strip, legend.box.height};
    frame.draw_grid();
    draw_curves(canvas, frame, curves);
    frame.draw_box_and_labels("Multipole ℓ", y_label(plot, frame.y_exponent()), plot.title);
    draw_legend(canvas, legend.box, entries);
    return canvas.image();
}

}  // namespace zonal::plot
