#pragma once

#include <mutex>
#include <vector>

#include "radial/pixel_sum/weight_sums.hpp"
#include "sky/sky_part.hpp"
#include "zonal/convolution.hpp"
#include "zonal/view.hpp"

/// What keeps the sum of counts that are convolved: see CountConvolutionPlan.
namespace zonal::radial {

/// The same rings, whose pixels all have weight 1.
Grid unweighted(const Grid& grid);

/// The c of a convolution of counts. Safe for any number of threads.
class ColumnSums {
  public:
    /// grid: of the counts; grid_out: has all pixels that the kernel reaches. options: of the convolution,
    /// with the device resolved.
    ColumnSums(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
               const PixelConvolutionOptions& options);

    /// c of every pixel, [grid.n_pixels()], in 1/sr; 0 for pixels in no ring. Sums over pixels on the CPU are
    /// made in the first call, others in the constructor, by a convolution of 1.
    const std::vector<double>& all() const;
    /// Counts divided by their c. Where few pixels of a ring hold counts, only theirs are made, from the
    /// kernel itself, as sums in double precision spread them (FilledPixels). part: of which `grid` is; names
    /// pixels in the text of errors. Throws InvalidArgument where some c is not positive and there are
    /// counts.
    template <class T>
    Array<T, 2> divide(View<const T, 2> counts, const SkyPart& part) const;

  private:
    bool are_weight_sums() const;
    bool has_all() const;
    std::vector<double> weight_sums_of(const std::vector<bool>& wanted, WeightSource source) const;

    const Grid grid_;
    const RadialKernel kernel_;
    const Grid grid_out_;
    PixelConvolutionOptions options_;
    mutable std::mutex mutex_;
    mutable std::vector<double> all_;
};

}  // namespace zonal::radial
