#pragma once

#include <cmath>
#include <cstdint>

#include "core/complex_math.hpp"
#include "core/constants.hpp"
#include "core/host_device.hpp"
#include "zonal/points/lensing.hpp"

/// What a deflection does at one point: plain formulas, which the backends' kernels are compared with.
namespace zonal::points {

/// Whether a point of theta, phi can be moved by t, p: false for NaN, too.
ZONAL_HOST_DEVICE inline bool is_displaceable(double theta, double phi, double t, double p) {
    return theta >= 0 && theta <= core::pi && std::abs(phi) < core::infinite &&
           t * t + p * p <= largest_deflection * largest_deflection;
}

/// |d| of points: the largest, and the root of the mean square.
struct Lengths {
    double largest = 0, rms = 0;
};

struct Displaced {
    double theta, phi;
    double cos_gamma, sin_gamma;
};

/// Lewis (2005), A.1 and A.2, without divisions by |d| or sin theta. (x, y, z) is n' in the frame that has n
/// at longitude 0, v is e_theta carried to n' along the geodesic: e_theta - (e_theta . n')/(1 + n . n') (n +
/// n'), where 1 + n . n' is not 0. s, c: sin and cos theta. t, p: d along e_theta and e_phi, rad.
ZONAL_HOST_DEVICE inline Displaced displaced(double s, double c, double phi, double t, double p) {
    const double size = std::hypot(t, p), sinc = size < 1e-9 ? 1 : std::sin(size) / size;
    const double d = std::cos(size);
    const double x = d * s + sinc * t * c, y = sinc * p, z = d * c - sinc * t * s;
    const double f = 1 + d > 0 ? sinc * t / (1 + d) : 0;
    const double v_x = c - f * (s + x), v_y = -f * y, v_z = -s - f * (c + z);
    const double r = std::hypot(x, y), cos_turn = r > 0 ? x / r : 1, sin_turn = r > 0 ? y / r : 0;
    const double u = (v_x * cos_turn + v_y * sin_turn) * z - v_z * r, w = v_y * cos_turn - v_x * sin_turn;
    const double norm = std::hypot(u, w);
    return {std::atan2(r, z), phi + std::atan2(y, x), u / norm, -w / norm};
}
ZONAL_HOST_DEVICE inline Displaced displaced(double theta, double phi, double t, double p) {
    return displaced(std::sin(theta), std::cos(theta), phi, t, p);
}

/// (q, u) turned by spin gamma (sign 1) or -spin gamma. turn: e^{i gamma}.
template <class T>
ZONAL_HOST_DEVICE inline void turn_value(core::Complex turn, int spin, double sign, T& q, T& u) {
    core::Complex all_turns = turn;
    for (int k = 1; k < spin; ++k) all_turns = all_turns * turn;
    const double c = all_turns.re, s = sign * all_turns.im, x = static_cast<double>(q),
                 y = static_cast<double>(u);
    q = static_cast<T>(c * x - s * y);
    u = static_cast<T>(s * x + c * y);
}

/// Covariant derivatives of a field f of spin s at points, from fields of spin s - 1 and s + 1 there, which
/// have no singularities at the poles: `up` of sqrt((l - s)(l + s + 1)) f_lm, `down` of sqrt((l + s)(l - s +
/// 1)) f_lm. Null where there is no such field.
struct EthValues {
    int spin = 0;
    const double* up[2] = {};
    const double* down[2] = {};

    // f = - sum (E + iB) sY for s > 0, sum a Y for s = 0; eth sY = sqrt((l - s)(l + s + 1)) s+1Y, its
    // conjugate operator's of sY is - sqrt((l + s)(l - s + 1)) s-1Y.
    /// eth f
    ZONAL_HOST_DEVICE core::Complex raised(std::int64_t i) const {
        if (up[0] == nullptr) return {};
        return (spin == 0 ? -1.0 : 1.0) * core::Complex{up[0][i], up[1][i]};
    }
    /// What the conjugate operator makes of f.
    ZONAL_HOST_DEVICE core::Complex lowered(std::int64_t i) const {
        if (spin == 0) return conjugate(raised(i));
        return (spin == 1 ? 1.0 : -1.0) * core::Complex{down[0][i], down[1][i]};
    }
    // eth = - (D_theta + i D_phi)
    ZONAL_HOST_DEVICE core::Complex along_theta(std::int64_t i) const {
        return -0.5 * (raised(i) + lowered(i));
    }
    ZONAL_HOST_DEVICE core::Complex along_phi(std::int64_t i) const {
        return core::Complex{0, 0.5} * (raised(i) - lowered(i));
    }
};

/// What multiplies f_lm in EthValues::up, or else in `down`.
struct EthFactor {
    double spin;
    bool is_up;

    ZONAL_HOST_DEVICE double operator()(double l) const {
        const double square = is_up ? (l - spin) * (l + spin + 1) : (l + spin) * (l - spin + 1);
        return square > 0 ? std::sqrt(square) : 0;
    }
};

/// Derivatives of a lensed field by d_theta and d_phi.
struct DeflectionSlopes {
    core::Complex by_theta, by_phi;
};

/// With u along d and v across it, u turned towards e_phi:
/// dP~ = e^{i s gamma} [(D_u P) du + (sin|d|/|d|) (D_v P) dv] + i s ((1 - cos|d|)/|d|) P~ dv, the last term
/// by the sphere's curvature. lensed: P~; along_theta, along_phi: covariant derivatives of P at n'; turn:
/// e^{i gamma}.
ZONAL_HOST_DEVICE inline DeflectionSlopes slopes_by_deflection(int spin, core::Complex lensed,
                                                               core::Complex along_theta,
                                                               core::Complex along_phi, double t, double p,
                                                               core::Complex turn) {
    const double size = std::hypot(t, p), sinc = size < 1e-9 ? 1 : std::sin(size) / size;
    const double half = size / 2, half_sinc = half < 1e-9 ? 1 : std::sin(half) / half;
    const core::Complex way = size > 0 ? core::Complex{t / size, p / size} : core::Complex{1, 0};
    const core::Complex there = way * conjugate(turn);  // the geodesic's direction at n'
    core::Complex all_turns{1, 0};
    for (int k = 0; k < spin; ++k) all_turns = all_turns * turn;
    const core::Complex by_u = all_turns * (there.re * along_theta + there.im * along_phi);
    const core::Complex by_v = sinc * (all_turns * (there.re * along_phi - there.im * along_theta)) +
                               core::Complex{0, spin * half * half_sinc * half_sinc} * lensed;
    return {way.re * by_u - way.im * by_v, way.im * by_u + way.re * by_v};
}

/// What sums over points and their derivatives by the deflections need of each: numbers [point].
struct SlopeSums {
    EthValues eth;
    const double* field[2] = {};    ///< of spin 2 two, at the displaced points
    const double* factors[2] = {};  ///< of the lensed values
    const double* deflection[2] = {};
    const double* rotation[2] = {};
    double* by_deflection[2] = {};  ///< what the derivatives are added to

    ZONAL_HOST_DEVICE void add(std::int64_t i) const {
        const bool is_pair = eth.spin > 0;
        const core::Complex turn{rotation[0][i], rotation[1][i]};
        core::Complex lensed{field[0][i], is_pair ? field[1][i] : 0};
        for (int k = 0; k < eth.spin; ++k) lensed = lensed * turn;
        const DeflectionSlopes slopes = slopes_by_deflection(
            eth.spin, lensed, eth.along_theta(i), eth.along_phi(i), deflection[0][i], deflection[1][i], turn);
        const core::Complex factor{factors[0][i], is_pair ? factors[1][i] : 0};
        by_deflection[0][i] += (conjugate(factor) * slopes.by_theta).re;
        by_deflection[1][i] += (conjugate(factor) * slopes.by_phi).re;
    }
};

}  // namespace zonal::points
