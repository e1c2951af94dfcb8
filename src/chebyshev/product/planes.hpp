#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "chebyshev/series_lines.hpp"

namespace zonal::chebyshev {

/// One plane (0: real, 1: imaginary part) of one series of a batch, indices from the slowest axis: (l, j, k)
/// of three dimensions, (0, j, k) of two, (0, 0, k) of one. T: const of a series that is read.
template <class T>
class SeriesPlane {
  public:
    using R = std::conditional_t<std::is_const_v<T>, const Real<T>, Real<T>>;
    using Factor = std::remove_const_t<R>;
    SeriesPlane(const SeriesArray<T>& array, std::int64_t item, int plane)
        : data_(reinterpret_cast<R*>(array.data + item * array.strides[0]) + plane),
          plain_(array.convention == ChebyshevConvention::plain),
          dimensions_(array.dimensions) {
        for (int axis = 0; axis < array.dimensions; ++axis)
            strides_[3 - array.dimensions + axis] = array.strides[axis + 1] * (is_complex<T> ? 2 : 1);
    }

    R* data() const { return data_; }
    /// Strides of the axes (l, j, k), in elements of R.
    const std::array<std::int64_t, 3>& strides() const { return strides_; }
    R* row(std::int64_t l, std::int64_t j) const { return data_ + l * strides_[0] + j * strides_[1]; }
    std::int64_t stride() const { return strides_[2]; }
    /// What coefficients of a row are multiplied with to be those of a primed sum or, written, to be those of
    /// the series; k = 0 also with that of first().
    Factor row_factor(std::int64_t l, std::int64_t j) const {
        return (dimensions_ > 1 && j == 0 ? first() : 1) * (dimensions_ > 2 && l == 0 ? first() : 1);
    }
    Factor first() const { return plain_ ? Factor(std::is_const_v<T> ? 2 : 0.5) : Factor{1}; }

  private:
    R* data_;
    bool plain_;
    int dimensions_;
    std::array<std::int64_t, 3> strides_{};
};

template <class T>
using PlaneReader = SeriesPlane<const T>;
template <class T>
using PlaneWriter = SeriesPlane<T>;

}  // namespace zonal::chebyshev
