#include "plan_measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <random>
#include <utility>

#include "bench_reference.hpp"
#include "chosen_convolution.hpp"
#include "interrupt.hpp"
#include "memory.hpp"
#include "timing.hpp"
#include "zonal/realization.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;

/// A map and its convolution as it should be.
struct Sample {
    std::string description;
    std::vector<double> map;  ///< [pixel]
    ReferenceMap reference;
};

ShtPlan transform(const ConvolutionRequest& request, std::int64_t lmax) {
    ShtOptions options;
    options.lmax = lmax;
    options.threads = request.threads;
    options.device = Device::cpu();
    return {request.grid, options};
}

std::vector<double> synthesize(const ShtPlan& plan, const Array<Complex, 3>& alm) {
    std::vector<double> map(static_cast<std::size_t>(plan.grid().n_pixels()));
    plan.synthesize<double>(alm.view(), {map.data(), {1, 1, plan.grid().n_pixels()}});
    return map;
}

/// S (window alm), on all rings.
ReferenceMap in_harmonic_space(const ConvolutionRequest& request, const ShtPlan& plan, Array<Complex, 3> alm,
                               const std::string& description) {
    multiply_alm<double>(plan.layout(), request.kernel.window(plan.options().lmax), alm.view()[0][0]);
    ReferenceMap reference;
    for (std::int64_t ring = 0; ring < request.grid.n_rings(); ++ring) reference.rings.push_back(ring);
    reference.values = synthesize(plan, alm);
    reference.description = description;
    return reference;
}

/// Root of the part of sum_l (2l+1) C_l K_l^2 above lmax; C_l goes on with its last.
double left_above(const ConvolutionRequest& request, std::int64_t lmax) {
    const auto window = request.kernel.window(2 * lmax);
    double all = 0, above = 0;
    for (std::int64_t l = 0; l <= 2 * lmax; ++l) {
        const double c_l = request.c_l.empty() ? 1 : request.c_l[std::min(l, request.lmax)];
        const double power = static_cast<double>(2 * l + 1) * c_l * window[l] * window[l];
        all += power;
        if (l > lmax) above += power;
    }
    return all > 0 ? std::sqrt(above / all) : 0;
}

/// The sum over the pixels: in harmonic space, where it is exact for band-limited kernels, if this kernel has
/// faded away as far as the grid goes; else pixel by pixel on some rings. Either is good to `share` of the
/// error.
ReferenceMap sum_over_pixels(const ConvolutionRequest& request, std::int64_t nside,
                             const std::vector<double>& map) {
    constexpr double share = 1e-3;
    const auto lmax = 3 * nside - 1;
    if (left_above(request, lmax) > share * request.error) {
        const double support =
            support_for_error(request.kernel, request.c_l, share * request.error, request.grid);
        return discrete_reference(request.grid, request.kernel.truncated(support),
                                  {map.data(), {request.grid.n_pixels()}}, request.threads);
    }
    const auto plan = transform(request, lmax);
    Array<Complex, 3> alm({1, 1, plan.layout().size()});
    plan.quadrature<double>({map.data(), {1, 1, request.grid.n_pixels()}}, alm.view());
    return in_harmonic_space(request, plan, alm, fmt::format("the sum over pixels, by alm up to {}", lmax));
}

Sample make_sample(const ConvolutionRequest& request, std::int64_t nside, std::uint64_t seed) {
    Sample sample;
    const bool is_discrete = request.reference == ConvolutionReference::discrete;
    if (is_discrete && request.c_l.empty()) {
        sample.description = "white noise on pixels";
        std::mt19937_64 generator(seed);
        std::normal_distribution<double> normal;
        sample.map.resize(static_cast<std::size_t>(request.grid.n_pixels()));
        for (double& value : sample.map) value = normal(generator);
    } else {
        sample.description = fmt::format("random alm up to {}", request.lmax);
        const auto plan = transform(request, request.lmax);
        Array<Complex, 3> alm({1, 1, plan.layout().size()});
        SkySpectra spectra;
        spectra.tt = request.c_l.empty() ? std::vector<double>(request.lmax + 1, 1.0) : request.c_l;
        realize<double>(spectra, seed, plan.layout(), alm.view()[0], request.threads);
        sample.map = synthesize(plan, alm);
        if (!is_discrete)
            sample.reference =
                in_harmonic_space(request, plan, alm, "the window on the alm of which the map is made");
    }
    if (is_discrete) sample.reference = sum_over_pixels(request, nside, sample.map);
    return sample;
}

/// What one way took and was wrong by.
struct Measured {
    double plan_seconds = HUGE_VAL, seconds = HUGE_VAL;
    ConvolutionError error;
};

/// The best of some runs after one that warms up; that one alone where it says that others are far faster.
double best_seconds(double fastest, const std::function<void()>& work) {
    constexpr double enough = 0.4, long_run = 0.4, hopeless = 2;  // s, s, times
    double best = seconds_of(work), all = 0;
    if (best > long_run && best > hopeless * fastest) return best;
    for (int run = 0; run < 7 && (run < 1 || all < enough); ++run) {
        const double seconds = seconds_of(work);
        best = std::min(best, seconds);
        all += seconds;
    }
    return best;
}

template <class T>
void measure(const ConvolutionRequest& request, const ConvolutionChoice& choice, const Sample& sample,
             double fastest, Measured& measured) {
    const View<double, 2>::Extents extents{request.n_maps, request.grid.n_pixels()};
    Array<T, 2> maps(extents), convolved(extents);
    // Times do not depend on the values: the same sky, ever brighter.
    for (std::int64_t map = 0; map < extents[0]; ++map)
        for (std::int64_t pixel = 0; pixel < extents[1]; ++pixel)
            maps(map, pixel) = static_cast<T>(static_cast<double>(map + 1) * sample.map[pixel]);
    std::unique_ptr<ChosenConvolution> convolve;
    const double planning =
        seconds_of([&] { convolve = std::make_unique<ChosenConvolution>(request, choice); });
    const double seconds =
        best_seconds(fastest, [&] { (*convolve)(std::as_const(maps).view(), convolved.view()); });
    measured.plan_seconds = std::min(measured.plan_seconds, planning);
    measured.seconds = std::min(measured.seconds, seconds);
    measured.error =
        error_of<T>(request.grid, View<const T, 1>(convolved.data(), {extents[1]}), sample.reference);
}

/// Two rounds, the second in the reverse order, so that a disturbance does not hit the same way twice.
class Measurement {
  public:
    Measurement(const ConvolutionRequest& request, const std::vector<ConvolutionChoice>& choices,
                const Sample& sample)
        : request_(request), choices_(choices), sample_(sample), results_(choices.size()) {}

    void run(const Progress& bar) {
        const auto count = std::ssize(choices_);
        for (std::int64_t step = 0; step < 2 * count; ++step) {
            measure_one(step < count ? step : 2 * count - 1 - step);
            bar(static_cast<double>(step + 1) / static_cast<double>(2 * count));
            stop_if_interrupted();
        }
    }
    /// Whether it would take long although others are known to be far faster.
    bool is_left_out(std::int64_t i) const {
        constexpr double long_run = 1, hopeless = 20;  // s, times
        const double predicted = choices_[i].seconds;
        return results_[i].seconds == HUGE_VAL && predicted > long_run && predicted > hopeless * fastest_;
    }
    const std::vector<Measured>& results() const { return results_; }
    double fastest() const { return fastest_; }

  private:
    void measure_one(std::int64_t i) {
        constexpr double hopeless = 2;
        const auto& choice = choices_[i];
        const bool is_slow = results_[i].seconds < HUGE_VAL && results_[i].seconds > hopeless * fastest_;
        if (!choice.excluded.empty() || is_left_out(i) || is_slow) return;
        if (choice.precision == Precision::single_)
            measure<float>(request_, choice, sample_, fastest_, results_[i]);
        else
            measure<double>(request_, choice, sample_, fastest_, results_[i]);
        fastest_ = std::min(fastest_, results_[i].seconds);
    }

    const ConvolutionRequest& request_;
    const std::vector<ConvolutionChoice>& choices_;
    const Sample& sample_;
    std::vector<Measured> results_;
    double fastest_ = HUGE_VAL;
};

}  // namespace

void measure_choices(const ConvolutionRequest& request, const std::vector<ConvolutionChoice>& choices,
                     std::int64_t seed, Session& session) {
    if (!choices[0].excluded.empty()) return session.note("nothing may be taken: nothing was measured");
    const auto n_pixels = static_cast<double>(request.grid.n_pixels());
    // Maps of a way, and what it works in; the sample, its reference and their alm.
    require_memory(
        n_pixels * (48 * static_cast<double>(request.n_maps) + 64),
        fmt::format("{} map{} of {}", request.n_maps, request.n_maps == 1 ? "" : "s", request.grid.name()));
    const auto nside = std::llround(std::sqrt(n_pixels / 12));
    const auto sample = make_sample(request, nside, static_cast<std::uint64_t>(seed));
    Measurement measurement(request, choices, sample);
    measurement.run(session.progress("measure"));
    double worst = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (!choices[i].excluded.empty()) continue;
        const auto& result = measurement.results()[i];
        auto& row = session.report["choices"][i];
        if (measurement.is_left_out(static_cast<std::int64_t>(i))) {
            row["not_measured"] = "predicted to take 20 times as long as the fastest";
            continue;
        }
        row["measured_plan_seconds"] = result.plan_seconds;
        row["measured_seconds"] = result.seconds;
        row["measured_error"] = result.error.rms;
        row["measured_largest_error"] = result.error.maximum;
        worst = std::max(worst, result.error.rms);
    }
    session.report["measured"] = {
        {"map", sample.description},
        {"reference_is", sample.reference.description},
        {"chosen_over_fastest", measurement.results()[0].seconds / measurement.fastest()},
        {"chosen_error_over_wanted", measurement.results()[0].error.rms / request.error},
        {"largest_error_over_wanted", worst / request.error}};
}

}  // namespace zonal::cli
