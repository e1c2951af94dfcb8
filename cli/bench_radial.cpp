#include "bench_radial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>

#include "bench_reference.hpp"
#include "error.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "timing.hpp"
#include "weight_cache.hpp"
#include "zonal/buffer.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/realization.hpp"
#include "zonal/sht.hpp"
#include "zonal/smoothing.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;

constexpr double default_error = 1e-5;

std::int64_t size_of(const std::vector<double>& values) {
    return static_cast<std::int64_t>(values.size());
}

void check(const RadialBenchOptions& options, const RadialBenchRun& run) {
    if (!options.method) throw UsageError("bench radial: --method harmonic|pixel-sum|ring-fft is required");
    if (!options.fwhm) throw UsageError("bench radial: --fwhm ANGLE is required");
    if (options.cut && options.error > 0) throw UsageError("--cut and --error exclude each other");
    if (options.cut && options.cut->radians > std::numbers::pi)
        throw UsageError(fmt::format("--cut = {}: must be at most 180deg", options.cut->text));
    if (is_pixel_method(*options.method) && run.iterations > 0)
        throw UsageError("--iter: only with --method harmonic; sums over pixels have no iterations");
    if (!options.weights.empty() && options.weights != "none" && run.nside == 0)
        throw UsageError("--weights: only HEALPix maps take weights");
}

/// 1 / (l (l + 1)), as steep as the microwave sky's, or TT of --cl.
std::vector<double> input_spectrum(const RadialBenchOptions& options, std::int64_t lmax, Session& session) {
    if (options.spectrum_file.empty()) {
        std::vector<double> c_l(static_cast<std::size_t>(lmax + 1));
        for (std::size_t l = 1; l < c_l.size(); ++l) {
            const auto degree = static_cast<double>(l);
            c_l[l] = 1 / (degree * (degree + 1));
        }
        return c_l;
    }
    const auto file = io::read_spectrum(options.spectrum_file);
    session.note(file.notes);
    const auto* spectrum = file.find("TT");
    if (spectrum == nullptr)
        throw UsageError(fmt::format("--cl {}: has no spectrum TT", options.spectrum_file));
    try {
        return fit_length(spectrum->values, lmax, Extension::none, "--cl " + options.spectrum_file);
    } catch (const InvalidArgument& error) {
        throw UsageError(error.what());
    }
}

/// What all the runs are made of.
struct Problem {
    RadialKernel gaussian, kernel;  ///< whole, and cut
    std::vector<double> c_l;
    Array<Complex, 2> alm;            ///< [1, coefficient] of the input
    std::vector<double> map;          ///< [pixel]
    std::vector<double> ring_factor;  ///< --weights, one of the two or neither
    std::vector<double> pixel_factor;
};

ShtOptions transform_options(const RadialBenchRun& run) {
    ShtOptions options;
    options.lmax = run.lmax;
    options.threads = run.run.thread_count();
    options.device = run.run.device;
    return options;
}

/// S (window alm).
std::vector<double> synthesize(const RadialBenchRun& run, const Array<Complex, 2>& alm,
                               const std::vector<double>& window) {
    const ShtPlan plan(run.grid, transform_options(run));
    auto product = alm;
    apply_beam<double>(plan.layout(), uniform_beam(window), product.view());
    std::vector<double> map(static_cast<std::size_t>(run.grid.n_pixels()));
    plan.synthesize<double>({product.data(), {1, 1, plan.layout().size()}},
                            {map.data(), {1, 1, size_of(map)}});
    return map;
}

void find_weights(const RadialBenchOptions& options, const RadialBenchRun& run, Session& session,
                  Problem& problem) {
    if (options.weights.empty() || options.weights == "none") return;
    const auto weights = weights_for(options.weights, run.nside, run.run.thread_count(), session);
    if (weights.values.kind == io::QuadratureWeights::Kind::ring)
        problem.ring_factor = healpix::expand_ring_weights(run.nside, weights.values.deviations);
    else
        problem.pixel_factor = healpix::expand_pixel_weights(run.nside, weights.values.deviations);
}

/// The map times its weights, as the sums over pixels take it.
std::vector<double> weighted(const Grid& grid, const Problem& problem) {
    auto map = problem.map;
    for (std::size_t i = 0; i < problem.pixel_factor.size(); ++i) map[i] *= problem.pixel_factor[i];
    for (std::size_t r = 0; r < problem.ring_factor.size(); ++r) {
        const auto& ring = grid.rings()[r];
        for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
            map[static_cast<std::size_t>(pixel)] *= problem.ring_factor[r];
    }
    return map;
}

Problem make_problem(const RadialBenchOptions& options, const RadialBenchRun& run, Session& session) {
    const auto gaussian = RadialKernel::gaussian(options.fwhm->radians);
    auto c_l = input_spectrum(options, run.lmax, session);
    const double error = options.error > 0 ? options.error : default_error;
    const double cut = options.cut ? options.cut->radians : support_for_error(gaussian, c_l, error);
    const AlmLayout layout(run.lmax);
    Problem problem{gaussian, gaussian.truncated(cut), c_l, Array<Complex, 2>({1, layout.size()}), {}, {},
                    {}};
    SkySpectra spectra;
    spectra.tt = c_l;
    realize<double>(spectra, 1, layout, problem.alm.view(), run.run.thread_count());
    problem.map = synthesize(run, problem.alm, std::vector<double>(c_l.size(), 1.0));
    find_weights(options, run, session, problem);
    session.report["fwhm_rad"] = options.fwhm->radians;
    session.report["cut_rad"] = cut;
    session.report["truncation_error"] = truncation_error(gaussian, c_l, cut);
    return problem;
}

/// A plan and its scratch memory, whatever the method.
template <class T>
class Convolution {
  public:
    Convolution(const RadialBenchOptions& options, const RadialBenchRun& run, const Problem& problem)
        : maps_(run.maps) {
        if (is_pixel_method(*options.method))
            plan_pixels(options, run, problem);
        else
            plan_harmonic(run, problem);
    }

    void operator()(View<const T, 2> maps, View<T, 2> convolved) {
        if (pixels_)
            pixels_->convolve<T>(maps, convolved, *workspace_);
        else
            harmonic_->template smooth<T>(maps, {}, convolved);
    }
    /// Zeros of the harmonic method.
    PixelConvolutionSeconds parts() const {
        return workspace_ ? workspace_->seconds() : PixelConvolutionSeconds{};
    }
    double accuracy() const { return pixels_ ? pixels_->options().accuracy : 0; }
    /// 1: all rings at once; the device has no memory for the maps where there are more.
    std::int64_t n_bands() const { return pixels_ ? pixels_->shares()[0].n_bands : 1; }

  private:
    void plan_pixels(const RadialBenchOptions& options, const RadialBenchRun& run, const Problem& problem) {
        PixelConvolutionOptions plan;
        plan.method = pixel_method(*options.method);
        plan.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
        plan.threads = run.run.thread_count();
        plan.device = run.run.device;
        pixels_ = std::make_unique<PixelConvolutionPlan>(run.grid, problem.kernel, run.grid, plan);
        workspace_ = std::make_unique<PixelConvolutionWorkspace>(pixels_->make_workspace(maps_));
    }
    void plan_harmonic(const RadialBenchRun& run, const Problem& problem) {
        SmoothingOptions plan;
        plan.lmax = run.lmax;
        plan.iterations = static_cast<int>(run.iterations);
        plan.ring_weights = problem.ring_factor;
        plan.pixel_weights = {problem.pixel_factor.data(), {size_of(problem.pixel_factor)}};
        plan.threads = run.run.thread_count();
        plan.device = run.run.device;
        harmonic_ = std::make_unique<SmoothingPlan>(
            run.grid, Fields::scalars, uniform_beam(problem.kernel.window(run.lmax)), run.grid, plan);
    }

    std::int64_t maps_;
    std::unique_ptr<PixelConvolutionPlan> pixels_;
    std::unique_ptr<PixelConvolutionWorkspace> workspace_;
    std::unique_ptr<SmoothingPlan> harmonic_;
};

/// Best of the runs after one that warms up, and the parts of that.
template <class T>
double best_seconds(Convolution<T>& convolve, View<const T, 2> maps, View<T, 2> convolved,
                    std::int64_t repeat, Json& parts) {
    convolve(maps, convolved);
    double best = INFINITY;
    for (std::int64_t i = 0; i < repeat; ++i) {
        const double seconds = seconds_of([&] { convolve(maps, convolved); });
        if (seconds >= best) continue;
        best = seconds;
        const auto part = convolve.parts();
        parts = {{"kernel_rows", part.kernel_rows}, {"ffts", part.ffts}, {"sums", part.sums}};
    }
    return best;
}

/// The answer that --reference asks for, to the first map.
ReferenceMap find_reference(const RadialBenchRun& run, Reference wanted, const Problem& problem,
                            const std::vector<double>& input) {
    if (wanted == Reference::discrete)
        return discrete_reference(run.grid, problem.kernel, {input.data(), {size_of(input)}},
                                  run.run.thread_count());
    ReferenceMap reference;
    for (std::int64_t ring = 0; ring < run.grid.n_rings(); ++ring) reference.rings.push_back(ring);
    reference.values = synthesize(run, problem.alm, problem.gaussian.window(run.lmax));
    reference.description = "the whole Gaussian's window on the map's own alm";
    return reference;
}

/// seconds, of maps on the device, parts_seconds and seconds_with_transfers. In bands, which the device has
/// memory for and not for the maps, bands, and the same time for both.
template <class T>
void measure_times(const RadialBenchRun& run, Convolution<T>& convolve, const Buffer& host_in,
                   const Buffer& host_out, const View<double, 2>::Extents& extents, Json& report) {
    const auto maps = host_in.view<T, 2>(extents), convolved = host_out.view<T, 2>(extents);
    Json parts, ignored;
    if (convolve.n_bands() > 1) {
        const double seconds = best_seconds<T>(convolve, maps, convolved, run.repeat, ignored);
        report["seconds"] = report["seconds_with_transfers"] = seconds;
        report["bands"] = convolve.n_bands();
        return;
    }
    Buffer device_in(run.run.device, host_in.bytes()), device_out(run.run.device, host_out.bytes());
    device_in.copy_from(host_in.data());
    const double seconds = best_seconds<T>(convolve, device_in.view<T, 2>(extents),
                                           device_out.view<T, 2>(extents), run.repeat, parts);
    device_out.copy_to(host_out.data());
    report["seconds"] = seconds;
    if (convolve.accuracy() > 0) report["parts_seconds"] = parts;    // the harmonic method has none
    const bool on_cpu = run.run.device.kind() == Device::Kind::cpu;  // which has nothing to transfer
    report["seconds_with_transfers"] =
        on_cpu ? seconds : best_seconds<T>(convolve, maps, convolved, run.repeat, ignored);
}

template <class T>
void measure(const RadialBenchOptions& options, const RadialBenchRun& run, const Problem& problem,
             Session& session) {
    auto& report = session.report;
    // The sums over pixels take the weights beforehand, an analysis takes them itself.
    const auto weighted_map = weighted(run.grid, problem);
    const auto& input = is_pixel_method(*options.method) ? weighted_map : problem.map;
    const View<double, 2>::Extents extents{run.maps, run.grid.n_pixels()};
    const auto bytes = extents[0] * extents[1] * static_cast<std::int64_t>(sizeof(T));
    auto host_in = Buffer::page_locked(run.run.device, bytes);
    auto host_out = Buffer::page_locked(run.run.device, bytes);
    const auto maps = host_in.view<T, 2>(extents), convolved = host_out.view<T, 2>(extents);
    // Times do not depend on the values: the same sky, ever brighter.
    for (std::int64_t map = 0; map < run.maps; ++map)
        for (std::int64_t pixel = 0; pixel < extents[1]; ++pixel)
            maps(map, pixel) =
                static_cast<T>(static_cast<double>(map + 1) * input[static_cast<std::size_t>(pixel)]);

    std::unique_ptr<Convolution<T>> convolve;
    report["plan_seconds"] =
        seconds_of([&] { convolve = std::make_unique<Convolution<T>>(options, run, problem); });
    measure_times<T>(run, *convolve, host_in, host_out, extents, report);
    if (convolve->accuracy() > 0) report["accuracy"] = convolve->accuracy();

    const auto wanted = options.reference.value_or(Reference::discrete);
    // What the convolution was given: rounded to T, and weighted.
    std::vector<double> given = weighted_map;
    for (double& value : given) value = static_cast<double>(static_cast<T>(value));
    const auto reference = find_reference(run, wanted, problem, given);
    const auto error = error_of<T>(run.grid, View<const T, 1>(convolved.data(), {extents[1]}), reference);
    report["reference"] = to_string(wanted);
    report["reference_is"] = reference.description;
    report["max_error"] = error.maximum;
    report["rms_error"] = error.rms;
}

}  // namespace

void declare_options(CLI::App& app, RadialBenchOptions& options) {
    const auto group = "radial: convolution with a Gaussian";
    add_angle(app, "--fwhm", options.fwhm, "full width at half maximum of the Gaussian")->group(group);
    add_angle(app, "--cut", options.cut, "where its profile ends")
        ->default_str("where --error allows")
        ->group(group);
    add_number(app, "--error", options.error, {1e-14, 0.5},
               "largest error by the cut, rms over the rms of the convolved map")
        ->default_str("1e-5")
        ->group(group);
    add_choice<Precision>(app, "--precision", options.precision,
                          {{"float", Precision::single_}, {"double", Precision::double_}},
                          "of the maps and the sums")
        ->default_str("double")
        ->group(group);
    add_text(app, "--weights", options.weights, "none|ring|pixel|FILE", "HEALPix quadrature weights")
        ->default_str("none")
        ->group(group);
    add_reference_option(app, options.reference,
                         "what the errors are measured from: the sum over the pixels in double, of the same "
                         "cut kernel, or the Gaussian's window on the alm that the map was made of")
        ->default_str("discrete")
        ->group(group);
    add_text(app, "--cl", options.spectrum_file, "FILE", "spectrum of the maps, FITS or text (TT)")
        ->default_str("1/(l(l+1))")
        ->group(group);
}

void bench_radial(const RadialBenchOptions& options, const RadialBenchRun& run, Session& session) {
    check(options, run);
    const bool single = options.precision == Precision::single_;
    const auto n_pixels = static_cast<double>(run.grid.n_pixels());
    require_memory(n_pixels * (static_cast<double>(run.maps) * (single ? 16 : 32) + 40),
                   fmt::format("{} map{} of {}", run.maps, run.maps == 1 ? "" : "s", run.grid.name()));
    auto& report = session.report;
    report["method"] = to_string(*options.method);
    report["precision"] = single ? "float" : "double";
    report["lmax"] = run.lmax;
    report["maps"] = run.maps;
    report["repeat"] = run.repeat;
    if (!is_pixel_method(*options.method)) report["iterations"] = run.iterations;
    report["weights"] = options.weights.empty() ? "none" : options.weights;
    const auto problem = make_problem(options, run, session);
    if (single)
        measure<float>(options, run, problem, session);
    else
        measure<double>(options, run, problem, session);
}

}  // namespace zonal::cli
