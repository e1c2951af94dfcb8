#include <fmt/core.h>

#include <cmath>

#include "chebyshev/series_lines.hpp"
#include "zonal/error.hpp"

namespace zonal::chebyshev {

void require_axis(int axis, int dimensions) {
    if (axis < 0 || axis >= dimensions)
        throw InvalidArgument("axis", axis, fmt::format("must be 0 to {}", dimensions - 1));
}

void require_extent(const char* name, int axis, std::int64_t extent, std::int64_t expected) {
    if (extent != expected)
        throw InvalidArgument(name, fmt::format("{} = {}: must be {}", axis_names[axis], extent, expected));
}

template <class T>
void require_not_empty(const SeriesArray<T>& array, const char* name) {
    for (int axis = 1; axis <= array.dimensions; ++axis)
        if (array.extents[axis] < 1)
            throw InvalidArgument(
                name, fmt::format("{} = {}: must be at least 1", axis_names[axis], array.extents[axis]));
}

template <class T>
void require_host(const SeriesArray<T>& array, const char* name) {
    if (array.space != MemorySpace::host) throw InvalidArgument(name, "must be in host memory");
    require_not_empty(array, name);
}

template <class T>
void convert(const SeriesArray<const T>& from, const SeriesArray<T>& to) {
    require_host(from, "from");
    require_host(to, "to");
    for (int axis = 0; axis <= from.dimensions; ++axis)
        require_extent("to", axis, to.extents[axis], from.extents[axis]);
    const bool to_primed = to.convention == ChebyshevConvention::primed;
    const Real<T> factor = from.convention == to.convention ? 1 : to_primed ? 2 : 0.5;
    for_each_line(from, to, 0, [&](std::int64_t source, std::int64_t target) {
        for (std::int64_t batch = 0; batch < from.extents[0]; ++batch)
            to.data[target + batch * to.strides[0]] = from.data[source + batch * from.strides[0]];
    });
    for (int axis = 1; axis <= to.dimensions; ++axis)
        for_each_line(to, to, axis, [&](std::int64_t first, std::int64_t) { to.data[first] *= factor; });
}

template void convert(const SeriesArray<const float>&, const SeriesArray<float>&);
template void convert(const SeriesArray<const double>&, const SeriesArray<double>&);
template void convert(const SeriesArray<const std::complex<float>>&, const SeriesArray<std::complex<float>>&);
template void convert(const SeriesArray<const std::complex<double>>&,
                      const SeriesArray<std::complex<double>>&);
template void require_not_empty(const SeriesArray<const float>&, const char*);
template void require_not_empty(const SeriesArray<const double>&, const char*);
template void require_not_empty(const SeriesArray<const std::complex<float>>&, const char*);
template void require_not_empty(const SeriesArray<const std::complex<double>>&, const char*);
template void require_not_empty(const SeriesArray<float>&, const char*);
template void require_not_empty(const SeriesArray<double>&, const char*);
template void require_not_empty(const SeriesArray<std::complex<float>>&, const char*);
template void require_not_empty(const SeriesArray<std::complex<double>>&, const char*);
template void require_host(const SeriesArray<const float>&, const char*);
template void require_host(const SeriesArray<const double>&, const char*);
template void require_host(const SeriesArray<const std::complex<float>>&, const char*);
template void require_host(const SeriesArray<const std::complex<double>>&, const char*);
template void require_host(const SeriesArray<float>&, const char*);
template void require_host(const SeriesArray<double>&, const char*);
template void require_host(const SeriesArray<std::complex<float>>&, const char*);
template void require_host(const SeriesArray<std::complex<double>>&, const char*);

}  // namespace zonal::chebyshev
