#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/aligned.hpp"
#include "radial/pixel_sum_schedule.hpp"

/// Weights of one ring's pixels in the sum for a pixel of another ring, as functions of where between two of
/// the pixels it lies.
namespace zonal::radial {

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
    /// K of tap j at t, inside or not.
    double value(const SumKernel& kernel, std::int64_t j, double t) const {
        return kernel(geometry, pixels_apart(j, t) * pixel);
    }
    /// K of every tap, 0 outside.
    template <class T>
    void evaluate(const SumKernel& kernel, double t, T* weights) const {
        for (std::int64_t j = 0; j < n_taps; ++j) {
            const bool inside = is_whole || std::abs(pixels_apart(j, t)) <= half_width_pixels;
            weights[j] = inside ? static_cast<T>(value(kernel, j, t)) : T(0);
        }
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

/// Taps are fitted in whole vectors of doubles of any kind.
inline constexpr std::int64_t fit_padding = 8;

/// Degree of the weights' polynomials: what one pixel of a kernel of 2 or 3 pixels' FWHM takes. Odd, so that
/// the nodes come in pairs.
template <class T>
inline constexpr int weight_degree = sizeof(T) == 4 ? 7 : 11;
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

/// The polynomials of n taps (a multiple of fit_padding) of one piece, K at half the difference of longitudes
/// x = middle[j] + half[j] s: writes coefficients[d][stride]. Returns the largest error found between the
/// nodes.
double fit_weights(const SumKernel& kernel, const PairGeometry& pair, const double* middle,
                   const double* half, std::int64_t n, std::int64_t stride, float* coefficients);
double fit_weights(const SumKernel& kernel, const PairGeometry& pair, const double* middle,
                   const double* half, std::int64_t n, std::int64_t stride, double* coefficients);

}  // namespace zonal::radial
