#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "engine/smooth_auto.hpp"
#include "engine/smooth_kernels.hpp"
#include "engine/smooth_parts.hpp"
#include "engine/smooth_pixels.hpp"
#include "options/beam_options.hpp"
#include "options/smooth_options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/healpix.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal::cli {
namespace {

Pixelization output_pixels(const SmoothOptions& options, const SkyMap& map) {
    if (!options.nside_out) return map.header().pixelization;
    const auto* healpix = std::get_if<HealpixPixels>(&map.header().pixelization);
    if (healpix == nullptr)
        throw UsageError(fmt::format("--nside-out: {} is not a HEALPix map; zonal convert --nside makes one",
                                     map.header().source));
    const auto order =
        healpix->ordering == healpix::Order::nest ? healpix::Order::nest : healpix::Order::ring;
    healpix::check_nside(*options.nside_out, order);
    return HealpixPixels{*options.nside_out, healpix->ordering};
}

/// --lmax, or what both the input and the output resolve.
std::int64_t choose_lmax(const SmoothOptions& options, const SkyMap& map, const Grid& grid_out) {
    const auto lmax = options.analysis.lmax_for(map);
    if (options.analysis.lmax && map.groups()[0].fields != Fields::scalars) require_spin_lmax(lmax, map);
    return options.analysis.lmax ? lmax : std::min(lmax, default_smoothing_lmax(grid_out));
}

/// The windows of all rows, or with --energy bands one for each.
std::vector<Beam> harmonic_windows(const SmoothOptions& options, const SkyMap& map, const SkyMap& out,
                                   std::int64_t lmax, Session& session) {
    const auto& choice = options.kernel;
    if (choice.profile.empty() && !choice.cut && choice.sky_spectrum.empty()) {
        const auto window = smoothing_window(options, map.nside(), out.nside(), session);
        auto beam = evaluate_window(window, lmax, window_text(options));
        if (!choice.given()) return {beam};
        report_kernels(options, {}, session);
        const double integral = beam.temperature[0];
        session.report["kernel_integral"] = integral;
        if (choice.chosen_normalization() == Normalization::none) return {beam};
        if (integral == 0)
            throw UsageError(
                "--normalize window: the window is 0 at l = 0; --normalize none leaves it as it is");
        for (auto* window_part : {&beam.temperature, &beam.gradient, &beam.curl})
            for (double& value : *window_part) value /= integral;
        return {beam};
    }
    if (options.fwhm_in || !options.beam_in.empty() || !options.pixel_window_in.empty() ||
        !options.pixel_window_out.empty())
        throw UsageError(
            "--fwhm-in, --beam-in, --pixwin-in, --pixwin-out: not with --profile, --cl or --cut");
    if (map.groups()[0].fields != Fields::scalars && !choice.sky_spectrum.empty())
        throw UsageError(
            fmt::format("--cl: a kernel of spin 0, and {} has Q and U; --field I or --no-pol "
                        "smooths spin-0 fields",
                        map.header().source));
    if (map.groups()[0].fields != Fields::scalars && choice.cut)
        throw UsageError(
            fmt::format("--cut: {} has Q and U, whose window of a cut kernel --method harmonic "
                        "does not know; --method pixel-sum does",
                        map.header().source));
    const auto kernels = make_kernels(options, map, {{}}, 0, session);
    report_kernels(options, kernels, session);
    std::vector<Beam> beams;
    beams.reserve(kernels.size());
    for (const auto& kernel : kernels) beams.push_back(uniform_beam(kernel.kernel.window(lmax)));
    return beams;
}

/// Groups that share a window.
std::vector<FieldGroup> groups_of_one_window(const SkyMap& map, std::size_t n_windows) {
    if (n_windows == 1) return map.groups();
    std::vector<FieldGroup> groups;
    groups.reserve(n_windows);
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) groups.push_back({Fields::scalars, row, 1});
    return groups;
}

Json field_report(const SkyMap& map, const FieldGroup& group, const SmoothingReport& result) {
    Json fields = Json::array();
    for (std::int64_t row = 0; row < group.n_rows; ++row) {
        const auto index = static_cast<std::size_t>(row);
        fields.push_back({{"name", map.row_name(group.first_row + row)},
                          {"masked_pixels", result.masked_pixels[index]},
                          {"unseen_pixels_out", result.unseen_pixels[index]}});
    }
    return fields;
}

SmoothingReport smooth_group(const FieldGroup& group, const SkyMap& map, View<const double, 1> mask,
                             const Beam& beam, const SmoothingOptions& options, SkyMap& out) {
    try {
        return smooth<double>(map.grid(), map.rows(group), group.fields, mask, beam, out.grid(),
                              out.rows(group), options);
    } catch (const InvalidArgument& error) {  // the options were checked, so this is the data
        throw IoError(fmt::format("{}: {}", map.header().source, error.what()));
    }
}

}  // namespace

SkyMap smooth_in_harmonic_space(const SmoothOptions& options, const SkyMap& map, Session& session) {
    SkyMap out(map, output_pixels(options, map));
    if (options.mask.fill_masked) out.make_full_sky();
    const auto lmax = choose_lmax(options, map, out.grid());
    if (map.nside() == 0 && (!options.pixel_window_in.empty() || !options.pixel_window_out.empty()))
        throw UsageError(
            fmt::format("--pixwin-in, --pixwin-out: {} is not a HEALPix map", map.header().source));
    const auto beams = harmonic_windows(options, map, out, lmax, session);
    const auto mask = read_mask(options.mask, map, session);
    const auto weights = find_weights(options.analysis, map, options.run, session);
    stop_if_interrupted();

    const auto rule = options.mask.rule();
    SmoothingOptions smoothing;
    smoothing.lmax = lmax;
    smoothing.iterations = iteration_count(options);
    smoothing.tolerance = options.analysis.tolerance;
    smoothing.ring_weights = weights.ring;
    smoothing.pixel_weights = {weights.pixel.data(), {static_cast<std::int64_t>(weights.pixel.size())}};
    smoothing.mask_mode = rule.mode;
    smoothing.mask_threshold = rule.threshold;
    smoothing.fill_masked = rule.fill_masked;
    smoothing.threads = options.run.thread_count();
    smoothing.device = options.run.device;
    session.report["fields"] = Json::array();
    const auto bar = session.progress("smooth");
    const auto n_rows = static_cast<double>(map.rows().extent(0));
    for (const auto& group : groups_of_one_window(map, beams.size())) {
        const auto& beam = beams[beams.size() == 1 ? 0 : static_cast<std::size_t>(group.first_row)];
        const auto begin = static_cast<double>(group.first_row), share = static_cast<double>(group.n_rows);
        smoothing.progress = [&](double done) { return bar((begin + share * done) / n_rows); };
        const auto result = smooth_group(group, map, mask.view(), beam, smoothing, out);
        session.report["lmax"] = result.lmax;
        report_analysis(result, options.analysis, session);
        for (auto& field : field_report(map, group, result)) session.report["fields"].push_back(field);
    }
    stop_if_interrupted();
    return out;
}

namespace {

void write(const SmoothOptions& options, const std::vector<io::HeaderCard>& cards, SkyMap& out,
           Session& session) {
    auto& header = out.header();
    for (auto& column : header.columns) column.precision = options.precision.value_or(column.precision);
    set_cards(header.cards, cards);
    io::write_sky_map(options.out, out, options.output.write_options());
    session.report["map"] = describe(header);
}

void smooth_map(SmoothOptions& options, Session& session) {
    auto map = read_sky_map(options.in, options.input, session);
    if (has_parts(options, map)) {
        const auto cards = smooth_parts(options, map, session);
        return write(options, cards, map, session);
    }
    if (options.kernel.is_planned()) choose_method(options, map, session);
    auto out = smoothed(options, map, session);
    write(options, parameter_cards(options, session), out, session);
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
    auto file = read_alm(options.in, session);
    const auto lmax = options.analysis.lmax.value_or(file.layout.lmax());
    if (lmax > file.layout.lmax())
        throw UsageError(fmt::format("--lmax = {}: {} ends at {}", lmax, options.in, file.layout.lmax()));
    const auto beam = evaluate_window(smoothing_window(options, 0, 0, session), lmax, window_text(options));
    truncate(file, lmax, std::min(lmax, file.layout.mmax()));
    multiply(file, beam);
    file.precision = options.precision.value_or(file.precision);
    session.report["lmax"] = lmax;
    session.report["components"] = file.components.size();
    set_cards(file.cards, parameter_cards(options, session));
    stop_if_interrupted();
    write_alm_file(options.out, file, options.output.write_options());
}

void run(SmoothOptions& options, Session& session) {
    auto& kernel = options.kernel;
    if (!kernel.plan.empty() && !kernel.method) kernel.method = ConvolutionMethod::automatic;
    check(options);
    options.output.require_writable(options.out);
    if (!kernel.save_plan.empty()) options.output.require_writable(kernel.save_plan, OutputFormat::json);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    options.run.resolve(session);
    if (options.fwhm) session.report["fwhm_rad"] = options.fwhm->radians;
    if (options.fwhm_in) session.report["fwhm_in_rad"] = options.fwhm_in->radians;
    if (io::inspect(options.in).kind == io::FileKind::alm) return smooth_alm(options, session);
    if (kernel.is_pixel_method() && !kernel.is_automatic()) check_pixel_options(options);
    smooth_map(options, session);
}

}  // namespace

void add_smooth(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(
        root, session, "smooth",
        "Smooths a map or alm with a Gaussian, a beam or a profile, in harmonic space or by sums over "
        "pixels. UNSEEN and masked pixels stay UNSEEN; see --mask-mode for what their "
        "neighbours get.",
        "zonal smooth map.fits smoothed.fits --fwhm 10deg --lmax 64\n"
        "  zonal smooth counts.fits seen.fits --method ring-fft --profile psf.fits --energy 100GeV "
        "--normalize pixel");
    const auto options = std::make_shared<SmoothOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
