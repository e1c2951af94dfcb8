#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "zonal/grid.hpp"

namespace zonal::sht {

/// Ring pairs are handled in blocks of this many, whatever the vector length: one AVX-512 register of
/// doubles.
inline constexpr std::int64_t block_size = 8;

/// Indices of a northern ring and its southern mirror in the grid; -1 where there is none.
struct RingPair {
    std::int64_t north;
    std::int64_t south;
};

/// Logarithms to base 2 as sums of two doubles. The high part has 24 bits, so that its multiples by orders up
/// to 2^29 are exact without fused multiply-adds; the low part is the rest.
struct LogTable {
    core::AlignedVector<double> high, low;
    void push_back(long double value);
};

/// What the Legendre stage needs to know of a grid: its rings paired north to south, from the poles to the
/// equator, in blocks. Arrays have n_blocks() * block_size entries; the last block is filled up with copies
/// of the last pair's geometry that are no rings of the grid (north = south = -1).
struct RingPairs {
    /// mmax, spin, lmax: of the transform, for the pruning bound.
    RingPairs(const Grid& grid, std::int64_t lmax, std::int64_t mmax, int spin);
    /// The same, where all orders up to mmax count on every ring: those of maps that are no synthesis.
    RingPairs with_all_orders(std::int64_t mmax) const;

    /// Operations of the Legendre stage: 6 per (degree, order, pair) kept, 10 for two components.
    double legendre_flops(std::int64_t lmax, int components) const;

    /// Ring pairs, without those that fill up the last block.
    std::int64_t n_pairs() const;
    std::int64_t n_blocks() const { return static_cast<std::int64_t>(last_m.size()); }

    std::vector<RingPair> pairs;
    core::AlignedVector<double> cos_theta;   ///< of the northern ring, >= 0
    core::AlignedVector<double> cos2_theta;  ///< cos^2 theta
    core::AlignedVector<double> h;           ///< 1 - cos theta = 2 sin^2(theta / 2), to rounding
    core::AlignedVector<double> sin_theta;   ///< >= 0
    LogTable log2_sin;                       ///< log2 sin theta
    LogTable log2_cos_half, log2_sin_half;   ///< log2 cos(theta / 2), log2 sin(theta / 2)
    std::vector<std::int64_t> last_m;        ///< per block: largest order that contributes
    std::int64_t end_polar = 0;              ///< blocks before it hold a ring with sin theta < polar_sine()
    std::int64_t first_scalar =
        0;  ///< blocks from it on may take a spin field for scalar ones; for spin 0 end_polar
    std::int64_t first_equatorial = 0;  ///< blocks from it on hold rings with cos theta < equatorial_cosine
};

/// Where the two-degree recurrence loses digits, because its characteristic roots meet: a perturbation of one
/// step grows by up to 1 / sin 2 theta. Nearer to a pole, and nearer to the equator, than this, others are
/// used (docs/how-it-works/methods.md, "Near the poles"). Spin fields come from scalars over sin^s theta,
/// which loses digits, too: they keep farther away, by where 1 / sin^s theta is 100.
constexpr double polar_sine(int spin) {
    return spin == 0 ? 0.05 : 0.1;
}
inline constexpr double equatorial_cosine = 0.02;
double scalar_sine(int spin);

/// The largest order m whose lambda_lm(theta), l <= lmax, is not negligible: beyond it, what is left out is
/// below 1.2e-19 of the ring's rms for every lmax from 256 to 16384 (s = 2: to 4096).
double pruning_bound(double lmax, int spin, double sin_theta, double cos_theta);

}  // namespace zonal::sht
