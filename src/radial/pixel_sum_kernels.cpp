#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "radial/pixel_sum_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

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

template <class T>
void weights_of(const PairTable<T>& table, const PixelPositions& positions, std::int64_t first,
                std::int64_t count, T* weights, std::int64_t* bases) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t den = positions.denominator, pieces = table.n_pieces, stride = table.stride;
    const std::int64_t numerator = positions.first + first * positions.step;
    std::int64_t base = numerator >= 0 ? numerator / den : -((den - 1 - numerator) / den);
    std::int64_t rest = numerator - base * den;
    const std::int64_t base_step = positions.step / den, rest_step = positions.step % den;
    const double pieces_per_rest = static_cast<double>(pieces) / static_cast<double>(den);
    const V limit = hn::Set(d, T(1) + weight_slack<T>);
    for (std::int64_t i = 0; i < count; ++i, weights += stride) {
        bases[i] = base;
        const double at = static_cast<double>(rest) * pieces_per_rest;
        std::int64_t piece = static_cast<std::int64_t>(at);
        piece = piece < pieces ? piece : pieces - 1;
        const V u = hn::Set(d, static_cast<T>(at - static_cast<double>(piece)));
        const T* const rows = table.rows + piece * weight_rows * stride;
        for (std::int64_t j = 0; j < stride; j += lanes) {
            const V s = hn::MulAdd(u, hn::Load(d, rows + j), hn::Load(d, rows + stride + j));
            V value = hn::Load(d, rows + (2 + weight_degree) * stride + j);
            for (int power = weight_degree - 1; power >= 0; --power)
                value = hn::MulAdd(value, s, hn::Load(d, rows + (2 + power) * stride + j));
            hn::Store(hn::IfThenElseZero(hn::Le(hn::Abs(s), limit), value), d, weights + j);
        }
        base += base_step;
        rest += rest_step;
        const std::int64_t carry = rest >= den ? 1 : 0;
        base += carry;
        rest -= carry * den;
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
