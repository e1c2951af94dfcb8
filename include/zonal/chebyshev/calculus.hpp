#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "zonal/chebyshev.hpp"

namespace zonal {

/// What becomes of the coefficient A_{K+1} that the integral of a series up to K has
/// (docs/how-it-works/chebyshev.md).
enum class HighestMode {
    projection,  ///< counted in A_0, so that the integral from the lower end is exact, then left out
    tau,         ///< a_K is taken as 0 first, so that there is none
    kept         ///< the result has one coefficient more
};

namespace chebyshev {

/// Along one axis, for f of the interval [-1, 1] times scale. f and the result lie in one memory; on a CUDA
/// device the work is put on the stream, a cudaStream_t of that device (null: the default stream): the call
/// does not wait, allocates nothing and may be captured in a graph.
template <class T>
void differentiate(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& derivative,
                   void* cuda_stream = nullptr);
template <class T>
void integrate(const SeriesArray<const T>& f, int axis, double scale, HighestMode mode,
               const SeriesArray<T>& integral, void* cuda_stream = nullptr);
/// The integrals over the whole of one axis, along which the result has one coefficient, in the plain
/// convention of that axis (that is, the value itself).
template <class T>
void integrate_out(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& integral,
                   void* cuda_stream = nullptr);

/// [batch, k..] without `axis` as an array that has one coefficient along it.
template <class T, int D>
SeriesArray<T> with_axis(View<T, D> series, int axis, ChebyshevConvention convention) {
    SeriesArray<T> array{series.data(), D, convention, series.space()};
    for (int to = 0, from = 0; to <= D; ++to) {
        if (to == axis + 1) continue;
        array.extents[to] = series.extent(from);
        array.strides[to] = series.stride(from++);
    }
    return array;
}

}  // namespace chebyshev

/// derivative = df / dz along one axis, 0 <= axis < D, z in the interval. f, derivative: [batch, k..], of one
/// shape, not the same array; the last coefficient along the axis becomes 0. Allocates nothing.
/// a'_{k-1} = a'_{k+1} + 2k a_k (primed; Mason & Handscomb 2003, section 2.4.5). Both arrays lie in the
/// host's memory or both on one CUDA device, where the work is put on cuda_stream, a cudaStream_t (null: the
/// default stream), and the call does not wait. Throws InvalidArgument and BackendUnavailable.
template <class T, int D, ChebyshevConvention C>
void differentiate(std::type_identity_t<ChebyshevView<const T, D, C>> f, int axis, Interval interval,
                   ChebyshevView<T, D, C> derivative, void* cuda_stream = nullptr) {
    chebyshev::differentiate<T>(chebyshev::series_array(f), axis, 1 / interval.half_width(),
                                chebyshev::series_array(derivative), cuda_stream);
}

/// integral = the integral of f from the lower end of the interval to z, along one axis. integral: of the
/// shape of f, or with one coefficient more along the axis for HighestMode::kept; not the same array.
/// Allocates nothing. A_k = (a_{k-1} - a_{k+1}) / 2k, A_0 = -2 sum_{k>=1} (-1)^k A_k (primed; Mason &
/// Handscomb 2003, section 2.4.4). Arrays on a CUDA device, stream and errors as in differentiate.
template <class T, int D, ChebyshevConvention C>
void integrate(std::type_identity_t<ChebyshevView<const T, D, C>> f, int axis, Interval interval,
               HighestMode mode, ChebyshevView<T, D, C> integral, void* cuda_stream = nullptr) {
    chebyshev::integrate<T>(chebyshev::series_array(f), axis, interval.half_width(), mode,
                            chebyshev::series_array(integral), cuda_stream);
}

/// integral: [batch, k..] without `axis`, any strides: the integrals over the whole of that axis, series in
/// the other axes (in one dimension, numbers). Arrays on a CUDA device, stream and errors as in
/// differentiate.
template <class T, int D, ChebyshevConvention C>
void integrate_out(ChebyshevView<const T, D, C> f, int axis, Interval interval,
                   std::type_identity_t<View<T, D>> integral, void* cuda_stream = nullptr) {
    chebyshev::integrate_out<T>(chebyshev::series_array(f), axis, interval.half_width(),
                                chebyshev::with_axis(integral, axis, C), cuda_stream);
}

/// df / dz along one axis of the series' domain, in the shape of f.
template <class T, int D, ChebyshevConvention C>
ChebyshevSeries<T, D, C> derivative(const ChebyshevSeries<T, D, C>& f, int axis = 0) {
    ChebyshevSeries<T, D, C> result(f.extents(), f.domain());
    differentiate<T, D, C>(f.view(), axis, f.domain().at(axis), result.view());
    return result;
}

/// The integral from the lower end of the domain along one axis.
template <class T, int D, ChebyshevConvention C>
ChebyshevSeries<T, D, C> integral(const ChebyshevSeries<T, D, C>& f, int axis = 0,
                                  HighestMode mode = HighestMode::kept) {
    auto extents = f.extents();
    if (mode == HighestMode::kept) ++extents.at(axis);
    ChebyshevSeries<T, D, C> result(extents, f.domain());
    integrate<T, D, C>(f.view(), axis, f.domain().at(axis), mode, result.view());
    return result;
}

/// The integral over the whole of one axis, a series in the other axes. D >= 2.
template <class T, int D, ChebyshevConvention C>
ChebyshevSeries<T, D - 1, C> integrate_out(const ChebyshevSeries<T, D, C>& f, int axis) requires(D > 1) {
    std::array<std::int64_t, D - 1> extents{};
    ChebyshevDomain<D - 1> domain{};
    for (int from = 0, to = 0; from < D; ++from) {
        if (from == axis) continue;
        extents.at(to) = f.extent(from);
        domain.at(to++) = f.domain()[from];
    }
    ChebyshevSeries<T, D - 1, C> result(extents, domain);
    integrate_out<T, D, C>(f.view(), axis, f.domain().at(axis), result.view().coefficients);
    return result;
}

/// The integral over the whole domain.
template <class T, int D, ChebyshevConvention C>
T definite_integral(const ChebyshevSeries<T, D, C>& f) {
    if constexpr (D > 1) {
        return definite_integral(integrate_out(f, D - 1));
    } else {
        T value{};
        integrate_out<T, 1, C>(f.view(), 0, f.domain()[0], View<T, 1>(&value, {1}));
        return value;
    }
}

}  // namespace zonal
