#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zonal/analysis.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/mask.hpp"
#include "zonal/progress.hpp"
#include "zonal/view.hpp"
#include "zonal/window.hpp"

namespace zonal {

/// What a process has of a sky: DistributedSky::part() where ranks share it.
class SkyPart;

/// A smoothing window is (fwhm x beam x pixel_window_out) / (fwhm_in x beam_in x pixel_window_in), in which
/// parts that are not given are 1.
struct SmoothingWindow {
    std::optional<double> fwhm = {};     ///< rad, > 0: gaussian_beam
    std::optional<Beam> beam = {};       ///< see uniform_beam for a beam of one column
    std::optional<double> fwhm_in = {};  ///< rad, > 0: un-smooths a map that has this Gaussian beam
    std::optional<Beam> beam_in = {};
    std::optional<Beam> pixel_window_in = {};
    std::optional<Beam> pixel_window_out = {};
    /// Denominators smaller than this count as this, as in `divide`; >= 0.
    double floor = 0;
    /// For beams and pixel windows that end before lmax.
    Extension extension = Extension::none;
};

/// Returns the window's values up to lmax. Throws InvalidArgument, with the name of the part at fault, and if
/// nothing is given.
Beam evaluate(const SmoothingWindow& window, std::int64_t lmax);

/// What the fields of a map are.
enum class Fields {
    scalars,  ///< any number of spin-0 fields, all smoothed with the temperature window
    iqu,      ///< I, Q, U
    qu        ///< Q, U
};

/// Options of a smoothing: the analysis, the mask, threads and device.
struct SmoothingOptions {
    std::int64_t lmax = -1;    ///< -1: default_smoothing_lmax
    int iterations = 3;        ///< as AnalysisOptions::iterations; 0 where tolerance > 0
    double tolerance = 0;      ///< as AnalysisOptions::tolerance
    int max_iterations = 200;  ///< as AnalysisOptions::max_iterations
    /// As AnalysisOptions::is_enough, instead of iterations (0) and a tolerance, of fields that are analysed
    /// together: the first of them, and sum |b_l a_lm|^2 of each map among them.
    std::function<bool(const AnalysisReport&, std::int64_t first_field, const std::vector<double>& power)>
        is_enough = {};
    std::vector<double> ring_weights = {};     ///< as AnalysisOptions::ring_weights
    View<const double, 1> pixel_weights = {};  ///< as AnalysisOptions::pixel_weights
    MaskMode mask_mode = MaskMode::zero;
    /// renormalize: pixels whose smoothed mask is below this become UNSEEN; > 0.
    double mask_threshold = default_mask_threshold;
    /// false: pixels that were UNSEEN or masked are UNSEEN in the result; true: they keep the smoothed value.
    bool fill_masked = false;
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
    Progress progress = {};
    /// A rank's part of a sky: grid and grid_out are the part's, lmax its layout's unless it is given, and
    /// counts in the report are those of the whole sky. Else null.
    std::shared_ptr<const SkyPart> part = {};
};

/// What a smoothing did and found, and how its analyses went: in each respect as the worst of them.
struct SmoothingReport : AnalysisReport {
    std::int64_t lmax = 0;
    std::vector<BadPixels> bad_pixels;        ///< [field], of the input
    std::vector<std::int64_t> masked_pixels;  ///< [field], UNSEEN or masked in the input
    std::vector<std::int64_t> unseen_pixels;  ///< [field], UNSEEN in the result
    double seconds = 0;
};

/// Returns the most that the grid can hold: 3 nside - 1 on HEALPix, exact_lmax where there is one, else the
/// lesser of n_rings - 1 and (most pixels of a ring - 1) / 2.
std::int64_t default_smoothing_lmax(const Grid& grid);

/// A SmoothingPlan keeps what smoothings of similar maps share: plans and memory. It takes one call at a
/// time.
///
/// grid: of the maps, grid_out: of the results. beam: windows up to lmax or beyond (see evaluate). options:
/// pixel_weights and what progress refers to must outlive the plan.
class SmoothingPlan {
  public:
    /// Throws InvalidArgument for what ShtPlan rejects, and BackendUnavailable.
    SmoothingPlan(const Grid& grid, Fields fields, const Beam& beam, const Grid& grid_out,
                  const SmoothingOptions& options = {});
    ~SmoothingPlan();
    SmoothingPlan(SmoothingPlan&&) noexcept;
    SmoothingPlan& operator=(SmoothingPlan&&) noexcept;

    /// Smooths as zonal::smooth does. On CUDA each array may be in host or device memory; page-locked host
    /// memory is faster than other.
    template <class T>
    SmoothingReport smooth(ConstView<T, 2> maps, ConstView<T, 1> mask, View<T, 2> smoothed);
    /// The memory of the host that this takes beside its arrays, in double precision. masked: whether there
    /// is a mask or a pixel that is UNSEEN.
    double scratch_bytes(std::int64_t n_fields, bool masked) const;

    class Implementation;

  private:
    std::unique_ptr<Implementation> implementation_;
};

/// Convolves maps with a window: analysis, window, synthesis.
///
/// maps: [field, grid.n_pixels()]; 3 fields for iqu, 2 for qu. mask: [grid.n_pixels()] from 0 (masked) to 1,
/// or empty for none; it multiplies all fields. smoothed: [field, grid_out.n_pixels()]; may be `maps` itself
/// where the grids are the same. In each field the pixels that are UNSEEN count as masked; Q and U mask each
/// other. Where the grids differ, a pixel of grid_out whose nearest pixel of grid (nearest ring, then
/// longitude) was masked is UNSEEN unless fill_masked. Pixels in no ring of grid_out are left as they are.
///
/// renormalize: each field times its mask is smoothed and divided by the mask smoothed with the temperature
/// window.
///
/// beam: windows up to lmax or beyond (see evaluate). Throws InvalidArgument for maps with NaN or infinite
/// pixels, for UNSEEN or masked pixels with MaskMode::error, and for what analyze rejects.
template <class T>
SmoothingReport smooth(const Grid& grid, ConstView<T, 2> maps, Fields fields, ConstView<T, 1> mask,
                       const Beam& beam, const Grid& grid_out, View<T, 2> smoothed,
                       const SmoothingOptions& options = {});

}  // namespace zonal
