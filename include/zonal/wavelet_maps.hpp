#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "zonal/sky/map_analysis.hpp"
#include "zonal/wavelets.hpp"

namespace zonal {

enum class WaveletKind { needlet, scale_discretised, mexican_hat };

/// All kinds with their names: "needlet", "scale-discretised", "mexican-hat".
const std::vector<std::pair<std::string, WaveletKind>>& wavelet_kinds();
std::string to_string(WaveletKind kind);

/// The scales that a map is taken apart into.
struct WaveletScales {
    WaveletKind kind = WaveletKind::needlet;
    double base = 2;              ///< needlet_windows' base, or the dilation of scale_discretised_windows
    std::int64_t j_min = 0;       ///< of scale-discretised wavelets
    std::int64_t lmax = 0;        ///< of the map
    std::vector<double> radii{};  ///< rad, of Mexican hats, one for each scale

    /// The windows of all scales, [scale][lmax + 1]; the first is the scaling function's, but for Mexican
    /// hats. Throws InvalidArgument as needlet_windows, scale_discretised_windows and mexican_hat do.
    std::vector<std::vector<double>> windows() const;
    /// The names of n scales: SCALING, WAVELET_0, WAVELET_1, .. or HAT_0, HAT_1, ..
    std::vector<std::string> names(std::size_t n) const;
    /// What a file's header says of them.
    std::vector<HeaderCard> cards() const;
    /// Reads the cards of what wavelet_transform made. Throws InvalidArgument where one is missing or says
    /// what cannot be.
    static WaveletScales from_map(const SkyMap& map);
};

/// What a transform made, and how well the analysis on the way went.
struct AnalyzedScales {
    SkyMap map;
    MapAnalysisReport report;
};

/// Takes a map of one field apart: the result has a column for each scale, whose header has the cards of the
/// scales. options: lmax is that of the scales, mask and remove are not used. Throws InvalidArgument for maps
/// with UNSEEN pixels or other fields, and what analyze rejects.
AnalyzedScales wavelet_transform(const SkyMap& map, const WaveletScales& scales,
                                 const MapAnalysisOptions& options = {});

/// Puts the columns of wavelet_transform together again, into one column SIGNAL. Throws InvalidArgument where
/// they are not those of the scales, for Mexican hats, which do not keep all of a map, and as
/// wavelet_transform.
AnalyzedScales inverse_wavelet_transform(const SkyMap& parts, const WaveletScales& scales,
                                         const MapAnalysisOptions& options = {});

/// The memory of the host that either takes beside the map, its result among it. n_out: columns of that.
double bytes_of_wavelets(const SkyMap& map, const WaveletScales& scales, std::int64_t n_out,
                         const MapAnalysisOptions& options = {});

}  // namespace zonal
