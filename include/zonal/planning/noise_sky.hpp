#pragma once

#include <cstdint>
#include <vector>

#include "zonal/planning/map_smoothing.hpp"

// Skies made of white noise on the pixels, convolved with sqrt(C_l) B_l (Sutter, Wandelt & Elsner 2015).

namespace zonal {

/// What a sky was made of, and how.
struct NoiseSky {
    double noise_variance = 0;  ///< of a pixel's noise
    SmoothedPart part;          ///< how it was convolved
};

/// Fills the only row of a HEALPix map with noise of unit spectrum times the window K_l, l = 0 .. lmax: what
/// the sum over the pixels gives, within the error, which is certified for this noise. window: of sky_window,
/// not 0 everywhere. options: method, error, costs, device and so on; their reference and lmax play no part.
/// The same seed gives the same noise on the same nside. Throws InvalidArgument and what convolve throws.
NoiseSky make_noise_sky(const std::vector<double>& window, const MapSmoothingOptions& options,
                        std::uint64_t seed, SkyMap& map);

}  // namespace zonal
