#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/maps/map_kernels.hpp"
#include "zonal/planning/map_smoothing.hpp"
#include "zonal/planning/pixel_quadrature.hpp"

/// Chooses the way that the fields of a map go.
namespace zonal::planning {

/// Fields of a map that go one way, and what they are smoothed with.
struct MapPart {
    const SkyMap& map;
    const MapKernel& kernel;
    const MapSmoothingOptions& options;
    Normalization normalization;

    double error() const { return options.error.value_or(1e-5); }
    /// Says whether the error is certified for the map rather than expected for a spectrum.
    bool certifies() const {
        return !options.input_spectrum && !options.cut &&
               (options.method != ConvolutionMethod::harmonic || options.error);
    }
    bool has_spin() const { return map.polarized(); }
    bool normalizes() const { return normalization == Normalization::window; }
    bool keeps_counts() const { return normalization == Normalization::pixel; }
    bool has_weights() const { return !options.ring_weights.empty() || options.pixel_weights.size() > 0; }
};

/// The way of a part.
struct Way {
    ConvolutionMethod method;
    ConvolutionReference reference;
    Device device = Device::automatic();
    std::int64_t lmax = -1;                     ///< of harmonic space; -1: the default
    PlannedAnalysis analysis{};                 ///< in harmonic space
    std::optional<ConvolutionChoice> choice{};  ///< where it was planned
    /// The C_l that errors are weighted by: one for each row of the map, or one for all; for Q and U, those
    /// of E and B.
    std::vector<std::vector<double>> spectra{};
    std::optional<PolarizationKernel> polarization{};  ///< of Q and U: what was planned for, not cut
    std::optional<PixelQuadrature> quadrature{};
    /// Whether there is one kernel and one spectrum, to which the choice's cut and accuracy apply. If there
    /// are several, each kernel is cut by itself.
    bool is_exact = false;

    bool is_planned_spin() const { return choice && polarization; }
    bool is_split() const { return method == ConvolutionMethod::split; }
};

/// Says whether the planner chooses how sums over pixels are done.
bool is_planned(const MapSmoothingOptions& options);

/// Returns why only harmonic space is possible, whatever the kernel's width; empty if other ways are possible
/// too.
std::string why_harmonic_only(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options);

/// Finds the way for method = automatic or split, and tells in `part` which ways were considered. Throws
/// ErrorNotKept where nothing keeps the error, and InvalidArgument.
Way plan_way(const MapPart& what, SmoothedPart& part);

/// Throws InvalidArgument that names a saved plan's file.
[[noreturn]] void reject(const SavedPlan& plan, const std::string& why);

/// Returns the way of a saved plan, and tells in `part` what it costs here. may_be_taken: the options permit
/// its method. Throws InvalidArgument where it was made for another request, or cannot be followed.
ConvolutionChoice follow(const SavedPlan& plan, const MapSmoothingOptions& options,
                         const ConvolutionRequest& request, bool may_be_taken, SmoothedPart& part);

/// Returns the spectra that errors of a part are weighted by.
std::vector<std::vector<double>> input_spectra(const MapPart& what);

/// Returns the ways of a request; collective for a sky in parts.
std::vector<ConvolutionChoice> choices_of(const MapPart& what, const ConvolutionRequest& request,
                                          const CostModel& costs);
/// Collective for a sky in parts. Gives all ranks the first one's numbers of a way that all have chosen:
/// processors that round differently find others in the last digit.
void share_choice(const MapPart& what, ConvolutionChoice& choice);

/// Says whether single precision can hold the sums: the largest absolute value, UNSEEN apart, is 0 or from
/// 1e-25 to 1e25, which leaves room for products with kernels (1/sr) and weights.
bool fits_single(const SkyMap& map);
/// Throws InvalidArgument where it cannot.
void require_single_fits(const SkyMap& map);

}  // namespace zonal::planning
