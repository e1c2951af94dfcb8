#pragma once

#include <memory>

#include "gwrm/backend.hpp"

namespace zonal::gwrm {

/// As of Backend.
std::unique_ptr<Inverse> make_dense_inverse(const VectorPlaces& place, const double* columns);
std::unique_ptr<Inverse> make_frozen_inverse(const Shape& shape, const TimeBasis& basis, double half_width,
                                             const double* constant, const double* integrated);

}  // namespace zonal::gwrm
