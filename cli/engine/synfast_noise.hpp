#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "options/radial_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// --method of `zonal synfast`: a sky made of white noise on the pixels, convolved with sqrt(C_l) B_l
/// (Sutter, Wandelt & Elsner 2015).
struct NoiseSkyOptions {
    std::optional<ConvolutionMethod> method;  ///< harmonic, split or automatic
    double error = 0;                         ///< 0: the default
    bool explain = false;
    std::string costs;

    bool given() const { return method || error > 0 || explain || !costs.empty(); }
};
void declare_options(CLI::App& app, NoiseSkyOptions& options);

/// Throws UsageError for what contradicts itself.
void check(const NoiseSkyOptions& options);

/// Fills the map's only row, HEALPix, with noise of unit spectrum times the window K_l, l = 0 .. lmax: what
/// the sum over the pixels gives, within --error. may_be_single: sums over pixels. Reports the method and
/// what it is expected to be wrong by. Throws CannotBeKept where nothing keeps the error.
void make_noise_sky(const NoiseSkyOptions& options, const std::vector<double>& window, std::int64_t seed,
                    bool may_be_single, const RunOptions& run, SkyMap& map, Session& session);

}  // namespace zonal::cli
