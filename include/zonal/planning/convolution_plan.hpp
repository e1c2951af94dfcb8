#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/analysis.hpp"
#include "zonal/mask.hpp"
#include "zonal/planning/error_bound.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/progress.hpp"
#include "zonal/split_convolution.hpp"
#include "zonal/view.hpp"

// Carries out what plan_convolution chose: by any method, on any device, for maps of spin 0 and for Q and U.

namespace zonal {

/// What a convolution does beyond its request and choice.
struct ConvolutionOptions {
    MaskRule mask{};
    /// Spreads counts so that their sum is kept (CountConvolutionPlan). Only sums over pixels of
    /// maps of spin 0 can do this.
    bool keep_counts = false;
    /// Multiply the grid's weights: [grid.n_rings()] or empty.
    std::vector<double> ring_weights{};
    /// Multiply the grid's weights: [grid.n_pixels()] or empty; the caller keeps the memory.
    View<const double, 1> pixel_weights{};
    /// What the results are rounded by afterwards, relative: 2^-24 where they are written in single
    /// precision. The certificates count it.
    double output_rounding = 0;
    /// A rank's part of the sky of the request's grid. Rings, pixels and arrays are then the rank's, calls
    /// are collective, and counts in results and certificates are of the whole sky.
    std::shared_ptr<const SkyPart> part = nullptr;
};

/// What a convolution did, where, and what came of it.
struct ConvolutionResult {
    ConvolutionMethod method = ConvolutionMethod::harmonic;
    Device device = Device::cpu();           ///< split: of the sum over pixels
    Device harmonic_device = Device::cpu();  ///< of a split's window
    Precision precision = Precision::float64;
    double support = 0;               ///< rad, where the profile ends; 0 in harmonic space
    std::int64_t l_cut = -1;          ///< of a split
    double error = 0;                 ///< planned for, from the request's reference
    double seconds = 0;               ///< of this call
    double certificate_seconds = 0;   ///< of these, what its certificates took
    SplitConvolutionSeconds parts{};  ///< of a split
    AnalysisReport analysis{};        ///< in harmonic space
    /// [map], bounds of the errors; infinite where there is none.
    std::vector<Certificate> certificates{};
    std::vector<std::int64_t> masked_pixels;  ///< [row], UNSEEN or masked in the maps
    std::vector<std::int64_t> unseen_pixels;  ///< [row], UNSEEN in the result
};

/// One way of plan_convolution, ready to be used: its plan and scratch memory, made once. One call at a time.
///
/// It applies the request's kernel, cut at the choice's support. Each result comes with the certificate of
/// its error, whether or not that is as small as was asked for.
class ConvolutionPlan {
  public:
    /// choice: one of this request's that is not excluded. Throws InvalidArgument, also for what the method
    /// cannot do: a split renormalises no masks, and only sums over pixels keep counts; and
    /// BackendUnavailable.
    ConvolutionPlan(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const ConvolutionOptions& options = {});
    ~ConvolutionPlan();
    ConvolutionPlan(ConvolutionPlan&&) noexcept;
    ConvolutionPlan& operator=(ConvolutionPlan&&) noexcept;

    /// maps, convolved: [row, grid.n_pixels()] in host memory; one array only in harmonic space. The rows are
    /// the request's n_maps maps, or Q and U of each map by turns. mask: [grid.n_pixels()] from 0 (masked) to
    /// 1, or empty. Pixels that are UNSEEN or masked count as 0; Q and U mask each other. renormalize:
    /// c K(m f) / K(m), c the integral of the request's kernel of spin 0, which serves the masks of Q and U.
    /// T: float or double. Throws InvalidArgument for shapes, masks and UNSEEN pixels that the rule does not
    /// allow, Cancelled and DeviceError.
    template <class T>
    ConvolutionResult convolve(ConstView<T, 2> maps, ConstView<T, 1> mask, View<T, 2> convolved,
                               const Progress& progress = {});
    /// Convolves whole maps; throws InvalidArgument where a pixel is UNSEEN or not finite.
    template <class T>
    ConvolutionResult convolve(ConstView<T, 2> maps, View<T, 2> convolved, const Progress& progress = {});

    /// The memory of the host that a call of the first kind takes beside its arrays, in double precision.
    /// masked: whether there is a mask or a pixel that is UNSEEN. Not for a part of a sky that ranks share.
    double scratch_bytes(bool masked) const;

    class Implementation;

  private:
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace zonal
