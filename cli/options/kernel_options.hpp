#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "options/parse.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::cli {

/// The options of `zonal smooth` that choose a method and a kernel that is not a window alone.
struct KernelOptions {
    std::optional<ConvolutionMethod> method;
    std::optional<ConvolutionReference> reference;
    std::optional<Normalization> normalization;
    std::optional<Angle> cut;
    std::optional<Angle> theta_cut;  ///< of a split
    double error = 0;                ///< 0: the default
    bool explain = false, keep_missed = false, strict = false;
    std::string profile, energy;
    std::string sky_spectrum;  ///< file of C_l, whose root is part of the kernel
    std::string costs;         ///< file of a cost model; empty: this machine's

    bool given() const {
        return method || reference || normalization || cut || error > 0 || keep_missed || strict ||
               !profile.empty() || !energy.empty() || theta_cut || !costs.empty() || !sky_spectrum.empty();
    }
    ConvolutionMethod chosen_method() const { return method.value_or(ConvolutionMethod::automatic); }
    /// Which way, and how, zonal plan finds.
    bool is_planned() const {
        return chosen_method() == ConvolutionMethod::automatic || method == ConvolutionMethod::split;
    }
};
void declare_options(CLI::App& app, KernelOptions& options);

/// Throws UsageError for what contradicts itself.
void check(const KernelOptions& options);

}  // namespace zonal::cli
