#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/aligned.hpp"
#include "radial/pixel_sum/schedule.hpp"

/// Weights of one ring's pixels in the sum for a pixel of another ring, as functions of where between two of
/// the pixels it lies.
namespace zonal::radial {

/// Values are made in whole vectors of doubles of any kind.
inline constexpr std::int64_t value_padding = 8;

/// SumKernel's values at half the differences of longitudes x[n], n a multiple of value_padding.
void kernel_values(const SumKernel& kernel, const PairGeometry& pair, const double* x, std::int64_t n,
                   double* values);

/// Gives take(j, K) for j < n, where the longitudes differ by d_phi(j).
template <class DPhi, class Take>
void visit_values(const SumKernel& kernel, const PairGeometry& pair, std::int64_t n, DPhi d_phi, Take take) {
    constexpr std::int64_t at_once = 64;
    static_assert(at_once % value_padding == 0);
    std::array<double, at_once> x{}, values;
    for (std::int64_t first = 0; first < n; first += at_once) {
        const std::int64_t count = std::min(at_once, n - first);
        for (std::int64_t i = 0; i < count; ++i) x[i] = 0.5 * d_phi(first + i);
        kernel_values(kernel, pair, x.data(), (count + value_padding - 1) / value_padding * value_padding,
                      values.data());
        for (std::int64_t i = 0; i < count; ++i) take(first + i, values[i]);
    }
}

/// The pixels of an input ring that can be inside the support of an output pixel at longitude (b + t) h',
/// counted from the first input pixel, b whole, 0 <= t < 1, h' = 2 pi / n': tap j is pixel b - left + j.
struct PairTaps {
    std::int64_t n_taps, left;

    PairTaps(const SumRing& out, const SumRing& in, double limit) : geometry(pair_geometry(out, in)) {
        const double width = half_width(geometry.chord, limit);
        pixel = 2 * std::numbers::pi / static_cast<double>(in.n_pixels);
        is_whole = width >= std::numbers::pi;
        half_width_pixels = width / pixel;
        left = is_whole ? in.n_pixels / 2 : static_cast<std::int64_t>(half_width_pixels);
        n_taps = is_whole ? in.n_pixels : 2 * left + 2;
    }

    /// phi - phi' of tap j in pixels.
    double pixels_apart(std::int64_t j, double t) const { return t + static_cast<double>(left - j); }
    /// K of every tap, 0 outside.
    template <class T>
    void evaluate(const SumKernel& kernel, double t, T* weights) const {
        visit_values(
            kernel, geometry, n_taps, [&](std::int64_t j) { return pixels_apart(j, t) * pixel; },
            [&](std::int64_t j, double value) {
                const bool inside = is_whole || std::abs(pixels_apart(j, t)) <= half_width_pixels;
                weights[j] = inside ? static_cast<T>(value) : T(0);
            });
    }

    PairGeometry geometry;
    double pixel;  ///< h'
    double half_width_pixels;
    bool is_whole;
};

/// Taps of weight rows are padded to whole vectors of any kind.
inline constexpr std::int64_t tap_padding = 16;
inline std::int64_t padded_taps(std::int64_t n_taps) {
    return (n_taps + tap_padding - 1) / tap_padding * tap_padding;
}

/// Degree of the weights' polynomials: what one pixel of a kernel of 2 or 3 pixels' FWHM takes. Odd, so that
/// the nodes come in pairs.
template <class T>
inline constexpr int weight_degree = sizeof(T) == 4 ? 7 : 11;
/// Values of the kernel that the fit of one tap takes: at its nodes and between them.
template <class T>
inline constexpr int fit_values = weight_degree<T> + 4;
/// Rows of a piece's table: factor and shift of t, then the polynomial's coefficients.
template <class T>
inline constexpr int weight_rows = 2 + weight_degree<T> + 1;
/// How far |s| may exceed 1 by rounding (of t and of s).
template <class T>
inline constexpr T weight_slack = sizeof(T) == 4 ? T(1e-6) : T(1e-14);

/// The weights as polynomials of t: in piece p of n_pieces, with u = n_pieces t - p, tap j has
///   K = sum_d coefficient[d][j] s^d,  s = u factor[j] + shift[j], if |s| <= 1 + weight_slack, else 0,
/// so that a tap that is inside for some t only has its polynomial there.
template <class T>
struct PairTable {
    std::int64_t n_pieces;  ///< 0: no table serves, evaluate each weight
    std::int64_t stride;    ///< padded_taps
    const T* rows;          ///< [n_pieces][weight_rows][stride]
    double n_values;        ///< of the kernel that were taken to make it, or to find that none serves
};

/// Memory of a table and of its making.
template <class T>
struct PairTableScratch {
    core::AlignedVector<T> rows;
    core::AlignedVector<double> middle, half;
};

/// Makes the table with as many pieces, a power of 2, as make the polynomials right to `tolerance` (1/sr)
/// between their nodes, if that takes less work than evaluating n_values rows of weights.
template <class T>
PairTable<T> make_pair_table(const PairTaps& taps, const SumKernel& kernel, double tolerance,
                             std::int64_t n_values, PairTableScratch<T>& scratch);

/// The polynomials of n taps (a multiple of value_padding) of one piece, K at half the difference of
/// longitudes x = middle[j] + half[j] s: writes coefficients[d][stride]. Returns the largest error found
/// between the nodes.
double fit_weights(const SumKernel& kernel, const PairGeometry& pair, const double* middle,
                   const double* half, std::int64_t n, std::int64_t stride, float* coefficients);
double fit_weights(const SumKernel& kernel, const PairGeometry& pair, const double* middle,
                   const double* half, std::int64_t n, std::int64_t stride, double* coefficients);

class PixelSumSchedule;

/// Counts the kernel values that the CPU takes to make the weights of one pass in precision T. For square
/// rings it estimates them from some of the rings, as the number depends on how many pieces the kernel needs.
template <class T>
double count_weight_values(const PixelSumSchedule& schedule);

}  // namespace zonal::radial
