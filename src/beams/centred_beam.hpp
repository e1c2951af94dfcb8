#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/sky/rotation.hpp"
#include "zonal/view.hpp"

namespace zonal::beams {

/// A beam in axes of its own: its centre, where its dipole points, is the pole, and its long axis, which its
/// quadrupole shows, lies along x.
struct CentredBeam {
    EulerAngles to_beam;    ///< turns them to the axes that the beam was given in
    double integral = 0;    ///< of b over the sphere
    double elongation = 0;  ///< (integral of b sin^2 cos 2 phi) / integral: s_long^2 - s_short^2 where narrow
    AlmLayout layout;       ///< up to the highest order that is not rounding
    std::vector<std::complex<double>> alm;  ///< [layout.size()]
    std::vector<double> power;              ///< [l] sum over k of both signs of |b_lk|^2, all orders
    std::vector<double> above;              ///< [l] the same of the orders that the layout has not
};

/// [l] sum over k of both signs of |b_lk|^2, of orders from `first` on. alm: [layout.size()].
std::vector<double> power_from(const AlmLayout& layout, const View<const std::complex<double>, 1>& alm,
                               std::int64_t first);

/// beam: [layout.size()], of T, whose integral is not 0; orders up to kmax are used. Throws InvalidArgument
/// for values that are not finite.
CentredBeam centred(const AlmLayout& layout, const View<const std::complex<double>, 1>& beam,
                    std::int64_t kmax, int threads);

}  // namespace zonal::beams
