#include "zonal/chebyshev_calculus.hpp"

#include <fmt/format.h>

#include "chebyshev/calculus_math.hpp"
#include "chebyshev/series_lines.hpp"
#include "zonal/error.hpp"

namespace zonal::chebyshev {
namespace {

/// What a_0 is multiplied with to be primed.
template <class T>
Real<T> to_primed(const SeriesArray<T>& f) {
    return f.convention == ChebyshevConvention::plain ? 2 : 1;
}

template <class A, class B>
void require_shapes(const SeriesArray<A>& f, int axis, const char* name, const SeriesArray<B>& result,
                    std::int64_t n_along_axis) {
    require_host(f, "f");
    require_host(result, name);
    require_axis(axis, f.dimensions);
    for (int other = 0; other <= f.dimensions; ++other)
        require_extent(name, other, result.extents[other],
                       other == axis + 1 ? n_along_axis : f.extents[other]);
    if (static_cast<const void*>(f.data) == static_cast<const void*>(result.data))
        throw InvalidArgument(fmt::format("{}: must not be f itself", name));
}

}  // namespace

template <class T>
void differentiate(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& derivative) {
    require_axis(axis, f.dimensions);
    const auto n = f.extents[axis + 1];
    require_shapes(f, axis, "derivative", derivative, n);
    for_each_line(f, derivative, axis + 1, [&](std::int64_t source, std::int64_t target) {
        differentiate_line<T>(f.data + source, f.strides[axis + 1], n, static_cast<Real<T>>(scale),
                              to_primed(f), derivative.data + target, derivative.strides[axis + 1]);
    });
}

template <class T>
void integrate(const SeriesArray<const T>& f, int axis, double scale, HighestMode mode,
               const SeriesArray<T>& integral) {
    require_axis(axis, f.dimensions);
    const auto n = f.extents[axis + 1];
    const auto n_out = mode == HighestMode::kept ? n + 1 : n;
    require_shapes(f, axis, "integral", integral, n_out);
    for_each_line(f, integral, axis + 1, [&](std::int64_t source, std::int64_t target) {
        integrate_line<T>(f.data + source, f.strides[axis + 1], mode == HighestMode::tau ? n - 1 : n,
                          static_cast<Real<T>>(scale), to_primed(f), integral.data + target,
                          integral.strides[axis + 1], n_out);
    });
}

template <class T>
void integrate_out(const SeriesArray<const T>& f, int axis, double scale, T* integral) {
    require_host(f, "f");
    require_axis(axis, f.dimensions);
    // Half of a primed a_0 counts.
    const Real<T> first = f.convention == ChebyshevConvention::primed ? 1 : 2;
    auto extents = f.extents;
    extents[axis + 1] = 1;
    const auto result = row_major_like(f, integral, extents);
    for_each_line(f, result, axis + 1, [&](std::int64_t source, std::int64_t target) {
        integral[target] = integral_of_line<T>(f.data + source, f.strides[axis + 1], f.extents[axis + 1],
                                               static_cast<Real<T>>(scale), first);
    });
}

template void differentiate(const SeriesArray<const float>&, int, double, const SeriesArray<float>&);
template void differentiate(const SeriesArray<const double>&, int, double, const SeriesArray<double>&);
template void differentiate(const SeriesArray<const std::complex<float>>&, int, double,
                            const SeriesArray<std::complex<float>>&);
template void differentiate(const SeriesArray<const std::complex<double>>&, int, double,
                            const SeriesArray<std::complex<double>>&);
template void integrate(const SeriesArray<const float>&, int, double, HighestMode, const SeriesArray<float>&);
template void integrate(const SeriesArray<const double>&, int, double, HighestMode,
                        const SeriesArray<double>&);
template void integrate(const SeriesArray<const std::complex<float>>&, int, double, HighestMode,
                        const SeriesArray<std::complex<float>>&);
template void integrate(const SeriesArray<const std::complex<double>>&, int, double, HighestMode,
                        const SeriesArray<std::complex<double>>&);
template void integrate_out(const SeriesArray<const float>&, int, double, float*);
template void integrate_out(const SeriesArray<const double>&, int, double, double*);
template void integrate_out(const SeriesArray<const std::complex<float>>&, int, double, std::complex<float>*);
template void integrate_out(const SeriesArray<const std::complex<double>>&, int, double,
                            std::complex<double>*);

}  // namespace zonal::chebyshev
