#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "split/non_negative_fit.hpp"
#include "zonal/error.hpp"
#include "zonal/planner.hpp"
#include "zonal/smoothing.hpp"

namespace zonal {
namespace {

using core::pi;

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The best of some runs after one that warms up; fewer of long ones.
/// long_run: seconds of the first that leave it at that.
double best_seconds(const std::function<void()>& work, double long_run) {
    double best = seconds_of(work), all = 0;
    if (best > long_run) return best;
    for (int run = 0; run < 6 && all < 0.25; ++run) {
        const double seconds = seconds_of(work);
        best = std::min(best, seconds);
        all += seconds;
    }
    return best;
}

/// A map without structure that matters.
std::vector<double> some_map(std::int64_t n_pixels) {
    std::vector<double> map(n_pixels);
    for (std::int64_t i = 0; i < n_pixels; ++i) map[i] = std::sin(static_cast<double>(i % 1009));
    return map;
}

/// Times beside the counts that they are explained by.
struct Measurement {
    std::vector<double> counts;
    double seconds;
};

std::vector<double> explain(const std::vector<Measurement>& measurements) {
    Array<double, 2> counts({std::ssize(measurements), std::ssize(measurements[0].counts)});
    std::vector<double> ones(measurements.size(), 1.0);
    // relative errors count
    for (std::int64_t i = 0; i < counts.extent(0); ++i)
        for (std::int64_t j = 0; j < counts.extent(1); ++j)
            counts(i, j) = measurements[i].counts[j] / measurements[i].seconds;
    return split::non_negative_fit(std::as_const(counts).view(), ones);
}

/// A map's nside, a kernel's support in pixels, and by how much less than the support its FWHM is: cut at
/// 2.2 it ends at 1e-6 of its peak, at 3.2 at 1e-12, where the ring FFT needs no sums over pixels.
struct Case {
    std::int64_t nside;
    double pixels, widths;
    std::int64_t n_rings = 0;  ///< about each pole; 0: all
    int n_knots = 0;           ///< of a table with the Gaussian's values, whose weights take more of these

    double support() const { return pixels * std::sqrt(pi / 3) / static_cast<double>(nside); }

    RadialKernel kernel() const {
        auto smooth = RadialKernel::gaussian(support() / widths).truncated(support());
        if (n_knots == 0) return smooth;
        std::vector<double> theta(n_knots);
        for (int k = 0; k < n_knots; ++k) theta[k] = support() * k / (n_knots - 1);
        return RadialKernel::from_profile(theta, smooth.profile(theta));
    }

    /// Of Q and U. In place of a table with knots a window that ends with a step, as its profile has as many
    /// zeros and is no smoother.
    PolarizationKernel polarization_kernel() const {
        if (n_knots == 0) return PolarizationKernel::gaussian(support() / widths).truncated(support());
        const std::vector<double> window(static_cast<std::size_t>(n_knots * pi / support()), 1.0);
        return PolarizationKernel(window, window).truncated(support());
    }

    Grid grid() const {
        auto all = Grid::healpix(nside);
        if (n_rings == 0) return all;
        std::vector<std::int64_t> rings(2 * n_rings);
        std::iota(rings.begin(), rings.begin() + n_rings, 0);
        std::iota(rings.begin() + n_rings, rings.end(), std::ssize(all.rings()) - n_rings);
        return all.subset(rings);
    }
};
// Large maps, whose polar caps are as small a part as where it matters, and small ones, where much time
// does not go into the sums; discs of few pixels, of whole caps and in between. Wide discs on large maps,
// which are summed in the polar caps alone, are measured there.
constexpr Case sum_cases[] = {
    {64, 8, 2.2},         {64, 20, 2.2},           {128, 4, 2.2},  {128, 30, 2.2},       {256, 3, 2.2},
    {256, 8, 2.2},        {256, 24, 2.2},          {512, 2, 2.2},  {512, 5, 2.2},        {1024, 3, 2.2},
    {512, 8, 2.2},        {512, 16, 2.2},          {1024, 8, 2.2}, {1024, 48, 2.2, 192}, {1024, 96, 2.2, 96},
    {512, 8, 2.2, 0, 40}, {1024, 48, 2.2, 192, 40}};
constexpr Case ring_fft_cases[] = {{64, 8, 3.2},  {64, 20, 3.2},  {128, 60, 3.2}, {256, 20, 3.2},
                                   {512, 4, 3.2}, {512, 40, 3.2}, {1024, 5, 3.2}};
// A GPU takes more, as it is fast, and its small and middle maps are not yet explained by the large ones.
constexpr Case more_sum_cases[] = {{128, 8, 2.2}, {128, 14, 2.2}, {256, 16, 2.2}, {256, 48, 2.2}};
constexpr Case more_ring_fft_cases[] = {{128, 12, 3.2}, {256, 60, 3.2}, {512, 100, 3.2}, {1024, 24, 3.2}};

/// Maps of spin 0, or Q and U: of which rank they are, and what convolves them.
struct Scalars {
    static constexpr int rank = 2;
    static constexpr std::int64_t components = 1;
    static constexpr Fields fields = Fields::scalars;
    static constexpr std::int64_t largest_transform = 768;  // nside
    static constexpr double long_run = HUGE_VAL;            // s
    static bool takes(const Case&) { return true; }
    using Plan = PixelConvolutionPlan;
    static RadialKernel kernel(const Case& one) { return one.kernel(); }
    static View<double, 2>::Extents extents(std::int64_t n_pixels) { return {1, n_pixels}; }
};
struct Polarization {
    static constexpr int rank = 3;
    static constexpr std::int64_t components = 2;
    static constexpr Fields fields = Fields::qu;
    // All takes several times what it takes of spin 0: the longest cases are left out, or run once.
    static constexpr std::int64_t largest_transform = 512;
    static constexpr double long_run = 0.25;
    static bool takes(const Case& one) { return one.nside < 1024 || one.pixels < 8 || one.n_rings == 192; }
    using Plan = PolarizationConvolutionPlan;
    static PolarizationKernel kernel(const Case& one) { return one.polarization_kernel(); }
    static View<double, 3>::Extents extents(std::int64_t n_pixels) { return {1, 2, n_pixels}; }
};

/// The cases that a device takes.
template <class Maps>
std::vector<Case> cases_of(Device device, std::span<const Case> all, std::span<const Case> more) {
    std::vector<Case> cases(all.begin(), all.end());
    if (device.kind() != Device::Kind::cpu) cases.insert(cases.end(), more.begin(), more.end());
    std::erase_if(cases, [](const Case& one) { return !Maps::takes(one); });
    return cases;
}

/// nside of the maps that harmonic space is measured with.
template <class Maps>
constexpr std::int64_t transform_sizes[] = {64, 256, Maps::largest_transform};

/// Of maps of one kind on one device.
template <class Maps>
class Calibration {
  public:
    Calibration(Device device, int threads, const std::function<void()>& step)
        : device_(device), threads_(threads), step_(step) {}

    ConvolutionCosts measure() {
        ConvolutionCosts costs;
        measure_transforms(costs);
        for (const auto precision : {Precision::double_, Precision::single_}) {
            const bool is_double = precision == Precision::double_;
            std::vector<Measurement> of_sum, of_rings;
            PixelCost sum = is_double ? measure_sum<double>(of_sum) : measure_sum<float>(of_sum);
            PixelCost rings =
                is_double ? measure_ring_fft<double>(of_rings) : measure_ring_fft<float>(of_rings);
            if (device_.kind() != Device::Kind::cpu) {
                // Maps come and go in the same way: fitted together, as one method would look faster than
                // the other by what disturbed the measurements else.
                of_sum.insert(of_sum.end(), of_rings.begin(), of_rings.end());
                of_rings = of_sum;
            }
            add_rest(of_sum, sum);
            add_rest(of_rings, rings);
            // What ring FFTs of cut kernels leave to it.
            rings.pixel_product = sum.pixel_product;
            rings.uneven_product = sum.uneven_product;
            rings.pixel_row = sum.pixel_row;
            rings.pixel_weight = sum.pixel_weight;
            rings.longest_sum = sum.longest_sum;
            costs.pixels(PixelMethod::pixel_sum, precision) = sum;
            costs.pixels(PixelMethod::ring_fft, precision) = rings;
        }
        return costs;
    }

    static int n_steps(Device device) {
        return static_cast<int>(std::size(transform_sizes<Maps>)) +
               2 * static_cast<int>(std::size(ring_fft_cases_of(device)) + std::size(sum_cases_of(device)));
    }

  private:
    static std::vector<Case> sum_cases_of(Device device) {
        return cases_of<Maps>(device, sum_cases, more_sum_cases);
    }
    static std::vector<Case> ring_fft_cases_of(Device device) {
        return cases_of<Maps>(device, ring_fft_cases, more_ring_fft_cases);
    }

    /// As convolutions in harmonic space are done, with and without an iteration.
    void measure_transforms(ConvolutionCosts& costs) {
        std::vector<Measurement> smoothing, iteration;
        for (const std::int64_t nside : transform_sizes<Maps>) {
            const auto grid = Grid::healpix(nside);
            const auto work = transform_work(grid, 2 * nside);
            const std::vector<double> counts{work.legendre_flops, work.pixels, 1};
            const double plain = measure_smoothing(grid, 2 * nside, 0);
            constexpr double least_share = 0.1;  // of an iteration, should both be disturbed
            const double with_one = measure_smoothing(grid, 2 * nside, 1);
            smoothing.push_back({counts, plain});
            iteration.push_back({counts, std::max(with_one - plain, least_share * plain)});
            step_();
        }
        const auto s = explain(smoothing), i = explain(iteration);
        costs.smoothing = {s[0], s[1], s[2]};
        costs.iteration = {i[0], i[1], i[2]};
    }

    double measure_smoothing(const Grid& grid, std::int64_t lmax, int iterations) {
        SmoothingOptions options;
        options.lmax = lmax;
        options.iterations = iterations;
        options.threads = threads_;
        options.device = device_;
        const std::vector<double> window(lmax + 1, 1.0);
        SmoothingPlan plan(grid, Maps::fields, uniform_beam(window), grid, options);
        const auto map = some_map(Maps::components * grid.n_pixels());
        std::vector<double> smoothed(map.size());
        const View<const double, 2> in(map.data(), {Maps::components, grid.n_pixels()});
        const View<double, 2> out(smoothed.data(), in.extents());
        return best_seconds([&] { plan.smooth<double>(in, {}, out); }, Maps::long_run);
    }

    static void add_rest(const std::vector<Measurement>& rest, PixelCost& cost) {
        const auto r = explain(rest);
        cost.pixel = r[0];
        cost.call += r[1];
    }

    /// rest: what is in no part is added to it.
    template <class T>
    PixelCost measure_ring_fft(std::vector<Measurement>& rest) {
        std::vector<Measurement> rows, ffts, sums;
        for (const Case& one : ring_fft_cases_of(device_)) {
            const auto [parts, work, n_pixels, others] = measure_pixels<T>(PixelMethod::ring_fft, one);
            rows.push_back({{work.kernel_values, 1}, parts.kernel_rows});
            ffts.push_back({{work.fft_pixels, 1}, parts.ffts});
            sums.push_back(
                {{work.row_products, work.mode_products, ring_values(work, n_pixels), 1}, parts.sums});
            rest.push_back({{static_cast<double>(n_pixels), 1}, others});
        }
        const auto k = explain(rows), f = explain(ffts), s = explain(sums);
        PixelCost cost;
        cost.kernel_value = k[0];
        cost.fft_pixel = f[0];
        cost.row_product = s[0];
        cost.mode_product = s[1];
        cost.ring_value = s[2];
        cost.map = f[1] + s[3];
        cost.call = k[1];
        return cost;
    }

    /// As measure_ring_fft.
    template <class T>
    PixelCost measure_sum(std::vector<Measurement>& rest) {
        std::vector<Measurement> sums;
        for (const Case& one : sum_cases_of(device_)) {
            const auto [parts, work, n_pixels, others] = measure_pixels<T>(PixelMethod::pixel_sum, one);
            sums.push_back({{work.pixel_products - work.uneven_products, work.uneven_products,
                             work.pixel_rows, work.pixel_weights, work.longest_sum, 1},
                            parts.sums});
            rest.push_back({{static_cast<double>(n_pixels), 1}, others});
        }
        const auto s = explain(sums);
        PixelCost cost;
        cost.pixel_product = s[0];
        cost.uneven_product = s[1];
        cost.pixel_row = s[2];
        cost.pixel_weight = s[3];
        cost.longest_sum = s[4];
        cost.map = s[5];
        return cost;
    }

    struct Measured {
        PixelConvolutionSeconds parts;
        PixelConvolutionWork work;
        std::int64_t n_pixels;
        double others;  ///< seconds of what is in no part
    };

    template <class T>
    Measured measure_pixels(PixelMethod method, const Case& one) {
        const auto grid = one.grid();
        PixelConvolutionOptions options;
        options.method = method;
        options.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
        options.accuracy = 1e-7;  // what plan_convolution asks for where the error is 1e-5
        options.threads = threads_;
        options.device = device_;
        const typename Maps::Plan plan(grid, Maps::kernel(one), grid, options);
        auto workspace = plan.make_workspace();
        const auto values = some_map(Maps::components * grid.n_pixels());
        const std::vector<T> map(values.begin(), values.end());
        std::vector<T> convolved(map.size());
        const View<const T, Maps::rank> in(map.data(), Maps::extents(grid.n_pixels()));
        const View<T, Maps::rank> out(convolved.data(), in.extents());
        PixelConvolutionSeconds parts;
        double least = HUGE_VAL;
        const double seconds = best_seconds(
            [&] {
                const double run = seconds_of([&] { plan.template convolve<T>(in, out, workspace); });
                if (run < least) parts = workspace.seconds();
                least = std::min(least, run);
            },
            Maps::long_run);
        step_();
        const double others = seconds - parts.kernel_rows - parts.ffts - parts.sums;
        constexpr double instant = 1e-9;  // of a part that is not there
        for (double* part : {&parts.kernel_rows, &parts.ffts, &parts.sums}) *part = std::max(*part, instant);
        return {parts, plan.work(), grid.n_pixels(), std::max(others, instant)};
    }

    Device device_;
    int threads_;
    const std::function<void()>& step_;
};

}  // namespace

CostModel calibrate(int threads, const Progress& progress) {
    threads = core::resolve_threads(threads);
    std::vector<Device> devices{Device::cpu()};
    if (const auto fastest = resolve_device(Device::automatic()); fastest.kind() == Device::Kind::cuda)
        devices.push_back(fastest);
    int done = 0;
    double all = 0;
    for (const auto device : devices)
        all += Calibration<Scalars>::n_steps(device) + Calibration<Polarization>::n_steps(device);
    const std::function<void()> step = [&] {
        if (progress && !progress(++done / all)) throw Cancelled("calibration: cancelled");
    };
    CostModel model;
    model.fingerprint = machine_fingerprint(threads);
    for (const auto device : devices)
        model.devices.push_back({device, Calibration<Scalars>(device, threads, step).measure(),
                                 Calibration<Polarization>(device, threads, step).measure()});
    return model;
}

}  // namespace zonal
