#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "commands/recipe.hpp"
#include "options/plot_options.hpp"
#include "plot/markup.hpp"
#include "plot/plot.hpp"
#include "zonal/angle.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/mask.hpp"

namespace zonal::cli {
namespace {

/// What pictures of both kinds have.
template <class Plot>
void set_picture(const PlotOptions& options, Plot& plot) {
    if (const auto range = parse_range(options)) {
        plot.minimum = range->minimum;
        plot.maximum = range->maximum;
    }
    plot.image.width = static_cast<int>(options.width);
    plot.image.transparent = options.transparent;
}

plot::MapPlot map_plot(const PlotOptions& options) {
    plot::MapPlot plot;
    plot.projection = plot::projection_from_name(options.projection);
    plot.scale = plot::scale_from_name(options.log ? "log" : options.scale);
    if (options.log && options.scale != "linear" && options.scale != "log")
        throw UsageError(fmt::format("--log and --scale {} exclude each other", options.scale));
    if (!options.centre.empty()) {
        if (options.centre.size() != 2) throw UsageError("--centre: must be LON,LAT, such as 120deg,-30deg");
        plot.centre_lon = radians_to_degrees(parse_signed_angle("--centre LON", options.centre[0]).radians);
        plot.centre_lat = radians_to_degrees(parse_signed_angle("--centre LAT", options.centre[1]).radians);
    }
    if (options.size) plot.field = radians_to_degrees(options.size->radians);
    if (options.size && plot.projection != plot::Projection::gnomonic)
        throw UsageError("--size: only with --projection gnomonic");
    set_picture(options, plot);
    plot.colormap = options.colormap;
    plot.colorbar = !options.no_colorbar;
    plot.graticule = !options.no_graticule;
    return plot;
}

plot::SkyFunction sky_function(const SkyMap& map) {
    const auto row = map.rows()[0];
    return [&map, row](double theta, double phi) {
        const auto pixel =
            map.nside() > 0 ? healpix::ang2pix(map.nside(), healpix::Order::ring, healpix::Angles{theta, phi})
                            : nearest_pixel(map.whole_grid(), theta, phi);
        const auto place = map.place(pixel);
        return place < 0 ? unseen_value : row[place];
    };
}

/// The name of a file without its folder.
std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

/// --title, or what the program knows.
std::string title(const PlotOptions& options, const std::string& known) {
    return options.no_title ? "" : options.title.empty() ? known : options.title;
}

plot::Image draw_map(const PlotOptions& options, plot::MapPlot plot, Session& session) {
    auto input = options.input;
    input.polarized = input.polarized.value_or(false);  // one column is drawn as it stands, Q alone too
    if (input.fields.empty()) input.fields = {"0"};
    const auto map = read_sky_map(options.in, input, session, Columns::fields, Extent::own_pixels);
    const auto& header = map.header();
    plot.value = sky_function(map);
    plot.unit = options.unit.empty() ? header.columns[0].unit : options.unit;
    if (header.coordinates != io::CoordinateSystem::unknown) {
        plot.coordinates = to_string(header.coordinates);
        plot.coordinates[0] = static_cast<char>(std::toupper(plot.coordinates[0]));
    }
    const auto& column = header.columns[0].name;
    plot.title = title(options, file_name(options.in) + (column.empty() ? "" : ": " + column));
    session.report["column"] = column;
    session.report["coordinates"] = to_string(header.coordinates);
    return with_error<UsageError>([&] { return plot::draw_map(plot); }, options.in + ": ");
}

/// The spectra of --spectra, in that order. Throws UsageError for one that is not there.
std::vector<plot::Spectrum> chosen_spectra(const PlotOptions& options, const io::SpectrumFile& file) {
    std::vector<plot::Spectrum> chosen;
    std::vector<std::string> names;
    for (const auto& spectrum : file.spectra) names.push_back(spectrum.name);
    for (const auto& name : options.spectra.empty() ? names : options.spectra) {
        const auto* found = file.find(name);
        if (found == nullptr)
            throw UsageError(fmt::format("--spectra = {}: {} has {}", printable(name), options.in,
                                         fmt::join(names, ", ")));
        chosen.push_back({found->name, found->values});
    }
    return chosen;
}

/// The spectra of --theory that have a counterpart in the plot. Throws where there is none, or the units
/// differ.
std::vector<plot::Spectrum> read_theory(const PlotOptions& options, const plot::SpectrumPlot& plot,
                                        Session& session) {
    auto choice = options.spectrum;
    choice.dl = options.theory_dl;
    const auto file = io::read_spectrum(options.theory, choice);
    session.note(file.notes);
    std::vector<plot::Spectrum> theory;
    for (const auto& spectrum : plot.spectra) {
        const auto* found = file.find(spectrum.name);
        if (found == nullptr) continue;
        theory.push_back({found->name, found->values});
        const bool known = options.unit.empty() && !found->unit.empty() && !plot.unit.empty();
        if (known && plot::pretty_unit(found->unit) != plot::pretty_unit(plot.unit))
            throw UsageError(fmt::format(
                "--theory {}: the unit is '{}', that of {} is '{}'; --unit says that they are one",
                options.theory, found->unit, options.in, plot.unit));
    }
    if (theory.empty())
        throw UsageError(fmt::format("--theory {}: has no spectrum that is drawn", options.theory));
    return theory;
}

plot::Image draw_spectrum(const PlotOptions& options, Session& session) {
    auto choice = options.spectrum;
    choice.hdu = options.input.hdu;
    const auto file = io::read_spectrum(options.in, choice);
    session.note(file.notes);
    plot::SpectrumPlot plot;
    plot.spectra = chosen_spectra(options, file);
    plot.unit = !options.unit.empty() ? options.unit : file.spectra.empty() ? "" : file.spectra[0].unit;
    plot.title = title(options, file_name(options.in));
    if (!options.theory.empty()) {
        plot.theory = read_theory(options, plot, session);
        plot.title = title(options, fmt::format("{} (points), {} (lines)", file_name(options.in),
                                                file_name(options.theory)));
    }
    plot.times_l2 = !options.plain_cl;
    plot.lmin = static_cast<int>(options.lmin);
    plot.lmax = static_cast<int>(options.lmax);
    plot.x = options.log_x ? plot::Axis::log : plot::Axis::linear;
    if (options.log) plot.y = plot::Axis::log;
    set_picture(options, plot);
    return with_error<UsageError>([&] { return plot::draw_spectrum(plot); }, options.in + ": ");
}

void run(PlotOptions& options, Session& session) {
    const auto plot = map_plot(options);
    options.output.require_writable(options.out, OutputFormat::png);
    const auto summary = io::inspect(options.in);
    const auto kind = summary.kind;
    if (kind != io::FileKind::map && kind != io::FileKind::spectrum)
        throw IoError(summary.notes.empty()
                          ? fmt::format("{}: holds neither a map nor spectra", options.in)
                          : fmt::format("neither a map nor spectra: {}", summary.notes.front()));
    const bool is_map = kind == io::FileKind::map;
    if (const auto& option = is_map ? first_for_spectra(options) : first_for_maps(options); !option.empty())
        throw UsageError(fmt::format("{}: {} holds {}", option, options.in, is_map ? "a map" : "spectra"));
    const auto image = is_map ? draw_map(options, plot, session) : draw_spectrum(options, session);
    stop_if_interrupted();
    image.write_png(options.out);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    session.report["kind"] = is_map ? "map" : "spectrum";
    if (!options.theory.empty()) session.report["theory"] = options.theory;
    session.report["width"] = image.width();
    session.report["height"] = image.height();
}

}  // namespace

void add_plot(CLI::App& root, Session& session, Action& action) {
    add_command<PlotOptions>(
        root, session, action, "plot",
        "Draws a map or power spectra as a PNG picture. Longitude grows leftwards; UNSEEN is grey.",
        "zonal plot map.fits map.png --range -300,300 --title 'W band'", declare, run);
}

}  // namespace zonal::cli
