#pragma once

#include <vector>

#include "zonal/buffer.hpp"
#include "zonal/mask.hpp"

namespace zonal::sht {

/// What fit_monopole_dipole adds up over the rings, [ring, sum].
template <class T>
Array<double, 2> monopole_dipole_sums(const Grid& grid, View<const T, 1> map, View<const T, 1> mask);

/// The fit, given the sums over all rings.
MonopoleDipole fit_to_sums(const std::vector<double>& sums, FitTerms terms);

}  // namespace zonal::sht
