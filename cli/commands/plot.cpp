#include <fmt/format.h>

#include "commands/recipe.hpp"
#include "engine/picture.hpp"
#include "options/plot_options.hpp"
#include "zonal/io/inspect.hpp"

namespace zonal::cli {
namespace {

/// What the file holds. Throws IoError for what cannot be drawn.
io::FileKind drawn_kind(const std::string& path) {
    const auto summary = io::inspect(path);
    const auto kind = summary.kind;
    if (kind == io::FileKind::map || kind == io::FileKind::spectrum || kind == io::FileKind::bands)
        return kind;
    throw IoError(summary.notes.empty()
                      ? fmt::format("{}: holds neither a map nor spectra nor band powers", path)
                      : fmt::format("neither a map nor spectra nor band powers: {}", summary.notes.front()));
}

/// Throws UsageError for an option that such a file does not take.
void require_fitting(const PlotOptions& options, io::FileKind kind) {
    const bool is_map = kind == io::FileKind::map, is_bands = kind == io::FileKind::bands;
    const auto option = is_map     ? first_for_spectra(options)
                        : is_bands ? first_not_for_bands(options)
                                   : first_for_maps(options);
    if (!option.empty())
        throw UsageError(fmt::format("{}: {} holds {}", option, options.in,
                                     is_map     ? "a map"
                                     : is_bands ? "band powers"
                                                : "spectra"));
}

void run(PlotOptions& options, Session& session) {
    auto map = map_request(options);
    options.output.require_writable(options.out, OutputFormat::picture);
    const auto kind = drawn_kind(options.in);
    require_fitting(options, kind);
    auto& report = session.report;
    report["input"] = options.in;
    report["output"] = options.out;
    report["kind"] = to_string(kind);
    if (!options.theory.empty()) report["theory"] = options.theory;
    auto json = kind == io::FileKind::map ? std::move(map) : spectra_request(options);
    if (kind == io::FileKind::bands) json["draw"] = "bands";
    report.update(draw_picture(options.out, {std::move(json)}, options.output, session));
}

}  // namespace

void add_plot(CLI::App& root, Session& session, Action& action) {
    add_command<PlotOptions>(
        root, session, action, "plot",
        "Draws a map, power spectra or band powers as PNG, PDF or SVG, by the Python package zonal and "
        "matplotlib "
        "(pip install 'zonal[plot]'): by the python3 beside this program or else in PATH, or by "
        "ZONAL_PYTHON. "
        "Longitude grows leftwards; UNSEEN is grey.",
        "zonal plot map.fits map.png --range -300,300 --title 'W band'", declare, run);
}

}  // namespace zonal::cli
