#pragma once

#include <complex>

#include "zonal/progress.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Computes derivatives of scalar fields, per rad: map[.., 0, ..] = df/dtheta and map[.., 1, ..] =
/// (1 / sin theta) df/dphi.
///
/// plan: of spin 1 with parts = SpinParts::gradient. alm: [batch, 1, layout.size()], map: [batch, 2,
/// n_pixels]. The alm must be in host memory, where a copy of them is made; the map is where the plan takes
/// it. Throws InvalidArgument for another plan and for alm in device memory.
template <class T>
void synthesize_gradient(const ShtPlan& plan, ConstView<std::complex<T>, 3> alm, View<T, 3> map,
                         const Progress& progress = {});

}  // namespace zonal
