#include "commands/smooth/smooth_beam.hpp"

#include <utility>

#include "commands/recipe.hpp"
#include "commands/smooth/smooth_report.hpp"
#include "options/analysis_options.hpp"
#include "zonal/angle.hpp"
#include "zonal/beams/smoothing.hpp"
#include "zonal/io/inspect.hpp"

namespace zonal::cli {
namespace {

void check_beam_options(const SmoothOptions& options) {
    if (options.beam_alm.file.empty()) throw UsageError("--kmax: only with --beam-alm");
    const auto reject = [](bool given, const std::string& names) {
        if (given)
            throw UsageError(fmt::format(
                "{}: not with --beam-alm, which goes through alm as --method harmonic does", names));
    };
    reject(options.fwhm || options.fwhm_in || !options.beam.empty() || !options.beam_in.empty() ||
               !options.pixel_window_in.empty() || !options.pixel_window_out.empty() || options.floor > 0 ||
               options.extension != Extension::none,
           "--fwhm, --beam and other options of windows");
    reject(options.kernel.given(), "--method, --error, --profile and other options of kernels");
    reject(options.nside_out.has_value(), "--nside-out");
    reject(options.mask.mode == MaskMode::renormalize || options.mask.threshold > 0,
           "--mask-mode renormalize and --mask-threshold");
    options.analysis.iteration_count();
}

}  // namespace

void smooth_with_beam_alm(SmoothOptions& options, Session& session) {
    check_beam_options(options);
    require_one_process(session, true, "--beam-alm", "each pixel of its result needs all alm");
    options.output.require_writable(options.out);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    options.run.resolve(session);
    if (io::inspect(options.in).kind == io::FileKind::alm)
        throw UsageError(fmt::format("--beam-alm: {} holds alm: must be a map, on whose pixels the result is",
                                     options.in));
    auto map = read_sky_map(options.in, options.input, session);
    const auto lmax = options.analysis.lmax_for(map);
    const auto beam = read_beam_alm(options.beam_alm, lmax, session);
    const double psi = options.psi ? options.psi->radians : 0;
    const auto mask = read_mask(options.mask, map, session);
    check_known(options.mask, map, mask.view(), session);
    const MapAnalysis analysis(options.analysis, map, options.run, "smooth", session);
    BeamSmoothingOptions how{analysis, options.mask.fill_masked};
    how.analysis.lmax = lmax;
    how.analysis.mask = mask.view();
    how.analysis.mask_mode = options.mask.mode;
    const auto pixels = static_cast<double>(map.rows().size());
    session.require_memory(
        // What is known, a map of two components and one of the signal; alm of the sky and of a plane.
        bytes_of_analysis(map, how.analysis) +
            8.0 * (pixels + 3 * static_cast<double>(map.rows().extent(1))) +
            16.0 * static_cast<double>(map.rows().extent(0) + 2) *
                static_cast<double>(AlmLayout(lmax).size()),
        fmt::format("smoothing {} with a beam up to lmax = {}", options.in, lmax));
    auto smoothed = with_error<UsageError>(
        [&] {
            return smooth_with_beam(
                std::move(map), {beam.layout, beam.alm.view(), psi, options.beam_alm.kmax.value_or(-1)}, how);
        },
        fmt::format("--beam-alm {}: ", options.beam_alm.file));
    stop_if_interrupted();
    session.report["lmax"] = smoothed.lmax;
    session.report["kmax"] = smoothed.kmax;
    session.report["left_out"] = smoothed.left_out;
    report_analysis(smoothed.analysis.analysis, options.analysis, session);
    auto& header = smoothed.map.header();
    for (auto& column : header.columns) column.precision = options.precision.value_or(column.precision);
    auto cards = option_cards(options, session);
    set_cards(cards,
              {{"MAX-LPOL", smoothed.lmax, "highest degree l"},
               {"MAX-KPOL", smoothed.kmax, "highest order of the beam"},
               {"BEAMPSI", radians_to_degrees(psi), "[deg] of the beam's x axis, from south to east"}});
    set_cards(header.cards, cards);
    io::write_sky_map(options.out, smoothed.map, options.output.write_options());
    session.report["map"] = describe(header);
}

}  // namespace zonal::cli
