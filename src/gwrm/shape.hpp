#pragma once

#include <array>
#include <cstdint>

#include "zonal/gwrm/problem.hpp"

namespace zonal::gwrm {

/// Shape of the coefficients of all fields on a box, [field, vector, subdomain, k_0, k_1, k_2]: k_0 is time,
/// `vector` counts several sets of coefficients at once.
struct Shape {
    int dimensions = 1;                            ///< time included
    std::array<std::int64_t, 3> extents{1, 1, 1};  ///< highest modes plus 1
    int n_fields = 1, n_subdomains = 1;

    std::int64_t block() const { return extents[0] * extents[1] * extents[2]; }
    std::int64_t per_field() const { return n_subdomains * block(); }
    std::int64_t size() const { return n_fields * per_field(); }
    /// Unknowns of one time mode.
    std::int64_t spatial() const { return size() / extents[0]; }
    std::int64_t spatial_block() const { return extents[1] * extents[2]; }
    std::int64_t n_blocks() const { return n_fields * n_subdomains; }
    Shape with_extents(const std::array<std::int64_t, 3>& other) const {
        return {dimensions, other, n_fields, n_subdomains};
    }

    /// n_batch blocks behind each other; batch_stride 0 repeats one.
    template <class T>
    chebyshev::SeriesArray<T> blocks(T* data, std::int64_t n_batch, std::int64_t batch_stride,
                                     MemorySpace space = MemorySpace::host) const {
        return {data,
                dimensions,
                ChebyshevConvention::plain,
                space,
                {n_batch, extents[0], extents[1], extents[2]},
                {batch_stride, extents[1] * extents[2], extents[2], 1}};
    }
    template <class T>
    chebyshev::SeriesArray<T> blocks(T* data, std::int64_t n_batch,
                                     MemorySpace space = MemorySpace::host) const {
        return blocks(data, n_batch, block(), space);
    }
};

/// Returns the shape of a problem with this many modes in time.
Shape shape_of(const Problem& problem, std::int64_t time_modes);

/// Part of an axis of space; of other axes the whole, subdomain 0.
Interval subdomain_interval(const Axis& axis, int subdomain);

/// coefficients: [subdomain, k..], of the series through a function at twice as many Gauss points as
/// coefficients, which keeps aliases out, cut off. Along axes of one coefficient it is the function's value
/// in their middle.
void interpolate_function(const Problem& problem, const Shape& shape, Interval time, const Function& function,
                          double* coefficients);

}  // namespace zonal::gwrm
