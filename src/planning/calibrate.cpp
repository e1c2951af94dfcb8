#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "planning/calibration_cases.hpp"
#include "planning/calibration_run.hpp"
#include "planning/explained_times.hpp"
#include "planning/size_shares.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal {
namespace {

using calibration::Case;
using calibration::cases_of;
using calibration::Clock;
using calibration::explain;
using calibration::Measurement;
using calibration::Polarization;
using calibration::run;
using calibration::Scalars;
using calibration::Shared;
using calibration::SharedMaps;
using calibration::TransformCase;
using core::seconds_of;

/// Returns the seconds of a part, which may be 0.
double at_least_an_instant(double seconds) {
    return std::max(seconds, 1e-9);
}

std::vector<double> distinct(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

/// Measures convolutions and transforms of maps of one kind on one device.
template <class Maps>
class Calibration {
  public:
    Calibration(Device device, Shared& shared) : device_(device), shared_(shared) {
        for (const auto precision : {Precision::float64, Precision::float32}) {
            for (const Case& one : sum_cases_of(device))
                convolutions_.push_back({PixelMethod::pixel_sum, precision, one});
            for (const Case& one : ring_fft_cases_of(device))
                convolutions_.push_back({PixelMethod::ring_fft, precision, one});
        }
        for (const TransformCase& one : transform_cases(device)) transforms_.push_back({one});
    }

    ConvolutionCosts measure() {
        for (std::int64_t first = 0, end = 0; first < n_measurements(); first = end) {
            end = end_of_group(first);
            measure_twice(first, end);
        }
        ConvolutionCosts costs;
        fit_transforms(costs);
        for (const auto precision : {Precision::float64, Precision::float32}) fit(precision, costs);
        return costs;
    }

    /// The most values that a map has, of all its components.
    static std::int64_t most_values(Device device) {
        std::int64_t nside = 0;
        for (const auto& cases : {sum_cases_of(device), ring_fft_cases_of(device)})
            for (const Case& one : cases) nside = std::max(nside, one.nside);
        for (const TransformCase& one : transform_cases(device)) nside = std::max(nside, one.nside);
        return Maps::components * Grid::healpix(nside).n_pixels();
    }

    static std::int64_t n_steps(Device device) {
        return 2 * (std::ssize(transform_cases(device)) +
                    2 * (std::ssize(ring_fft_cases_of(device)) + std::ssize(sum_cases_of(device))));
    }

  private:
    /// One convolution over pixels and the best of its runs.
    struct Convolution {
        PixelMethod method;
        Precision precision;
        Case one;
        std::optional<typename Maps::Plan> plan{};  ///< of both rounds, as it may take longer to make
        double seconds = HUGE_VAL;
        PixelConvolutionSeconds parts{};
        PixelConvolutionWork work{};
        std::int64_t n_pixels = 0;

        bool is_like(const Convolution& other) const {
            return method == other.method && precision == other.precision;
        }
        /// Seconds of what is in no part.
        double others() const { return seconds - parts.kernel_rows - parts.ffts - parts.sums; }
    };
    /// One convolution in harmonic space, without an iteration and with one.
    struct Transform {
        TransformCase one;
        double plain = HUGE_VAL, with_one = HUGE_VAL;  ///< s
    };

    static std::vector<Case> sum_cases_of(Device device) {
        return cases_of<Maps>(device, calibration::sum_cases, calibration::more_sum_cases);
    }
    static std::vector<Case> ring_fft_cases_of(Device device) {
        return cases_of<Maps>(device, calibration::ring_fft_cases, calibration::more_ring_fft_cases);
    }
    static std::span<const TransformCase> transform_cases(Device device) {
        if (device.kind() == Device::Kind::cpu) return Maps::cpu_transform_cases;
        return calibration::gpu_transform_cases;
    }
    bool on_cpu() const { return device_.kind() == Device::Kind::cpu; }

    /// The transforms are counted first, then the convolutions.
    std::int64_t n_measurements() const { return std::ssize(transforms_) + std::ssize(convolutions_); }
    /// Returns nullptr for a transform.
    Convolution* convolution(std::int64_t i) {
        return i < std::ssize(transforms_) ? nullptr : &convolutions_[i - std::ssize(transforms_)];
    }

    /// Returns where the group that begins at `first` ends. The plans of a group are kept at the same time;
    /// on a GPU they take much of the memory.
    std::int64_t end_of_group(std::int64_t first) {
        if (on_cpu()) return n_measurements();
        const Convolution* const one = convolution(first);
        if (one == nullptr) return std::ssize(transforms_);
        std::int64_t end = first;
        while (end < n_measurements() && convolution(end)->is_like(*one)) ++end;
        return end;
    }

    /// Measures a group in two rounds, so that a disturbance does not hit a measurement twice. The second
    /// round ends when the group's share of the time is over.
    void measure_twice(std::int64_t first, std::int64_t end) {
        const auto latest = shared_.latest(2 * (end - first));
        for (const bool is_second : {false, true})
            for (std::int64_t i = first; i < end; ++i) {
                if (!is_second || Clock::now() < latest) measure_one(i);
                shared_.step();
            }
        for (std::int64_t i = first; i < end; ++i)
            if (Convolution* const one = convolution(i)) one->plan.reset();
    }

    void measure_one(std::int64_t i) {
        if (Convolution* const one = convolution(i))
            measure_convolution(*one);
        else
            measure_transform(transforms_[i]);
    }

    void measure_transform(Transform& transform) const {
        const auto grid = Grid::healpix(transform.one.nside);
        const std::int64_t lmax = transform.one.lmax();
        transform.plain = std::min(transform.plain, measure_smoothing(grid, lmax, 0));
        transform.with_one = std::min(transform.with_one, measure_smoothing(grid, lmax, 1));
    }

    double measure_smoothing(const Grid& grid, std::int64_t lmax, int iterations) const {
        SmoothingOptions options;
        options.lmax = lmax;
        options.iterations = iterations;
        options.threads = shared_.threads;
        options.device = device_;
        const std::vector<double> window(lmax + 1, 1.0);
        SmoothingPlan plan(grid, Maps::fields, uniform_beam(window), grid, options);
        auto& [maps, smoothed] = std::get<SharedMaps<double>>(shared_.maps);
        const View<const double, 2> in(maps.data(), {Maps::components, grid.n_pixels()});
        const View<double, 2> out(smoothed.data(), in.extents());
        double best = HUGE_VAL;
        run([&] { best = std::min(best, seconds_of([&] { plan.smooth<double>(in, {}, out); })); });
        return best;
    }

    void make_plan(Convolution& convolution) const {
        const auto grid = convolution.one.grid();
        PixelConvolutionOptions options;
        options.method = convolution.method;
        options.precision = convolution.precision;
        options.accuracy = 1e-7;  // what plan_convolution asks for where the error is 1e-5
        options.threads = shared_.threads;
        options.device = device_;
        convolution.plan.emplace(grid, Maps::kernel(convolution.one), grid, options);
        convolution.work = convolution.plan->work();
        convolution.n_pixels = grid.n_pixels();
    }

    void measure_convolution(Convolution& convolution) const {
        if (!convolution.plan) make_plan(convolution);
        if (convolution.precision == Precision::float64)
            convolve<double>(convolution);
        else
            convolve<float>(convolution);
    }

    template <class T>
    void convolve(Convolution& convolution) const {
        auto workspace = convolution.plan->make_workspace();
        auto& [maps, convolved] = std::get<SharedMaps<T>>(shared_.maps);
        const View<const T, Maps::rank> in(maps.data(), Maps::extents(convolution.n_pixels));
        const View<T, Maps::rank> out(convolved.data(), in.extents());
        run([&] {
            const double seconds =
                seconds_of([&] { convolution.plan->template convolve<T>(in, out, workspace); });
            if (seconds >= convolution.seconds) return;
            convolution.seconds = seconds;
            convolution.parts = workspace.seconds();
        });
    }

    void fit_transforms(ConvolutionCosts& costs) const {
        std::vector<double> sizes;
        for (const Transform& transform : transforms_)
            sizes.push_back(static_cast<double>(Grid::healpix(transform.one.nside).n_pixels()));
        sizes = distinct(std::move(sizes));
        std::vector<Measurement> smoothing, iteration;
        for (const Transform& transform : transforms_) {
            const auto work =
                transform_work(Grid::healpix(transform.one.nside), transform.one.lmax(), device_);
            auto counts = on_cpu() ? std::vector{work.pixels, 1.0} : split::size_shares(sizes, work.pixels);
            counts.push_back(work.legendre_flops);
            constexpr double least_share = 0.1;  // of an iteration, should both be disturbed
            const double more = transform.with_one - transform.plain;
            smoothing.push_back({counts, transform.plain});
            iteration.push_back({counts, std::max(more, least_share * transform.plain)});
        }
        const auto cost_of = [&](const std::vector<Measurement>& measurements) -> TransformCost {
            const auto c = explain(measurements);
            if (on_cpu()) return {c[2], c[0], c[1]};
            return {c.back(), 0, 0, {sizes, {c.begin(), c.end() - 1}}};
        };
        costs.smoothing = cost_of(smoothing);
        costs.iteration = cost_of(iteration);
    }

    /// The counts of the convolutions that are taken beside one part's seconds.
    template <class Taken, class Count, class Seconds>
    std::vector<Measurement> collect(const Taken& is_taken, const Count& counts,
                                     const Seconds& seconds) const {
        std::vector<Measurement> collected;
        for (const Convolution& one : convolutions_)
            if (is_taken(one)) collected.push_back({counts(one), at_least_an_instant(seconds(one))});
        return collected;
    }
    static auto are_of(PixelMethod method, Precision precision) {
        return [=](const Convolution& one) { return one.method == method && one.precision == precision; };
    }

    void fit(Precision precision, ConvolutionCosts& costs) const {
        PixelCost &sum = costs.pixels(PixelMethod::pixel_sum, precision),
                  &rings = costs.pixels(PixelMethod::ring_fft, precision);
        fit_sum(precision, sum);
        fit_ring_fft(precision, rings);
        if (on_cpu()) {
            fit_others(precision, {PixelMethod::pixel_sum}, costs);
            fit_others(precision, {PixelMethod::ring_fft}, costs);
        } else {
            // Maps come and go in the same way: fitted together, as one method would look faster than the
            // other by what disturbed the measurements else.
            fit_others(precision, {PixelMethod::pixel_sum, PixelMethod::ring_fft}, costs);
        }
        // What ring FFTs of cut kernels leave to it.
        rings.pixel_product = sum.pixel_product;
        rings.uneven_product = sum.uneven_product;
        rings.pixel_row = sum.pixel_row;
        rings.pixel_weight = sum.pixel_weight;
        rings.longest_sum = sum.longest_sum;
    }

    /// What is in no part, such as bringing maps to a GPU, where that was found to take longer beside wide
    /// kernels. methods: that share it.
    void fit_others(Precision precision, const std::vector<PixelMethod>& methods,
                    ConvolutionCosts& costs) const {
        // Parts of maps leave the other pixels as they are, which takes time of its own.
        const auto is_taken = [&](const Convolution& one) {
            return one.precision == precision && one.one.is_whole() &&
                   std::find(methods.begin(), methods.end(), one.method) != methods.end();
        };
        std::vector<double> sizes;
        for (const Convolution& one : convolutions_)
            if (is_taken(one)) sizes.push_back(static_cast<double>(one.n_pixels));
        sizes = distinct(std::move(sizes));
        const auto counts = [&](const Convolution& one) {
            auto shares = split::size_shares(sizes, static_cast<double>(one.n_pixels));
            shares.push_back(one.work.kernel_values);
            return shares;
        };
        const auto r =
            explain(collect(is_taken, counts, [](const Convolution& one) { return one.others(); }));
        for (const auto method : methods) {
            PixelCost& cost = costs.pixels(method, precision);
            cost.others = {sizes, {r.begin(), r.end() - 1}};
            cost.kernel_value += r.back();
        }
    }

    void fit_ring_fft(Precision precision, PixelCost& cost) const {
        // The CPU makes rows and FFTs in double precision always. In the belts they are as fast as they can
        // be.
        const auto of_whole_maps = [&](const Convolution& one) {
            return one.method == PixelMethod::ring_fft && one.one.is_whole() &&
                   (on_cpu() || one.precision == precision);
        };
        const auto k = explain(collect(
            of_whole_maps,
            [](const Convolution& one) {
                return std::vector<double>{one.work.kernel_values, 1};
            },
            [](const Convolution& one) { return one.parts.kernel_rows; }));
        const auto f = explain(collect(
            of_whole_maps,
            [](const Convolution& one) {
                return std::vector<double>{one.work.fft_pixels, 1};
            },
            [](const Convolution& one) { return one.parts.ffts; }));
        const auto s = explain(collect(
            are_of(PixelMethod::ring_fft, precision),
            [](const Convolution& one) {
                return std::vector<double>{one.work.row_products, one.work.mode_products,
                                           ring_values(one.work, one.n_pixels), 1, one.work.kernel_values};
            },
            [](const Convolution& one) { return one.parts.sums; }));
        cost.kernel_value = k[0] + s[4];
        cost.fft_pixel = f[0];
        cost.row_product = s[0];
        cost.mode_product = s[1];
        cost.ring_value = s[2];
        cost.map = f[1] + s[3];
        cost.call = k[1];
    }

    void fit_sum(Precision precision, PixelCost& cost) const {
        const auto s = explain(collect(
            are_of(PixelMethod::pixel_sum, precision),
            [](const Convolution& one) {
                const PixelConvolutionWork& work = one.work;
                return std::vector<double>{work.pixel_products - work.uneven_products,
                                           work.uneven_products,
                                           work.pixel_rows,
                                           work.pixel_weights,
                                           work.longest_sum,
                                           1};
            },
            [](const Convolution& one) { return one.parts.sums; }));
        cost.pixel_product = s[0];
        cost.uneven_product = s[1];
        cost.pixel_row = s[2];
        cost.pixel_weight = s[3];
        cost.longest_sum = s[4];
        cost.map = s[5];
    }

    Device device_;
    Shared& shared_;
    std::vector<Convolution> convolutions_;
    std::vector<Transform> transforms_;
};

}  // namespace

CostModel calibrate(int threads, const Progress& progress, const MemoryCheck& check_memory) {
    threads = core::resolve_threads(threads);
    std::vector<Device> devices{Device::cpu()};
    if (const auto fastest = resolve_device(Device::automatic()); fastest.kind() == Device::Kind::cuda)
        devices.push_back(fastest);
    std::int64_t n_steps = 0, n_values = 0;
    for (const auto device : devices) {
        n_steps += Calibration<Scalars>::n_steps(device) + Calibration<Polarization>::n_steps(device);
        n_values = std::max({n_values, Calibration<Scalars>::most_values(device),
                             Calibration<Polarization>::most_values(device)});
    }
    Shared shared(threads, n_values, n_steps, progress, check_memory);
    CostModel model;
    model.fingerprint = machine_fingerprint(threads);
    for (const auto device : devices)
        model.devices.push_back({device, Calibration<Scalars>(device, shared).measure(),
                                 Calibration<Polarization>(device, shared).measure()});
    return model;
}

}  // namespace zonal
