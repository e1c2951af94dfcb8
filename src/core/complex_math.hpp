#pragma once

#include <cmath>

#include "core/host_device.hpp"

/// Complex numbers for code that the CPU and the CUDA backends share, and what real ones have in common with
/// them.
namespace zonal::core {

struct Complex {
    double re = 0, im = 0;
};
ZONAL_HOST_DEVICE inline Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
}
ZONAL_HOST_DEVICE inline Complex operator-(Complex a, Complex b) {
    return {a.re - b.re, a.im - b.im};
}
ZONAL_HOST_DEVICE inline Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
ZONAL_HOST_DEVICE inline Complex operator*(double a, Complex b) {
    return {a * b.re, a * b.im};
}
ZONAL_HOST_DEVICE inline Complex conjugate(Complex a) {
    return {a.re, -a.im};
}
ZONAL_HOST_DEVICE inline double magnitude(double a) {
    return std::abs(a);
}
ZONAL_HOST_DEVICE inline double magnitude(Complex a) {
    return hypot(a.re, a.im);
}
ZONAL_HOST_DEVICE inline double reciprocal(double a) {
    return 1 / a;
}
/// Scaled, so that squares neither overflow nor vanish.
ZONAL_HOST_DEVICE inline Complex reciprocal(Complex a) {
    const double size = magnitude(a), re = a.re / size, im = a.im / size;
    return {re / size, -im / size};
}
/// The root with a real part of 0 or more.
ZONAL_HOST_DEVICE inline Complex square_root(Complex a) {
    const double size = magnitude(a);
    if (size == 0) return {};
    // The larger of the two parts first: the other one's difference would cancel.
    const double larger = sqrt((size + std::abs(a.re)) / 2), smaller = a.im / (2 * larger);
    if (a.re >= 0) return {larger, smaller};
    return {std::abs(smaller), a.im < 0 ? -larger : larger};
}

}  // namespace zonal::core
