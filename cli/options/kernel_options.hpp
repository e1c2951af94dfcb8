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
    bool explain = false, keep_missed = false;
    std::string input_spectrum;
    std::string profile, energy;
    std::string sky_spectrum;     ///< file of C_l, whose root is part of the kernel
    std::string costs;            ///< file of a cost model; empty: this machine's
    std::string plan, save_plan;  ///< files

    bool given() const {
        return method || reference || normalization || cut || error > 0 || keep_missed ||
               !input_spectrum.empty() || !profile.empty() || !energy.empty() || theta_cut ||
               !costs.empty() || !plan.empty() || !save_plan.empty() || !sky_spectrum.empty();
    }
    /// harmonic where none is given.
    ConvolutionMethod chosen_method() const { return method.value_or(ConvolutionMethod::harmonic); }
    bool is_automatic() const { return method == ConvolutionMethod::automatic; }
    /// Which way, and how, zonal plan finds.
    bool is_planned() const { return is_automatic() || method == ConvolutionMethod::split; }
    bool is_pixel_method() const { return chosen_method() != ConvolutionMethod::harmonic; }
    /// none for kernels of skies, whose integral is C_0's root: 0.
    Normalization chosen_normalization() const {
        return normalization.value_or(sky_spectrum.empty() ? Normalization::window : Normalization::none);
    }
};
void declare_options(CLI::App& app, KernelOptions& options);

/// Throws UsageError for what contradicts itself.
void check(const KernelOptions& options);

}  // namespace zonal::cli
