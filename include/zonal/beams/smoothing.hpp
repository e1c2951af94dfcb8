#pragma once

#include <complex>
#include <cstdint>

#include "zonal/alm.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/progress.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/view.hpp"

/// Smoothing with a beam that is not round and has one orientation everywhere, with respect to the meridian.
namespace zonal {

/// A beam, as BeamConvolver takes it, and how it is turned.
struct TurnedBeam {
    const AlmLayout& layout;                  ///< with all orders up to its mmax
    View<const std::complex<double>, 2> alm;  ///< [1 or 3, layout.size()]
    double psi = 0;                           ///< as that of a pointing, rad
    std::int64_t kmax = -1;                   ///< orders that are used; -1: all
};

/// How signals at the pixels of a grid are computed.
struct GridScanOptions {
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
    Progress progress = {};
};

/// signal: [grid.n_pixels()] = what a detector measures at the centres of all pixels: BeamConvolver::scan for
/// the same psi everywhere, by a transform of spin k onto the grid for each order k, without interpolation.
/// sky: [1 or 3, layout.size()], as many components as the beam and of its lmax. Throws InvalidArgument, and
/// BackendUnavailable.
void scan_grid(const Grid& grid, const AlmLayout& layout, View<const std::complex<double>, 2> sky,
               const TurnedBeam& beam, View<double, 1> signal, const GridScanOptions& options = {});

/// How a map is smoothed with such a beam. lmax: -1 for default_smoothing_lmax; the beam must reach it.
struct BeamSmoothingOptions {
    MapAnalysisOptions analysis = {};  ///< its progress, threads and device are those of all
    bool fill_masked = false;          ///< as SmoothingOptions::fill_masked
};

/// A map that was smoothed with a beam.
struct BeamSmoothedMap {
    SkyMap map;
    std::int64_t lmax = 0, kmax = 0;
    MapAnalysisReport analysis;
    double left_out = 0;  ///< BeamReport::left_out: what orders above kmax would have added, the most of all
};

/// Analyses a map and scans its pixels. With a beam of T alone each field of spin 0 is smoothed; Q and U are
/// refused. With T, E and B the map must be one of I, Q and U, and the result is one field, what the detector
/// measures. Pixels that are UNSEEN or masked count as 0, and are UNSEEN in the result unless fill_masked.
/// Throws InvalidArgument for beams that end below lmax and for what analyze rejects.
BeamSmoothedMap smooth_with_beam(SkyMap map, const TurnedBeam& beam,
                                 const BeamSmoothingOptions& options = {});

}  // namespace zonal
