#pragma once

#include <complex>
#include <vector>

#include "chebyshev/series_lines.hpp"

namespace zonal::chebyshev {

/// What is wrong with a series of a batch whose roots are asked for.
[[noreturn]] void refuse_not_finite(std::int64_t series, std::int64_t n_batch, std::int64_t k);
[[noreturn]] void refuse_all_zero(std::int64_t series, std::int64_t n_batch);
[[noreturn]] void refuse_not_converged(std::int64_t series, std::int64_t n_batch, std::int64_t n_rows);

namespace cuda {

/// Rows of a colleague matrix at most whose eigenvalues find_roots() finds on the device of `data`.
std::int64_t most_rows(const void* data);

/// all_roots() of series that lie on a device and have at most most_rows() + 1 coefficients. Without CUDA
/// code throws BackendUnavailable, as the next.
template <class T>
std::vector<std::vector<std::complex<double>>> find_roots(const SeriesArray<const T>& f, void* stream);

/// Eigenvalues of a matrix on the host, [n, n], column-major, on the device of `data`, by cuSOLVER; none
/// where they do not converge. Scalar: double or std::complex<double>. Throws DeviceError where there is no
/// cuSOLVER.
template <class Scalar>
std::vector<std::complex<double>> eigenvalues(const Scalar* matrix, std::int64_t n, const void* data,
                                              void* stream);

}  // namespace cuda
}  // namespace zonal::chebyshev
