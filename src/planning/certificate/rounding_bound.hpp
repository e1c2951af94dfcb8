#pragma once

#include <cstdint>

#include "zonal/planning/certificate.hpp"

/// Models of rounding, which docs/decisions/certificate.md compares with measured errors.
namespace zonal::planning {

/// Rounding of sums over pixels, rms: one part over the rms of the input times the kernel's norm, the other
/// over the rms of the output.
struct RoundingOfSums {
    double input, output;
};

RoundingOfSums rounding_of_sums(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                                const KernelNorms& kernel);

/// Returns the rounding of quadrature up to lmax, iterations and synthesis in double precision: its rms over
/// the rms of the input times the window's largest value.
double rounding_of_transforms(std::int64_t lmax, int iterations);

}  // namespace zonal::planning
