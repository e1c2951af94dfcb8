#pragma once

#include "chebyshev/evaluation/evaluation_math.hpp"
#include "chebyshev/series_lines.hpp"
#include "zonal/chebyshev/evaluation.hpp"

namespace zonal::chebyshev {

/// Half of a primed a_0 counts.
template <class T>
Real<T> first_weight(const SeriesArray<T>& f) {
    return f.convention == ChebyshevConvention::primed ? Real<T>(0.5) : Real<T>(1);
}

/// The sums for n values along an axis.
inline NodeSums node_sums(ChebyshevNodes nodes, ChebyshevConvention convention, std::int64_t n) {
    return {nodes == ChebyshevNodes::gauss, convention == ChebyshevConvention::plain, n};
}

/// step(axis, from, to) along the axes from the last to the first, which each take their extent of `to`;
/// memory(axis, size): a buffer for what lies between two steps.
template <class T, class Memory, class Step>
void along_all_axes(const SeriesArray<const T>& from, const SeriesArray<T>& to, const Memory& memory,
                    const Step& step) {
    SeriesArray<const T> rest = from;
    auto extents = from.extents;
    for (int axis = from.dimensions; axis >= 1; --axis) {
        extents[axis] = to.extents[axis];
        auto target = to;
        if (axis > 1) {
            const auto size = extents[0] * extents[1] * extents[2] * extents[3];
            target = row_major_like<T>(from, memory(axis, size), extents);
        }
        step(axis, rest, target);
        rest = {target.data, from.dimensions, from.convention, from.space, extents, target.strides};
    }
}

}  // namespace zonal::chebyshev

/// The same of arrays on a CUDA device, which have been checked but for where they lie.
namespace zonal::chebyshev::cuda {

template <class T>
void evaluate(const SeriesArray<const T>& f, View<const double, 2> points, View<T, 2> values, void* stream);
template <class T>
void evaluate_on_grid(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& values,
                      void* stream);
template <class T>
void interpolate(const SeriesArray<const T>& values, ChebyshevNodes nodes, const SeriesArray<T>& f,
                 void* stream);
template <class T>
void resample(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& result,
              void* stream);

}  // namespace zonal::chebyshev::cuda
