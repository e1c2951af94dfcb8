#include "options/plot_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

void declare_map_options(CLI::App& app, PlotOptions& options) {
    const auto group = "Maps";
    add_text(app, "--projection", options.projection, "mollweide|gnomonic",
             "full sky, or a square around the centre")
        ->default_str("mollweide")
        ->group(group);
    add_list(app, "--centre", options.centre, "LON,LAT",
             "point in the middle, in the map's coordinates: -30deg,10deg")
        ->default_str("0deg,0deg")
        ->group(group);
    add_angle(app, "--size", options.size, "side of a gnomonic map, at most 150deg")
        ->default_str("10deg")
        ->group(group);
    add_text(app, "--scale", options.scale, "linear|log|symlog|equalised", "how values become colours")
        ->default_str("linear")
        ->group(group);
    add_text(app, "--cmap", options.colormap, "NAME",
             fmt::format("colour map: {}; _r reverses", fmt::join(plot::colormap_names(), ", ")))
        ->default_str("coolwarm where the range is symmetric about 0, else viridis")
        ->group(group);
    app.add_flag("--no-colorbar", options.no_colorbar, "leave the colour bar out")->group(group);
    app.add_flag("--no-graticule", options.no_graticule, "leave the lines of longitude and latitude out")
        ->group(group);
}

void declare_spectrum_options(CLI::App& app, PlotOptions& options) {
    const auto group = "Spectra";
    add_integer(app, "--lmin", options.lmin, {0, max_lmax}, "first degree drawn")
        ->default_str("2")
        ->group(group);
    add_integer(app, "--lmax", options.lmax, {1, max_lmax}, "last degree drawn")
        ->default_str("the file's")
        ->group(group);
    add_list(app, "--spectra", options.spectra, "NAME,...", "spectra to draw: TT, EE, BB, TE, ...")
        ->default_str("all")
        ->group(group);
    add_text(app, "--theory", options.theory, "FILE",
             "C_l (FITS or text) to draw as lines; the spectra of IN become points")
        ->group(group);
    app.add_flag("--theory-dl", options.theory_dl, "the file of --theory holds D_l = l(l+1)C_l/2pi")
        ->needs("--theory")
        ->group(group);
    app.add_flag("--cl", options.plain_cl, "draw C_l instead of l(l+1)C_l/2pi")->group(group);
    app.add_flag("--log-x", options.log_x, "logarithmic l axis")->group(group);
    app.add_flag("--dl", options.spectrum.dl, "the file holds D_l = l(l+1)C_l/2pi")->group(group);
    add_choice<io::ClOrder>(
        app, "--cl-order", options.spectrum.order,
        {{"auto", io::ClOrder::automatic}, {"f90", io::ClOrder::f90}, {"healpy", io::ClOrder::healpy}},
        "which spectra the columns C-T and C-G hold: TB and EB (f90) or EB and TB (healpy)")
        ->default_str("auto")
        ->group(group);
}

std::string first_given(const CLI::App& app, const std::string& group) {
    for (const auto* option : app.get_options())
        if (option->get_group() == group && option->count() > 0 && option->get_name() != "--hdu")
            return option->get_name();
    return "";
}

}  // namespace

void note_given(const CLI::App& app, PlotOptions& options) {
    options.for_maps = first_given(app, "Maps");
    if (options.for_maps.empty()) options.for_maps = first_given(app, "Input");
    options.for_spectra = first_given(app, "Spectra");
}

void declare_options(CLI::App& app, PlotOptions& options) {
    add_argument(app, "IN", options.in, "map (its first chosen column is drawn) or spectra, FITS or text");
    add_argument(app, "OUT", options.out, "PNG file to write");
    const auto group = "Picture";
    add_list(app, "--range", options.range, "MIN,MAX",
             "ends of the colour scale, or of the spectra's vertical axis")
        ->default_str("from the values")
        ->group(group);
    app.add_flag("--log", options.log, "logarithmic values; of maps the same as --scale log")->group(group);
    add_text(app, "--title", options.title, "TEXT", "text above the picture")
        ->default_str("names of the file and the column")
        ->group(group);
    app.add_flag("--no-title", options.no_title, "leave the title out")->excludes("--title")->group(group);
    add_text(app, "--unit", options.unit, "TEXT", "unit at the colour bar or axis")
        ->default_str("the file's")
        ->group(group);
    add_integer(app, "--width", options.width, {200, 16384}, "width in pixels")
        ->default_str("1600, gnomonic 1100")
        ->group(group);
    app.add_flag("--transparent", options.transparent, "leave the background transparent instead of white")
        ->group(group);
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
