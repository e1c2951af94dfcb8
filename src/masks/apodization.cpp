#include "zonal/masks/apodization.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "zonal/convolution.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/healpix.hpp"
#include "zonal/kernel.hpp"
#include "zonal/masks/distance.hpp"

namespace zonal {
namespace masks {
namespace {

double factor(Apodization kind, double x) {
    if (x >= 1) return 1;
    if (kind == Apodization::cosine) {
        const double s = std::sin(core::pi / 2 * x);
        return s * s;
    }
    return std::max(0.0, x - std::sin(2 * core::pi * x) / (2 * core::pi));
}

/// From distances, in place, to what the mask is multiplied by.
void to_factors(const View<double, 1>& values, const ApodizationOptions& options) {
    const bool is_chord = options.distance == ApodizationDistance::chord;
    const double unit = is_chord ? std::sin(options.scale / 2) : options.scale;
    core::for_pieces(values.size(), options.threads, [&](std::int64_t first, std::int64_t end) {
        for (auto i = first; i < end; ++i)
            values[i] = factor(options.kind, (is_chord ? std::sin(values[i] / 2) : values[i]) / unit);
    });
}

/// From distances, in place, to the Gaussian mean of the pixels that are far enough. Weights beyond 7.5 sigma
/// are below 1e-12 of the first; both sums are of positive numbers, so that their ratio is at most 1 but for
/// rounding.
void to_gaussian_means(const View<double, 1>& values, const ApodizationOptions& options) {
    const double fwhm = options.scale * std::sqrt(8 * std::log(2.0));
    const auto kernel = RadialKernel::gaussian(fwhm).truncated(std::min(core::pi, 7.5 * options.scale));
    const Grid grid = Grid::healpix(healpix::nside_of(values.size()));
    Array<double, 2> far({2, values.size()}), means({2, values.size()});
    core::for_pieces(values.size(), options.threads, [&](std::int64_t first, std::int64_t end) {
        for (auto i = first; i < end; ++i) {
            far(0, i) = values[i] > 2.5 * options.scale ? 1 : 0;
            far(1, i) = 1;
        }
    });
    PixelConvolutionOptions how;
    how.threads = options.threads;
    how.device = Device::cpu();
    const PixelConvolutionPlan plan(grid, kernel, grid, how);
    plan.convolve<double>(far.view(), means.view());
    core::for_pieces(values.size(), options.threads, [&](std::int64_t first, std::int64_t end) {
        for (auto i = first; i < end; ++i) values[i] = std::clamp(means(0, i) / means(1, i), 0.0, 1.0);
    });
}

}  // namespace
}  // namespace masks

void apodize(View<const double, 1> mask, View<double, 1> apodized, const ApodizationOptions& options) {
    if (!(options.scale > 0 && options.scale <= core::pi))
        throw InvalidArgument("scale", options.scale, "must be above 0 and at most pi, rad");
    const auto masked = masked_pixels(mask, options.threads);
    const bool is_smooth = options.kind == Apodization::smooth;
    // Beyond it, distances make no difference.
    const double limit = is_smooth ? 2.51 * options.scale : options.scale;
    distances_to_masked({masked.data(), {mask.size()}}, apodized, limit, options.threads);
    if (!is_smooth)
        masks::to_factors(apodized, options);
    else if (std::find(masked.begin(), masked.end(), 1) == masked.end())
        std::fill_n(apodized.data(), apodized.size(), 1.0);
    else
        masks::to_gaussian_means(apodized, options);
    core::for_pieces(mask.size(), options.threads, [&](std::int64_t first, std::int64_t end) {
        for (auto i = first; i < end; ++i)
            apodized[i] = masked[static_cast<std::size_t>(i)] != 0 ? 0 : apodized[i] * mask[i];
    });
}

}  // namespace zonal
