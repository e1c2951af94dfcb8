#pragma once

#include "zonal/chebyshev/calculus.hpp"

namespace zonal::chebyshev {

/// How many of a series' n coefficients its integral counts.
inline std::int64_t n_integrated(std::int64_t n, HighestMode mode) {
    return mode == HighestMode::tau ? n - 1 : n;
}

}  // namespace zonal::chebyshev

/// Calculus of arrays on a CUDA device, which have been checked but for where they lie: puts the work on the
/// stream, a cudaStream_t. Without CUDA code all throw BackendUnavailable.
namespace zonal::chebyshev::cuda {

template <class T>
void differentiate(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& derivative,
                   void* stream);
template <class T>
void integrate(const SeriesArray<const T>& f, int axis, double scale, HighestMode mode,
               const SeriesArray<T>& integral, void* stream);
/// integral: of one coefficient along the axis
template <class T>
void integrate_out(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& integral,
                   void* stream);

}  // namespace zonal::chebyshev::cuda
