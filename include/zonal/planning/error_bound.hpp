#pragma once

namespace zonal {

/// Bounds of the parts of a convolution's error: their rms over the rms of the input, and of some over the
/// rms of the output.
struct ErrorBound {
    double cut = 0;         ///< of the cut at the choice's support, and of the scale that makes up for it
    double window = 0;      ///< of what a split misses of the kernel, or harmonic space above lmax
    double quadrature = 0;  ///< of sums over pixels in the continuous reference, or of iterations
    double accuracy = 0;    ///< of the profile's tables and of its series over longitude
    double rounding = 0;    ///< a model: docs/decisions/certificate.md
    /// Over the rms of the output: rounding, which is a model here, too, and errors of a mask's denominator.
    double of_output = 0;

    /// Returns the sum of the parts that are over the rms of the input.
    double total() const { return cut + window + quadrature + accuracy + rounding; }
};

/// A bound of the error of one map, which holds whatever the map is, and what it was computed from.
struct Certificate {
    double error = 0;  ///< bounds rms(error) / rms(reference); infinite where there is no bound
    /// Bounds rms(error) over the rms of the reference without its mean, so that an offset hides nothing.
    double error_of_variations = 0;
    double rms_in = 0, rms_out = 0;  ///< of the map times its mask and weights, and of the result
    ErrorBound bound{};
};

/// Returns the largest rms that the error may have.
double largest_error(const ErrorBound& bound, double rms_in, double rms_out);

/// Returns the bound of rms(error) / rms(reference). The reference differs from the output by the error, so
/// its rms is at least rms_out - largest_error. The bound is infinite if that is not above 0.
double certified_error(const ErrorBound& bound, double rms_in, double rms_out);

/// Returns the same over the rms of the reference without its mean. deviation_out: rms of the output without
/// its mean.
double certified_error_of_variations(const ErrorBound& bound, double rms_in, double rms_out,
                                     double deviation_out);

}  // namespace zonal
