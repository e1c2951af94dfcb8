#include <fmt/core.h>

#include <memory>
#include <utility>

#include "commands/smooth/smooth_beam.hpp"
#include "commands/smooth/smooth_report.hpp"
#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "engine/job_sky.hpp"
#include "engine/spectrum_file.hpp"
#include "options/beam_options.hpp"
#include "options/smooth_options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "shell/option_names.hpp"
#include "zonal/filters.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/cost_model.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/parts.hpp"
#include "zonal/io/profile.hpp"
#include "zonal/io/psf.hpp"

namespace zonal::cli {
namespace {

/// Makes what a file describes, whose fault it is where that cannot be.
template <class Make>
auto from_file(const std::string& source, const Make& make) {
    return with_error<IoError>(make, source + ": ");
}

/// sqrt(C_l) B_l up to lmax.
RadialKernel sky_kernel(const SmoothOptions& options, std::int64_t lmax, Session& session) {
    const auto& file = options.kernel.sky_spectrum;
    const auto c_l = fit_to_lmax(read_tt("--cl", file, session), lmax, options.extension, "--cl " + file);
    const auto beam = evaluate_window(smoothing_window(options, 0, 0, session), lmax, window_text(options));
    return from_file(file, [&] { return RadialKernel::from_window(sky_window(c_l, beam.temperature)); });
}

/// MeV, one for all rows of the map or one for each.
std::vector<double> energies_of(const SmoothOptions& options, const SkyMap& map) {
    const auto& energy = options.kernel.energy;
    if (energy.empty()) return {};
    if (energy != "bands") return {parse_energy("--energy", energy)};
    std::vector<double> energies;
    for (const auto& band : io::read_energy_bands(options.in)) energies.push_back(band.geometric_mean());
    if (static_cast<std::int64_t>(energies.size()) != map.rows().extent(0))
        throw UsageError(fmt::format("--energy bands: {} has {} bands and {} columns to smooth", options.in,
                                     energies.size(), map.rows().extent(0)));
    return energies;
}

std::vector<RadialKernel> profile_kernels(const KernelOptions& choice, const std::vector<double>& energies,
                                          Session& session) {
    const auto& file = session.input(choice.profile);
    if (energies.empty()) {
        const auto profile = io::read_profile(file);
        return {from_file(profile.source,
                          [&] { return RadialKernel::from_profile(profile.theta, profile.value); })};
    }
    const auto psf = io::read_psf(file);
    std::vector<RadialKernel> kernels;
    for (const double energy : energies) {
        const auto values = with_error<UsageError>([&] { return io::psf_at_energy(psf, energy); },
                                                   fmt::format("--energy {}: ", choice.energy));
        kernels.push_back(
            from_file(psf.source, [&] { return RadialKernel::from_profile(psf.theta, values); }));
    }
    return kernels;
}

std::optional<Pixelization> output_pixels(const SmoothOptions& options, const SkyMap& map) {
    if (!options.nside_out) return {};
    const auto* healpix = std::get_if<HealpixPixels>(&map.header().pixelization);
    if (healpix == nullptr)
        throw UsageError(fmt::format("--nside-out: {} is not a HEALPix map; zonal convert --nside makes one",
                                     map.header().source));
    healpix::check_nside(*options.nside_out, healpix->ordering);
    return HealpixPixels{*options.nside_out, healpix->ordering};
}

std::optional<Precision> precision_of_sums(const SmoothOptions& options) {
    if (!options.precision) return {};
    return *options.precision == io::Precision::float32 ? Precision::float32 : Precision::float64;
}

/// What the file's numbers are rounded by, relative.
double rounding_of_file(const SmoothOptions& options, const SkyMap& map) {
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row)
        if (options.precision.value_or(map.column(row).precision) == io::Precision::float32) return 0x1p-24;
    return 0;
}

/// Returns all options but the mask and the weights, which the caller adds and keeps alive.
MapSmoothingOptions library_options(const SmoothOptions& options, const SkyMap& map, SmoothingInput& given,
                                    Session& session) {
    const auto& kernel = options.kernel;
    MapSmoothingOptions smoothing;
    smoothing.method = kernel.chosen_method();
    smoothing.reference = kernel.reference;
    if (kernel.error > 0) smoothing.error = kernel.error;
    smoothing.keep_missed = kernel.keep_missed;
    smoothing.strict = kernel.strict;
    smoothing.output_rounding = rounding_of_file(options, map);
    smoothing.normalization = kernel.normalization.value_or(smoothing.normalization);
    if (kernel.cut) smoothing.cut = kernel.cut->radians;
    if (kernel.theta_cut) smoothing.theta_cut = kernel.theta_cut->radians;
    if (options.analysis.lmax) smoothing.lmax = options.analysis.lmax_for(map);
    if (options.analysis.iterations) smoothing.iterations = static_cast<int>(*options.analysis.iterations);
    smoothing.tolerance = options.analysis.tolerance;
    smoothing.mask_rule = options.mask.rule();
    smoothing.pixels_out = output_pixels(options, map);
    smoothing.precision = precision_of_sums(options);
    if (kernel.is_planned()) {
        auto found = io::find_costs(kernel.costs, options.run.thread_count());
        if (kernel.explain || !kernel.costs.empty()) session.note(found.notes);
        given.costs = found.costs.fingerprint;
        smoothing.costs = std::move(found.costs);
    }
    smoothing.threads = options.run.thread_count();
    if (!options.run.any_device) smoothing.device = options.run.device;
    smoothing.progress = session.progress("smooth");
    smoothing.check_memory = session.memory_check();
    return smoothing;
}

SmoothedMap smooth_by_options(const SmoothOptions& options, SkyMap&& map, SmoothingInput& given,
                              Session& session) {
    auto smoothing = library_options(options, map, given, session);
    const auto mask = read_mask(options.mask, map, session);
    const auto weights = find_weights(options.analysis, map, options.run, session);
    check_known(options.mask, map, mask.view(), session);
    smoothing.mask = mask.view();
    smoothing.ring_weights = weights.ring;
    smoothing.pixel_weights = {weights.pixel.data(), {std::ssize(weights.pixel)}};
    if (!options.kernel.sky_spectrum.empty()) {
        if (map.polarized())
            throw UsageError(fmt::format(
                "--cl: makes a kernel of spin 0, and {} has Q and U; --field I or --no-pol smooths fields of "
                "spin 0",
                map.header().source));
        const auto lmax = smoothing.lmax >= 0 ? smoothing.lmax : default_smoothing_lmax(map.whole_grid());
        return convolve(std::move(map), std::vector{sky_kernel(options, lmax, session)}, smoothing);
    }
    if (!options.kernel.profile.empty()) {
        given.energies = energies_of(options, map);
        return convolve(std::move(map), profile_kernels(options.kernel, given.energies, session), smoothing);
    }
    const auto nside_out = options.nside_out.value_or(map.nside());
    const auto window = smoothing_window(options, map.nside(), nside_out, session);
    return smooth(std::move(map), window, smoothing);
}

/// Below these single precision has fewer digits.
void require_normal_numbers(const SmoothOptions& options, const SmoothedMap& smoothed) {
    constexpr double least = 0x1p-125;
    if (rounding_of_file(options, smoothed.map) == 0) return;
    for (const auto& part : smoothed.parts)
        for (const auto& one : part.certificates)
            if (one.rms_out > 0 && one.rms_out < least)
                throw UsageError(
                    fmt::format("--precision float: values of {:.2g} rms are too small for it: must be "
                                "double, or scale {}",
                                one.rms_out, options.in));
}

/// What a partial sky needs memory for, before it is read.
Extent extent_of(const SmoothOptions& options) {
    if (options.nside_out || options.analysis.weights != "none") return Extent::whole_sky;
    return extent_for({.method = options.kernel.chosen_method(), .mask_rule = options.mask.rule()});
}

void smooth_map(const SmoothOptions& options, Session& session) {
    auto map = session.has_several_ranks()
                   ? read_sky_part(options.in, options.input, options.analysis, options.run, session)
                   : read_sky_map(options.in, options.input, session, Columns::fields, extent_of(options));
    SmoothingInput given;
    auto smoothed = smooth_by_options(options, std::move(map), given, session);
    stop_if_interrupted();
    require_normal_numbers(options, smoothed);
    report_smoothing(options, smoothed, given, session);
    auto& header = smoothed.map.header();
    for (auto& column : header.columns) column.precision = options.precision.value_or(column.precision);
    set_cards(header.cards, smoothing_cards(options, smoothed, session));
    if (const auto sky = DistributedSky::of(smoothed.map))
        io::write_sky_part(options.out, smoothed.map, *sky, options.output.write_options());
    else
        io::write_sky_map(options.out, smoothed.map, options.output.write_options());
    session.report["map"] = describe(header);
}

void require_no_map_options(const SmoothOptions& options) {
    const auto reject = [&](bool given, const std::string& names) {
        if (given)
            throw UsageError(fmt::format("{}: {} holds alm, and {} are for maps", names, options.in, names));
    };
    auto analysis = options.analysis;
    analysis.lmax.reset();
    reject(options.input.given(), "--field, --pol, --no-pol, --hdu, --order-if-absent");
    reject(analysis.given(), "--iter, --tolerance, --weights");
    reject(!options.mask.file.empty() || options.mask.mode != MaskMode::zero || options.mask.fill_masked,
           "mask options");
    reject(options.nside_out.has_value(), "--nside-out");
    reject(options.kernel.given(),
           "--method, --profile, --cl, --cut, --normalize and other options of kernels");
}

void smooth_alm(const SmoothOptions& options, Session& session) {
    require_no_map_options(options);
    options.run.require_no_shares(options.in);
    auto file = read_alm(options.in, session);
    const auto lmax = options.analysis.lmax_of(options.in, file.layout);
    const auto beam = evaluate_window(smoothing_window(options, 0, 0, session), lmax, window_text(options));
    truncate(file, lmax, std::min(lmax, file.layout.mmax()));
    multiply(file, beam);
    file.precision = options.precision.value_or(file.precision);
    session.report["lmax"] = lmax;
    session.report["components"] = file.components.size();
    set_cards(file.cards, option_cards(options, session));
    stop_if_interrupted();
    write_alm_file(options.out, file, options.output.write_options(), session);
}

void prepare_for_job(SmoothOptions& options, const Session& session) {
    const auto& kernel = options.kernel;
    options.run.explain = kernel.explain;
    options.kernel.explain &= kernel.is_planned();  // of the other methods, there are only shares to tell
    require_parts(options.out, session);
    require_one_process(session, options.nside_out.has_value(), "--nside-out",
                        "the pixels that a rank has of two maps are not the same; map2alm, smooth for the "
                        "alm, and alm2map --nside do it in steps");
}

void smooth_file(SmoothOptions& options, Session& session) {
    if (options.beam_alm.given()) return smooth_with_beam_alm(options, session);
    if (session.has_several_ranks()) prepare_for_job(options, session);
    check(options);
    options.output.require_writable(options.out);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    options.run.resolve(session);
    if (options.fwhm) session.report["fwhm_rad"] = options.fwhm->radians;
    if (options.fwhm_in) session.report["fwhm_in_rad"] = options.fwhm_in->radians;
    if (io::inspect(options.in).kind == io::FileKind::alm) return smooth_alm(options, session);
    smooth_map(options, session);
}

OptionNames option_names(const SmoothOptions& options) {
    const auto window = window_text(options);
    return {{"method", "--method"},
            {"reference", "--reference"},
            {"normalization", "--normalize"},
            {"error", "--error"},
            {"strict", "--strict"},
            {"cut", "--cut"},
            {"theta_cut", "--theta-cut"},
            {"lmax", "--lmax"},
            {"iterations", "--iter"},
            {"tolerance", "--tolerance"},
            {"weights", "--weights"},
            {"mask_mode", "--mask-mode"},
            {"precision", "--precision"},
            {"window", window},
            {"fwhm", "--fwhm"},
            {"beam", window},
            {"kernel", window}};
}

void run(SmoothOptions& options, Session& session) {
    try {
        with_option_names(option_names(options), [&] { smooth_file(options, session); });
    } catch (const CannotBeKept& error) {
        throw CannotBeKept(error.what() + std::string("; --keep-missed writes the map all the same"));
    }
}

}  // namespace

void add_smooth(CLI::App& root, Session& session, Action& action) {
    add_command<SmoothOptions>(
        root, session, action, "smooth",
        "Smooths a map or alm with a Gaussian, a beam or a profile, in the fastest way that keeps an error, "
        "or "
        "with a beam that is not round. "
        "UNSEEN and masked pixels stay UNSEEN; see --mask-mode for what their "
        "neighbours get.",
        "zonal smooth map.fits smoothed.fits --fwhm 10deg --lmax 64\n"
        "  zonal smooth counts.fits seen.fits --method ring-fft --profile psf.fits --energy 100GeV "
        "--normalize pixel",
        declare_options, run, WorkIn::jobs_too);
}

}  // namespace zonal::cli
