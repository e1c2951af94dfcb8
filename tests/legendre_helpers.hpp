#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

#include "sht/legendre/legendre.hpp"
#include "sht/rings/ring_pairs.hpp"
#include "zonal/grid.hpp"

namespace zonal::test {

using Complex = std::complex<double>;
/// lambda_lm, l = m..lmax, of a northern ring by the three-term recurrence in long double, from
/// -sqrt((2m+1)/2m) sin theta per order. Of cosine and sine, the smaller carries the angle.
inline std::vector<long double> lambda(std::int64_t lmax, std::int64_t m, const Ring& ring) {
    long double sin_theta = ring.sin_theta, cos_theta = ring.cos_theta;
    if (cos_theta < sin_theta)
        sin_theta = std::sqrt((1 - cos_theta) * (1 + cos_theta));
    else
        cos_theta = std::sqrt((1 - sin_theta) * (1 + sin_theta));
    auto epsilon = [m](std::int64_t l) {
        return std::sqrt(static_cast<long double>(l * l - m * m) / static_cast<long double>(4 * l * l - 1));
    };
    std::vector<long double> values{1 / std::sqrt(4 * std::numbers::pi_v<long double>)};
    for (std::int64_t k = 1; k <= m; ++k)
        values[0] *= -sin_theta * std::sqrt((2 * k + 1) / static_cast<long double>(2 * k));
    for (std::int64_t l = m; l < lmax; ++l) {
        const long double before = l == m ? 0 : epsilon(l) * values[l - m - 1];
        values.push_back((cos_theta * values[l - m] - before) / epsilon(l + 1));
    }
    return values;
}

/// One order of the stage on the rings of one band, one scalar field.
class OneOrder {
  public:
    OneOrder(const Grid& grid, std::int64_t lmax, std::int64_t m)
        : table_(AlmLayout(lmax), 0),
          pairs_(grid, lmax, lmax, 0),
          m_(m),
          band_(pairs_, 0, pairs_.n_blocks(), 1) {
        memory_.resize(band_.size());
        band_.data = memory_.data();
    }
    /// F_m of the northern ring of pair `pair`.
    Complex synthesize(std::vector<Complex> alm, std::int64_t pair) {
        sht::legendre_synthesis({table_, pairs_, m_, band_, scratch_},
                                {alm.data(), table_.layout.lmax() - m_ + 1, 1});
        return {*lane(pair), lane(pair)[sht::block_size]};
    }
    /// a_lm of F_m = value on the northern ring of one pair, zero elsewhere.
    std::vector<Complex> adjoint(Complex value, std::int64_t pair) {
        std::fill(memory_.begin(), memory_.end(), 0.0);
        *lane(pair) = value.real(), lane(pair)[sht::block_size] = value.imag();
        std::vector<Complex> alm(table_.layout.lmax() - m_ + 1, 1e300);
        sht::legendre_adjoint({table_, pairs_, m_, band_, scratch_},
                              {alm.data(), table_.layout.lmax() - m_ + 1, 1});
        return alm;
    }

  private:
    double* lane(std::int64_t pair) { return band_.at(pair / sht::block_size, m_) + pair % sht::block_size; }

    sht::LegendreTable table_;
    sht::RingPairs pairs_;
    std::int64_t m_;
    sht::FourierBand band_;
    core::AlignedVector<double> memory_;
    sht::LegendreScratch scratch_;
};

}  // namespace zonal::test
