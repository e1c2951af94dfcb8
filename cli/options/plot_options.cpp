#include "options/plot_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

void declare_map_options(CLI::App& app, PlotOptions& options) {
    const OptionGroup group(app, "Maps");
    group.text("--projection", options.projection, "mollweide|gnomonic",
               "full sky, or a square around the centre", "mollweide");
    group.list("--centre", options.centre, "LON,LAT",
               "point in the middle, in the map's coordinates: -30deg,10deg", "0deg,0deg");
    group.angle("--size", options.size, "side of a gnomonic map, at most 150deg", "10deg");
    group.text("--scale", options.scale, "linear|log|symlog|equalised", "how values become colours",
               "linear");
    group.text("--cmap", options.colormap, "NAME",
               fmt::format("colour map: {}; _r reverses", fmt::join(plot::colormap_names(), ", ")),
               "coolwarm where the range is symmetric about 0, else viridis");
    group.flag("--no-colorbar", options.no_colorbar, "leave the colour bar out");
    group.flag("--no-graticule", options.no_graticule, "leave the lines of longitude and latitude out");
}

void declare_spectrum_options(CLI::App& app, PlotOptions& options) {
    const OptionGroup group(app, "Spectra");
    group.integer("--lmin", options.lmin, {0, max_lmax}, "first degree drawn", "2");
    group.integer("--lmax", options.lmax, {1, max_lmax}, "last degree drawn", "the file's");
    group.list("--spectra", options.spectra, "NAME,...", "spectra to draw: TT, EE, BB, TE, ...", "all");
    group.text("--theory", options.theory, "FILE",
               "C_l (FITS or text) to draw as lines; the spectra of IN become points");
    group.flag("--theory-dl", options.theory_dl, "the file of --theory holds D_l = l(l+1)C_l/2pi")
        ->needs("--theory");
    group.flag("--cl", options.plain_cl, "draw C_l instead of l(l+1)C_l/2pi");
    group.flag("--log-x", options.log_x, "logarithmic l axis");
    group.flag("--dl", options.spectrum.dl, "the file holds D_l = l(l+1)C_l/2pi");
    group.choice("--cl-order", options.spectrum.order, cl_orders,
                 "which spectra the columns C-T and C-G hold: TB and EB (f90) or EB and TB (healpy)", "auto");
}

std::string first_given(const CLI::App& app, const std::string& group) {
    for (const auto* option : app.get_options())
        if (option->get_group() == group && option->count() > 0 && option->get_name() != "--hdu")
            return option->get_name();
    return "";
}

}  // namespace

std::string first_for_maps(const PlotOptions& options) {
    const auto first = first_given(*options.app, "Maps");
    return first.empty() ? first_given(*options.app, "Input") : first;
}

std::string first_for_spectra(const PlotOptions& options) {
    return first_given(*options.app, "Spectra");
}

void declare(CLI::App& app, PlotOptions& options) {
    options.app = &app;
    add_argument(app, "IN", options.in, "map (its first chosen column is drawn) or spectra, FITS or text");
    add_argument(app, "OUT", options.out, "PNG file to write");
    const OptionGroup group(app, "Picture");
    group.list("--range", options.range, "MIN,MAX",
               "ends of the colour scale, or of the spectra's vertical axis", "from the values");
    group.flag("--log", options.log, "logarithmic values; of maps the same as --scale log");
    group.text("--title", options.title, "TEXT", "text above the picture",
               "names of the file and the column");
    group.flag("--no-title", options.no_title, "leave the title out")->excludes("--title");
    group.text("--unit", options.unit, "TEXT", "unit at the colour bar or axis", "the file's");
    group.integer("--width", options.width, {200, 16384}, "width in pixels", "1600, gnomonic 1100");
    group.flag("--transparent", options.transparent, "leave the background transparent instead of white");
    declare_map_options(app, options);
    declare_spectrum_options(app, options);
    add_map_input(app, options.input);
    add_output_options(app, options.output);
}

std::optional<plot::Range> parse_range(const PlotOptions& options) {
    if (options.range.empty()) return std::nullopt;
    if (options.range.size() != 2)
        throw UsageError(
            fmt::format("--range = {}: must be two numbers, MIN,MAX", fmt::join(options.range, ",")));
    constexpr double any = std::numeric_limits<double>::infinity();
    const plot::Range range{parse_number("--range MIN", options.range[0], -any, any),
                            parse_number("--range MAX", options.range[1], -any, any)};
    if (!(range.minimum < range.maximum))
        throw UsageError(fmt::format("--range = {}: MIN must be below MAX", fmt::join(options.range, ",")));
    return range;
}

}  // namespace zonal::cli
