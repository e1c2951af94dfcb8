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
    R operator()(std::int64_t l, std::int64_t j, std::int64_t k) const {
        return data_[l * strides_[0] + j * strides_[1] + k * strides_[2]];
    }
    /// As a coefficient of a primed sum.
    R primed(std::int64_t l, std::int64_t j, std::int64_t k) const {
        return (*this)(l, j, k) * (plain_ ? zeros_factor(l, j, k, R{2}) : R{1});
    }

  private:
    R zeros_factor(std::int64_t l, std::int64_t j, std::int64_t k, R factor) const {
        return (k == 0 ? factor : 1) * (dimensions_ > 1 && j == 0 ? factor : 1) *
               (dimensions_ > 2 && l == 0 ? factor : 1);
    }

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
    /// The coefficient of a primed sum.
    void primed(std::int64_t l, std::int64_t j, std::int64_t k, R value) const {
        if (plain_) {
            if (k == 0) value /= 2;
            if (dimensions_ > 1 && j == 0) value /= 2;
            if (dimensions_ > 2 && l == 0) value /= 2;
        }
        row(l, j)[k * strides_[2]] = value;
    }

  private:
    R* data_;
    bool plain_;
    int dimensions_;
    std::array<std::int64_t, 3> strides_{};
};

}  // namespace zonal::chebyshev
