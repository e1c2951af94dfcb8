#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"

/// The window of an interpolation from W samples around a point: psi_0(2 x / W; c), x in samples, the prolate
/// spheroidal function that of all functions on an interval has most of its energy at low frequencies
/// (Slepian & Pollak 1961).
namespace zonal::points {

/// psi_0(x; c) / psi_0(0; c), |x| <= 1, by its series in Legendre polynomials.
class Prolate {
  public:
    explicit Prolate(double c);
    double operator()(double x) const { return at({x})[0]; }
    std::vector<double> at(const std::vector<double>& x) const;

  private:
    std::vector<double> series_;  ///< of the polynomials of degree 0, 2, 4, ..., divided by psi_0(0)
};

/// Frequencies of the samples: degrees up to `degree`, `n` samples of the circle.
struct Sampling {
    std::int64_t degree, n;
    /// Samples for each 2 degree + 2 frequencies.
    double oversampling() const { return static_cast<double>(n) / static_cast<double>(2 * degree + 2); }
};

/// The widest window; Tile (tiles.hpp) has room for it.
inline constexpr std::int64_t max_width = 24;

/// The least W for which 2 C + C^2 <= error (see Window::aliasing_bound), by 2 C <= 64 exp(-pi W sqrt(1 - 1 /
/// sigma)), which holds for the windows below down to rounding (docs/decisions/points.md).
std::int64_t width_for(double error, double oversampling);
double aliasing_for(std::int64_t width, double oversampling);

class Window {
  public:
    Window(std::int64_t width, const Sampling& sampling);

    std::int64_t width() const { return width_; }
    /// w(x), |x| <= W / 2, in samples, w(0) = 1; 0 beyond.
    double operator()(double x) const;
    std::vector<double> at(const std::vector<double>& x) const;
    /// Its Fourier transform at the frequency k of the circle, k <= degree; and at all of them.
    double transform(std::int64_t k) const;
    std::vector<double> transforms() const;
    /// The mean square by which exp(i k x) is missed, sum over p /= 0 of [w^(k + p N) / w^(k)]^2, k <=
    /// degree.
    std::vector<double> aliases() const;
    /// C: max |error| <= C max |f| for every f = sum_{|k| <= degree} c_k exp(i k x). At an offset from the
    /// nearest sample, exp(i k x) is multiplied by 1 + M(k); any continuation of M beyond the degree is the
    /// transform of a kernel whose L1 norm bounds what M does to max |f|. C is the largest of them over
    /// offsets of a cell, of the best of a few continuations by the mirror image at the degree times a taper.
    double aliasing_bound() const;
    /// What rounding adds to max |error| / max |f|: seen up to 4.7 2^-53 w^(0) / w^(degree).
    double rounding() const;
    /// The same before there is a window.
    static double rounding_of(std::int64_t width, const Sampling& sampling);

  private:
    double transform_at(double omega) const;  ///< rad per sample, any

    const std::int64_t width_;
    const Sampling sampling_;
    const double c_;
    const Prolate shape_;
    std::vector<double> values_;  ///< at the nodes of a quadrature rule over [0, 1], times its weights
    double integral_ = 0;
};

/// The window's weights as polynomials: at y in [-1, 1] of a cell, sample j of the W is (W - 1 + y) / 2 - j
/// samples away. Sample W - 1 - j has the weight of j at -y.
struct WindowPolynomials {
    /// error: that the weights of a place may have, all together.
    WindowPolynomials(const Window& window, double error);

    std::int64_t width, n_pairs;  ///< W, and ceil(W / 2)
    std::int64_t n_terms;         ///< of the even part and of the odd part
    /// [pair j][term i]: w_j(y) = sum_i even_i y^(2 i) + y sum_i odd_i y^(2 i), w_{W-1-j} = even part - odd
    /// part; and the same of dw/dx, even and odd part of w_j', those of w_{W-1-j}' being minus even, plus
    /// odd.
    core::AlignedVector<double> even, odd, slope_even, slope_odd;
};

}  // namespace zonal::points
