#include "chebyshev/calculus.hpp"

#include <fmt/core.h>

#include "chebyshev/calculus_math.hpp"
#include "chebyshev/series_lines.hpp"
#include "zonal/error.hpp"

namespace zonal::chebyshev {
namespace {

template <class A, class B>
void require_shapes(const SeriesArray<A>& f, int axis, const char* name, const SeriesArray<B>& result,
                    std::int64_t n_along_axis) {
    require_not_empty(f, "f");
    require_not_empty(result, name);
    if (f.space != result.space)
        throw InvalidArgument(name, "must be in the memory of f, the host's or a device's");
    for (int other = 0; other <= f.dimensions; ++other)
        require_extent(name, other, result.extents[other],
                       other == axis + 1 ? n_along_axis : f.extents[other]);
    if (static_cast<const void*>(f.data) == static_cast<const void*>(result.data))
        throw InvalidArgument(name, "must not be f itself");
}

}  // namespace

template <class T>
void differentiate(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& derivative,
                   void* cuda_stream) {
    require_axis(axis, f.dimensions);
    const auto n = f.extents[axis + 1];
    require_shapes(f, axis, "derivative", derivative, n);
    if (f.space == MemorySpace::cuda) return cuda::differentiate(f, axis, scale, derivative, cuda_stream);
    for_each_line(f, derivative, axis + 1, [&](std::int64_t source, std::int64_t target) {
        differentiate_line<T>(f.data + source, f.strides[axis + 1], n, static_cast<Real<T>>(scale),
                              to_primed(f), derivative.data + target, derivative.strides[axis + 1]);
    });
}

template <class T>
void integrate(const SeriesArray<const T>& f, int axis, double scale, HighestMode mode,
               const SeriesArray<T>& integral, void* cuda_stream) {
    require_axis(axis, f.dimensions);
    const auto n = f.extents[axis + 1];
    const auto n_out = mode == HighestMode::kept ? n + 1 : n;
    require_shapes(f, axis, "integral", integral, n_out);
    if (f.space == MemorySpace::cuda) return cuda::integrate(f, axis, scale, mode, integral, cuda_stream);
    for_each_line(f, integral, axis + 1, [&](std::int64_t source, std::int64_t target) {
        integrate_line<T>(f.data + source, f.strides[axis + 1], n_integrated(n, mode),
                          static_cast<Real<T>>(scale), to_primed(f), integral.data + target,
                          integral.strides[axis + 1], n_out);
    });
}

template <class T>
void integrate_out(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& integral,
                   void* cuda_stream) {
    require_axis(axis, f.dimensions);
    require_shapes(f, axis, "integral", integral, 1);
    if (f.space == MemorySpace::cuda) return cuda::integrate_out(f, axis, scale, integral, cuda_stream);
    for_each_line(f, integral, axis + 1, [&](std::int64_t source, std::int64_t target) {
        integral.data[target] = integral_of_line<T>(f.data + source, f.strides[axis + 1], f.extents[axis + 1],
                                                    static_cast<Real<T>>(scale), to_primed(f));
    });
}

#include "chebyshev/calculus_instances-inl.hpp"

}  // namespace zonal::chebyshev
