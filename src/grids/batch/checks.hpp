#pragma once

#include <cstdint>

#include "zonal/view.hpp"

/// Which element of a batch is not valid. Each throws InvalidArgument that names the argument, the index and
/// the value.
namespace zonal::healpix {

void check_element(std::int64_t nside, ConstView<std::int64_t, 1> pixels, std::int64_t index);
/// theta, phi in rad.
void check_element(ConstView<double, 1> theta, ConstView<double, 1> phi, std::int64_t index);

}  // namespace zonal::healpix
