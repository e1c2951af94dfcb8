// A plain C face of convolutions with radial kernels on HEALPix maps, and of the planner's choice among them.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "shim_guard.hpp"
#include "zonal/convolution.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/planner.hpp"

namespace {

struct RadialPlan {
    zonal::PixelConvolutionPlan plan;
    zonal::PixelConvolutionWorkspace workspace;
};

template <class T>
int convolve(RadialPlan* p, const T* map, T* convolved) {
    return guarded([&] {
        const auto n_pixels = p->plan.grid().n_pixels();
        p->plan.convolve<T>({map, {1, n_pixels}}, {convolved, {1, n_pixels}}, p->workspace);
    });
}

/// A convolution as the planner chose it, of maps in double precision.
struct ChosenPlan {
    zonal::ConvolutionRequest request;
    zonal::ConvolutionChoice choice;
    std::string method;
    std::unique_ptr<zonal::ConvolutionPlan> convolution;
};

std::unique_ptr<ChosenPlan> choose(zonal::ConvolutionRequest request, const zonal::CostModel& costs) {
    const auto best = zonal::plan_convolution(request, costs).front();
    if (!best.excluded.empty()) throw zonal::InvalidArgument("error", "nothing keeps it: " + best.excluded);
    auto plan = std::make_unique<ChosenPlan>();
    plan->request = std::move(request);
    plan->choice = best;
    plan->method = to_string(best.method);
    plan->convolution = std::make_unique<zonal::ConvolutionPlan>(plan->request, best);
    return plan;
}

}  // namespace

extern "C" {

/// Convolution on the CPU with the Gaussian of that width cut at that angle (rad). method: 0 pixel-sum, 1
/// ring-fft. single: sums in single precision. Null on failure.
RadialPlan* zonal_radial_plan(std::int64_t nside, double fwhm, double cut, int method, int single,
                              double accuracy, int threads) {
    RadialPlan* result = nullptr;
    guarded([&] {
        zonal::PixelConvolutionOptions options;
        options.method = method == 0 ? zonal::PixelMethod::pixel_sum : zonal::PixelMethod::ring_fft;
        options.precision = single != 0 ? zonal::Precision::float32 : zonal::Precision::float64;
        options.accuracy = accuracy;
        options.threads = threads;
        options.device = zonal::Device::cpu();
        const auto grid = zonal::Grid::healpix(nside);
        zonal::PixelConvolutionPlan plan(grid, zonal::RadialKernel::gaussian(fwhm).truncated(cut), grid,
                                         options);
        auto workspace = plan.make_workspace();
        result = new RadialPlan{std::move(plan), std::move(workspace)};
    });
    return result;
}

void zonal_radial_free(RadialPlan* plan) {
    delete plan;
}

/// map, convolved: [12 nside^2].
int zonal_radial_convolve(RadialPlan* p, const double* map, double* convolved) {
    return convolve(p, map, convolved);
}
int zonal_radial_convolve_float(RadialPlan* p, const float* map, float* convolved) {
    return convolve(p, map, convolved);
}

/// work: [5], zonal::PixelConvolutionWork in its order; seconds: [3], of the last call, kernel rows, FFTs and
/// sums.
void zonal_radial_work(const RadialPlan* p, double* work, double* seconds) {
    const auto counts = p->plan.work();
    const auto parts = p->workspace.seconds();
    const double all[] = {counts.kernel_values, counts.row_products, counts.mode_products,
                          counts.pixel_products, counts.fft_pixels};
    std::copy(std::begin(all), std::end(all), work);
    seconds[0] = parts.kernel_rows;
    seconds[1] = parts.ffts;
    seconds[2] = parts.sums;
}

/// Of the Gaussian cut at that angle. window: [lmax + 1].
int zonal_cut_gaussian_window(double fwhm, double cut, std::int64_t lmax, double* window) {
    return guarded([&] {
        const auto values = zonal::RadialKernel::gaussian(fwhm).truncated(cut).window(lmax);
        std::copy(values.begin(), values.end(), window);
    });
}

/// What the CPU with so many threads costs, measured now. Null on failure.
zonal::CostModel* zonal_calibrate(int threads) {
    zonal::CostModel* result = nullptr;
    guarded([&] { result = new zonal::CostModel(zonal::calibrate(threads)); });
    return result;
}
void zonal_costs_free(zonal::CostModel* costs) {
    delete costs;
}

/// The planner's choice for one map with the Gaussian of that width (rad), on the CPU, its plan made, with an
/// error that is certified for maps of the gain of white noise. continuous: the reference. Null on failure.
ChosenPlan* zonal_choose(const zonal::CostModel* costs, std::int64_t nside, double fwhm, std::int64_t lmax,
                         double error, int continuous, int threads) {
    std::unique_ptr<ChosenPlan> result;
    guarded([&] {
        zonal::ConvolutionRequest request;
        request.grid = zonal::Grid::healpix(nside);
        request.kernel = zonal::RadialKernel::gaussian(fwhm);
        request.lmax = lmax;
        request.error = error;
        request.threads = threads;
        request.devices = {zonal::Device::cpu()};
        request.reference =
            continuous != 0 ? zonal::ConvolutionReference::continuous : zonal::ConvolutionReference::discrete;
        result = choose(std::move(request), *costs);
    });
    return result.release();
}
void zonal_chosen_free(ChosenPlan* plan) {
    delete plan;
}
const char* zonal_chosen_method(const ChosenPlan* p) {
    return p->method.c_str();
}
/// numbers: [5]: 1 for single precision, support (rad), iterations, predicted seconds and error.
void zonal_chosen_numbers(const ChosenPlan* p, double* numbers) {
    const double all[] = {p->choice.precision == zonal::Precision::float32 ? 1.0 : 0.0, p->choice.support,
                          static_cast<double>(p->choice.iterations), p->choice.seconds, p->choice.error};
    std::copy(std::begin(all), std::end(all), numbers);
}
/// map, convolved: [12 nside^2]. Maps are converted to single precision and back where that was chosen.
int zonal_chosen_convolve(ChosenPlan* p, const double* map, double* convolved) {
    return guarded([&] {
        const auto n_pixels = p->request.grid.n_pixels();
        if (p->choice.precision == zonal::Precision::float64) {
            p->convolution->convolve<double>({map, {1, n_pixels}}, {convolved, {1, n_pixels}});
            return;
        }
        const std::vector<float> in(map, map + n_pixels);
        std::vector<float> out(in.size());
        p->convolution->convolve<float>({in.data(), {1, n_pixels}}, {out.data(), {1, n_pixels}});
        std::copy(out.begin(), out.end(), convolved);
    });
}
}
