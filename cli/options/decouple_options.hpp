#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/analysis_options.hpp"
#include "options/beam_options.hpp"
#include "shell/session.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// What the sky went through on the way to a map: --mask2 (of the first: MaskOptions), --mask-polarization,
/// --fwhm, --beam, --pixwin and --extend, --variance, --noise-cl.
struct ObservationOptions {
    std::string mask;
    std::string mask_polarization;  ///< of Q and U, where it is not that of I
    BeamOptions beam;
    std::string variance, noise;
};

/// --decouple: band powers in place of C_l, in which bands, and what the sky went through before.
struct DecoupleOptions {
    bool decouple = false;
    std::optional<std::int64_t> bin_width, log_bins, lmin, lmax_sky;
    std::vector<std::string> bin_edges;
    bool dl = false;
    std::optional<bool> low_degrees;
    ObservationOptions first, second;           ///< of IN, and of IN2 where it is another
    std::string mask_polarization_field = "0";  ///< of both maps
    bool pixel_window = false;
    std::vector<std::string> variance_fields;
    std::string theory;
    io::ClOrder order = io::ClOrder::automatic;
    bool theory_dl = false;
    std::optional<std::int64_t> exact_lmax;
    const CLI::App* app = nullptr;  ///< that they are declared in

    /// What holds for map 0 or 1. The second map takes what it is not given from the first.
    ObservationOptions of_map(std::size_t number) const;
    /// What the command line says of map 0 or 1 itself.
    const ObservationOptions& given_of(std::size_t number) const { return number == 0 ? first : second; }
};
void add_decouple_options(CLI::App& app, DecoupleOptions& options);

/// Throws UsageError for options that go with --decouple alone, where it is not given; and where it is, for
/// those that do not go with it. n_maps: 1 or 2.
void check_decouple(const DecoupleOptions& options, std::size_t n_maps, const Session& session);

/// The bands, up to --lmax. Throws UsageError.
Bins bins_of(const DecoupleOptions& options, const std::optional<std::int64_t>& lmax);

/// --lmax-sky, or what lmax_sky_of takes in its place. Throws UsageError.
std::int64_t lmax_sky_for(const DecoupleOptions& options, const Bins& bins);

/// What beam and pixel window leave of alm up to lmax_sky, if there are any. nside: of the map; 0: CAR.
/// Throws UsageError.
std::optional<Beam> transfer_of(const DecoupleOptions& options, const ObservationOptions& map,
                                std::int64_t nside, std::int64_t lmax_sky, int threads, Session& session);

/// The variance of each pixel's noise by the file of --variance, [part, pixel], of T, of Q and U, or of both;
/// empty where it is not given. Throws UsageError, and IoError for other pixels than the map's.
Array<double, 2> variance_of(const DecoupleOptions& options, const std::string& path, const SkyMap& map,
                             Session& session);

/// N_l of each part of the map by the file of --noise-cl, up to lmax_sky: {TT}, {EE, BB}, or both. Throws
/// UsageError.
std::vector<std::vector<std::vector<double>>> noise_of(const DecoupleOptions& options,
                                                       const std::string& path, const SkyMap& map,
                                                       std::int64_t lmax_sky, Session& session);

/// C_l by --theory of T, E and B, [3, 3, lmax_sky + 1]. unit: of the maps' spectra. Throws UsageError.
Array<double, 3> theory_of(const DecoupleOptions& options, const SkyMap& map, const std::string& unit,
                           std::int64_t lmax_sky, Session& session);

}  // namespace zonal::cli
