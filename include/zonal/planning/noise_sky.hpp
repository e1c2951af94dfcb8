#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "zonal/planning/convolution_plan.hpp"
#include "zonal/sky/sky_map.hpp"

// Skies made of white noise on the pixels, convolved with sqrt(C_l) B_l (Sutter, Wandelt & Elsner 2015).

namespace zonal {

/// How to make a sky of noise on pixels.
struct NoiseSkyOptions {
    std::uint64_t seed = 0;
    /// harmonic, which needs no costs, or split; empty: the fastest way that keeps the error.
    std::optional<ConvolutionMethod> method{};
    double error = 1e-5;       ///< of the convolution, rms over the rms of the sky: certified for this noise
    bool allow_single = true;  ///< sums in single precision where the error permits
    int threads = 0;           ///< 0: available_cpus()
    /// What to compute on. automatic: any that the costs know.
    Device device = Device::automatic();
    Progress progress{};
};

/// What was looked at, chosen and done.
struct NoiseSky {
    std::vector<ConvolutionChoice> choices;   ///< all of plan_convolution; none where nothing was planned
    std::optional<ConvolutionChoice> choice;  ///< empty: nothing keeps the error, and the map is 0
    double noise_variance = 0;                ///< of a pixel's noise
    ConvolutionResult result;
};

/// Fills the only row of a HEALPix map with noise of unit spectrum times the window K_l, l = 0 .. lmax: what
/// the sum over the pixels gives, within the error. window: of sky_window, not 0 everywhere. The same seed
/// gives the same noise on the same nside. Throws InvalidArgument, Cancelled and DeviceError.
NoiseSky make_noise_sky(const std::vector<double>& window, const CostModel& costs,
                        const NoiseSkyOptions& options, SkyMap& map);

}  // namespace zonal
