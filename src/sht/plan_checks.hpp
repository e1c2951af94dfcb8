#pragma once

#include <complex>
#include <cstdint>

#include "zonal/sht.hpp"

namespace zonal::sht {

/// The options with defaults filled in. Throws InvalidArgument or BackendUnavailable as ShtPlan does.
ShtOptions resolve_options(const ShtOptions& options);

/// Throws InvalidArgument, naming the array and axis, unless alm and map have the shapes of the plan, the
/// same batch, host memory and a contiguous last axis.
template <class T>
void check_arrays(const ShtPlan& plan, View<const std::complex<T>, 3> alm, View<const T, 3> map);

}  // namespace zonal::sht
