#pragma once

#include <cmath>
#include <memory>
#include <numbers>

#include "core/host_device.hpp"
#include "core/multiply_add.hpp"
#include "radial/kernels/chord_table.hpp"
#include "zonal/grid.hpp"

/// The kernel as the pixel sum reads it: radial, or a part of what acts on Q and U.
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

/// What the weights between two rings depend on beside the difference of longitudes.
struct PairGeometry {
    ChordOfLongitude chord;
    /// cos and sin of (theta' - theta) / 2 and (theta' + theta) / 2, theta' of the input ring.
    double cos_difference, sin_difference, cos_sum, sin_sum;

    /// p and q of sum_kernel.cpp: K+ e^{2i(psi-psi')} = plus p^4, K- e^{2i(psi+psi')} = minus q^4.
    ZONAL_HOST_DEVICE Turn plus_turn() const { return {cos_difference, cos_sum}; }
    ZONAL_HOST_DEVICE Turn minus_turn() const { return {sin_difference, sin_sum}; }
};

template <class Ring>
PairGeometry pair_geometry(const Ring& out, const Ring& in) {
    const double cosines = out.cos_half * in.cos_half, sines = out.sin_half * in.sin_half;
    const double mixed = out.cos_half * in.sin_half, other = out.sin_half * in.cos_half;
    return {chord_of_longitude(out, in), cosines + sines, mixed - other, cosines - sines, mixed + other};
}

/// Where part ab of  P'(p) = sum w [K+ e^{2i(psi-psi')} P(p') + K- e^{2i(psi+psi')} conj P(p')]  leads: from
/// component b of P = Q + iU to component a. psi and psi' are the directions of the great circle from p to p'
/// at its ends.
enum class KernelPart { radial, qq, qu, uq, uu };

/// The weights of a pair of pixels for Q and U. Those from Q to U and from U to Q are odd functions of the
/// difference of longitudes and change sign where both rings are replaced by their mirror images.
template <class T>
struct PolarizedWeights {
    T qq, qu, uq, uu;
};

/// plus, minus: of SumKernel; p, q: the fourth powers of plus_turn() and minus_turn().
template <class T>
ZONAL_HOST_DEVICE PolarizedWeights<T> polarized_weights(T plus, T minus, const Turn::Power<T>& p,
                                                        const Turn::Power<T>& q) {
    using core::multiply_add;
    return {multiply_add(plus, p.even, minus * q.even), multiply_add(minus, q.odd, -(plus * p.odd)),
            multiply_add(plus, p.odd, minus * q.odd), multiply_add(plus, p.even, -(minus * q.even))};
}

class SumKernel {
  public:
    /// accuracy: of the table, relative to its largest value.
    SumKernel(const RadialKernel& kernel, double accuracy);
    /// plus: K+ / cos^4(theta/2), minus: K- / sin^4(theta/2); null where it is zero, not both.
    SumKernel(const RadialKernel* plus, const RadialKernel* minus, double accuracy);

    /// The same tables, another part.
    SumKernel with_part(KernelPart part) const {
        SumKernel kernel = *this;
        kernel.part_ = part;
        return kernel;
    }
    KernelPart part() const { return part_; }
    /// Whether the weights change sign with the difference of longitudes.
    bool is_odd() const { return part_ == KernelPart::qu || part_ == KernelPart::uq; }

    /// chord^2 up to which pixels are inside.
    double limit() const { return limit_; }
    /// The same as a colatitude, rad, but for rounding.
    double theta_end() const;
    /// About the largest weight, 1/sr.
    double peak() const { return peak_; }

    /// Weight at longitudes phi - phi' = d_phi, at a distance up to limit(): what is inside but for rounding
    /// counts as at the edge.
    double operator()(const PairGeometry& pair, double d_phi) const;

    /// A table, and chord^2 up to which it counts; table: null where it is zero.
    struct Part {
        std::shared_ptr<const ChordTable> table;
        double limit = -1;
        double value(double chord_squared) const {
            if (chord_squared > limit) return 0;
            return evaluate(table->view<double>(),
                            chord_squared < table->end() ? chord_squared : table->end());
        }
    };
    /// The radial kernel, or plus.
    const Part& plus() const { return plus_; }
    const Part& minus() const { return minus_; }

  private:
    Part plus_, minus_;
    KernelPart part_ = KernelPart::radial;
    double limit_ = 0, peak_ = 0;
};

}  // namespace zonal::radial
