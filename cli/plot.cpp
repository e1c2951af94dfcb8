#include "plot/plot.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <numbers>
#include <span>

#include "error.hpp"
#include "interrupt.hpp"
#include "plot_options.hpp"
#include "sky_coordinates.hpp"
#include "subcommands.hpp"
#include "zonal/io/inspect.hpp"

namespace zonal::cli {
namespace {

constexpr double degrees = 180 / std::numbers::pi;

plot::ImageOptions image_options(const PlotOptions& options) {
    plot::ImageOptions image;
    image.width = static_cast<int>(options.width);
    image.transparent = options.transparent;
    return image;
}

plot::MapPlot map_plot(const PlotOptions& options) {
    plot::MapPlot plot;
    plot.projection = plot::projection_from_name(options.projection);
    plot.scale = plot::scale_from_name(options.log ? "log" : options.scale);
    if (options.log && options.scale != "linear" && options.scale != "log")
        throw UsageError(fmt::format("--log and --scale {} exclude each other", options.scale));
    if (!options.centre.empty()) {
        if (options.centre.size() != 2) throw UsageError("--centre: must be LON,LAT, such as 120deg,-30deg");
        plot.centre_lon = parse_signed_angle("--centre LON", options.centre[0]).radians * degrees;
        plot.centre_lat = parse_signed_angle("--centre LAT", options.centre[1]).radians * degrees;
    }
    if (options.size) plot.field = options.size->radians * degrees;
    if (options.size && plot.projection != plot::Projection::gnomonic)
        throw UsageError("--size: only with --projection gnomonic");
    if (const auto range = parse_range(options)) {
        plot.minimum = range->minimum;
        plot.maximum = range->maximum;
    }
    plot.colormap = options.colormap;
    plot.title = options.title;
    plot.colorbar = !options.no_colorbar;
    plot.graticule = !options.no_graticule;
    plot.image = image_options(options);
    return plot;
}

plot::SkyFunction sky_function(const SkyMap& map) {
    const auto row = map.rows()[0];
    if (map.nside() > 0)
        return plot::healpix_ring(map.nside(), std::span(row.data(), static_cast<std::size_t>(row.size())));
    return [&map, row](double theta, double phi) { return row[nearest_pixel(map.grid(), theta, phi)]; };
}

/// Runs `picture`, whose errors may be of the options or of the values, and get the name of the file.
plot::Image draw(const std::string& path, const std::function<plot::Image()>& picture) {
    try {
        return picture();
    } catch (const InvalidArgument& error) {
        throw UsageError(fmt::format("{}: {}", path, error.what()));
    }
}

plot::Image draw_map(const PlotOptions& options, plot::MapPlot plot, Session& session) {
    auto input = options.input;
    input.polarised = input.polarised.value_or(false);  // one column is drawn as it stands, Q alone too
    if (input.fields.empty()) input.fields = {"0"};
    const SkyMap map(options.in, input, session);
    const auto& header = map.header();
    plot.value = sky_function(map);
    plot.unit = options.unit.empty() ? header.columns[0].unit : options.unit;
    if (header.coordinates != io::CoordinateSystem::unknown) {
        plot.coordinates = io::to_string(header.coordinates);
        plot.coordinates[0] = static_cast<char>(std::toupper(plot.coordinates[0]));
    }
    session.report["column"] = header.columns[0].name;
    return draw(options.in, [&plot] { return plot::draw_map(plot); });
}

plot::Image draw_spectrum(const PlotOptions& options, Session& session) {
    auto choice = options.spectrum;
    choice.hdu = options.input.hdu;
    const auto file = io::read_spectrum(options.in, choice);
    session.note(file.notes);
    plot::SpectrumPlot plot;
    for (const auto& spectrum : file.spectra) plot.spectra.push_back({spectrum.name, spectrum.values});
    plot.unit = !options.unit.empty() ? options.unit : file.spectra.empty() ? "" : file.spectra[0].unit;
    plot.title = options.title;
    plot.times_l2 = !options.plain_cl;
    plot.lmin = static_cast<int>(options.lmin);
    plot.lmax = static_cast<int>(options.lmax);
    plot.x = options.log_x ? plot::Axis::log : plot::Axis::linear;
    if (options.log) plot.y = plot::Axis::log;
    if (const auto range = parse_range(options)) {
        plot.minimum = range->minimum;
        plot.maximum = range->maximum;
    }
    plot.image = image_options(options);
    return draw(options.in, [&plot] { return plot::draw_spectrum(plot); });
}

void run(const PlotOptions& options, Session& session) {
    const auto plot = map_plot(options);
    options.output.require_writable(options.out);
    const auto kind = io::inspect(options.in).kind;
    if (kind != io::FileKind::map && kind != io::FileKind::spectrum)
        throw IoError(fmt::format("{}: holds neither a map nor spectra", options.in));
    const bool is_map = kind == io::FileKind::map;
    if (const auto& option = is_map ? options.for_spectra : options.for_maps; !option.empty())
        throw UsageError(fmt::format("{}: {} holds {}", option, options.in, is_map ? "a map" : "spectra"));
    const auto image = is_map ? draw_map(options, plot, session) : draw_spectrum(options, session);
    stop_if_interrupted();
    image.write_png(options.out);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    session.report["kind"] = is_map ? "map" : "spectrum";
    session.report["width"] = image.width();
    session.report["height"] = image.height();
}

}  // namespace

void add_plot(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "plot",
                       "Draws a map or power spectra as a PNG picture. Longitude grows leftwards; UNSEEN is "
                       "grey.",
                       "zonal plot map.fits map.png --range -300,300 --title 'W band'");
    const auto options = std::make_shared<PlotOptions>();
    declare_options(app, *options);
    app.callback([options, &app, &action] {
        note_given(app, *options);
        action = [options](Session& session) { run(*options, session); };
    });
}

}  // namespace zonal::cli
