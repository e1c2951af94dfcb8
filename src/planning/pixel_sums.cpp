#include "planning/pixel_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planning/request.hpp"
#include "radial/column_sums.hpp"
#include "radial/convolver.hpp"
#include "sht/analysis/field_math.hpp"
#include "sht/progress_part.hpp"

namespace zonal::planning {
namespace {

using sht::part_of;

PixelConvolutionOptions pixel_options(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    PixelConvolutionOptions options;
    options.method =
        choice.method == ConvolutionMethod::pixel_sum ? PixelMethod::pixel_sum : PixelMethod::ring_fft;
    options.precision = choice.precision;
    options.accuracy = choice.accuracy;
    options.threads = request.threads;
    options.device = choice.device;
    return options;
}

/// A support of 0 leaves the kernel whole.
template <class Kernel>
Kernel cut(const Kernel& kernel, double support) {
    return support > 0 && support < kernel.support() ? kernel.truncated(support) : kernel;
}

}  // namespace

PixelSums::PixelSums(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                     const ConvolutionOptions& options, const SkyPart& part)
    : request_(request), options_(options), part_(part) {
    const bool has_spin = request.polarization.has_value(),
               renormalizes = options.mask.mode == MaskMode::renormalize;
    const auto sums = pixel_options(request, choice);
    const bool needs_scalar = !has_spin || renormalizes;
    const double of_scalar = needs_scalar ? cut(request.kernel, choice.support).support() : 0,
                 of_spin = has_spin ? cut(*request.polarization, choice.support).support() : 0;
    halo_ = part.halo(std::max(of_scalar, of_spin));
    const Grid& grid_in = halo_->grid();
    part.together("a plan of sums over pixels", [&] {
        if (has_spin) spin_.emplace(grid_in, cut(*request.polarization, choice.support), grid(), sums);
        if (!needs_scalar) return;
        const auto kernel = cut(request.kernel, choice.support);
        if (options.keep_counts) column_sums_ = radial::column_sums(grid(), kernel, grid_in, sums, part);
        scalar_.emplace(options.keep_counts ? radial::unweighted(grid_in) : grid_in, kernel, grid(), sums);
    });
    if (spin_)
        workspace_.emplace(spin_->make_workspace(request.n_maps));
    else if (scalar_ && !renormalizes)
        workspace_.emplace(scalar_->make_workspace(request.n_maps));
}

template <class T>
View<const T, 2> PixelSums::reach(View<const T, 2> maps, Array<T, 3>& memory) const {
    return radial::of_rank<2>(halo_->reach(radial::with_component(maps), memory));
}

template <class T>
void PixelSums::convolve(View<const T, 2> maps, View<T, 2> convolved, const Progress& progress) {
    Array<T, 2> shares;
    if (options_.keep_counts)
        part_.together("shares of counts",
                       [&] { shares = radial::divide_by_columns<T>(grid(), maps, column_sums_); });
    Array<T, 3> memory;
    const auto reached = reach(options_.keep_counts ? std::as_const(shares).view() : maps, memory);
    part_.together("sums over pixels", [&] {
        if (!spin_ && workspace_)
            scalar_->convolve<T>(reached, convolved, *workspace_, progress);
        else if (!spin_)
            scalar_->convolve<T>(reached, convolved, progress);
        else
            spin_->convolve<T>(as_pairs(reached), as_pairs(convolved), *workspace_, progress);
    });
}

template <class T>
void PixelSums::divide_by_shares(View<const T, 2> known, View<T, 2> convolved,
                                 const Progress& progress) const {
    const auto n_components = planning::n_components(request_);
    const auto n_pixels = convolved.extent(1), n_maps = convolved.extent(0) / n_components;
    Array<T, 2> masks({n_maps + 1, n_pixels}), shares({n_maps + 1, n_pixels});
    for (std::int64_t map = 0; map < n_maps; ++map)
        std::copy_n(known[n_components * map].data(), n_pixels, masks.view()[map].data());
    std::fill_n(masks.view()[n_maps].data(), n_pixels, T(1));
    Array<T, 3> memory;
    const auto reached = reach<T>(std::as_const(masks).view(), memory);
    part_.together("sums over masks", [&] { scalar_->convolve<T>(reached, shares.view(), progress); });
    for (std::int64_t row = 0; row < convolved.extent(0); ++row)
        for (std::int64_t pixel = 0; pixel < n_pixels; ++pixel) {
            convolved(row, pixel) =
                sht::over_share(convolved(row, pixel), shares(row / n_components, pixel),
                                options_.mask.threshold * std::abs(shares(n_maps, pixel)));
        }
}

template void PixelSums::convolve(View<const float, 2>, View<float, 2>, const Progress&);
template void PixelSums::convolve(View<const double, 2>, View<double, 2>, const Progress&);
template void PixelSums::divide_by_shares(View<const float, 2>, View<float, 2>, const Progress&) const;
template void PixelSums::divide_by_shares(View<const double, 2>, View<double, 2>, const Progress&) const;

}  // namespace zonal::planning
