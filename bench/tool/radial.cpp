#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <type_traits>

#include "options/options.hpp"
#include "planning/request.hpp"
#include "shell/error.hpp"
#include "shell/timing.hpp"
#include "shell/version.hpp"
#include "tool/best_seconds.hpp"
#include "tool/radial_problem.hpp"
#include "tool/subcommands.hpp"
#include "zonal/buffer.hpp"
#include "zonal/memory.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal::cli {
namespace {

using planning::n_components;

std::int64_t size_of(const std::vector<double>& values) {
    return static_cast<std::int64_t>(values.size());
}

bool is_pixel_method(ConvolutionMethod method) {
    return method != ConvolutionMethod::harmonic;
}

void check(const RadialBenchOptions& options, const MapRun& run) {
    if (is_pixel_method(*options.method) && run.iterations > 0)
        throw UsageError("--iter: only with --method harmonic; sums over pixels have no iterations");
    if (run.spin != 0 && run.spin != 2)
        throw UsageError(fmt::format("--spin = {}: must be 0, or 2 for Q and U", run.spin));
    if (run.spin == 2 && run.lmax < 2)
        throw UsageError(fmt::format("--lmax = {}: must be at least 2 for Q and U", run.lmax));
    if (options.weights != "none" && run.nside == 0)
        throw UsageError("--weights: only HEALPix maps take weights");
}

/// A plan and its scratch memory, whatever the method.
template <class T>
class Convolution {
  public:
    Convolution(const RadialBenchOptions& options, const MapRun& run, const RadialProblem& problem)
        : maps_(run.maps), components_(n_components(problem.request)) {
        if (is_pixel_method(*options.method))
            plan_pixels(options, run, problem);
        else
            plan_harmonic(run, problem);
    }

    /// [map and component, pixel]
    void operator()(View<const T, 2> maps, View<T, 2> convolved) {
        const auto n_pixels = maps.extent(1);
        if (pixels_) return pixels_->convolve<T>(maps, convolved, *workspace_);
        if (polarization_) {
            const View<double, 3>::Extents pairs{maps_, 2, n_pixels};
            return polarization_->convolve<T>({maps.data(), pairs, maps.space()},
                                              {convolved.data(), pairs, convolved.space()}, *workspace_);
        }
        const auto at_once = components_ == 2 ? 2 : maps_;
        for (std::int64_t row = 0; row < maps.extent(0); row += at_once)
            harmonic_->template smooth<T>({maps[row].data(), {at_once, n_pixels}, maps.space()}, {},
                                          {convolved[row].data(), {at_once, n_pixels}, convolved.space()});
    }
    /// Zeros of the harmonic method.
    PixelConvolutionSeconds parts() const {
        return workspace_ ? workspace_->seconds() : PixelConvolutionSeconds{};
    }
    double accuracy() const {
        return pixels_ ? pixels_->options().accuracy : polarization_ ? polarization_->options().accuracy : 0;
    }
    /// 1: all rings at once; the device has no memory for the maps where there are more.
    std::int64_t n_bands() const {
        return pixels_         ? pixels_->shares()[0].n_bands
               : polarization_ ? polarization_->shares()[0].n_bands
                               : 1;
    }

  private:
    void plan_pixels(const RadialBenchOptions& options, const MapRun& run, const RadialProblem& problem) {
        PixelConvolutionOptions plan;
        const bool by_discs = *options.method == ConvolutionMethod::pixel_sum;
        plan.method = by_discs ? PixelMethod::pixel_sum : PixelMethod::ring_fft;
        plan.precision = std::is_same_v<T, float> ? Precision::float32 : Precision::float64;
        plan.threads = run.run.thread_count();
        plan.device = run.run.device;
        const auto make = [&](const auto& kernel, auto& made) {
            using Plan = typename std::decay_t<decltype(made)>::element_type;
            made = std::make_unique<Plan>(run.grid, kernel.truncated(problem.cut), run.grid, plan);
            workspace_ = std::make_unique<PixelConvolutionWorkspace>(made->make_workspace(maps_));
        };
        if (problem.request.polarization)
            make(*problem.request.polarization, polarization_);
        else
            make(problem.request.kernel, pixels_);
    }
    void plan_harmonic(const MapRun& run, const RadialProblem& problem) {
        SmoothingOptions plan;
        plan.lmax = run.lmax;
        plan.iterations = static_cast<int>(run.iterations);
        plan.ring_weights = problem.ring_factor;
        plan.pixel_weights = {problem.pixel_factor.data(), {size_of(problem.pixel_factor)}};
        plan.threads = run.run.thread_count();
        plan.device = run.run.device;
        const auto make = [&](Fields fields, const Beam& beam) {
            harmonic_ = std::make_unique<SmoothingPlan>(run.grid, fields, beam, run.grid, plan);
        };
        if (!problem.request.polarization)
            return make(Fields::scalars,
                        uniform_beam(problem.request.kernel.truncated(problem.cut).window(run.lmax)));
        const auto [e, b] = problem.request.polarization->truncated(problem.cut).windows(run.lmax);
        make(Fields::qu, {e, e, b});
    }

    std::int64_t maps_, components_;
    std::unique_ptr<PixelConvolutionPlan> pixels_;
    std::unique_ptr<PolarizationConvolutionPlan> polarization_;
    std::unique_ptr<PixelConvolutionWorkspace> workspace_;
    std::unique_ptr<SmoothingPlan> harmonic_;
};

/// Returns what the fastest run took; parts: gets what its parts took.
template <class T>
double convolution_seconds(Convolution<T>& convolve, View<const T, 2> maps, View<T, 2> convolved,
                           std::int64_t repeat, Json& parts) {
    return best_seconds(
        repeat, [&] { convolve(maps, convolved); },
        [&] {
            const auto part = convolve.parts();
            parts = {{"kernel_rows", part.kernel_rows}, {"ffts", part.ffts}, {"sums", part.sums}};
        });
}

/// seconds, of maps on the device, parts_seconds and seconds_with_transfers. In bands, which the device has
/// memory for and not for the maps, bands, and the same time for both.
template <class T>
void measure_times(const MapRun& run, Convolution<T>& convolve, const Buffer& host_in, const Buffer& host_out,
                   const View<double, 2>::Extents& extents, Json& report) {
    const auto maps = host_in.view<T, 2>(extents), convolved = host_out.view<T, 2>(extents);
    Json parts, ignored;
    if (convolve.n_bands() > 1) {
        const double seconds = convolution_seconds<T>(convolve, maps, convolved, run.repeat, ignored);
        report["seconds"] = report["seconds_with_transfers"] = seconds;
        report["bands"] = convolve.n_bands();
        return;
    }
    Buffer device_in(run.run.device, host_in.bytes()), device_out(run.run.device, host_out.bytes());
    device_in.copy_from(host_in.data());
    const double seconds = convolution_seconds<T>(convolve, device_in.view<T, 2>(extents),
                                                  device_out.view<T, 2>(extents), run.repeat, parts);
    device_out.copy_to(host_out.data());
    report["seconds"] = seconds;
    if (convolve.accuracy() > 0) report["parts_seconds"] = parts;    // the harmonic method has none
    const bool on_cpu = run.run.device.kind() == Device::Kind::cpu;  // which has nothing to transfer
    report["seconds_with_transfers"] =
        on_cpu ? seconds : convolution_seconds<T>(convolve, maps, convolved, run.repeat, ignored);
}

template <class T>
void measure(const RadialBenchOptions& options, const MapRun& run, const RadialProblem& problem,
             Session& session) {
    auto& report = session.report;
    // The sums over pixels take the weights beforehand, an analysis takes them itself.
    const auto weighted_map = weighted(problem);
    const auto& input = is_pixel_method(*options.method) ? weighted_map : problem.map;
    const View<double, 2>::Extents extents{run.maps * n_components(problem.request), run.grid.n_pixels()};
    const auto bytes = extents[0] * extents[1] * static_cast<std::int64_t>(sizeof(T));
    auto host_in = Buffer::page_locked(run.run.device, bytes);
    auto host_out = Buffer::page_locked(run.run.device, bytes);
    const auto maps = host_in.view<T, 2>(extents), convolved = host_out.view<T, 2>(extents);
    // Times do not depend on the values: the same sky, ever brighter.
    const auto size = size_of(input);
    for (std::int64_t map = 0; map < run.maps; ++map)
        for (std::int64_t i = 0; i < size; ++i)
            maps.data()[map * size + i] =
                static_cast<T>(static_cast<double>(map + 1) * input[static_cast<std::size_t>(i)]);

    std::unique_ptr<Convolution<T>> convolve;
    report["plan_seconds"] =
        seconds_of([&] { convolve = std::make_unique<Convolution<T>>(options, run, problem); });
    measure_times<T>(run, *convolve, host_in, host_out, extents, report);
    if (convolve->accuracy() > 0) report["accuracy"] = convolve->accuracy();

    const auto wanted = options.reference.value_or(ConvolutionReference::discrete);
    // What the convolution was given: rounded to T, and weighted.
    std::vector<double> given = weighted_map;
    for (double& value : given) value = static_cast<double>(static_cast<T>(value));
    const auto reference = find_reference(run, wanted, problem, given);
    const auto error = error_of<T>(run.grid, View<const T, 1>(convolved.data(), {size}), reference);
    report["reference"] = to_string(wanted);
    report["reference_is"] = reference.description;
    report["max_error"] = error.maximum;
    report["rms_error"] = error.rms;
}

void declare(CLI::App& app, RadialBenchOptions& options) {
    declare_options(app, options.maps);
    const auto heading = "Convolution with a Gaussian, of spin 0, or 2 for Q and U";
    const OptionGroup group(app, heading);
    group
        .choice<ConvolutionMethod>("--method", options.method,
                                   {{"harmonic", ConvolutionMethod::harmonic},
                                    {"pixel-sum", ConvolutionMethod::pixel_sum},
                                    {"ring-fft", ConvolutionMethod::ring_fft}},
                                   "how to convolve")
        ->required();
    group.angle("--fwhm", options.fwhm, "full width at half maximum of the Gaussian")->required();
    auto* cut = group.angle("--cut", options.cut, "where its profile ends", "where --error allows");
    cut->excludes(group.number("--error", options.error, {1e-14, 0.5},
                               "largest error by the cut, rms over the rms of the convolved map", "1e-5"));
    group.choice<bool>("--precision", options.single, {{"float", true}, {"double", false}},
                       "of the maps and the sums", "double");
    group.text("--weights", options.weights, "none|ring|pixel|FILE", "HEALPix quadrature weights", "none");
    group.choice("--reference", options.reference, references,
                 "what the errors are measured from: the sum over the pixels in double, of the same "
                 "cut kernel, or the Gaussian's window on the alm that the map was made of",
                 "discrete");
    group.text("--cl", options.spectrum_file, "FILE",
               "spectrum of the maps, FITS or text (TT, with --spin 2 EE and BB)", "1/(l(l+1))");
}

void run(RadialBenchOptions& options, Session& session) {
    const auto run = make_run(options.maps, session);
    check(options, run);
    const auto n_pixels = static_cast<double>(run.grid.n_pixels()) * (run.spin == 2 ? 2 : 1);
    require_memory(n_pixels * (static_cast<double>(run.maps) * (options.single ? 16 : 32) + 40),
                   fmt::format("{} map{} of {}", run.maps, run.maps == 1 ? "" : "s", run.grid.name()));
    auto& report = session.report;
    report["method"] = to_string(*options.method);
    report["precision"] = options.single ? "float" : "double";
    report["spin"] = run.spin;
    report["lmax"] = run.lmax;
    report["maps"] = run.maps;
    report["repeat"] = run.repeat;
    if (!is_pixel_method(*options.method)) report["iterations"] = run.iterations;
    report["weights"] = options.weights;
    const auto problem = make_problem(options, run, session);
    if (options.single)
        measure<float>(options, run, problem, session);
    else
        measure<double>(options, run, problem, session);
    report["machine"] = version_report();
}

}  // namespace

void add_bench_radial(CLI::App& root, Session& session, Action& action) {
    add_command<RadialBenchOptions>(
        root, session, action, "radial",
        "Measures the convolution of band-limited maps with a Gaussian: times, and the error of the result.",
        "zonal-bench radial --nside 512 --fwhm 10arcmin --method ring-fft --json", declare, run);
}

}  // namespace zonal::cli
