#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>
#include <utility>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "split/disc_rows.hpp"
#include "split/non_negative_fit.hpp"
#include "zonal/error.hpp"
#include "zonal/planner.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace {

using core::pi;

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The best of some runs after one that warms up; fewer of long ones.
double best_seconds(const std::function<void()>& work) {
    double best = seconds_of(work), all = 0;
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

class Calibration {
  public:
    Calibration(Device device, int threads, const std::function<void()>& step)
        : device_(device), threads_(threads), step_(step) {}

    DeviceCosts measure() {
        DeviceCosts costs;
        costs.device = device_;
        measure_transforms(costs);
        for (const auto method : {PixelMethod::ring_fft, PixelMethod::pixel_sum}) {
            costs.pixels(method, Precision::double_) = measure_pixels<double>(method);
            costs.pixels(method, Precision::single_) = measure_pixels<float>(method);
        }
        return costs;
    }

    static int n_steps() {
        const auto n_cases = cases_of(PixelMethod::ring_fft).size() + cases_of(PixelMethod::pixel_sum).size();
        return 3 + 2 * static_cast<int>(n_cases);
    }

  private:
    void measure_transforms(DeviceCosts& costs) {
        std::vector<Measurement> synthesis, adjoint;
        for (const std::int64_t nside : {64, 256, 768}) {
            const auto grid = Grid::healpix(nside);
            const ShtPlan plan(grid, {.lmax = 2 * nside, .threads = threads_, .device = device_});
            auto map = some_map(grid.n_pixels());
            std::vector<std::complex<double>> alm(plan.layout().size());
            const View<double, 3> pixels(map.data(), {1, 1, grid.n_pixels()});
            const View<std::complex<double>, 3> harmonics(alm.data(), {1, 1, plan.layout().size()});
            auto workspace = plan.make_workspace();
            const auto work = transform_work(grid, 2 * nside);
            const std::vector<double> counts{work.legendre_flops, work.pixels, 1};
            adjoint.push_back(
                {counts, best_seconds([&] { plan.quadrature<double>(pixels, harmonics, workspace); })});
            synthesis.push_back(
                {counts, best_seconds([&] { plan.synthesize<double>(harmonics, pixels, workspace); })});
            step_();
        }
        const auto s = explain(synthesis), a = explain(adjoint);
        costs.synthesis = {s[0], s[1], s[2]};
        costs.adjoint = {a[0], a[1], a[2]};
    }

    /// A map's nside, a kernel's support in pixels, and by how much less than the support its FWHM is: cut at
    /// 2.2 it ends at 1e-6 of its peak, at 3.2 at 1e-12, where the ring FFT needs no sums over pixels.
    struct Case {
        std::int64_t nside;
        double pixels, widths;
    };
    /// Large maps, whose polar caps are as small a part as where it matters, and small ones, where much time
    /// does not go into the sums; discs of few pixels, of whole caps and in between.
    static std::vector<Case> cases_of(PixelMethod method) {
        if (method == PixelMethod::pixel_sum)
            return {{64, 8, 2.2},   {64, 20, 2.2}, {128, 30, 2.2}, {256, 3, 2.2}, {256, 8, 2.2},
                    {256, 24, 2.2}, {512, 2, 2.2}, {512, 5, 2.2},  {1024, 3, 2.2}};
        return {{64, 8, 3.2},   {64, 10, 2.2}, {64, 20, 3.2},  {128, 30, 2.2}, {128, 60, 3.2},
                {256, 20, 3.2}, {512, 4, 2.2}, {512, 10, 2.2}, {512, 20, 3.2}, {1024, 5, 3.2}};
    }
    template <class T>
    PixelCost measure_pixels(PixelMethod method) {
        std::vector<Measurement> rows, ffts, sums, rest;
        for (const Case& one : cases_of(method)) {
            measure_pixels<T>(method, one, rows, ffts, sums, rest);
            step_();
        }
        PixelCost cost;
        const auto k = explain(rows), f = explain(ffts), s = explain(sums), r = explain(rest);
        cost.kernel_value = k[0];
        cost.fft_pixel = f[0];
        cost.row_product = s[0];
        cost.mode_product = s[1];
        cost.pixel_product = s[2];
        cost.uneven_product = s[3];
        cost.disc_row = s[4];
        cost.ring_value = s[5];
        cost.map = f[1] + s[6];
        cost.pixel = r[0];
        cost.call = k[1] + r[1];
        return cost;
    }

    template <class T>
    void measure_pixels(PixelMethod method, const Case& one, std::vector<Measurement>& rows,
                        std::vector<Measurement>& ffts, std::vector<Measurement>& sums,
                        std::vector<Measurement>& rest) {
        const auto grid = Grid::healpix(one.nside);
        const double support = one.pixels * std::sqrt(pi / 3) / static_cast<double>(one.nside);
        PixelConvolutionOptions options;
        options.method = method;
        options.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
        options.accuracy = 1e-7;  // what plan_convolution asks for where the error is 1e-5
        options.threads = threads_;
        options.device = device_;
        const auto kernel = RadialKernel::gaussian(support / one.widths).truncated(support);
        const PixelConvolutionPlan plan(grid, kernel, grid, options);
        auto workspace = plan.make_workspace();
        const auto values = some_map(grid.n_pixels());
        const std::vector<T> map(values.begin(), values.end());
        std::vector<T> convolved(map.size());
        const View<const T, 2> in(map.data(), {1, grid.n_pixels()});
        const View<T, 2> out(convolved.data(), {1, grid.n_pixels()});
        PixelConvolutionSeconds parts;
        double least = HUGE_VAL;
        const double seconds = best_seconds([&] {
            const double run = seconds_of([&] { plan.convolve<T>(in, out, workspace); });
            if (run < least) parts = workspace.seconds();
            least = std::min(least, run);
        });
        const auto work = plan.work();
        constexpr double instant = 1e-9;  // of a part that is not there
        rows.push_back({{work.kernel_values, 1}, std::max(parts.kernel_rows, instant)});
        ffts.push_back({{work.fft_pixels, 1}, std::max(parts.ffts, instant)});
        sums.push_back({{work.row_products, work.mode_products, work.pixel_products - work.uneven_products,
                         work.uneven_products, split::disc_rows(work, grid.n_pixels()),
                         split::ring_values(work, grid.n_pixels()), 1},
                        std::max(parts.sums, instant)});
        const double others = seconds - parts.kernel_rows - parts.ffts - parts.sums;
        rest.push_back({{static_cast<double>(grid.n_pixels()), 1}, std::max(others, instant)});
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
    const auto all = static_cast<double>(Calibration::n_steps() * std::ssize(devices));
    const std::function<void()> step = [&] {
        if (progress && !progress(++done / all)) throw Cancelled("calibration: cancelled");
    };
    CostModel model;
    model.fingerprint = machine_fingerprint(threads);
    for (const auto device : devices) model.devices.push_back(Calibration(device, threads, step).measure());
    return model;
}

}  // namespace zonal
