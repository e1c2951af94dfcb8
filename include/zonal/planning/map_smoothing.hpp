#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/saved_plan.hpp"
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

/// The spectrum of a map, by which the errors of its fields are weighed.
struct InputSpectrum {
    bool is_of_map = false;          ///< computed from the map itself, without what is masked
    std::vector<double> tt, ee, bb;  ///< from l = 0 on, 0 beyond the last; empty: white
};

/// How a map is smoothed.
struct MapSmoothingOptions {
    /// automatic: the fastest way within `error`, found for I and for Q and U apart. split: the fastest
    /// split.
    ConvolutionMethod method = ConvolutionMethod::harmonic;
    /// What errors are measured from. Empty: continuous for method = harmonic, discrete for sums over pixels;
    /// for automatic it is continuous with a window, and discrete with a profile or with normalization =
    /// pixel (docs/decisions/reference.md).
    std::optional<ConvolutionReference> reference = {};
    /// Largest error of each field, rms over the rms of the reference, certified for the map at hand
    /// (certificate.hpp). Empty: 1e-5, but none for method = harmonic.
    std::optional<double> error = {};
    /// Returns the map even if its error is not certified, instead of throwing ErrorNotKept.
    bool keep_missed = false;
    /// Empty: none for method = harmonic, which applies windows as they stand; else window.
    std::optional<Normalization> normalization = {};
    /// Where the kernel's profile ends, rad, instead of where an error allows: not together with `error`, and
    /// not for automatic and split.
    std::optional<double> cut = {};
    double theta_cut = 0;  ///< where the profile of a split ends, rad; 0: where it is fastest
    /// The spectrum of the map, if you know it: errors are then those expected of maps with this spectrum,
    /// and are not held to their certificates. Not allowed where only harmonic space is possible.
    std::optional<InputSpectrum> input_spectrum = {};

    /// -1: what the grids resolve (default_smoothing_lmax). If an error from the continuous reference is to
    /// be certified, it is no higher than the kernel reaches and the grid certifies (certified_lmax).
    std::int64_t lmax = -1;
    std::optional<int> iterations = {};  ///< of the analysis. Empty: 3, or as planned
    double tolerance = 0;                ///< as AnalysisOptions::tolerance, instead of iterations
    std::vector<double> ring_weights = {};
    View<const double, 1> pixel_weights = {};

    /// From 0 (masked) to 1, [pixel] in ring order, or empty; it multiplies all fields.
    View<const double, 1> mask = {};
    MaskRule mask_rule = {};

    std::optional<Pixelization> pixels_out = {};  ///< of the result. Empty: the map's
    /// The precision of sums over pixels. Empty: float64, but automatic and split may choose float32.
    std::optional<Precision> precision = {};
    std::optional<CostModel> costs = {};  ///< to plan by. Empty: default_cost_model
    std::optional<SavedPlan> plan = {};   ///< to follow instead of planning; method = automatic
    int threads = 0;                      ///< 0: available_cpus()
    Device device = Device::automatic();
    Progress progress = {};
};

/// A kernel as it was applied.
struct AppliedKernel {
    double support = 0;           ///< rad, where its profile ends
    double integral = 0;          ///< of the kernel as it was given
    double scale = 1;             ///< the factor that its values were multiplied by
    double truncation_error = 0;  ///< what the cut costs, rms over the rms of the result
};

/// How the fields of a map that went one way were smoothed.
struct SmoothedPart {
    Fields fields = Fields::scalars;
    std::vector<std::int64_t> rows;  ///< of the map
    ConvolutionMethod method = ConvolutionMethod::harmonic;
    ConvolutionReference reference = ConvolutionReference::continuous;
    Normalization normalization = Normalization::none;
    Device device = Device::cpu();
    Precision precision = Precision::float64;  ///< of sums over pixels
    std::vector<AppliedKernel> kernels;  ///< one for all rows, or one for each; of a split: the whole one

    std::optional<double> error_bound;      ///< MapSmoothingOptions::error, if it was asked for
    bool is_certified = false;              ///< whether error_bound was held to the certificates
    int attempts = 1;                       ///< 2: planned again with the gain that was measured
    std::optional<double> estimated_error;  ///< from the reference, for maps of input_spectrum
    std::optional<double>
        quadrature_error;  ///< about how far the sum over the pixels is from the continuous reference

    /// Bounds of the errors that hold whatever the map is: one for each row of spin 0, and for each pair of Q
    /// and U. Empty where there is no bound.
    std::vector<Certificate> certificates;

    std::vector<ConvolutionChoice>
        choices;  ///< those of automatic and split; empty where a plan was followed
    std::optional<ConvolutionChoice> choice;  ///< the one that was taken
    std::optional<SavedPlan> plan;            ///< the same, to be saved, if it has one kernel and spectrum
    std::optional<double> predicted_seconds;  ///< if the costs of the device are known
    double planning_seconds = 0;

    std::int64_t lmax = -1;          ///< of harmonic space; -1: it took no part
    double tolerance = 0;            ///< of the analysis; 0: a number of iterations was set
    AnalysisReport analysis;         ///< in harmonic space
    SplitConvolutionSeconds parts;   ///< of a split
    double seconds = 0;              ///< of the convolution
    double certificate_seconds = 0;  ///< of these, what the certificates took

    std::vector<std::int64_t> masked_pixels;  ///< [row], UNSEEN or masked in the map
    std::vector<std::int64_t> unseen_pixels;  ///< [row], UNSEEN in the result
    std::vector<std::string> notes;           ///< what a user should know, a sentence each
};

/// A map that was smoothed, and how.
struct SmoothedMap {
    SkyMap map;
    std::vector<SmoothedPart> parts;  ///< one, or two where I and Q, U were planned apart
};

/// Smooths all fields of a map with a window: zonal::smooth(map, {.fwhm = 0.01}). A Gaussian or beam may go
/// by any method; un-smoothing, pixel windows and pixels_out only in harmonic space.
///
/// UNSEEN and masked pixels follow mask_rule. Throws InvalidArgument for options that contradict each other,
/// ErrorNotKept where no way keeps the error, BackendUnavailable and Cancelled.
SmoothedMap smooth(const SkyMap& map, const SmoothingWindow& window, const MapSmoothingOptions& options = {});
/// The same, for maps that are no longer needed: harmonic space without an error to certify then works in the
/// map's own memory.
SmoothedMap smooth(SkyMap&& map, const SmoothingWindow& window, const MapSmoothingOptions& options = {});

/// Does the same with kernels of spin 0: one for all rows of the map, or one for each. Sums over pixels of
/// maps with Q and U are refused; harmonic space applies a kernel's window to I, E and B as it stands.
SmoothedMap convolve(const SkyMap& map, const std::vector<RadialKernel>& kernels,
                     const MapSmoothingOptions& options = {});

}  // namespace zonal
