#pragma once

#include <cmath>
#include <optional>

#include "core/host_device.hpp"
#include "sht/legendre/legendre_cuda.cuh"
#include "sht/rings/meridian.hpp"
#include "zonal/sht.hpp"

namespace zonal::sht {

struct ResamplingWindow {
    double support;  ///< m, in samples
    double beta;

    ZONAL_HOST_DEVICE double operator()(double x) const {
        const double ratio = x / support, inside = 1 - ratio * ratio;
        if (!(inside > 0)) return 0;
        const double root = sqrt(inside);
        const double window = exp(beta * (root - 1)) * expm1(-2 * beta * root) / expm1(-2 * beta);
        if (x == 0) return window;
        constexpr double pi = 3.14159265358979323846;
        // sin(pi x) from the distance to the nearest integer, which is exact.
        const double nearest = rint(x), sine = sin(pi * (x - nearest));
        const bool odd = fmod(fabs(nearest), 2.0) == 1;
        return window * (odd ? -sine : sine) / (pi * x);
    }
};

/// The window for an error of at most `accuracy` of the largest value.
inline ResamplingWindow resampling_window(double degree, double n_samples, double accuracy) {
    constexpr double pi = 3.14159265358979323846;
    const double support = std::ceil(std::log(2 / accuracy) / (pi * (1 - degree / n_samples)));
    return {support, pi * support * (1 - degree / n_samples)};
}

}  // namespace zonal::sht

/// Resampling in theta: where a grid has many more rings than the degree needs, the Legendre stage works on
/// equidistant rings, an eighth more than lmax, and each F_m(theta) is interpolated from there. Seen as
/// a function on the whole meridian circle, F_m(-theta) = (-1)^(m + s) F_m(theta), it is a trigonometric
/// polynomial of degree lmax. The same banded matrix serves all orders; the adjoint is its transpose.
namespace zonal::sht::cuda {

/// A ring pair as the source of values: itself or, beyond the equator, its rings swapped.
struct SourceRow {
    std::int32_t pair, swapped;
};

/// Target pairs of one block and the source rows that reach them.
struct BandTile {
    std::int32_t first_pair, end_pair, first_row, n_rows;
    std::int64_t weights;  ///< [n_rows rounded up to whole chunks][tile_targets]
};

/// What the kernel reads; device pointers.
struct BandView {
    const BandTile* tiles;
    const double* weights;
    const std::int64_t *source_origin, *source_first_pair, *target_origin, *target_first_pair;
    const std::int64_t* orders;  ///< [n_orders], ascending; each order's rows of both sides lie at its origin
    std::int64_t n_orders;
    int spin;
    int n_flipped;  ///< rows before those of the pairs themselves
    int n_source;   ///< pairs

    /// Rows go along the meridian: beyond the pole, the pairs themselves, beyond the equator.
    ZONAL_HOST_DEVICE SourceRow row(int k) const {
        const int pair = k - n_flipped;
        if (pair < 0) return {-pair - 1, 0};
        return pair < n_source ? SourceRow{pair, 0} : SourceRow{2 * n_source - 1 - pair, 1};
    }
};

/// Tiles [first, end) of a product.
struct TileRange {
    int first, end;
};

/// A banded matrix between the pairs of two sets of rings, for all orders of the layouts.
class BandProduct {
  public:
    /// Pairs of the targets that a tile has.
    static constexpr int tile_targets = 64;

    BandProduct(const std::vector<MeridianPlace>& source, const FourierLayout& source_layout,
                const std::vector<MeridianPlace>& target, const FourierLayout& target_layout,
                std::int64_t n_samples, ResamplingWindow window, int spin);

    /// source, target: [n_fields]; the entries of the orders and tiles in the target are overwritten.
    void apply(Orders orders, const PairModes* source, int n_fields, PairModes* target, cudaStream_t stream,
               TileRange tiles) const;

    int n_tiles() const { return static_cast<int>(tiles_.size()); }
    TileRange all_tiles() const { return {0, n_tiles()}; }
    /// Pairs of the source, first and past the last, that a tile needs; neither falls from tile to tile.
    std::int64_t first_source(int tile) const { return first_source_[tile]; }
    std::int64_t end_source(int tile) const { return end_source_[tile]; }

  private:
    core::DeviceArray<BandTile> tiles_;
    core::DeviceArray<double> weights_;
    std::vector<std::int64_t> first_source_, end_source_;  ///< [tile]
    std::int64_t source_size_, target_size_;
    BandView view_{};
};

/// Number of equidistant rings, even, that the Legendre stage should work on for a grid of n_pairs ring
/// pairs, or 0 where its own rings are as good. accuracy: largest error allowed, relative to the largest
/// value of an F_m; 0 for none.
std::int64_t resampled_rings(std::int64_t n_pairs, std::int64_t lmax, double accuracy);

class ThetaResampling {
  public:
    /// coarse: the pairs of the equidistant rings (equidistant_rings); fine: of the grid.
    ThetaResampling(const RingPairs& coarse, const FourierLayout& coarse_layout, const RingPairs& fine,
                    const FourierLayout& fine_layout, std::int64_t n_rings, std::int64_t lmax, int spin,
                    double accuracy);

    const BandProduct& interpolation() const { return interpolation_; }
    const BandProduct& adjoint() const { return adjoint_; }

  private:
    ThetaResampling(const std::vector<MeridianPlace>& coarse, const FourierLayout& coarse_layout,
                    const std::vector<MeridianPlace>& fine, const FourierLayout& fine_layout,
                    std::int64_t n_rings, ResamplingWindow window, int spin);
    BandProduct interpolation_, adjoint_;
};

}  // namespace zonal::sht::cuda
