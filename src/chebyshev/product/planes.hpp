#pragma once

#include <cstdint>

#include "chebyshev/series_lines.hpp"

namespace zonal::chebyshev {

/// One plane (0: real, 1: imaginary part) of one series of a batch, indices from the slowest axis: (l, j, k)
/// of three dimensions, (0, j, k) of two, (0, 0, k) of one.
template <class T>
class PlaneReader {
  public:
    using R = Real<T>;
    PlaneReader(const SeriesArray<const T>& array, std::int64_t item, int plane)
        : data_(reinterpret_cast<const R*>(array.data + item * array.strides[0]) + plane),
          plain_(array.convention == ChebyshevConvention::plain),
          dimensions_(array.dimensions) {
        for (int axis = 0; axis < array.dimensions; ++axis)
            strides_[3 - array.dimensions + axis] = array.strides[axis + 1] * (is_complex<T> ? 2 : 1);
    }

    const R* data() const { return data_; }
    /// Of the axes (l, j, k), in elements of R.
    const std::array<std::int64_t, 3>& strides() const { return strides_; }
    const R* row(std::int64_t l, std::int64_t j) const { return data_ + l * strides_[0] + j * strides_[1]; }
    std::int64_t stride() const { return strides_[2]; }
    /// What coefficients of a row are multiplied with to be of a primed sum; k = 0 also with that of first().
    R row_factor(std::int64_t l, std::int64_t j) const {
        return plain_ ? R(dimensions_ > 1 && j == 0 ? 2 : 1) * R(dimensions_ > 2 && l == 0 ? 2 : 1) : R{1};
    }
    R first() const { return plain_ ? R{2} : R{1}; }

  private:
    const R* data_;
    bool plain_;
    int dimensions_;
    std::array<std::int64_t, 3> strides_{};
};

template <class T>
class PlaneWriter {
  public:
    using R = Real<T>;
    PlaneWriter(const SeriesArray<T>& array, std::int64_t item, int plane)
        : data_(reinterpret_cast<R*>(array.data + item * array.strides[0]) + plane),
          plain_(array.convention == ChebyshevConvention::plain),
          dimensions_(array.dimensions) {
        for (int axis = 0; axis < array.dimensions; ++axis)
            strides_[3 - array.dimensions + axis] = array.strides[axis + 1] * (is_complex<T> ? 2 : 1);
    }

    R* row(std::int64_t l, std::int64_t j) const { return data_ + l * strides_[0] + j * strides_[1]; }
    std::int64_t stride() const { return strides_[2]; }
    /// What those of a primed sum are multiplied with.
    R row_factor(std::int64_t l, std::int64_t j) const {
        return plain_ ? R(dimensions_ > 1 && j == 0 ? 0.5 : 1) * R(dimensions_ > 2 && l == 0 ? 0.5 : 1)
                      : R{1};
    }
    R first() const { return plain_ ? R{0.5} : R{1}; }

  private:
    R* data_;
    bool plain_;
    int dimensions_;
    std::array<std::int64_t, 3> strides_{};
};

}  // namespace zonal::chebyshev
