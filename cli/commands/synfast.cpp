#include <algorithm>
#include <random>

#include "commands/recipe.hpp"
#include "engine/choice_report.hpp"
#include "engine/job_sky.hpp"
#include "options/beam_options.hpp"
#include "options/new_map.hpp"
#include "zonal/filters.hpp"
#include "zonal/io/cost_model.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/planning/noise_sky.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/sky/synfast.hpp"

namespace zonal::cli {
namespace {

// 2^53 - 1: exact also in readers of JSON and FITS that keep numbers as double.
constexpr std::int64_t max_seed = (std::int64_t{1} << 53) - 1;

enum class NoiseMethod { automatic, split, harmonic };

struct SynfastCommand {
    FileOptions files;
    std::string alm_out;
    io::ReadSpectrumOptions spectrum;
    bool temperature_only = false;
    NewMapOptions map;
    std::string coordinates = "unknown";
    std::optional<std::int64_t> lmax, mmax;
    BeamOptions beam;
    std::optional<std::int64_t> seed;
    std::optional<NoiseMethod> method;  ///< empty: alm are drawn
    double error = 0;                   ///< 0: the default
    bool explain = false;
    std::string costs;
};

/// What a sky is made from, whichever way.
struct SkyRequest {
    Pixelization pixels;
    SkySpectra spectra;
    std::optional<Beam> beam;
    std::int64_t seed = 0, lmax = 0;
};

void declare_noise(CLI::App& app, SynfastCommand& options) {
    const OptionGroup group(app, "White noise on pixels (docs/how-it-works/split.md)");
    group.choice<NoiseMethod>(
        "--method", options.method,
        {{"auto", NoiseMethod::automatic},
         {"split", NoiseMethod::split},
         {"harmonic", NoiseMethod::harmonic}},
        "make the sky of white noise on the pixels, convolved with sqrt(C_l) times the windows: by the "
        "fastest way that zonal plan finds, by a split kernel, or in harmonic space",
        "alm are drawn instead");
    group.number("--error", options.error, {1e-12, 0.5},
                 "largest error of that convolution, rms over the rms of the sky", "1e-5");
    group.flag("--explain", options.explain,
               "with --method auto|split: report the list that it was chosen from; over several ranks: the "
               "share of each");
    group.text("--costs", options.costs, "FILE",
               "with --method auto|split: costs that zonal calibrate measured",
               "this machine's, from the cache folder");
}

void declare(CLI::App& app, SynfastCommand& options) {
    add_argument(app, "CL", options.files.in, "power spectra C_l, FITS or text with named columns");
    add_argument(app, "OUT", options.files.out, "map to write: I, or I, Q, U where CL has EE");
    const OptionGroup sky(app, "Simulation"), input(app, "Input"), output(app, "Output");
    sky.integer("--seed", options.seed, {0, max_seed},
                "seed of the random numbers; the same seed gives the same "
                "sky for any lmax, nside (without --method), threads and machine",
                "drawn, reported and written to the header");
    sky.flag("--temperature-only", options.temperature_only, "leave polarisation out");
    sky.integer("--lmax", options.lmax, {0, max_lmax}, "highest degree l", "3 nside - 1");
    sky.integer("--mmax", options.mmax, {0, max_lmax}, "highest order m", "lmax");
    add_beam_options(app, options.beam, "Simulation");
    add_extend_option(app, options.beam.extension, "Simulation", "C_l and windows");
    declare_noise(app, options);
    input.choice("--cl-order", options.spectrum.order, cl_orders,
                 "what columns C-T and C-G mean: TB and EB (f90) or EB and TB (healpy); auto: CREATOR says",
                 "auto");
    input.flag("--dl", options.spectrum.dl, "CL holds D_l = l(l+1)C_l/2pi");
    input.text("--hdu", options.spectrum.hdu, "NAME|N", "extension to read");
    add_new_map_options(app, options.map);
    add_precision(app, options.files.precision, "as CL");
    output.text("--coordsys", options.coordinates, "G|E|C", "coordinates to write in the header", "unknown");
    output.text("--alm-out", options.alm_out, "FILE", "write the alm too, windows included");
    add_output_options(app, options.files.output);
    add_run_options(app, options.files.run);
    add_job_options(app, options.files.run, WithExplain::no);
}

SkySpectra sky_spectra(const io::SpectrumFile& file, bool polarized, std::int64_t lmax, Extension extension) {
    if (file.find("TT") == nullptr) throw IoError(fmt::format("{}: has no TT spectrum", file.source));
    const auto get = [&](const std::string& name) -> std::vector<double> {
        const auto* found = file.find(name);
        if (found == nullptr || (name != "TT" && !polarized)) return {};
        return fit_length(found->values, lmax, extension, fmt::format("{} of {}", name, file.source));
    };
    const auto read = [&]() -> SkySpectra {
        return {get("TT"), get("EE"), get("BB"), get("TE"), get("TB"), get("EB")};
    };
    auto spectra = with_error<UsageError>(read, "", "; --lmax or --extend zero|powerlaw");
    with_error<IoError>([&] { check_spectra(spectra, lmax, polarized); }, file.source + ": ");
    return spectra;
}

/// The same on all ranks.
std::int64_t draw_seed(const Session& session) {
    std::random_device device;
    const auto seed = static_cast<std::int64_t>((std::uint64_t{device()} << 32 | device()) & max_seed);
    return std::stoll(session.ranks.gather(std::to_string(seed))[0]);
}

void check_files(const SynfastCommand& options, const Session& session) {
    for (const auto& path : {options.files.out, options.alm_out}) require_parts(path, session);
    options.files.output.require_writable(options.files.out);
    require_different_files({{"OUT", options.files.out}, {"--alm-out", options.alm_out}});
    if (!options.alm_out.empty()) options.files.output.require_writable(options.alm_out);
}

/// What drawing alm can do and noise on pixels cannot.
void check_noise(const SynfastCommand& options, const io::SpectrumFile& file, const Session& session) {
    const bool is_planned = options.method && options.method != NoiseMethod::harmonic;
    require_one_process(session, options.method.has_value(), "--method", "it convolves noise on all pixels");
    const bool explains = options.explain && !session.has_several_ranks();
    if (!is_planned && (options.error > 0 || explains || !options.costs.empty()))
        throw UsageError("--error, --explain, --costs: only with --method auto or split");
    if (!options.method) return;
    const auto reject = [](bool given, const std::string& names, const std::string& why) {
        if (given) throw UsageError(fmt::format("{}: not with --method: {}", names, why));
    };
    reject(!options.alm_out.empty(), "--alm-out", "the sky is made on its pixels");
    reject(options.mmax.has_value(), "--mmax", "noise on pixels has all orders m");
    reject(!options.map.car.empty(), "--car", "the noise is that of HEALPix pixels");
    if (!options.temperature_only && file.find("EE") != nullptr)
        throw UsageError(
            fmt::format("--method: {} has EE, and noise on pixels makes I alone: --temperature-only "
                        "leaves polarisation out",
                        file.source));
}

/// What the headers of the map and of the alm say of the sky.
std::vector<HeaderCard> sky_cards(const SynfastCommand& options, const SkyRequest& request, int scheme) {
    auto cards = beam_cards(options.beam);
    cards.insert(cards.end(), {{"SEED", request.seed, "of the random numbers"},
                               {"SEEDSCHM", std::int64_t{scheme}, "scheme of the random numbers"},
                               {"MAX-LPOL", request.lmax, "highest degree l"}});
    return cards;
}

void set_header(const SynfastCommand& options, const io::SpectrumFile& file, SkyMap& map) {
    map.header().coordinates = parse_coordinates("--coordsys", options.coordinates);
    for (auto& column : map.header().columns) {
        column.unit = square_root_unit(file.spectra.empty() ? "" : file.spectra[0].unit);
        column.precision = options.files.precision.value_or(file.precision);
    }
}

void make_of_alm(const SynfastCommand& options, const SkyRequest& request, const io::SpectrumFile& file,
                 Session& session) {
    const auto mmax = AnalysisChoice{{}, options.mmax, {}}.mmax_for(request.lmax);
    std::shared_ptr<const SkyPart> part;
    if (session.has_several_ranks()) {
        auto run = options.files.run;
        run.explain = options.explain;
        part =
            divide_sky(request.pixels, request.lmax, mmax, !request.spectra.ee.empty(), run, session).part();
    }
    if (!part) {
        const AlmLayout layout(request.lmax, mmax);
        const bool polarized = !request.spectra.ee.empty();
        const auto grid = make_grid(request.pixels);
        const double rows = polarized ? 3 : 1;
        session.require_memory(
            rows * (16.0 * static_cast<double>(layout.size()) + 8.0 * static_cast<double>(grid.n_pixels())) +
                bytes_of_synthesis(grid, polarized, layout,
                                   {options.files.run.thread_count(), options.files.run.device}),
            fmt::format("a sky of {} up to lmax = {}", to_string(request.pixels), request.lmax));
    }
    session.progress("random alm")(0);  // drawing is done in one go: the bar names what takes the time
    auto sky = synfast(request.spectra, request.pixels,
                       {.lmax = request.lmax,
                        .mmax = mmax,
                        .seed = static_cast<std::uint64_t>(request.seed),
                        .beam = request.beam,
                        .threads = options.files.run.thread_count(),
                        .device = options.files.run.device,
                        .progress = session.progress("synthesis"),
                        .part = part});
    stop_if_interrupted();
    set_header(options, file, sky.map);
    const auto cards = sky_cards(options, request, realization_scheme);
    if (!options.alm_out.empty()) {
        auto files = options.files;
        files.out = options.alm_out;
        auto alm = io::to_alm_file(sky.alm, sky.map);
        write_alm(files, alm, cards, session);
    }
    session.report["mmax"] = mmax;
    write_map(options.files, sky.map, cards, session);
}

constexpr double usual_error = 1e-5;

/// The sky's noise times the window; what was planned and done is reported.
NoiseSky make_noise(const SynfastCommand& options, const SkyRequest& request, SkyMap& map, Session& session) {
    const std::vector<double> no_beam(static_cast<std::size_t>(request.lmax + 1), 1.0);
    const auto& tt = request.spectra.tt;
    const auto window = with_error<IoError>(
        [&] { return sky_window(tt, request.beam ? request.beam->temperature : no_beam); },
        options.files.in + ": ");
    if (std::all_of(window.begin(), window.end(), [](double k) { return k == 0; }))
        throw UsageError("--method: the spectrum is 0 up to lmax: there is nothing to convolve with");
    const auto& run = options.files.run;
    MapSmoothingOptions how{.threads = run.thread_count(),
                            .device = run.any_device ? Device::automatic() : run.device,
                            .progress = session.progress("synfast"),
                            .check_memory = session.memory_check()};
    if (options.files.precision == FilePrecision::float64) how.precision = Precision::float64;
    how.error = options.error > 0 ? options.error : usual_error;
    if (options.method == NoiseMethod::split) how.method = zonal::ConvolutionMethod::split;
    if (options.method == NoiseMethod::harmonic) how.method = zonal::ConvolutionMethod::harmonic;
    if (options.method == NoiseMethod::harmonic) how.error = std::nullopt;
    io::FoundCosts found;
    if (options.method != NoiseMethod::harmonic) {
        found = io::find_costs(options.costs, run.thread_count());
        how.costs = found.costs;
        session.note(found.notes);
    }
    NoiseSky sky;
    try {
        sky = make_noise_sky(window, how, static_cast<std::uint64_t>(request.seed), map);
    } catch (const ErrorNotKept& error) {
        throw CannotBeKept(fmt::format(
            "--method {}: no way with the window up to lmax = {} certifies --error {}: the kernel must have "
            "faded "
            "away at lmax ({})",
            options.method == NoiseMethod::split ? "split" : "auto", request.lmax, *how.error, error.what()));
    }
    if (options.explain) report_choices(sky.part.choices, found.costs.fingerprint, session);
    if (sky.part.predicted_seconds) session.report["predicted_seconds"] = *sky.part.predicted_seconds;
    return sky;
}

void make_of_noise(const SynfastCommand& options, const SkyRequest& request, const io::SpectrumFile& file,
                   Session& session) {
    auto map = new_sky_map(request.pixels, false);
    set_header(options, file, map);
    const auto sky = make_noise(options, request, map, session);
    stop_if_interrupted();
    auto& report = session.report;
    report["method"] = to_string(sky.part.method);
    report["reference"] = "discrete";
    report["device"] = to_string(sky.part.device);
    auto cards = sky_cards(options, request, white_noise_scheme);
    cards.push_back({"METHOD", to_string(sky.part.method), "how the noise was convolved"});
    if (options.method != NoiseMethod::harmonic) {
        const double error = sky.part.certified_error();
        report["certified_error"] = error;
        cards.push_back({"CERTERR", error, "rms of the convolution's error: at most this"});
    }
    report["noise_variance"] = sky.noise_variance;
    report_split(sky.part.choice, sky.part.parts, session);
    write_map(options.files, map, cards, session);
}

void run(SynfastCommand& options, Session& session) {
    SkyRequest request;
    request.pixels = pixelization(options.map);
    parse_coordinates("--coordsys", options.coordinates);
    check_files(options, session);
    const auto file = io::read_spectrum(session.input(options.files.in), options.spectrum);
    check_noise(options, file, session);
    options.files.begin(session);
    if (!options.alm_out.empty()) session.report["alm_output"] = options.alm_out;
    session.note(file.notes);
    const bool polarized = !options.temperature_only && file.find("EE") != nullptr;
    request.lmax = options.lmax.value_or(default_smoothing_lmax(make_grid(request.pixels)));
    request.spectra = sky_spectra(file, polarized, request.lmax, options.beam.extension);
    request.beam = beam_to(options.beam, options.map.nside.value_or(0), request.lmax, session);
    request.seed = options.seed ? *options.seed : draw_seed(session);
    session.report["seed"] = request.seed;
    session.report["lmax"] = request.lmax;
    (options.method ? make_of_noise : make_of_alm)(options, request, file, session);
}

}  // namespace

void add_synfast(CLI::App& root, Session& session, Action& action) {
    add_command<SynfastCommand>(
        root, session, action, "synfast",
        "Simulates a Gaussian sky with given power spectra. T, E and B are correlated as the spectra say.",
        "zonal synfast cl.fits map.fits --nside 512 --lmax 1024 --fwhm 10arcmin --seed 1", declare, run,
        WorkIn::jobs_too);
}

}  // namespace zonal::cli
