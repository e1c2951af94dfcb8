#include "options/plot_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

Names names(const std::vector<std::string>& texts) {
    Names pairs;
    pairs.reserve(texts.size());
    for (const auto& text : texts) pairs.emplace_back(text, text);
    return pairs;
}

void declare_map_options(CLI::App& app, PlotOptions& options) {
    const OptionGroup group(app, "Maps");
    group.choice(
        "--projection", options.projection,
        names({"mollweide", "gnomonic", "cartesian", "orthographic", "azimuthal"}),
        "full sky, straight great circles, longitude against latitude, globe, or disc of equal areas",
        "mollweide");
    group.list("--centre", options.centre, "LON,LAT",
               "point in the middle, in the map's coordinates: -30deg,10deg", "0deg,0deg");
    group.angle("--size", options.size,
                "side of a gnomonic or cartesian map, or diameter of an azimuthal one",
                "10deg of a gnomonic one, else all of the sky");
    group.choice("--scale", options.scale, names({"linear", "log", "symlog", "asinh", "hist"}),
                 "how values become colours; hist gives each colour the same area", "linear");
    group.text(
        "--cmap", options.colormap, "NAME",
        "planck, planck_log, wmap, or a colour map of matplotlib, such as viridis or magma; _r reverses",
        "coolwarm where the range is symmetric about 0, else viridis");
    group.flag("--polarization", options.polarization,
               "draw lines along the polarisation of the map's Q and U");
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

/// "MIN,MAX" of --range.
std::pair<double, double> parse_range(const std::vector<std::string>& range) {
    if (range.size() != 2)
        throw UsageError(fmt::format("--range = {}: must be two numbers, MIN,MAX", fmt::join(range, ",")));
    constexpr double any = std::numeric_limits<double>::infinity();
    const auto minimum = parse_number("--range MIN", range[0], -any, any);
    const auto maximum = parse_number("--range MAX", range[1], -any, any);
    if (!(minimum < maximum))
        throw UsageError(fmt::format("--range = {}: MIN must be below MAX", fmt::join(range, ",")));
    return {minimum, maximum};
}

/// The bytes of a path, which need not be the UTF-8 that JSON asks for.
Json bytes_of(const std::string& path) {
    return std::vector<unsigned char>(path.begin(), path.end());
}

/// What pictures of both kinds have.
void set_picture(const PlotOptions& options, Json& json) {
    if (!options.range.empty()) {
        const auto [minimum, maximum] = parse_range(options.range);
        json["range"] = {minimum, maximum};
    }
    if (options.no_title || !options.title.empty()) json["title"] = options.title;
    json["unit"] = options.unit;
    json["width"] = options.width;
    json["inches"] = options.inches;
    json["transparent"] = options.transparent;
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

std::string first_not_for_bands(const PlotOptions& options) {
    if (auto first = first_for_maps(options); !first.empty()) return first;
    for (const char* name : {"--hdu", "--lmin", "--lmax", "--cl", "--dl", "--log", "--unit"})
        if (options.app->get_option(name)->count() > 0) return name;
    return "";
}

void declare(CLI::App& app, PlotOptions& options) {
    options.app = &app;
    add_argument(app, "IN", options.in,
                 "map (its first chosen column is drawn), spectra (FITS or text) or band powers");
    add_argument(app, "OUT", options.out, "picture to write: .png, .pdf or .svg");
    const OptionGroup group(app, "Picture");
    group.list("--range", options.range, "MIN,MAX",
               "ends of the colour scale, or of the spectra's vertical axis", "from the values");
    group.flag("--log", options.log, "logarithmic values; of maps the same as --scale log");
    group.text("--title", options.title, "TEXT", "text above the picture",
               "names of the file and the column");
    group.flag("--no-title", options.no_title, "leave the title out")->excludes("--title");
    group.text("--unit", options.unit, "TEXT", "unit at the colour bar or axis", "the file's");
    group.number("--inches", options.inches, {1, 100},
                 "width on paper, where text has 10 points; a column of a journal has 3.4",
                 "8, of a square sky 5.5");
    group.integer("--width", options.width, {200, 16384}, "width in pixels", "200 for each inch");
    group.flag("--transparent", options.transparent, "leave the background transparent instead of white");
    declare_map_options(app, options);
    declare_spectrum_options(app, options);
    add_map_input(app, options.input);
    add_output_options(app, options.output);
}

Json map_request(const PlotOptions& options) {
    if (options.log && options.scale != "linear" && options.scale != "log")
        throw UsageError(fmt::format("--log and --scale {} exclude each other", options.scale));
    if (options.size && (options.projection == "mollweide" || options.projection == "orthographic"))
        throw UsageError(
            fmt::format("--size: not with --projection {}, which shows all it can", options.projection));
    Json json = {{"draw", "map"},
                 {"in", bytes_of(options.in)},
                 {"projection", options.projection},
                 {"norm", options.log ? "log" : options.scale},
                 {"cmap", options.colormap},
                 {"colorbar", !options.no_colorbar},
                 {"graticule", !options.no_graticule},
                 {"polarization", options.polarization}};
    if (!options.centre.empty()) {
        if (options.centre.size() != 2) throw UsageError("--centre: must be LON,LAT, such as 120deg,-30deg");
        json["centre"] = {parse_signed_angle("--centre LON", options.centre[0]).radians,
                          parse_signed_angle("--centre LAT", options.centre[1]).radians};
    }
    if (options.size) json["size"] = options.size->radians;
    const auto& input = options.input;
    auto& read = json["read"];
    read = {{"fields", input.fields}, {"hdu", input.hdu}, {"nan_is_unseen", input.nan_is_unseen}};
    if (input.polarized) read["pol"] = *input.polarized;
    if (input.ordering_if_absent) read["nest_if_absent"] = *input.ordering_if_absent == healpix::Order::nest;
    if (input.multi_order_nside) read["multi_order_nside"] = *input.multi_order_nside;
    set_picture(options, json);
    return json;
}

Json spectra_request(const PlotOptions& options) {
    const auto order = std::find_if(cl_orders.begin(), cl_orders.end(), [&](const auto& named) {
        return named.second == options.spectrum.order;
    });
    Json json = {{"draw", "spectra"},
                 {"in", bytes_of(options.in)},
                 {"read", {{"hdu", options.input.hdu}, {"dl", options.spectrum.dl}}},
                 {"order", order->first},
                 {"names", options.spectra},
                 {"theory", bytes_of(options.theory)},
                 {"theory_dl", options.theory_dl},
                 {"lmin", options.lmin},
                 {"lmax", options.lmax},
                 {"dl", !options.plain_cl},
                 {"log_x", options.log_x},
                 {"log_y", options.log}};
    set_picture(options, json);
    return json;
}

}  // namespace zonal::cli
