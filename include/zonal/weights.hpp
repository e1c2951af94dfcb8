#pragma once

#include <cstdint>
#include <vector>

#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/memory.hpp"
#include "zonal/progress.hpp"

/// Quadrature weights of HEALPix, relative to the pixel area 4 pi / npix, as deviations from 1 in the layouts
/// of HEALPix' files.
namespace zonal::healpix {

/// Returns the number of ring weights, 2 nside: rings from the north pole to the equator; the south mirrors.
std::int64_t n_ring_weights(std::int64_t nside);
/// Returns the number of pixel weights, (3 nside + 1)(nside + 1) / 4 rounded down: one for each class of
/// pixels that the symmetries of the grid (quarter turns and their mirrors, north and south) map on each
/// other.
std::int64_t n_pixel_weights(std::int64_t nside);

/// Options of the computation of quadrature weights.
struct WeightOptions {
    /// The quadrature is exact for Y_lm up to this degree; -1: see compute_ring_weights and
    /// compute_pixel_weights.
    std::int64_t lmax = -1;
    double tolerance = 1e-13;  ///< for QuadratureWeights::residual
    int max_iterations = 2000;
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
    Progress progress = {};
    MemoryCheck check_memory = require_memory;  ///< told of what the computation takes, before it does
};

/// Quadrature weights of HEALPix, and how their computation went where they were computed.
struct QuadratureWeights {
    enum class Kind {
        ring,  ///< [n_ring_weights], rings from the north pole to the equator
        pixel  ///< [n_pixel_weights], one per class of pixels
    };
    Kind kind = Kind::ring;
    std::int64_t nside = 0;
    std::int64_t lmax = -1;  ///< exact up to there; -1: a file does not say
    std::vector<double> deviations{};
    int iterations = 0;
    /// Largest error of the integral of a Y_lm, l <= lmax, over the sphere's own integral of Y_00.
    double residual = 0;
    bool converged = false;
};

/// Computes the weights nearest to 1 with sum_p w_p Y_l0(p) 4 pi / npix = sqrt(4 pi) delta_l0 for l <= lmax,
/// which is at most 4 nside - 2 and by default 3 nside. It takes about 6 iterations for any nside.
QuadratureWeights compute_ring_weights(std::int64_t nside, const WeightOptions& options = {});

/// Computes weights of pixels that do the same for all Y_lm, l <= lmax: at most 3.46 nside, by default 2.5.
/// An iteration is a synthesis and an adjoint. Up to 2.5 nside about 10 are needed, above more and more
/// (nside 128: 79 for 2.75 nside, 500 for 2.9, over 2000 for 3), although the weights hardly change any more.
/// An analysis up to lmax_a is exact for maps with lmax_f if lmax_a + lmax_f <= lmax.
QuadratureWeights compute_pixel_weights(std::int64_t nside, const WeightOptions& options = {});

/// Returns 1 + deviation for each ring of Grid::healpix(nside): [4 nside - 1], for
/// AnalysisOptions::ring_weights.
std::vector<double> expand_ring_weights(std::int64_t nside, const std::vector<double>& deviations);

/// Returns 1 + deviation for each pixel in ring order: [12 nside^2], for AnalysisOptions::pixel_weights.
std::vector<double> expand_pixel_weights(std::int64_t nside, const std::vector<double>& deviations);

/// Returns the deviations of a full map of weights, as the mean over each class of pixels. weights: [12
/// nside^2], in ring order.
std::vector<double> compress_pixel_weights(std::int64_t nside, const std::vector<double>& weights);

}  // namespace zonal::healpix
