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
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/filters.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/sky/synfast.hpp"

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

/// What the header says of a simulated sky.
struct SkyHeader {
    std::string unit;
    FilePrecision precision;
    CoordinateSystem coordinates;

    void apply(SkyMap& map) const {
        map.header().coordinates = coordinates;
        for (auto& column : map.header().columns) {
            column.unit = unit;
            column.precision = precision;
        }
    }
};

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

SkyMap make_of_alm(const SynfastOptions& options, const SkySpectra& spectra, const Pixelization& pixels,
                   const SkyHeader& header, const std::optional<Beam>& beam, std::int64_t seed,
                   std::int64_t lmax, Session& session) {
    const auto mmax = AnalysisChoice{{}, options.mmax, {}}.mmax_for(lmax);
    session.progress("random alm")(0);  // drawing is done in one go: the bar names what takes the time
    auto sky = synfast(spectra, pixels,
                       {.lmax = lmax,
                        .mmax = mmax,
                        .seed = static_cast<std::uint64_t>(seed),
                        .beam = beam,
                        .threads = options.run.thread_count(),
                        .device = options.run.device,
                        .progress = session.progress("synthesis")});
    stop_if_interrupted();
    header.apply(sky.map);
    auto cards = provenance(session);
    finish(options, seed, lmax, realization_scheme, cards, session);
    set_cards(sky.map.header().cards, cards);
    if (!options.alm_out.empty()) write_drawn_alm(options, sky.map, sky.alm, session, cards);
    session.report["mmax"] = mmax;
    return std::move(sky.map);
}

SkyMap make_of_noise(const SynfastOptions& options, const SkySpectra& spectra, const Pixelization& pixels,
                     const SkyHeader& header, const std::optional<Beam>& beam, std::int64_t seed,
                     std::int64_t lmax, Session& session) {
    const std::vector<double> no_beam(static_cast<std::size_t>(lmax + 1), 1.0);
    std::vector<double> window;
    try {
        window = sky_window(spectra.tt, beam ? beam->temperature : no_beam);
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", options.in, error.what()));
    }
    auto map = new_sky_map(pixels, false);
    header.apply(map);
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
    return map;
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
    const SkyHeader header{square_root_unit(file.spectra.empty() ? "" : file.spectra[0].unit),
                           options.map.precision.value_or(file.precision), coordinates};
    const auto lmax = options.lmax.value_or(default_smoothing_lmax(make_grid(pixels)));
    const auto spectra = sky_spectra(file, polarized, lmax, options.beam.extension);
    try {
        check_spectra(spectra, lmax, polarized);
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", file.source, error.what()));
    }
    const auto* healpix = std::get_if<HealpixPixels>(&pixels);
    std::optional<Beam> beam;
    if (options.beam.given())
        beam =
            evaluate_window(smoothing_window(options.beam, healpix != nullptr ? healpix->nside : 0, session),
                            lmax, options.beam.text());
    const auto seed = options.seed ? *options.seed : draw_seed();
    const auto make = options.noise.method ? make_of_noise : make_of_alm;
    const auto map = make(options, spectra, pixels, header, beam, seed, lmax, session);
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
