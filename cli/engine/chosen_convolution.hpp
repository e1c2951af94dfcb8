#pragma once

#include <memory>

#include "zonal/planner.hpp"
#include "zonal/smoothing.hpp"
#include "zonal/split_convolution.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// How a choice's sum over pixels is done.
PixelConvolutionOptions pixel_options_of(const ConvolutionChoice& choice, int threads);
/// How a choice's split is applied.
SplitConvolutionOptions split_options_of(const ConvolutionChoice& choice, int threads);

/// One way of plan_convolution, ready to be gone: its plan and scratch memory. One call at a time.
class ChosenConvolution {
  public:
    /// choice: of this request, not excluded. Throws InvalidArgument and BackendUnavailable.
    ChosenConvolution(const ConvolutionRequest& request, const ConvolutionChoice& choice);

    /// maps, convolved: [map, pixel], request.n_maps of them, of Q and U twice as many, Q and U of each map
    /// after each other; in host memory, not the same array.
    template <class T>
    void operator()(View<const T, 2> maps, View<T, 2> convolved);

  private:
    void plan_pixels(const ConvolutionRequest& request, const ConvolutionChoice& choice);
    void plan_split(const ConvolutionRequest& request, const ConvolutionChoice& choice);
    void plan_harmonic(const ConvolutionRequest& request, const ConvolutionChoice& choice);

    std::unique_ptr<PixelConvolutionPlan> pixels_;
    std::unique_ptr<PolarizationConvolutionPlan> polarization_;
    std::unique_ptr<PixelConvolutionWorkspace> workspace_;
    std::unique_ptr<SmoothingPlan> harmonic_;
    std::int64_t rows_at_once_ = 0;  ///< of harmonic_
    std::unique_ptr<SplitConvolutionPlan> split_;
    std::unique_ptr<PolarizationSplitConvolutionPlan> polarization_split_;
};

}  // namespace zonal::cli
