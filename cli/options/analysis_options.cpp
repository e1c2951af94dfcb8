#include "options/analysis_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/job_sky.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/io/parts.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal::cli {
namespace {

void report_masked(const MaskedAnalysis& options, const SkyMap& map, const MapAnalysisReport& result,
                   Session& session) {
    auto& report = session.report;
    if (options.remove_monopole || options.remove_dipole)
        report["removed_monopole"] = result.removed.monopole;
    if (options.remove_dipole) report["removed_dipole_xyz"] = result.removed.dipole;
    for (std::size_t row = 0; row < result.sky_fraction.size(); ++row) {
        const auto& fraction = result.sky_fraction[row];
        report["f_sky"].push_back({{"name", map.row_name(static_cast<std::int64_t>(row))},
                                   {"used", fraction.used},
                                   {"mean", fraction.mean},
                                   {"mean_square", fraction.mean_square}});
    }
}

std::vector<HeaderCard> analysis_cards(const MaskedAnalysis& options, const SkyMap& map,
                                       const MapAnalysisReport& result) {
    std::vector<HeaderCard> cards;
    if (map.nside() > 0) cards.push_back({"MAPNSIDE", map.nside(), "nside of the map"});
    cards.push_back({"ITER", std::int64_t{result.analysis.iterations}, "iterations of the analysis"});
    if (options.choice.tolerance > 0)
        cards.push_back({"TOLERANC", options.choice.tolerance, "of the analysis"});
    if (!options.mask.file.empty()) cards.push_back({"MASKFILE", header_text(options.mask.file), "mask"});
    cards.push_back({"FSKY", result.sky_fraction[0].used, "fraction of sky used, not divided out"});
    if (options.remove_dipole || options.remove_monopole)
        cards.push_back({"MONOPOLE", result.removed.monopole, "taken away before"});
    return cards;
}

}  // namespace

int AnalysisChoice::iteration_count() const {
    if (iterations && tolerance > 0)
        throw UsageError(
            "--iter and --tolerance exclude each other: iterate a number of times or to a tolerance");
    return tolerance > 0 ? 0 : static_cast<int>(iterations.value_or(3));
}

std::int64_t AnalysisChoice::lmax_for(const SkyMap& map) const {
    return lmax_for(map.header());
}

std::int64_t AnalysisChoice::lmax_for(const MapFile& header) const {
    const auto most = default_smoothing_lmax(make_grid(header.pixelization));
    const bool is_healpix = std::holds_alternative<HealpixPixels>(header.pixelization);
    if (lmax && *lmax > most)
        throw UsageError(fmt::format("--lmax = {}: must be at most {}{} for the analysis of {}", *lmax,
                                     is_healpix ? "3*nside-1 = " : "", most, header.source));
    return lmax.value_or(most);
}

std::int64_t AnalysisChoice::lmax_of(const std::string& path, const AlmLayout& layout) const {
    if (lmax && *lmax > layout.lmax())
        throw UsageError(fmt::format("--lmax = {}: {} ends at {}", *lmax, path, layout.lmax()));
    return lmax.value_or(layout.lmax());
}

std::int64_t AnalysisChoice::mmax_for(std::int64_t lmax_used) const {
    if (mmax && *mmax > lmax_used)
        throw UsageError(fmt::format("--mmax = {}: must be at most lmax = {}", *mmax, lmax_used));
    return mmax.value_or(lmax_used);
}

void add_analysis_options(CLI::App& app, AnalysisChoice& choice, WithMmax with_mmax,
                          const std::string& default_lmax, const std::string& default_iterations) {
    const OptionGroup group(app, "Transform");
    group.integer("--lmax", choice.lmax, {0, max_lmax}, "highest degree l", default_lmax);
    if (with_mmax == WithMmax::yes)
        group.integer("--mmax", choice.mmax, {0, max_lmax}, "highest order m", "lmax");
    group.integer("--iter", choice.iterations, {0, 1000}, "Jacobi iterations of the analysis",
                  default_iterations);
    group.number("--tolerance", choice.tolerance, {1e-16, 0.1},
                 "instead of --iter: solve until the residual is at most this");
    group.text("--weights", choice.weights, "none|ring|pixel|FILE",
               "HEALPix quadrature weights: computed and kept in the cache folder, or from a HEALPix file",
               "none");
}

io::FoundWeights weights_for(const std::string& choice, std::int64_t nside, int threads, Session& session) {
    const bool is_file = choice != "ring" && choice != "pixel";
    std::error_code error;
    if (is_file && !std::filesystem::exists(choice, error))
        throw UsageError(fmt::format(
            "--weights = {}: must be none, ring, pixel or a HEALPix file of weights, and there is "
            "no such file",
            printable(choice)));
    if (is_file) session.input(choice);
    auto found =
        io::find_weights(choice, nside, {.threads = threads, .progress = session.progress("weights")});
    session.note(found.notes);
    if (found.computed) report_weights(found.values, session);
    return found;
}

void report_weights(const healpix::QuadratureWeights& computed, Session& session) {
    session.report["weights_residual"] = computed.residual;
    session.report["weights_iterations"] = computed.iterations;
}

namespace {

/// What a map's rings have of [ring of the whole sky].
std::vector<double> rings_of(const SkyMap& map, std::vector<double> values) {
    const auto sky = DistributedSky::of(map);
    if (!sky) return values;
    std::vector<double> here;
    for (std::size_t ring = 0; ring < values.size(); ++ring)
        for (const auto& range : sky->pixels()) {
            const auto first = map.whole_grid().rings()[ring].first_pixel;
            if (range.first <= first && first < range.end) here.push_back(values[ring]);
        }
    return here;
}

}  // namespace

PixelWeights find_weights(const AnalysisChoice& choice, const SkyMap& map, const RunOptions& run,
                          Session& session) {
    if (choice.weights == "none") return {};
    require_one_process(session, choice.weights == "pixel", "--weights pixel",
                        "they are as many as the pixels of the map, and no rank holds all; ring weights are "
                        "few");
    if (map.nside() == 0)
        throw UsageError(fmt::format("--weights = {}: only HEALPix maps take weights; {} is {}",
                                     choice.weights, map.header().source,
                                     to_string(map.header().pixelization)));
    const auto weights = weights_for(choice.weights, map.nside(), run.thread_count(), session);
    session.report["weights"] = weights.description;
    if (weights.values.kind == io::QuadratureWeights::Kind::ring)
        return {rings_of(map, healpix::expand_ring_weights(map.nside(), weights.values.deviations)), {}};
    require_one_process(session, true, "--weights " + choice.weights, "it holds weights of all pixels");
    return {{}, healpix::expand_pixel_weights(map.nside(), weights.values.deviations)};
}

MapAnalysis::MapAnalysis(const AnalysisChoice& choice, const SkyMap& map, const RunOptions& run,
                         const std::string& stage, Session& session)
    : weights_(find_weights(choice, map, run, session)) {
    lmax = choice.lmax_for(map);
    mmax = choice.mmax_for(lmax);
    iterations = choice.iteration_count();
    tolerance = choice.tolerance;
    ring_weights = weights_.ring;
    pixel_weights = {weights_.pixel.data(), {std::ssize(weights_.pixel)}};
    threads = run.thread_count();
    device = run.device;
    progress = session.progress(stage);
}

void report_analysis(const AnalysisReport& result, const AlmLayout& layout, const AnalysisChoice& choice,
                     Session& session) {
    auto told = result;
    if (choice.tolerance > 0 && !result.reached_tolerance)
        session.miss("--tolerance: " + std::exchange(told.note, ""));
    report_analysis(told, choice, session);
    session.report["lmax"] = layout.lmax();
    session.report["mmax"] = layout.mmax();
}

void report_resampling(const ResamplingReport& result, const AnalysisChoice& choice, Session& session) {
    report_analysis(result.analysis, AlmLayout(result.lmax), choice, session);
    session.report["unresolved"] = result.analysis.unresolved;
    if (!result.interpolated) return;
    session.report["bound"] = result.bound;
    session.report["mean_error"] = result.mean_error;
}

bool MaskedAnalysis::given_for_maps() const {
    return input.given() || choice.given_for_maps() || !mask.file.empty() || mask.mode != MaskMode::zero ||
           remove_monopole || remove_dipole;
}

void add_masked_analysis_options(CLI::App& app, MaskedAnalysis& options) {
    add_map_input(app, options.input);
    add_analysis_options(app, options.choice, WithMmax::yes);
    add_mask_options(app, options.mask, MaskModes::zero_or_error);
    const OptionGroup group(app, "Mask");
    group.flag("--remove-monopole", options.remove_monopole,
               "fit the monopole of I outside the mask and subtract it");
    group.flag("--remove-dipole", options.remove_dipole, "the same with monopole and dipole together");
}

SkyMap read_sky_part(const std::string& path, const MapInput& input, const AnalysisChoice& choice,
                     const RunOptions& run, Session& session) {
    const auto options = read_options(input, Columns::fields);
    const auto header = io::read_map_header(path, session.ranks, options);
    const auto lmax = choice.lmax_for(header);
    const auto sky =
        divide_sky(header.pixelization, lmax, choice.mmax_for(lmax), header.polarized(), run, session);
    auto map =
        with_error<UsageError>([&] { return io::read_sky_part(path, sky, options); }, "", how_to_choose);
    session.note(map.header().notes);
    return map;
}

SkyMap read_one_sky(const std::string& path, const MaskedAnalysis& options, const RunOptions& run,
                    Session& session) {
    auto map = session.has_several_ranks() ? read_sky_part(path, options.input, options.choice, run, session)
                                           : read_sky_map(path, options.input, session);
    with_error<UsageError>([&] { require_one_sky(map); }, "--field: ");
    return map;
}

io::AlmFile analyze_masked(SkyMap& map, const MaskedAnalysis& options, const RunOptions& run,
                           Session& session) {
    const auto mask = read_mask(options.mask, map, session);
    if ((options.remove_monopole || options.remove_dipole) && map.intensity_row() < 0)
        throw UsageError(fmt::format("--remove-{}: {} has no intensity column",
                                     options.remove_dipole ? "dipole" : "monopole", map.header().source));
    MapAnalysis how(options.choice, map, run, "analysis", session);
    how.mask = mask.view();
    how.mask_mode = options.mask.mode;
    if (options.remove_dipole)
        how.remove = FitTerms::monopole_and_dipole;
    else if (options.remove_monopole)
        how.remove = FitTerms::monopole;
    const auto rows = static_cast<double>(map.rows().extent(0));
    const auto size = static_cast<double>(AlmLayout(how.lmax, how.mmax).size());
    if (!session.has_several_ranks())  // whose parts of a sky were checked together
        session.require_memory(
            std::max(bytes_of_analysis(map, how), 2 * rows * 16 * size),
            fmt::format("{}: the analysis up to lmax = {}", map.header().source, how.lmax));
    const auto [alm, report] =  // what is wrong now are the pixels: the options are checked
        with_error<IoError>([&] { return analyze_in_place(map, how); }, map.header().source + ": ",
                            how.mask_mode == MaskMode::error ? " (--mask-mode error)" : "");
    report_masked(options, map, report, session);
    report_analysis(report.analysis, alm.layout, options.choice, session);
    auto file = io::to_alm_file(alm, map);
    session.note(file.notes);
    file.cards = analysis_cards(options, map, report);
    return file;
}

}  // namespace zonal::cli
