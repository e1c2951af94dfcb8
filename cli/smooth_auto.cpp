#include "smooth_auto.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "choice_report.hpp"
#include "cost_model_file.hpp"
#include "error.hpp"
#include "quadrature_error.hpp"
#include "sky_map.hpp"
#include "smooth_kernels.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {
namespace {

bool is_continuous(const SmoothOptions& options) {
    return options.kernel.reference == Reference::continuous;
}

/// Why only harmonic space comes into question; empty where any way does.
std::string harmonic_only(const SmoothOptions& options, const SkyMap& map) {
    if (map.groups()[0].fields != Fields::scalars) return "the map has Q and U";
    if (options.nside_out) return "--nside-out";
    if (options.analysis.given() && is_continuous(options)) return "--lmax, --iter, --tolerance, --weights";
    if (is_continuous(options) && map.nside() == 0) return "the map is not HEALPix";
    if (options.fwhm_in || !options.beam_in.empty() || !options.pixel_window_in.empty() ||
        !options.pixel_window_out.empty())
        return "windows of the input or of pixels";
    return "";
}

/// TT of --input-cl FILE; white otherwise, by which more is left of a kernel's tail.
std::vector<double> spectrum_for(const SmoothOptions& options, std::int64_t lmax) {
    const auto& name = options.kernel.input_spectrum;
    if (name.empty() || name == "white" || name == "map") return {};
    const auto file = io::read_spectrum(name);
    const auto* spectrum = file.find("TT");
    if (spectrum == nullptr) throw UsageError(fmt::format("--input-cl {}: has no spectrum TT", name));
    return fit_length(spectrum->values, lmax, Extension::zero, "--input-cl");
}

ConvolutionRequest make_request(const SmoothOptions& options, const SkyMap& map, const CostModel& costs,
                                Session& session) {
    const auto kernels = make_kernels(options, map, {{}}, 0, session);
    ConvolutionRequest request;
    request.grid = map.grid();
    request.lmax = options.analysis.lmax
                       ? options.analysis.lmax_for(map)
                       : std::min(options.analysis.lmax_for(map), default_smoothing_lmax(map.grid()));
    request.kernel = kernels[0].kernel;
    request.threads = options.run.thread_count();
    request.c_l = spectrum_for(options, request.lmax);
    request.error = options.kernel.chosen_error();
    if (is_continuous(options)) {
        request.reference = ConvolutionReference::continuous;
        request.quadrature_error =
            quadrature_error(request.kernel, map.nside(), request.c_l, request.threads);
        request.iteration_gain = iteration_gain(request.lmax, map.nside());
    }
    request.n_maps = map.rows().extent(0);
    request.allow_single = options.precision == io::Precision::float32;
    request.consider_split = false;
    const bool is_known = std::any_of(costs.devices.begin(), costs.devices.end(), [&](const auto& device) {
        return device.device == options.run.device;
    });
    if (is_known) request.devices = {options.run.device};
    return request;
}

/// Whether `zonal smooth` would do just this: its precision is that of the output, its kernels are cut by the
/// error alone, and counts are kept by sums over pixels.
bool may_be_taken(const ConvolutionChoice& choice, const SmoothOptions& options) {
    if (!choice.excluded.empty()) return false;
    const bool harmonic = choice.method == zonal::ConvolutionMethod::harmonic;
    if (harmonic) return options.kernel.chosen_normalization() != Normalization::pixel;
    const bool single = options.precision == io::Precision::float32;
    return (choice.precision == zonal::Precision::single_) == single;
}

void take(ConvolutionMethod method, SmoothOptions& options) {
    options.kernel.method = method;
    if (!options.kernel.reference) options.kernel.reference = Reference::discrete;
    // What the other ways have no use for.
    if (method != ConvolutionMethod::harmonic && options.beam.empty()) options.analysis.lmax.reset();
}

/// As many iterations as were planned; where lmax is so high that they need not converge as planned,
/// conjugate gradients until the residual says so.
void iterate(const ConvolutionChoice& choice, std::int64_t lmax, std::int64_t nside, SmoothOptions& options) {
    constexpr double share_of_residual = 0.1;
    if (2 * lmax <= 5 * nside || choice.iterations == 0)
        options.analysis.iterations = choice.iterations;
    else
        options.analysis.tolerance = std::max(1e-13, share_of_residual * options.kernel.chosen_error());
}

}  // namespace

void choose_method(SmoothOptions& options, Session& session) {
    Session scratch;  // notes of reading come again from the method itself
    const SkyMap map(options.in, options.input, scratch);
    session.report["method_asked_for"] = "auto";
    if (const auto reason = harmonic_only(options, map); !reason.empty()) {
        session.note(fmt::format("--method auto: {}: harmonic space, whatever --error says", reason));
        return take(ConvolutionMethod::harmonic, options);
    }
    const auto costs = read_cost_model("", options.run.thread_count(), session);
    const auto request = make_request(options, map, costs, scratch);
    const auto choices = plan_convolution(request, costs);
    if (options.kernel.explain) {
        session.report["costs"] = costs.fingerprint;
        session.report["choices"] = Json::array();
        for (const auto& choice : choices) session.report["choices"].push_back(report_of(choice));
    }
    const auto best = std::find_if(choices.begin(), choices.end(),
                                   [&](const auto& choice) { return may_be_taken(choice, options); });
    if (best == choices.end())
        throw UsageError(
            fmt::format("--method auto: nothing keeps --error {}", options.kernel.chosen_error()));
    session.report["predicted_seconds"] = best->seconds;
    session.report["predicted_error"] = best->error;
    if (is_continuous(options) && best->method == zonal::ConvolutionMethod::harmonic)
        iterate(*best, request.lmax, map.nside(), options);
    take(best->method == zonal::ConvolutionMethod::harmonic    ? ConvolutionMethod::harmonic
         : best->method == zonal::ConvolutionMethod::pixel_sum ? ConvolutionMethod::pixel_sum
                                                               : ConvolutionMethod::ring_fft,
         options);
}

}  // namespace zonal::cli
