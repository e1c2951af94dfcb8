#include "planning/explained_times.hpp"

#include <cstdint>
#include <iterator>
#include <utility>

#include "split/non_negative_fit.hpp"
#include "zonal/view.hpp"

namespace zonal::calibration {

std::vector<double> explain(const std::vector<Measurement>& measurements) {
    Array<double, 2> counts({std::ssize(measurements), std::ssize(measurements[0].counts)});
    const std::vector<double> ones(measurements.size(), 1.0);
    for (std::int64_t i = 0; i < counts.extent(0); ++i)
        for (std::int64_t j = 0; j < counts.extent(1); ++j)
            counts(i, j) = measurements[i].counts[j] / measurements[i].seconds;
    return split::non_negative_fit(std::as_const(counts).view(), ones);
}

}  // namespace zonal::calibration
