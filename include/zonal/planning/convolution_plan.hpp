#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/analysis.hpp"
#include "zonal/mask.hpp"
#include "zonal/planning/error_bound.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/progress.hpp"
#include "zonal/sky/sky_part.hpp"
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
    /// For Q and U by sums over pixels: the result is multiplied by this.
    double scale = 1;
    /// Multiply the grid's weights: [grid.n_rings()] or empty.
    std::vector<double> ring_weights{};
    /// Multiply the grid's weights: [grid.n_pixels()] or empty; the caller keeps the memory.
    View<const double, 1> pixel_weights{};
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
    double error = 0;                 ///< expected of the choice, from the request's reference
    double seconds = 0;               ///< of this call
    double certificate_seconds = 0;   ///< of these, what its certificates took
    SplitConvolutionSeconds parts{};  ///< of a split
    AnalysisReport analysis{};        ///< in harmonic space
    /// [map], bounds of the errors; empty unless the request has a gain.
    std::vector<Certificate> certificates{};
    std::vector<std::int64_t> masked_pixels;  ///< [row], UNSEEN or masked in the maps
    std::vector<std::int64_t> unseen_pixels;  ///< [row], UNSEEN in the result
};

/// One way of plan_convolution, ready to be used: its plan and scratch memory, made once. One call at a time.
///
/// It applies the request's kernel, cut at the choice's support. If the request has a gain, each result comes
/// with the certificate of its error, whether or not that is as small as was asked for.
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

    /// maps, convolved: [row, grid.n_pixels()] in host memory, not the same array. The rows are the request's
    /// n_maps maps, or Q and U of each map by turns. mask: [grid.n_pixels()] from 0 (masked) to 1, or empty.
    /// Pixels that are UNSEEN or masked count as 0; Q and U mask each other. renormalize: K(m f) / K(m), of Q
    /// and U with the request's kernel of spin 0 for the mask. T: float or double. Throws InvalidArgument for
    /// shapes, masks and UNSEEN pixels that the rule does not allow, Cancelled and DeviceError.
    template <class T>
    ConvolutionResult convolve(ConstView<T, 2> maps, ConstView<T, 1> mask, View<T, 2> convolved,
                               const Progress& progress = {});
    /// Convolves whole maps; throws InvalidArgument where a pixel is UNSEEN or not finite.
    template <class T>
    ConvolutionResult convolve(ConstView<T, 2> maps, View<T, 2> convolved, const Progress& progress = {});

    class Implementation;

  private:
    std::unique_ptr<Implementation> implementation_;
};

/// How the analysis of a choice in harmonic space ends: after these iterations or, where tolerance > 0, once
/// conjugate gradients reach it.
struct PlannedAnalysis {
    int iterations = 0;
    double tolerance = 0;
};

/// Returns the choice's tolerance if it has one, or else its iterations, up to lmax = 2.5 nside. Above that
/// iterations need not converge as planned, and conjugate gradients go on until the residual is a tenth of
/// `error`.
PlannedAnalysis planned_analysis(const ConvolutionChoice& choice, const Grid& grid, std::int64_t lmax,
                                 double error);

/// Returns the error to plan sums by so that renormalised maps keep `error`. A pixel of which a share s is
/// known has 1/s times the error of the sums, so rules that show smaller shares than default_mask_threshold
/// need sums that are better by the same factor. 1e-13 is the least that arithmetic allows.
double error_of_sums(const MaskRule& rule, double error);

/// Plans by the costs and convolves whole maps in the fastest way that keeps the request's error; shapes are
/// those of ConvolutionPlan::convolve. If the request has a gain but that of the maps is smaller, so that the
/// error is not certified, it plans and convolves once more with theirs. Throws ErrorNotKept where no way
/// keeps the error.
template <class T>
ConvolutionResult convolve(const ConvolutionRequest& request, const CostModel& costs, ConstView<T, 2> maps,
                           View<T, 2> convolved, const Progress& progress = {});

}  // namespace zonal
