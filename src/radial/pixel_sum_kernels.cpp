#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "radial/pixel_sum_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "radial/pixel_sum_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::radial::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of pixels beside each other: filter_rings times as many sums stay in registers.
#if HWY_MAX_BYTES >= 64
constexpr int filter_vectors = 6;
#else
constexpr int filter_vectors = 3;
#endif

template <class T>
void filter_of(const T* rows, const FilterInput<T>* inputs, std::int64_t n_inputs, std::int64_t n_pixels,
               T* sums) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t k = 0; k < n_pixels; k += filter_vectors * lanes) {
        V sum[filter_rings][filter_vectors];
        for (auto& of_ring : sum)
            for (V& vector : of_ring) vector = hn::Zero(d);
        for (std::int64_t i = 0; i < n_inputs; ++i) {
            const FilterInput<T>& input = inputs[i];
            const T* left = rows + input.row + k + input.left;
            const T* right = rows + input.row + k + input.right;
            const T* weights = input.weights;
            for (std::int64_t j = 0; j < input.n_taps; ++j, --left, ++right, weights += filter_rings) {
                V both[filter_vectors];
                for (int v = 0; v < filter_vectors; ++v)
                    both[v] = hn::Add(hn::LoadU(d, left + v * lanes), hn::LoadU(d, right + v * lanes));
                for (int r = 0; r < filter_rings; ++r) {
                    const V weight = hn::Set(d, weights[r]);
                    for (int v = 0; v < filter_vectors; ++v)
                        sum[r][v] = hn::MulAdd(weight, both[v], sum[r][v]);
                }
            }
        }
        for (int r = 0; r < filter_rings; ++r)
            for (int v = 0; v < filter_vectors; ++v)
                hn::StoreU(sum[r][v], d, sums + r * n_pixels + k + v * lanes);
    }
}

/// Steps through the pixels' positions: base + rest / denominator.
class Position {
  public:
    Position(const PixelPositions& positions, std::int64_t first)
        : denominator_(positions.denominator),
          base_step_(positions.step / denominator_),
          rest_step_(positions.step % denominator_) {
        const std::int64_t numerator = positions.first + first * positions.step;
        base_ = numerator >= 0 ? numerator / denominator_ : -((denominator_ - 1 - numerator) / denominator_);
        rest_ = numerator - base_ * denominator_;
    }

    std::int64_t base() const { return base_; }
    double rest() const { return static_cast<double>(rest_); }
    void advance() {
        rest_ += rest_step_;
        const bool carry = rest_ >= denominator_;
        base_ += base_step_ + (carry ? 1 : 0);
        rest_ -= carry ? denominator_ : 0;
    }

  private:
    std::int64_t denominator_, base_step_, rest_step_, base_, rest_;
};

/// A vector of taps: rows(i) is row i of their table.
template <class D, class Rows, class V = hn::Vec<D>>
HWY_INLINE V tap_weights(D d, V u, const Rows& rows) {
    using T = hn::TFromD<D>;
    const V s = hn::MulAdd(u, rows(0), rows(1));
    V value = rows(2 + weight_degree);
    for (int power = weight_degree - 1; power >= 0; --power) value = hn::MulAdd(value, s, rows(2 + power));
    return hn::IfThenElseZero(hn::Le(hn::Abs(s), hn::Set(d, T(1) + weight_slack<T>)), value);
}

/// One piece and one vector of taps, in registers.
template <class T>
void weights_of_one_vector(const PairTable<T>& table, const PixelPositions& positions, std::int64_t first,
                           std::int64_t count, T* weights, std::int64_t* bases) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    V rows[weight_rows];
    for (int row = 0; row < weight_rows; ++row) rows[row] = hn::Load(d, table.rows + row * table.stride);
    const double per_rest = 1 / static_cast<double>(positions.denominator);
    Position position(positions, first);
    for (std::int64_t i = 0; i < count; ++i, weights += table.stride, position.advance()) {
        bases[i] = position.base();
        const V u = hn::Set(d, static_cast<T>(position.rest() * per_rest));
        hn::Store(tap_weights(d, u, [&](int row) { return rows[row]; }), d, weights);
    }
}

template <class T>
void weights_of(const PairTable<T>& table, const PixelPositions& positions, std::int64_t first,
                std::int64_t count, T* weights, std::int64_t* bases) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t pieces = table.n_pieces, stride = table.stride;
    if (pieces == 1 && stride == lanes)
        return weights_of_one_vector(table, positions, first, count, weights, bases);
    const double per_rest = static_cast<double>(pieces) / static_cast<double>(positions.denominator);
    Position position(positions, first);
    for (std::int64_t i = 0; i < count; ++i, weights += stride, position.advance()) {
        bases[i] = position.base();
        const double at = position.rest() * per_rest;
        const std::int64_t piece = std::min(static_cast<std::int64_t>(at), pieces - 1);
        const V u = hn::Set(d, static_cast<T>(at - static_cast<double>(piece)));
        const T* const rows = table.rows + piece * weight_rows * stride;
        for (std::int64_t j = 0; j < stride; j += lanes)
            hn::Store(tap_weights(d, u, [&](int row) { return hn::Load(d, rows + row * stride + j); }), d,
                      weights + j);
    }
}

template <class T>
void add_images_of(const T* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
                   std::int64_t count, const T* row, T* sums) {
    const hn::CappedTag<T, n_images> d;
    using V = hn::Vec<decltype(d)>;
    constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(hn::CappedTag<T, n_images>()));
    constexpr int vectors = n_images / lanes;
    for (std::int64_t i = 0; i < count; ++i, weights += stride, sums += n_images) {
        const T* pixel = row + bases[i] * n_images;
        V even[vectors], odd[vectors];
        for (int v = 0; v < vectors; ++v) {
            even[v] = hn::Load(d, sums + v * lanes);
            odd[v] = hn::Zero(d);
        }
        for (std::int64_t j = 0; j < n_taps; j += 2, pixel += 2 * n_images) {  // n_taps is padded
            const V first = hn::Set(d, weights[j]), second = hn::Set(d, weights[j + 1]);
            for (int v = 0; v < vectors; ++v) {
                even[v] = hn::MulAdd(first, hn::Load(d, pixel + v * lanes), even[v]);
                odd[v] = hn::MulAdd(second, hn::Load(d, pixel + n_images + v * lanes), odd[v]);
            }
        }
        for (int v = 0; v < vectors; ++v) hn::Store(hn::Add(even[v], odd[v]), d, sums + v * lanes);
    }
}

void filter_float(const float* rows, const FilterInput<float>* inputs, std::int64_t n_inputs,
                  std::int64_t n_pixels, float* sums) {
    filter_of(rows, inputs, n_inputs, n_pixels, sums);
}
void filter_double(const double* rows, const FilterInput<double>* inputs, std::int64_t n_inputs,
                   std::int64_t n_pixels, double* sums) {
    filter_of(rows, inputs, n_inputs, n_pixels, sums);
}
void weights_float(const PairTable<float>& table, const PixelPositions& positions, std::int64_t first,
                   std::int64_t count, float* weights, std::int64_t* bases) {
    weights_of(table, positions, first, count, weights, bases);
}
void weights_double(const PairTable<double>& table, const PixelPositions& positions, std::int64_t first,
                    std::int64_t count, double* weights, std::int64_t* bases) {
    weights_of(table, positions, first, count, weights, bases);
}
void images_float(const float* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
                  std::int64_t count, const float* row, float* sums) {
    add_images_of(weights, stride, n_taps, bases, count, row, sums);
}
void images_double(const double* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
                   std::int64_t count, const double* row, double* sums) {
    add_images_of(weights, stride, n_taps, bases, count, row, sums);
}

}  // namespace zonal::radial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::radial {

HWY_EXPORT(filter_float);
HWY_EXPORT(filter_double);
HWY_EXPORT(weights_float);
HWY_EXPORT(weights_double);
HWY_EXPORT(images_float);
HWY_EXPORT(images_double);

void filter(const float* rows, const FilterInput<float>* inputs, std::int64_t n_inputs, std::int64_t n_pixels,
            float* sums) {
    HWY_DYNAMIC_DISPATCH(filter_float)(rows, inputs, n_inputs, n_pixels, sums);
}
void filter(const double* rows, const FilterInput<double>* inputs, std::int64_t n_inputs,
            std::int64_t n_pixels, double* sums) {
    HWY_DYNAMIC_DISPATCH(filter_double)(rows, inputs, n_inputs, n_pixels, sums);
}
void weights_of_pixels(const PairTable<float>& table, const PixelPositions& positions, std::int64_t first,
                       std::int64_t count, float* weights, std::int64_t* bases) {
    HWY_DYNAMIC_DISPATCH(weights_float)(table, positions, first, count, weights, bases);
}
void weights_of_pixels(const PairTable<double>& table, const PixelPositions& positions, std::int64_t first,
                       std::int64_t count, double* weights, std::int64_t* bases) {
    HWY_DYNAMIC_DISPATCH(weights_double)(table, positions, first, count, weights, bases);
}
void add_images(const float* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
                std::int64_t count, const float* row, float* sums) {
    HWY_DYNAMIC_DISPATCH(images_float)(weights, stride, n_taps, bases, count, row, sums);
}
void add_images(const double* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
                std::int64_t count, const double* row, double* sums) {
    HWY_DYNAMIC_DISPATCH(images_double)(weights, stride, n_taps, bases, count, row, sums);
}

}  // namespace zonal::radial
#endif
