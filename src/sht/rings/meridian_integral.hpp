#pragma once

#include <complex>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "sht/legendre/legendre.hpp"
#include "zonal/grid.hpp"

/// Exact integrals over theta on equidistant rings. F_m(theta) goes on around the whole meridian circle with
/// F_m(-theta) = (-1)^(m + s) F_m(theta), and there is a trigonometric polynomial of degree lmax. n rings
/// determine one of degree n - 1 or so, whose product with another one integrates exactly: with the rule
/// G = U^T W U, where U takes the polynomial to a circle that is fine enough for weights W, S^T G is an
/// inverse of the synthesis up to twice the lmax of the rings' weights (docs/how-it-works/methods.md).
namespace zonal::sht {

/// The largest degree that the rings determine, whatever the longitudes; -1 of grids without equidistant
/// rings.
std::int64_t meridian_lmax(const Grid& grid);

/// Pixels of the shortest ring: 2 mmax + 1 of them are needed for the orders up to mmax.
std::int64_t fewest_pixels(const Grid& grid);

/// Whether analyses of this lmax need the rule G, as the rings' weights are not exact, and it is exact.
bool needs_meridian_integral(const Grid& grid, std::int64_t lmax, std::int64_t mmax);

/// What a plan's rule G reads.
struct MeridianTables {
    /// Where F_m of a ring lies in a band, and its samples on the circle: at theta and at -theta, one at a
    /// pole.
    struct Place {
        std::int64_t block, offset, sample, mirror;
    };
    int spin;
    std::int64_t length, fine_length;     ///< samples on the circle, and on the fine one
    std::vector<Place> places;            ///< of the rings, in the order of ring pairs
    std::vector<Place> no_rings;          ///< of the pairs' missing rings, whose F_m is rounding
    core::AlignedVector<double> weights;  ///< [fine_length], divided by length^2
    /// Poles that are no rings, where F_m vanishes but for m = s, and then follows from the rings.
    struct MissingPole {
        std::int64_t sample;
        std::vector<double> from_rings;  ///< [place]
    };
    std::vector<MissingPole> missing;
};

/// grid: one that has a meridian_lmax, pairs: its rings.
MeridianTables make_meridian_tables(const Grid& grid, const RingPairs& pairs, int spin);

class MeridianIntegral {
  public:
    /// Scratch of one thread.
    struct Scratch {
        fft::ComplexFft circle, fine;
        core::AlignedVector<std::complex<double>> samples, fine_samples;
    };

    MeridianIntegral(const Grid& grid, const RingPairs& pairs, int spin)
        : tables_(make_meridian_tables(grid, pairs, spin)) {}

    const MeridianTables& tables() const { return tables_; }
    std::int64_t scratch_bytes() const { return 32 * (tables_.length + tables_.fine_length); }
    /// Operations of one apply.
    double work() const { return 2 * (fft::cost(tables_.length) + fft::cost(tables_.fine_length)); }

    /// F_m becomes scale G F_m, for the orders m and other of a field, or for m alone where `other` is
    /// negative. m + other must be odd: both then share one transform. The band has all blocks and orders.
    void apply(std::int64_t m, std::int64_t other, const FourierBand& band, std::int64_t field, double scale,
               Scratch& scratch) const;

  private:
    void load(std::int64_t m, const FourierBand& band, std::int64_t field,
              std::complex<double>* samples) const;
    void store(std::int64_t m, const FourierBand& band, std::int64_t field, double scale,
               const std::complex<double>* samples) const;

    const MeridianTables tables_;
};

/// What a transform needs for exact integrals.
struct ExactRings {
    ExactRings(const Grid& grid, const RingPairs& pairs, std::int64_t mmax, int spin)
        : all_orders(pairs.with_all_orders(mmax)), integral(grid, pairs, spin) {}
    const RingPairs all_orders;
    const MeridianIntegral integral;
    /// What apply multiplies by, as F_m of maps are sums over n_phi pixels.
    double scale(const Grid& grid) const {
        return 2 * std::numbers::pi / static_cast<double>(grid.rings().front().n_pixels);
    }
};

/// Nothing where the grid's weights are exact, or nothing is.
std::optional<const ExactRings> make_exact_rings(const Grid& grid, const RingPairs& pairs, std::int64_t lmax,
                                                 std::int64_t mmax, int spin);

}  // namespace zonal::sht
