#pragma once

#include <cstdint>

#include "zonal/planning/certificate.hpp"

/// Models of rounding, which docs/decisions/certificate.md compares with measured errors.
namespace zonal::planning {

/// What rounds off in sums over pixels: rms over the rms of the input times the kernel's norm, and over the
/// rms of the output.
struct RoundingOfSums {
    double input, output;
};

RoundingOfSums rounding_of_sums(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                                const KernelNorms& kernel);

/// What rounds off in quadrature up to lmax, iterations and synthesis in double: rms over the rms of the
/// input times the window's largest value.
double rounding_of_transforms(std::int64_t lmax, int iterations);

}  // namespace zonal::planning
