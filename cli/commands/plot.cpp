#include <fmt/format.h>

#include "commands/recipe.hpp"
#include "engine/picture.hpp"
#include "options/plot_options.hpp"
#include "zonal/io/inspect.hpp"

namespace zonal::cli {
namespace {

void run(PlotOptions& options, Session& session) {
    auto map = map_request(options);
    options.output.require_writable(options.out, OutputFormat::picture);
    const auto summary = io::inspect(options.in);
    const auto kind = summary.kind;
    if (kind != io::FileKind::map && kind != io::FileKind::spectrum)
        throw IoError(summary.notes.empty()
                          ? fmt::format("{}: holds neither a map nor spectra", options.in)
                          : fmt::format("neither a map nor spectra: {}", summary.notes.front()));
    const bool is_map = kind == io::FileKind::map;
    if (const auto& option = is_map ? first_for_spectra(options) : first_for_maps(options); !option.empty())
        throw UsageError(fmt::format("{}: {} holds {}", option, options.in, is_map ? "a map" : "spectra"));
    auto& report = session.report;
    report["input"] = options.in;
    report["output"] = options.out;
    report["kind"] = is_map ? "map" : "spectrum";
    if (!options.theory.empty()) report["theory"] = options.theory;
    report.update(draw_picture(options.out, {is_map ? std::move(map) : spectra_request(options)},
                               options.output, session));
}

}  // namespace

void add_plot(CLI::App& root, Session& session, Action& action) {
    add_command<PlotOptions>(
        root, session, action, "plot",
        "Draws a map or power spectra as PNG, PDF or SVG, by the Python package zonal and matplotlib "
        "(pip install 'zonal[plot]'): by the python3 beside this program or else in PATH, or by "
        "ZONAL_PYTHON. "
        "Longitude grows leftwards; UNSEEN is grey.",
        "zonal plot map.fits map.png --range -300,300 --title 'W band'", declare, run);
}

}  // namespace zonal::cli
