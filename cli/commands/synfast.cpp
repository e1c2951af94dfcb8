#include <fmt/core.h>

#include <array>
#include <memory>
#include <random>

#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "engine/synfast_noise.hpp"
#include "options/beam_options.hpp"
#include "options/new_map.hpp"
#include "options/options.hpp"
#include "options/units.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/filters.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/realization.hpp"

namespace zonal::cli {
namespace {

// 2^53 - 1: exact also in readers of JSON and FITS that keep numbers as double.
constexpr std::int64_t max_seed = (std::int64_t{1} << 53) - 1;

struct SynfastOptions {
    std::string in, out, alm_out;
    io::ReadSpectrumOptions spectrum;
    bool temperature_only = false;
    NewMapOptions map;
    std::string coordinates = "unknown";
    std::optional<std::int64_t> lmax, mmax;
    BeamOptions beam;
    std::optional<std::int64_t> seed;
    NoiseSkyOptions noise;
    RunOptions run;
    OutputOptions output;
};

void declare_options(CLI::App& app, SynfastOptions& options) {
    add_argument(app, "CL", options.in, "power spectra C_l, FITS or text with named columns");
    add_argument(app, "OUT", options.out, "map to write: I, or I, Q, U where CL has EE");
    add_integer(app, "--seed", options.seed, {0, max_seed},
                "seed of the random numbers; the same seed gives the same "
                "sky for any lmax, nside (without --method), threads and machine")
        ->default_str("drawn, reported and written to the header")
        ->group("Simulation");
    app.add_flag("--temperature-only", options.temperature_only, "leave polarisation out")
        ->group("Simulation");
    add_integer(app, "--lmax", options.lmax, {0, max_lmax}, "highest degree l")
        ->default_str("3 nside - 1")
        ->group("Simulation");
    add_integer(app, "--mmax", options.mmax, {0, max_lmax}, "highest order m")
        ->default_str("lmax")
        ->group("Simulation");
    add_beam_options(app, options.beam, "Simulation");
    add_extend_option(app, options.beam.extension, "Simulation", "C_l and windows");
    declare_options(app, options.noise);
    add_choice<io::ClOrder>(
        app, "--cl-order", options.spectrum.order,
        {{"auto", io::ClOrder::automatic}, {"f90", io::ClOrder::f90}, {"healpy", io::ClOrder::healpy}},
        "what columns C-T and C-G mean: TB and EB (f90) or EB and TB (healpy); auto: CREATOR says")
        ->default_str("auto")
        ->group("Input");
    app.add_flag("--dl", options.spectrum.dl, "CL holds D_l = l(l+1)C_l/2pi")->group("Input");
    add_text(app, "--hdu", options.spectrum.hdu, "NAME|N", "extension to read")->group("Input");
    add_new_map_options(app, options.map, "as CL");
    add_text(app, "--coordsys", options.coordinates, "G|E|C", "coordinates to write in the header")
        ->default_str("unknown")
        ->group("Output");
    add_text(app, "--alm-out", options.alm_out, "FILE", "write the alm too, windows included")
        ->group("Output");
    add_output_options(app, options.output);
    add_run_options(app, options.run);
}

std::vector<double> spectrum(const io::SpectrumFile& file, const std::string& name, std::int64_t lmax,
                             Extension extension) {
    const auto* found = file.find(name);
    if (found == nullptr) return {};
    return fit_length(found->values, lmax, extension, fmt::format("{} of {}", name, file.source));
}

SkySpectra sky_spectra(const io::SpectrumFile& file, bool polarized, std::int64_t lmax, Extension extension) {
    if (file.find("TT") == nullptr) throw IoError(fmt::format("{}: has no TT spectrum", file.source));
    const auto get = [&](const char* name) { return spectrum(file, name, lmax, extension); };
    SkySpectra spectra;
    try {
        spectra.tt = get("TT");
        if (!polarized) return spectra;
        spectra.ee = get("EE");
        spectra.bb = get("BB");
        spectra.te = get("TE");
        spectra.tb = get("TB");
        spectra.eb = get("EB");
    } catch (const InvalidArgument& error) {
        throw UsageError(fmt::format("{}; --lmax or --extend zero|powerlaw", error.what()));
    }
    return spectra;
}

/// Random alm of these spectra times the window.
MapAlm draw(const SkySpectra& spectra, const io::SpectrumFile& file, std::int64_t seed,
            const AlmLayout& layout, const Beam* beam, const RunOptions& run, Session& session) {
    // Drawing is done in one go: the bar names what takes the time.
    const auto progress = session.progress("random alm");
    progress(0);
    MapAlm alm{layout, Array<std::complex<double>, 2>({spectra.ee.empty() ? 1 : 3, layout.size()})};
    try {
        realize<double>(spectra, static_cast<std::uint64_t>(seed), layout, alm.alm.view(),
                        run.thread_count());
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", file.source, error.what()));
    }
    if (beam != nullptr) apply_beam<double>(layout, *beam, alm.alm.view());
    progress(1);
    return alm;
}

std::int64_t draw_seed() {
    std::random_device device;
    return static_cast<std::int64_t>((std::uint64_t{device()} << 32 | device()) & max_seed);
}

void write_drawn_alm(const SynfastOptions& options, const SkyMap& map, const MapAlm& alm, Session& session,
                     const std::vector<io::HeaderCard>& cards) {
    auto file = to_alm_file(map, alm, session);
    file.cards = cards;
    write_alm_file(options.alm_out, file, options.output.write_options());
}

/// What drawing alm can do and noise on pixels cannot.
void check_noise_sky(const SynfastOptions& options, const io::SpectrumFile& file) {
    check(options.noise);
    if (!options.noise.method) return;
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

/// Cards and report of what both kinds of sky have.
void finish(const SynfastOptions& options, std::int64_t seed, std::int64_t lmax, int scheme,
            std::vector<io::HeaderCard>& cards, Session& session) {
    set_cards(cards, beam_cards(options.beam));
    set_card(cards, {"SEED", seed, "of the random numbers"});
    set_card(cards, {"SEEDSCHM", std::int64_t{scheme}, "scheme of the random numbers"});
    set_card(cards, {"MAX-LPOL", lmax, "highest degree l"});
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    if (!options.alm_out.empty()) session.report["alm_output"] = options.alm_out;
    session.report["seed"] = seed;
    session.report["lmax"] = lmax;
}

void make_of_alm(const SynfastOptions& options, const io::SpectrumFile& file, const SkySpectra& spectra,
                 const Beam* beam, std::int64_t seed, std::int64_t lmax, SkyMap& map, Session& session) {
    const AlmLayout layout(lmax, AnalysisChoice{{}, options.mmax, {}}.mmax_for(lmax));
    const auto alm = draw(spectra, file, seed, layout, beam, options.run, session);
    stop_if_interrupted();
    synthesize_map(alm, options.run, session, map);
    stop_if_interrupted();
    auto cards = provenance(session);
    finish(options, seed, lmax, realization_scheme, cards, session);
    set_cards(map.header().cards, cards);
    if (!options.alm_out.empty()) write_drawn_alm(options, map, alm, session, cards);
    session.report["mmax"] = layout.mmax();
}

void make_of_noise(const SynfastOptions& options, const SkySpectra& spectra, const Beam* beam,
                   std::int64_t seed, std::int64_t lmax, SkyMap& map, Session& session) {
    const std::vector<double> no_beam(static_cast<std::size_t>(lmax + 1), 1.0);
    std::vector<double> window;
    try {
        window = sky_window(spectra.tt, beam != nullptr ? beam->temperature : no_beam);
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", options.in, error.what()));
    }
    const bool may_be_single = options.map.precision != io::Precision::float64;
    make_noise_sky(options.noise, window, seed, may_be_single, options.run, map, session);
    stop_if_interrupted();
    auto cards = provenance(session);
    finish(options, seed, lmax, white_noise_scheme, cards, session);
    const auto& report = session.report;
    cards.push_back({"METHOD", report["method"].get<std::string>(), "how the noise was convolved"});
    if (report.contains("estimated_error"))
        cards.push_back(
            {"ESTERROR", report["estimated_error"].get<double>(), "rms of the convolution's error"});
    set_cards(map.header().cards, cards);
}

void run(SynfastOptions& options, Session& session) {
    const auto pixels = pixelization(options.map);
    const auto coordinates = parse_coordinates("--coordsys", options.coordinates);
    options.output.require_writable(options.out);
    if (!options.alm_out.empty() && is_same_file(options.out, options.alm_out))
        throw UsageError(fmt::format("--alm-out = {}: OUT is the same file", options.alm_out));
    if (!options.alm_out.empty()) options.output.require_writable(options.alm_out);
    const auto file = io::read_spectrum(options.in, options.spectrum);
    check_noise_sky(options, file);
    options.run.resolve(session);
    session.note(file.notes);
    const bool polarized = !options.temperature_only && file.find("EE") != nullptr;
    const auto unit = square_root_unit(file.spectra.empty() ? "" : file.spectra[0].unit);
    auto map =
        new_sky_map(pixels, polarized, unit, options.map.precision.value_or(file.precision), coordinates);

    const auto lmax = options.lmax.value_or(default_smoothing_lmax(map.grid()));
    const auto spectra = sky_spectra(file, polarized, lmax, options.beam.extension);
    std::optional<Beam> beam;
    if (options.beam.given())
        beam =
            evaluate_window(smoothing_window(options.beam, map.nside(), session), lmax, options.beam.text());
    const auto* beam_or_none = beam ? &*beam : nullptr;
    const auto seed = options.seed ? *options.seed : draw_seed();
    if (options.noise.method)
        make_of_noise(options, spectra, beam_or_none, seed, lmax, map, session);
    else
        make_of_alm(options, file, spectra, beam_or_none, seed, lmax, map, session);
    io::write_sky_map(options.out, map, options.output.write_options());
    session.report["map"] = describe(map.header());
}

}  // namespace

void add_synfast(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "synfast",
                       "Simulates a Gaussian sky with given power spectra. T, E and B are correlated as the "
                       "spectra say.",
                       "zonal synfast cl.fits map.fits --nside 512 --lmax 1024 --fwhm 10arcmin --seed 1");
    const auto options = std::make_shared<SynfastOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
