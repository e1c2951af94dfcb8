#pragma once

#include <cstdint>

#include "core/host_device.hpp"

/// The sum over pairs of coefficients, for the CPU and CUDA: with a_{-i} = a_i, primed,
///   c_k = 1/2 sum_i a_|i| b_|k-i|,  i in Z, indices above K zero
/// (docs/how-it-works/chebyshev.md; Lindvall 2019, eq. 9, in one sum), in each axis.
namespace zonal::chebyshev {

/// The i for which both |i| <= a_degree and |k - i| <= b_degree.
struct PairRange {
    std::int64_t first, last;
};

ZONAL_HOST_DEVICE inline PairRange pair_range(std::int64_t k, std::int64_t a_degree, std::int64_t b_degree) {
    const std::int64_t low = k - b_degree, high = k + b_degree;
    return {low > -a_degree ? low : -a_degree, high < a_degree ? high : a_degree};
}

ZONAL_HOST_DEVICE inline std::int64_t fold(std::int64_t index) {
    return index < 0 ? -index : index;
}

}  // namespace zonal::chebyshev
