#pragma once

#include <cmath>
#include <numbers>

#include "core/host_device.hpp"
#include "core/multiply_add.hpp"
#include "zonal/grid.hpp"

/// Distances between the pixels of two rings, and directions.
namespace zonal::radial {

/// chord^2 = offset + factor sin^2(d phi / 2) = 4 [sin^2((theta-theta')/2) + sin theta sin theta' sin^2(d
/// phi/2)] of two pixels whose longitudes differ by d phi. To the last bit the same for a pair of rings, the
/// pair the other way round and its mirror image in a grid whose southern rings mirror northern ones.
struct ChordOfLongitude {
    double offset, factor;

    double chord_squared(double d_phi) const {
        const double sine = std::sin(0.5 * d_phi);
        return offset + factor * sine * sine;
    }
};

/// What chord_of_longitude and pair_geometry (sum_kernel.hpp) need of a ring.
struct Latitude {
    double cos_theta, sin_theta;
    double cos_half, sin_half;  ///< of theta / 2
};

template <class RingA, class RingB>
ChordOfLongitude chord_of_longitude(const RingA& a, const RingB& b) {
    // |x - x'|^2 in the plane of a meridian; cosines and sines are right to rounding, so this loses no more
    // digits at small distances than theta - theta' does.
    const double along = a.cos_theta - b.cos_theta, across = a.sin_theta - b.sin_theta;
    return {along * along + across * across, 4 * (a.sin_theta * b.sin_theta)};
}

/// A Cayley-Klein parameter of the rotation between the axes of a pixel and another (sum_kernel.cpp) as a
/// function of x = phi - phi':  along cos(x/2) - i across sin(x/2).
struct Turn {
    double along, across;

    template <class T>
    struct Power {
        T even, odd;  ///< real and imaginary part, as functions of x
    };
    /// The fourth power; cosine, sine: of x/2.
    template <class T>
    ZONAL_HOST_DEVICE Power<T> fourth_power(T cosine, T sine) const {
        const T re = static_cast<T>(along) * cosine, im = -static_cast<T>(across) * sine;
        const T a = core::multiply_add(re, re, -(im * im)), b = 2 * re * im;
        return {core::multiply_add(a, a, -(b * b)), 2 * a * b};
    }
};

/// chord^2 up to which pixels count as inside a support that ends at chord^2 = end. Pixels that are at its
/// edge but for rounding (of colatitudes 1e-16, of formulas 1e-15 of the chord) are inside, whichever way
/// their distance is computed.
inline double inside_limit(double end) {
    const double chord = std::sqrt(end) * (1 + 1e-12) + 2e-15;
    return chord * chord;
}

/// The largest |d phi| in [0, pi] with chord^2 <= limit; negative where there is none.
inline double half_width(const ChordOfLongitude& chord, double limit) {
    const double rest = limit - chord.offset;
    if (rest < 0) return -1;
    if (rest >= chord.factor) return std::numbers::pi;
    return 2 * std::asin(std::sqrt(rest / chord.factor));
}

}  // namespace zonal::radial
