#pragma once

#include <memory>

#include "gwrm/backend.hpp"

namespace zonal::gwrm::cuda {

/// As of Backend, whose device is current.
std::unique_ptr<Inverse> make_dense_inverse(Backend& backend, const VectorPlaces& place,
                                            const double* columns);
std::unique_ptr<Inverse> make_frozen_inverse(Backend& backend, const Shape& shape, const TimeBasis& basis,
                                             double half_width, const double* constant,
                                             const double* integrated);

}  // namespace zonal::gwrm::cuda
