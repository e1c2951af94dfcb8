#pragma once

namespace zonal {

/// Bounds of the rms of the error of a convolution over the rms of what goes into it, and over that of what
/// comes out of it.
struct ErrorBound {
    double cut = 0;         ///< of the profile at the choice's support, with the scale
    double window = 0;      ///< of a split, and of the kernel above lmax in harmonic space
    double quadrature = 0;  ///< of sums over pixels from the continuous reference, and of iterations
    double accuracy = 0;    ///< of the profile's tables and of its series over longitude
    double rounding = 0;    ///< a model: docs/decisions/certificate.md
    /// Over the rms of the output: rounding, a model too, and errors of a mask's denominator.
    double of_output = 0;

    /// Returns the sum of the parts over the rms of the input.
    double total() const { return cut + window + quadrature + accuracy + rounding; }
};

/// What the error of one map is at most, whatever the map is, and what that was computed from.
struct Certificate {
    double error = 0;  ///< of rms(error) / rms(reference); infinite where there is no bound
    /// Of rms(error) over the rms of what varies in the reference, so that an offset hides nothing.
    double error_of_variations = 0;
    double rms_in = 0, rms_out = 0;  ///< of the map, times its mask and weights, and of the result
    ErrorBound bound{};
};

/// Returns the largest rms that the error may have.
double largest_error(const ErrorBound& bound, double rms_in, double rms_out);

/// Returns the bound of rms(error) / rms(reference): as the reference is the output but for the error, its
/// rms is at least rms_out - largest_error; infinite where that leaves nothing.
double certified_error(const ErrorBound& bound, double rms_in, double rms_out);

/// Returns the same over the rms of what varies in the reference. deviation_out: rms of the output without
/// its mean.
double certified_error_of_variations(const ErrorBound& bound, double rms_in, double rms_out,
                                     double deviation_out);

}  // namespace zonal
