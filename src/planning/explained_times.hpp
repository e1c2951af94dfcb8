#pragma once

#include <vector>

namespace zonal::calibration {

/// Times beside the counts that they are explained by.
struct Measurement {
    std::vector<double> counts;
    double seconds;  ///< above 0
};

/// The seconds >= 0 of one of each count that leave the smallest sum of squares of relative errors: long
/// measurements do not outweigh short ones.
std::vector<double> explain(const std::vector<Measurement>& measurements);

}  // namespace zonal::calibration
