#pragma once

#include <complex>
#include <cstdint>

#include "zonal/alm.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// The transforms in their plainest serial form, in long double: what every other implementation is compared
/// with. O(lmax mmax n_rings + n_pixels mmax) and slow.
namespace zonal::reference {

/// map: [components, pixel] = S alm, alm: [components, AlmLayout size]; components: 1 for spin 0, else 2 (E,
/// B).
void synthesize(const Grid& grid, const AlmLayout& layout, int spin, View<const std::complex<double>, 2> alm,
                View<double, 2> map);

/// alm = S^T map.
void adjoint_synthesis(const Grid& grid, const AlmLayout& layout, int spin, View<const double, 2> map,
                       View<std::complex<double>, 2> alm);

}  // namespace zonal::reference
