#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "zonal/normalized_convolution.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::planning {

template <class T>
View<T, 3> as_pairs(View<T, 2> rows) {
    return {rows.data(), {rows.extent(0) / 2, 2, rows.extent(1)}};
}

/// The sums over pixels of a ConvolutionPlan, of a whole sky or of a rank's part of it. One call at a time.
class PixelSums {
  public:
    /// All of them must outlive it. Collective for a part of a sky, as are its functions.
    PixelSums(const ConvolutionRequest& request, const ConvolutionChoice& choice,
              const ConvolutionOptions& options);

    /// Rows without UNSEEN pixels.
    template <class T>
    void convolve(View<const T, 2> maps, View<T, 2> convolved, const Progress& progress);
    /// Divides K(m f) by K(m). known: m, [row, pixel]; UNSEEN where too little is known.
    template <class T>
    void divide_by_shares(View<const T, 2> known, View<T, 2> convolved, const Progress& progress) const;

  private:
    const SkyPart* part() const { return options_.part.get(); }
    const Grid& grid() const { return part() ? part()->grid() : request_.grid; }
    template <class T>
    View<const T, 2> with_halo(View<const T, 2> maps, Array<T, 2>& memory) const;

    const ConvolutionRequest& request_;
    const ConvolutionOptions& options_;
    std::optional<PixelConvolutionPlan> scalar_;  ///< of Q and U: of their masks
    std::vector<double> column_sums_;             ///< that counts are divided by
    std::optional<PolarizationConvolutionPlan> spin_;
    std::shared_ptr<const SkyHalo> halo_;  ///< null for a whole sky
    std::optional<PixelConvolutionWorkspace> workspace_;
};

}  // namespace zonal::planning
