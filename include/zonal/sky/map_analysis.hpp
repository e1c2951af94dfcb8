#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/analysis.hpp"
#include "zonal/device.hpp"
#include "zonal/mask.hpp"
#include "zonal/progress.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// alm of all rows of a map, [row, layout.size()]: T, E, B (or E, B) for the polarized group, then one row
/// for each spin-0 field.
struct MapAlm {
    AlmLayout layout{0};
    Array<std::complex<double>, 2> alm{};
};

/// How a map becomes alm.
struct MapAnalysisOptions {
    std::int64_t lmax = -1;                 ///< -1: default_smoothing_lmax, which is also the most
    std::int64_t mmax = -1;                 ///< -1: lmax
    int iterations = 3;                     ///< as AnalysisOptions::iterations; not used where tolerance > 0
    double tolerance = 0;                   ///< as AnalysisOptions::tolerance
    int max_iterations = 200;               ///< as AnalysisOptions::max_iterations
    std::vector<double> ring_weights = {};  ///< as AnalysisOptions::ring_weights
    View<const double, 1> pixel_weights = {};  ///< as AnalysisOptions::pixel_weights
    /// From 0 (masked) to 1, [pixel] in ring order, or empty for none; it multiplies all fields. Pixels that
    /// are unseen_value count as masked; Q and U mask each other.
    View<const double, 1> mask = {};
    MaskMode mask_mode = MaskMode::zero;  ///< zero or error
    /// What is fitted to I outside the mask and subtracted everywhere before the analysis; nothing where
    /// empty.
    std::optional<FitTerms> remove = {};
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
    Progress progress = {};
};

/// What a mask leaves of the sky; areas from the ring weights.
struct SkyFraction {
    double used = 0;         ///< where the mask is not 0
    double mean = 0;         ///< of the mask
    double mean_square = 0;  ///< of the mask
};
/// mask: [grid.n_pixels()]. threads: 0 for available_cpus(); the sums do not depend on it.
SkyFraction sky_fraction(const Grid& grid, View<const double, 1> mask, int threads = 0);

/// How the analysis of a map went, which is how that of its worst row went.
struct MapAnalysisReport {
    AnalysisReport analysis;
    std::vector<SkyFraction> sky_fraction;  ///< [row]
    MonopoleDipole removed;                 ///< zeros where nothing was
};

/// The alm of a map, and how well their analysis went.
struct AnalyzedMap {
    MapAlm alm;
    MapAnalysisReport report;
};

/// Finds what is known of each row of a map, [row, pixel]: the mask, [pixel] or empty for 1, and 0 where the
/// row is unseen_value; Q and U mask each other. threads: 0 for available_cpus().
void find_known(const SkyMap& map, View<const double, 1> mask, View<double, 2> known, int threads = 0);
/// Throws InvalidArgument where a pixel is not known in full, or is not in a partial sky.
void require_all_known(const SkyMap& map, View<const double, 2> known);

/// Multiplies each row by the mask, [pixel] or empty for none, and puts 0 for unseen_value; Q and U mask each
/// other. weights: [row, pixel], gets the mask that this was for each row. Throws InvalidArgument for masked
/// or unseen pixels with MaskMode::error. threads: 0 for available_cpus().
void apply_mask(SkyMap& map, View<const double, 1> mask, MaskMode mode, View<double, 2> weights,
                int threads = 0);

/// Finds the alm of a map. Throws InvalidArgument for lmax above the most, and what analyze,
/// fit_monopole_dipole and apply_mask reject.
AnalyzedMap analyze(SkyMap map, const MapAnalysisOptions& options = {});
/// Does the same without a copy: afterwards the map is what was analysed, with 0 where nothing is known.
AnalyzedMap analyze_in_place(SkyMap& map, const MapAnalysisOptions& options = {});

/// The memory of the host that analyze_in_place takes beside the map, its result among it.
double bytes_of_analysis(const SkyMap& map, const MapAnalysisOptions& options = {});

/// Options of a synthesis.
struct MapSynthesisOptions {
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
    Progress progress = {};
};

/// The opposite of analyze, onto all rows of `map`, which has as many as the alm. Throws InvalidArgument for
/// other numbers of rows.
void synthesize(const MapAlm& alm, SkyMap& map, const MapSynthesisOptions& options = {});
/// The memory of the host that it takes beside alm and map, where this process has all of the sky. polarized:
/// whether Q and U are among the rows.
double bytes_of_synthesis(const Grid& grid, bool polarized, const AlmLayout& layout,
                          const MapSynthesisOptions& options = {});

/// Returns the power spectra of one sky. Nothing is divided by the part of the sky that a mask leaves. Units
/// are those of the map, squared. Throws InvalidArgument for a map of several spin-0 fields.
std::vector<Spectrum> anafast(SkyMap map, const MapAnalysisOptions& options = {});
/// Returns the cross spectra of two skies with the same fields.
std::vector<Spectrum> anafast(SkyMap first, SkyMap second, const MapAnalysisOptions& options = {});

}  // namespace zonal
