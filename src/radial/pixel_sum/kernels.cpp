#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "radial/pixel_sum/kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "radial/pixel_sum/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::radial::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of pixels beside each other: filter_rings times as many sums stay in registers.
#if HWY_MAX_BYTES >= 64
constexpr int filter_vectors = 6;
#else
constexpr int filter_vectors = 3;
#endif

template <bool is_odd, class V>
HWY_INLINE V combined(V left, V right) {
    return is_odd ? hn::Sub(left, right) : hn::Add(left, right);
}

template <bool is_odd, class T>
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
                    both[v] =
                        combined<is_odd>(hn::LoadU(d, left + v * lanes), hn::LoadU(d, right + v * lanes));
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

template <class T>
void filter(const T* rows, const FilterInput<T>* inputs, std::int64_t n_inputs, std::int64_t n_pixels,
            bool is_odd, T* sums) {
    is_odd ? filter_of<true>(rows, inputs, n_inputs, n_pixels, sums)
           : filter_of<false>(rows, inputs, n_inputs, n_pixels, sums);
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
    V value = rows(2 + weight_degree<T>);
    for (int power = weight_degree<T> - 1; power >= 0; --power) value = hn::MulAdd(value, s, rows(2 + power));
    return hn::IfThenElseZero(hn::Le(hn::Abs(s), hn::Set(d, T(1) + weight_slack<T>)), value);
}

/// One piece and one vector of taps, in registers.
template <class T>
void weights_of_one_vector(const PairTable<T>& table, const PixelPositions& positions, std::int64_t first,
                           std::int64_t count, T* weights, std::int64_t* bases) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    V rows[weight_rows<T>];
    for (int row = 0; row < weight_rows<T>; ++row) rows[row] = hn::Load(d, table.rows + row * table.stride);
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
        const T* const rows = table.rows + piece * weight_rows<T> * stride;
        for (std::int64_t j = 0; j < stride; j += lanes)
            hn::Store(tap_weights(d, u, [&](int row) { return hn::Load(d, rows + row * stride + j); }), d,
                      weights + j);
    }
}

template <class T>
void add_images(const T* weights, std::int64_t stride, std::int64_t n_taps, const std::int64_t* bases,
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

template <class T>
void add_multiple(T value, const T* weights, std::int64_t n, T* sums) {
    const hn::ScalableTag<T> d;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto factor = hn::Set(d, value);
    std::int64_t j = 0;
    for (; j + lanes <= n; j += lanes)
        hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, weights + j), hn::LoadU(d, sums + j)), d, sums + j);
    for (; j < n; ++j) sums[j] += value * weights[j];
}

/// Squares of 16 bytes are transposed in registers.
#if HWY_TARGET == HWY_SCALAR
template <class T>
constexpr std::int64_t square_size = 1;

template <class T>
void transpose_square(const T* in, std::int64_t, T* out, std::int64_t) {
    *out = *in;
}
#else
template <class T>
constexpr std::int64_t square_size = 16 / static_cast<std::int64_t>(sizeof(T));

HWY_INLINE void transpose_square(const double* in, std::int64_t in_stride, double* out,
                                 std::int64_t out_stride) {
    const hn::FixedTag<double, 2> d;
    const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + in_stride);
    hn::StoreU(hn::InterleaveLower(d, a, b), d, out);
    hn::StoreU(hn::InterleaveUpper(d, a, b), d, out + out_stride);
}
HWY_INLINE void transpose_square(const float* in, std::int64_t in_stride, float* out,
                                 std::int64_t out_stride) {
    const hn::FixedTag<float, 4> d;
    const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + in_stride);
    const auto e = hn::LoadU(d, in + 2 * in_stride), f = hn::LoadU(d, in + 3 * in_stride);
    const auto ab = hn::InterleaveLower(d, a, b), ef = hn::InterleaveLower(d, e, f);
    const auto ab_upper = hn::InterleaveUpper(d, a, b), ef_upper = hn::InterleaveUpper(d, e, f);
    hn::StoreU(hn::ConcatLowerLower(d, ef, ab), d, out);
    hn::StoreU(hn::ConcatUpperUpper(d, ef, ab), d, out + out_stride);
    hn::StoreU(hn::ConcatLowerLower(d, ef_upper, ab_upper), d, out + 2 * out_stride);
    hn::StoreU(hn::ConcatUpperUpper(d, ef_upper, ab_upper), d, out + 3 * out_stride);
}
#endif

// What is left over of the last squares is copied one by one: the row may end there.
template <class T>
void to_lanes(const T* images, std::int64_t count, T* row) {
    constexpr std::int64_t size = square_size<T>;
    std::int64_t k = 0;
    for (; k + size <= count; k += size)
        for (std::int64_t image = 0; image < n_images; image += size)
            transpose_square(images + image * fold_pixels + k, fold_pixels, row + k * n_images + image,
                             n_images);
    for (; k < count; ++k)
        for (std::int64_t image = 0; image < n_images; ++image)
            row[k * n_images + image] = images[image * fold_pixels + k];
}
template <class T>
void to_images(const T* row, std::int64_t count, T* images) {
    constexpr std::int64_t size = square_size<T>;
    std::int64_t k = 0;
    for (; k + size <= count; k += size)
        for (std::int64_t image = 0; image < n_images; image += size)
            transpose_square(row + k * n_images + image, n_images, images + image * fold_pixels + k,
                             fold_pixels);
    for (; k < count; ++k)
        for (std::int64_t image = 0; image < n_images; ++image)
            images[image * fold_pixels + k] = row[k * n_images + image];
}

template <class T>
constexpr SumLoops<T> sum_table{filter<T>,     to_lanes<T>,   to_images<T>,
                                weights_of<T>, add_images<T>, add_multiple<T>};

// The dispatch takes functions, not templates.
const SumLoops<float>* float_sum_loops() {
    return &sum_table<float>;
}
const SumLoops<double>* double_sum_loops() {
    return &sum_table<double>;
}

}  // namespace zonal::radial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::radial {

HWY_EXPORT(float_sum_loops);
HWY_EXPORT(double_sum_loops);

template <>
const SumLoops<float>& sum_loops() {
    return *HWY_DYNAMIC_DISPATCH(float_sum_loops)();
}
template <>
const SumLoops<double>& sum_loops() {
    return *HWY_DYNAMIC_DISPATCH(double_sum_loops)();
}

}  // namespace zonal::radial
#endif
