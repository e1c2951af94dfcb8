#pragma once

#include <cmath>
#include <complex>

#include "core/host_device.hpp"

/// What a deflection does at one point: plain formulas, which the backends' kernels are compared with.
namespace zonal::points {

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

/// Derivatives of a lensed field by d_theta and d_phi.
struct DeflectionSlopes {
    std::complex<double> by_theta, by_phi;
};

/// With u along d and v across it, u turned towards e_phi:
/// dP~ = e^{i s gamma} [(D_u P) du + (sin|d|/|d|) (D_v P) dv] + i s ((1 - cos|d|)/|d|) P~ dv, the last term
/// by the sphere's curvature. lensed: P~; along_theta, along_phi: covariant derivatives of P at n'; turn:
/// e^{i gamma}.
inline DeflectionSlopes slopes_by_deflection(int spin, std::complex<double> lensed,
                                             std::complex<double> along_theta, std::complex<double> along_phi,
                                             double t, double p, std::complex<double> turn) {
    const double size = std::hypot(t, p), sinc = size < 1e-9 ? 1 : std::sin(size) / size;
    const double half = size / 2, half_sinc = half < 1e-9 ? 1 : std::sin(half) / half;
    const std::complex<double> way = size > 0 ? std::complex<double>(t / size, p / size) : 1;
    const std::complex<double> there = way * std::conj(turn);  // the geodesic's direction at n'
    std::complex<double> all_turns = 1;
    for (int k = 0; k < spin; ++k) all_turns *= turn;
    const auto by_u = all_turns * (there.real() * along_theta + there.imag() * along_phi);
    const auto by_v = sinc * all_turns * (there.real() * along_phi - there.imag() * along_theta) +
                      std::complex<double>(0, spin * half * half_sinc * half_sinc) * lensed;
    return {way.real() * by_u - way.imag() * by_v, way.imag() * by_u + way.real() * by_v};
}

}  // namespace zonal::points
