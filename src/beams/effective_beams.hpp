#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/view.hpp"

namespace zonal::beams {

using Complex = std::complex<double>;

/// What multiplies the signal of a beam: 1, or the cosine or sine of 4 alpha of a half-wave plate.
enum class Modulation { none, cosine, sine };

/// One of the beams whose modulated signals add up to a detector's.
struct EffectiveBeam {
    std::int64_t detector;
    Modulation modulation;
    AlmLayout layout;
    Array<Complex, 2>
        alm;  ///< [component, layout.size()]; no imaginary part at order 0, no E and B below l = 2

    /// Mean of the modulation's square over alpha.
    double mean_square() const { return modulation == Modulation::none ? 1 : 0.5; }
    bool has(std::int64_t k) const;
};

/// The beams of orders `first_order` to `last_order` as they are; or behind a half-wave plate,
///
///     d = (T beam) + cos 4 alpha (E_X, B_X) + sin 4 alpha (-B_X, E_X), X = conj(b_Q + i b_U) exp(-4 i phi)
///
/// in the frame of e_theta and e_phi, where exp(4 i alpha) conj(P) of a Cartesian frame gets two turns of 2
/// phi. beams: [detector, component, layout.size()].
std::vector<EffectiveBeam> effective_beams(const AlmLayout& layout, const View<const Complex, 3>& beams,
                                           std::int64_t first_order, std::int64_t last_order,
                                           bool half_wave_plate, int threads);

}  // namespace zonal::beams
