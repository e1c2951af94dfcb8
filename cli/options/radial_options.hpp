#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "zonal/planning/planner.hpp"

namespace zonal::cli {

/// What an error is measured from (docs/convolution.md).
using Reference = ConvolutionReference;

/// By sums over pixels, at least in part.
inline bool is_pixel_method(ConvolutionMethod method) {
    return method != ConvolutionMethod::harmonic;
}
/// Of pixel_sum and ring_fft.
PixelMethod pixel_method(ConvolutionMethod method);
/// --method of what is planned by nobody: harmonic, pixel-sum or ring-fft; without it the value stays empty.
CLI::Option* add_method_option(CLI::App& app, std::optional<ConvolutionMethod>& method,
                               const std::string& description);

CLI::Option* add_reference_option(CLI::App& app, std::optional<Reference>& reference,
                                  const std::string& description);

}  // namespace zonal::cli
