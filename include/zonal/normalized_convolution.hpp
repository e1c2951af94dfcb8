#pragma once

#include <memory>
#include <vector>

#include "zonal/convolution.hpp"
#include "zonal/mask.hpp"

namespace zonal {

/// Convolves what is known of maps,
///   g(p) = sum_p' w(p') m(p') K(p, p') f(p') / sum_p' w(p') m(p') K(p, p'),
/// that is K(m f) / K(m): exact where f is constant, whatever the mask.
///
/// maps: [map, plan.grid().n_pixels()], convolved: [map, plan.grid_out().n_pixels()], as in
/// plan.convolve, but in host memory; where the mask is 0 a map may hold anything, UNSEEN and NaN too. mask:
/// [plan.grid().n_pixels()], from 0 (not known) to 1. Output pixels of which less than min_share is known,
/// |K(m)| < min_share |K(1)|, become unseen_value; min_share: above 0, at most 1. Throws InvalidArgument, and
/// what plan.convolve throws.
template <class T>
void convolve_masked(const PixelConvolutionPlan& plan, ConstView<T, 2> maps, ConstView<T, 1> mask,
                     View<T, 2> convolved, double min_share = default_mask_threshold,
                     const Progress& progress = {});

/// Convolution of maps of counts,
///   g(p) = sum_p' K(p, p') / c(p') f(p'),   c(p') = sum_p K(p, p') over the output's pixels p,
/// which spreads each input pixel's counts over the output and so conserves their sum to rounding. The
/// kernel's own normalisation and the rings' weights do not matter. One plan serves any number of threads.
class CountConvolutionPlan {
  public:
    /// As PixelConvolutionPlan.
    CountConvolutionPlan(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                         const PixelConvolutionOptions& options = {});
    ~CountConvolutionPlan();
    CountConvolutionPlan(CountConvolutionPlan&&) noexcept;
    CountConvolutionPlan& operator=(CountConvolutionPlan&&) noexcept;

    /// c, [grid.n_pixels()], in 1/sr; 0 for pixels in no ring. For sums over pixels on the CPU it is made
    /// in the first call, or in one of convolve with counts in an eighth of the pixels or more.
    const std::vector<double>& column_sums() const;

    /// counts: [map, grid.n_pixels()], convolved: [map, grid_out.n_pixels()], as in
    /// PixelConvolutionPlan::convolve, but in host memory. Throws InvalidArgument also where a pixel holds
    /// counts and its c is not positive: where the kernel reaches no pixel of the output, or is negative.
    template <class T>
    void convolve(ConstView<T, 2> counts, View<T, 2> convolved, const Progress& progress = {}) const;

  private:
    struct Implementation;
    std::unique_ptr<const Implementation> implementation_;
};

}  // namespace zonal
