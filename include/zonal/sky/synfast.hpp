#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "zonal/device.hpp"
#include "zonal/progress.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/window.hpp"

namespace zonal {

/// How to simulate a sky.
struct SynfastOptions {
    std::int64_t lmax = -1;  ///< -1: default_smoothing_lmax of the map
    std::int64_t mmax = -1;  ///< -1: lmax
    std::uint64_t seed = 0;  ///< the same seed gives the same sky for any lmax, nside, threads and machine
    std::optional<Beam> beam =
        {};           ///< multiplies the alm, such as gaussian_beam or evaluate(SmoothingWindow); to lmax
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
    Progress progress = {};  ///< of the synthesis
    /// A rank's part of a sky, or null. lmax and mmax are its layout's.
    std::shared_ptr<const SkyPart> part = {};
};

/// A simulated map, and the alm that it was made from.
struct SimulatedSky {
    SkyMap map;
    MapAlm alm;  ///< that the map was made from, beam included
};

/// Draws alm with these spectra (realize) and makes a map of them: I, or I, Q, U if there is an EE spectrum.
/// Throws InvalidArgument for spectra that end before lmax (fit_length extends them) and for those that no
/// sky can have, before it takes memory.
SimulatedSky synfast(const SkySpectra& spectra, const Pixelization& pixelization,
                     const SynfastOptions& options = {});

}  // namespace zonal
