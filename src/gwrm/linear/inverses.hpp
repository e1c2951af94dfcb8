#pragma once

#include <limits>
#include <memory>

#include "gwrm/backend.hpp"

/// The inverses of Backend, by Eigen on the CPU and by elimination on CUDA.
namespace zonal::gwrm {

/// A pivot smaller than this share of the largest one is taken for 0.
inline constexpr double smallest_pivot = 1e-3 * std::numeric_limits<double>::epsilon();

/// smallest, largest: magnitudes of a matrix's pivots. True for NaN.
inline bool has_small_pivot(double smallest, double largest) {
    return !(smallest > smallest_pivot * largest);
}

/// Backend::dense_inverse on the CPU.
std::unique_ptr<Inverse> make_dense_inverse(const VectorPlaces& place, const double* columns);
/// Backend::frozen_inverse on the CPU.
std::unique_ptr<Inverse> make_frozen_inverse(const Shape& shape, const TimeBasis& basis, double half_width,
                                             const double* constant, const double* integrated);

namespace cuda {

/// As above, on the backend's device, which is current.
std::unique_ptr<Inverse> make_dense_inverse(Backend& backend, const VectorPlaces& place,
                                            const double* columns);
std::unique_ptr<Inverse> make_frozen_inverse(Backend& backend, const Shape& shape, const TimeBasis& basis,
                                             double half_width, const double* constant,
                                             const double* integrated);

}  // namespace cuda
}  // namespace zonal::gwrm
