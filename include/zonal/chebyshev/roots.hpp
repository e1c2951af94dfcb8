#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/chebyshev.hpp"

namespace zonal {

namespace chebyshev {

/// magnitudes: |a_k|, k = 0 .. K; how many of them to keep, 0 to K + 1
std::int64_t chop_length(const std::vector<double>& magnitudes, double tolerance);
/// largest |a| over all other axes and the batch, for each k of one axis
template <class T>
std::vector<double> magnitudes(const SeriesArray<const T>& f, int axis, void* cuda_stream);
/// of each series of the batch
template <class T>
std::vector<std::vector<std::complex<double>>> all_roots(const SeriesArray<const T>& f, int threads,
                                                         void* cuda_stream);

}  // namespace chebyshev

/// How many coefficients along an axis a batch resolved to `tolerance` (relative, in (0, 1)) needs: where
/// the magnitudes, the largest over all series, reach a plateau, else all of them (Aurentz & Trefethen 2017,
/// standardChop). Below 17 coefficients nothing is chopped but zeros at the end. At least 1. On a CUDA
/// device: of the coefficients as they are when cuda_stream, a cudaStream_t, has come to its present end,
/// read to the host. Throws InvalidArgument.
template <class Element, int D, ChebyshevConvention C>
std::int64_t chop_length(const ChebyshevView<Element, D, C>& f, int axis = 0, double tolerance = 0x1p-52,
                         void* cuda_stream = nullptr) {
    using T = std::remove_const_t<Element>;
    const ChebyshevView<const T, D, C> view(f.coefficients);
    return chebyshev::chop_length(chebyshev::magnitudes<T>(chebyshev::series_array(view), axis, cuda_stream),
                                  tolerance);
}
/// The same of one series.
template <class T, int D, ChebyshevConvention C>
std::int64_t chop_length(const ChebyshevSeries<T, D, C>& f, int axis = 0, double tolerance = 0x1p-52) {
    return chop_length(f.view(), axis, tolerance);
}

/// f without the coefficients that chop_length leaves out, along every axis.
template <class T, int D, ChebyshevConvention C>
ChebyshevSeries<T, D, C> chopped(const ChebyshevSeries<T, D, C>& f, double tolerance = 0x1p-52) {
    auto extents = f.extents();
    auto part = f.coefficients();
    for (int axis = 0; axis < D; ++axis) extents[axis] = chop_length(f, axis, tolerance);
    part = {part.data(), extents, part.strides(), part.space()};
    ChebyshevSeries<T, D, C> result(extents, f.domain());
    chebyshev::convert<T>(chebyshev::series_array(ChebyshevView<const T, D, C>(part)),
                          chebyshev::series_array(result.view()));
    return result;
}

/// All roots in the complex plane of each polynomial of a batch, in the variable of [-1, 1], as the
/// eigenvalues of the colleague matrix (Good 1961), unordered; zeros at the end are cut off first. Those of
/// series on a CUDA device are found there, from the coefficients as they are when cuda_stream, a
/// cudaStream_t, has come to its present end: all series at once as long as a matrix fits into a block's
/// shared memory (117 rows on sm_90), longer ones one by one by cuSOLVER, without which they are a
/// DeviceError. threads: on the host, 0 for all CPUs; series are dealt out. Error: some n eps of the matrix's
/// norm, times the root's condition. Throws InvalidArgument for a series of zeros, for coefficients that are
/// not finite and where the eigenvalues do not converge.
template <class Element, ChebyshevConvention C>
std::vector<std::vector<std::complex<double>>> all_roots(const ChebyshevView<Element, 1, C>& f,
                                                         int threads = 0, void* cuda_stream = nullptr) {
    using T = std::remove_const_t<Element>;
    const ChebyshevView<const T, 1, C> view(f.coefficients);
    return chebyshev::all_roots<T>(chebyshev::series_array(view), threads, cuda_stream);
}
/// The same of one series.
template <class T, ChebyshevConvention C>
std::vector<std::complex<double>> all_roots(const ChebyshevSeries<T, 1, C>& f) {
    return all_roots(f.view(), 1).front();
}

/// Real roots in the domain, ascending, of parts of it that 64 coefficients resolve (Boyd 2002); multiple
/// ones as often as they are (nearly, as rounding splits them). tolerance: how far off the real axis and the
/// ends, in the variable of [-1, 1], a root may seem to be.
std::vector<double> roots(const ChebyshevSeries<double, 1, ChebyshevConvention::primed>& f,
                          double tolerance = 1e-10);
std::vector<double> roots(const ChebyshevSeries<double, 1, ChebyshevConvention::plain>& f,
                          double tolerance = 1e-10);

}  // namespace zonal
