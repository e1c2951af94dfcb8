#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "zonal/convolution.hpp"

namespace zonal::cli {

/// How a map is convolved with a radial kernel.
enum class ConvolutionMethod {
    harmonic,
    pixel_sum,
    ring_fft,
    split,     ///< the kernel's window up to l_cut in harmonic space, its profile by sums over pixels
    automatic  ///< the fastest of them; where it is offered it is replaced before any work
};
std::string to_string(ConvolutionMethod method);
/// By sums over pixels, at least in part.
inline bool is_pixel_method(ConvolutionMethod method) {
    return method != ConvolutionMethod::harmonic;
}
/// Of pixel_sum and ring_fft.
PixelMethod pixel_method(ConvolutionMethod method);
/// --method of what is planned by nobody: harmonic, pixel-sum or ring-fft; without it the value stays empty.
CLI::Option* add_method_option(CLI::App& app, std::optional<ConvolutionMethod>& method,
                               const std::string& description);

/// What an error is measured from (docs/convolution.md).
enum class Reference {
    discrete,   ///< the sum over the map's pixels
    continuous  ///< the window on the alm of a converged analysis
};
std::string to_string(Reference reference);
CLI::Option* add_reference_option(CLI::App& app, std::optional<Reference>& reference,
                                  const std::string& description);

}  // namespace zonal::cli
