#pragma once

#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "beams/effective_beams.hpp"
#include "zonal/alm.hpp"
#include "zonal/view.hpp"

namespace zonal::beams {

/// g_l times b_lk for what a sky's coefficients are multiplied by, 0 for l < k: [l], g_l = sqrt(4 pi / (2 l +
/// 1)).
std::vector<Complex> factors(const EffectiveBeam& beam, std::int64_t component, std::int64_t k);
/// Those of each component that has any at this order.
std::vector<std::pair<std::int64_t, std::vector<Complex>>> parts(const EffectiveBeam& beam, std::int64_t k);

/// Sums over m, of both signs, of conj(s^X_lm) s^Y_lm of a sky.
class SkySpectra {
  public:
    /// sky: [component, layout.size()].
    template <class T>
    SkySpectra(const AlmLayout& layout, const View<const std::complex<T>, 2>& sky);

    /// Mean over all pointings of the square of the beam's signal.
    double mean_square(const EffectiveBeam& beam) const;

  private:
    Array<double, 3> sums_;
};

}  // namespace zonal::beams
