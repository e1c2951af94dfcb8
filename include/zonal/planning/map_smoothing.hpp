#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zonal/memory.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/sky/sky_map.hpp"

// Smooths maps of the sky by any method: what `zonal smooth` does.

namespace zonal {

/// Which property of a kernel is scaled to 1.
enum class Normalization {
    window,  ///< its integral over the sphere
    pixel,   ///< its sum over the pixels, for each pixel of the map: keeps counts. Sums over pixels can.
    none
};
/// "window", "pixel", "none".
std::string to_string(Normalization normalization);

/// How a map is smoothed.
struct MapSmoothingOptions {
    /// automatic: the fastest way within `error`, found for fields of spin 0 and for Q and U apart. harmonic:
    /// healpy's three iterations, or as `error`, `iterations` or `tolerance` say.
    ConvolutionMethod method = ConvolutionMethod::automatic;
    /// What errors are measured from. Empty: see default_reference.
    std::optional<ConvolutionReference> reference = {};
    /// Largest error of each field, rms over the rms of the reference, certified for the map at hand
    /// (certificate.hpp). Empty: 1e-5, but nothing is held to a certificate with method = harmonic,
    /// iterations, a tolerance or `cut`.
    std::optional<double> error = {};
    /// Returns the map even if its error is not certified, instead of throwing ErrorNotKept.
    bool keep_missed = false;
    /// Throws ErrorNotKept where the answer depends on lmax by more than `error` for this map (SmoothedPart).
    bool strict = false;
    Normalization normalization = Normalization::none;
    /// Where the kernel's profile ends, rad, instead of where an error allows: only with method = pixel_sum
    /// or ring_fft. The certificate counts what this costs.
    std::optional<double> cut = {};
    double theta_cut = 0;  ///< where the profile of a split ends, rad; 0: where it is fastest

    /// -1: see ConvolutionRequest::lmax; where nothing is held to a certificate in harmonic space, what the
    /// grids resolve (default_smoothing_lmax).
    std::int64_t lmax = -1;
    std::optional<int> iterations = {};  ///< of the analysis. Empty: as planned; without an error 3
    double tolerance = 0;                ///< as AnalysisOptions::tolerance, instead of iterations
    std::vector<double> ring_weights = {};
    View<const double, 1> pixel_weights = {};

    /// From 0 (masked) to 1, [pixel] in ring order, or empty; it multiplies all fields.
    View<const double, 1> mask = {};
    MaskRule mask_rule = {};

    std::optional<Pixelization> pixels_out = {};  ///< of the result. Empty: the map's
    /// The precision of sums over pixels. Empty: float64, but automatic and split may choose float32.
    std::optional<Precision> precision = {};
    double output_rounding = 0;           ///< as ConvolutionOptions::output_rounding
    std::optional<CostModel> costs = {};  ///< to plan by. Empty: default_cost_model
    int threads = 0;                      ///< 0: available_cpus()
    Device device = Device::automatic();
    Progress progress = {};
    /// It is told of the memory that a way takes, with the result, before that is taken.
    MemoryCheck check_memory = require_memory;
};

/// What smoothing by these options needs memory for: by sums over pixels and ring FFTs a partial sky's own
/// pixels, unless other pixels or weights are asked for; else the whole sky, which automatic may still turn
/// to.
Extent extent_for(const MapSmoothingOptions& options);

/// A kernel as it was applied.
struct AppliedKernel {
    double support = 0;   ///< rad, where its profile ends
    double integral = 0;  ///< of the kernel as it was given
    double scale = 1;     ///< the factor by which normalization = window multiplied it
};

/// How the fields of one spin of a map were smoothed.
struct SmoothedPart {
    Fields fields = Fields::scalars;  ///< scalars, or qu
    std::vector<std::int64_t> rows;   ///< of the map
    ConvolutionMethod method = ConvolutionMethod::harmonic;
    ConvolutionReference reference = ConvolutionReference::continuous;
    Normalization normalization = Normalization::none;
    Device device = Device::cpu();
    Precision precision = Precision::float64;  ///< of sums over pixels
    std::vector<AppliedKernel> kernels;        ///< one for all rows, or one for each

    std::optional<double>
        error_bound;   ///< MapSmoothingOptions::error, or its default; empty: none was to be kept
    int attempts = 1;  ///< 2: planned again with the gain that was measured
    /// Bounds of the errors that hold whatever the map is: one for each row of spin 0, and for each pair of Q
    /// and U; infinite where there is none.
    std::vector<Certificate> certificates;

    std::vector<ConvolutionChoice> choices;   ///< those that were planned
    ConvolutionChoice choice;                 ///< the one that was taken
    std::optional<double> predicted_seconds;  ///< if the costs of the device are known
    double planning_seconds = 0;

    std::int64_t lmax = -1;          ///< of harmonic space; -1: it took no part
    AnalysisReport analysis;         ///< in harmonic space
    SplitConvolutionSeconds parts;   ///< of a split
    double seconds = 0;              ///< of the convolution
    double certificate_seconds = 0;  ///< of these, what the certificates took

    /// In harmonic space: |b_l| just above lmax over the largest, and rms(map - S alm) over rms(map), the
    /// share of this map that lies above lmax; NaN where it was not measured.
    double window_above_lmax = 0, map_above_lmax = 0;
    /// By how much the answer depends on lmax, rms over the rms of the result: what the window would let
    /// through of what lies above, and what the pixels mix of it into lower degrees.
    double lmax_effect = 0;

    std::vector<std::int64_t> masked_pixels;  ///< [row], UNSEEN or masked in the map
    std::vector<std::int64_t> unseen_pixels;  ///< [row], UNSEEN in the result
    std::vector<std::string> notes;           ///< what a user should know, a sentence each

    /// Whether a bound was to be kept and every certificate keeps it.
    bool is_certified() const;
    /// The largest certified error; infinite where one has no bound.
    double certified_error() const;
    /// Says in words what the result stands for: "the answer for l <= 76".
    std::string stands_for() const;
    /// One line: "harmonic, l <= 76, cpu: certified 7.5e-08 of the answer for l <= 76".
    std::string summary() const;
    /// A short paragraph: what was done, the certificates, and where the time went.
    std::string text() const;
};

/// A map that was smoothed, and how.
struct SmoothedMap {
    SkyMap map;
    std::vector<SmoothedPart> parts;  ///< one for each spin: fields of spin 0 first, then Q and U
};

/// Smooths all fields of a map with a window: zonal::smooth(map, {.fwhm = 0.01}). A Gaussian or beam may go
/// by any method; un-smoothing, pixel windows and pixels_out only in harmonic space.
///
/// UNSEEN and masked pixels follow mask_rule. A patch (Extent::own_pixels) stays one, the mask has its
/// pixels, and fill_masked, pixels_out and weights are refused. Throws InvalidArgument for options that
/// contradict each other, ErrorNotKept where no way keeps the error, BackendUnavailable and Cancelled.
SmoothedMap smooth(const SkyMap& map, const SmoothingWindow& window, const MapSmoothingOptions& options = {});
/// The same, for maps that are no longer needed: harmonic space then works in the map's own memory.
SmoothedMap smooth(SkyMap&& map, const SmoothingWindow& window, const MapSmoothingOptions& options = {});

/// Does the same with kernels of spin 0: one for all rows of the map, or one for each of a map without Q and
/// U. Sums over pixels of maps with them are refused; harmonic space applies a kernel's window to I, E and B
/// as it stands.
SmoothedMap convolve(const SkyMap& map, const std::vector<RadialKernel>& kernels,
                     const MapSmoothingOptions& options = {});
/// The same, in the map's own memory.
SmoothedMap convolve(SkyMap&& map, const std::vector<RadialKernel>& kernels,
                     const MapSmoothingOptions& options = {});

}  // namespace zonal
