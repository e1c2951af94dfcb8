#include <array>
#include <cmath>
#include <numbers>

#include "grids/kept_grids.hpp"
#include "grids/latitude_nodes.hpp"

namespace zonal::grids {
namespace {

using Real = long double;
constexpr Real pi = std::numbers::pi_v<Real>;

/// Nodes this close to the pole are found by Newton's method, at O(n) each; for the others the series of
/// Oscillation converges to all digits of a double.
constexpr std::int64_t n_polar = 12;

/// Ten terms: the last, at the node after the n_polar-th, is 2e-19 of the sum.
constexpr std::size_t n_terms = 10;

/// P_n away from the poles, where it is a cosine of slowly varying amplitude and phase. With N = n + 1/2 and
/// y = 1 / sin^2 theta,
///   P_n = sqrt(2 A / (pi N sin theta)) cos psi,   A = sum_j r_j y^j,   d psi / d theta = N / A = N sum_j s_j
///   y^j.
// sqrt(sin theta) P_n solves u'' + (N^2 + y/4) u = 0, so A solves A''' + (4 N^2 + y) A' + y'/2 A = 0
// (Appell). With (y^j)'' = (4 j^2 + 2 j) y^(j+1) - 4 j^2 y^j this is the recurrence
//   r_{j+1} = - r_j (2j+1)^3 / (8 (j+1) (N^2 - (j+1)^2)),   r_0 = 1;
// the scale follows from the Wronskian of P_n and Q_n. The series is asymptotic: its smallest term is about
// exp(-2 N sin theta), and N sin theta is about pi k at node k.
class Oscillation {
  public:
    explicit Oscillation(std::int64_t n) {
        const double degree = static_cast<double>(n) + 0.5;
        amplitude_[0] = phase_[0] = 1;
        for (std::size_t j = 1; j < n_terms; ++j) {
            const auto order = static_cast<double>(j), odd = 2 * order - 1;
            amplitude_[j] =
                -amplitude_[j - 1] * odd * odd * odd / (8 * order * (degree * degree - order * order));
            for (std::size_t i = 1; i <= j; ++i) phase_[j] -= amplitude_[i] * phase_[j - i];
        }
    }

    /// A at a colatitude.
    double amplitude(double sin_theta) const {
        const double y = 1 / (sin_theta * sin_theta);
        double sum = 0;
        for (std::size_t j = n_terms; j-- > 0;) sum = sum * y + amplitude_[j];
        return sum;
    }

    /// theta - psi / N, for psi / N = theta on the equator: sum_{j>=1} s_j I_j(cot theta), where
    /// I_j(t) = int_0^t (1 + x^2)^(j-1) dx, I_{j+1} = (t (1 + t^2)^j + 2 j I_j) / (2j + 1).
    double phase_lag(double cot_theta) const {
        const double y = 1 + cot_theta * cot_theta;
        double integral = cot_theta, power = 1, sum = 0;
        for (std::size_t j = 1; j < n_terms; ++j) {
            sum += phase_[j] * integral;
            const auto order = static_cast<double>(j);
            power *= y;
            integral = (cot_theta * power + 2 * order * integral) / (2 * order + 1);
        }
        return sum;
    }

  private:
    std::array<double, n_terms> amplitude_{};
    std::array<double, n_terms> phase_{};
};

// Node k has psi = (k - 1/4) pi. Weight: 2 / (dP_n / d theta)^2 = pi A sin theta / N.
Node oscillation_node(const Oscillation& oscillation, std::int64_t n, std::int64_t k) {
    const auto twice_degree = static_cast<Real>(2 * n + 1);
    const Real theta = pi * static_cast<Real>(4 * k - 1) / (2 * twice_degree);
    const Real latitude = pi * static_cast<Real>(n + 1 - 2 * k) / twice_degree;
    Node node = node_at(theta, latitude);
    // Each round shrinks the error by the lag's derivative, at most 1 / (8 (pi n_polar)^2) = 1e-4.
    constexpr int n_rounds = 4;
    for (int round = 0; round < n_rounds; ++round) {
        const Real lag = oscillation.phase_lag(node.cos_theta / node.sin_theta);
        node = node_at(theta + lag, latitude - lag);
    }
    node.weight =
        static_cast<double>(2 * pi / twice_degree) * node.sin_theta * oscillation.amplitude(node.sin_theta);
    return node;
}

struct Legendre {
    Real p;  ///< P_n(x)
    Real g;  ///< (1 - x^2) P_n'(x)
};

// The three-term recurrence in differences, in which nothing cancels near the pole: with h = 1 - x and
// e_k = k (P_k - P_{k-1}),
//   e_{k+1} = e_k - (2k+1) h P_k ;  P_{k+1} = P_k + e_{k+1} / (k+1) ;  g = n h P_n - e_n.
Legendre evaluate(std::int64_t n, Real h) {
    Real p = 1, e = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        e -= static_cast<Real>(2 * k + 1) * h * p;
        p += e / static_cast<Real>(k + 1);
    }
    return {p, static_cast<Real>(n) * h * p - e};
}

/// Zero number k = 1, 2, ... of the Bessel function J_0, to 1e-6 or better, for k <= n_polar.
double bessel_zero(std::int64_t k) {
    constexpr std::array<double, 4> first{2.404825557695773, 5.520078110286311, 8.653727912911012,
                                          11.791534439014282};
    if (k <= 4) return first[static_cast<std::size_t>(k - 1)];
    // McMahon's expansion, DLMF 10.21.19.
    const double b = 8 * (static_cast<double>(k) - 0.25) * std::numbers::pi;
    return b / 8 + (1 - (124.0 / 3 - 120928.0 / 15 / (b * b)) / (b * b)) / b;
}

/// Node k by Newton's method in h = 1 - cos theta.
Node polar_node(std::int64_t n, std::int64_t k) {
    if (2 * k == n + 1) {  // on the equator
        const Real g = evaluate(n, 1).g;
        return {std::numbers::pi / 2, 0, 1, static_cast<double>(2 / (g * g))};
    }
    const double degree = static_cast<double>(n) + 0.5, psi = bessel_zero(k) / degree;
    // Olver's expansion, DLMF 18.16.12.
    const double guess = psi + (psi / std::tan(psi) - 1) / (8 * psi * degree * degree);
    Real h = 2 * std::pow(std::sin(Real(guess) / 2), 2);
    // The guess is right to 1e-3 for n = 2 and better above; the error is squared in each round.
    constexpr int n_rounds = 3;
    for (int round = 0; round < n_rounds; ++round) {
        const auto [p, g] = evaluate(n, h);
        h += p * h * (2 - h) / g;
    }
    const Real g = evaluate(n, h).g, sin_squared = h * (2 - h), sine = std::sqrt(sin_squared);
    // 2 / ((1 - x^2) P_n'(x)^2)
    return {static_cast<double>(std::atan2(sine, 1 - h)), static_cast<double>(1 - h),
            static_cast<double>(sine), static_cast<double>(2 * sin_squared / (g * g))};
}

}  // namespace

std::vector<Node> gauss_legendre_nodes(std::int64_t n_rings) {
    const std::int64_t n_northern = (n_rings + 1) / 2;
    const Oscillation oscillation(n_rings);
    std::vector<Node> nodes;
    nodes.reserve(static_cast<std::size_t>(n_northern));
    for (std::int64_t k = 1; k <= n_northern; ++k)
        nodes.push_back(k <= n_polar ? polar_node(n_rings, k) : oscillation_node(oscillation, n_rings, k));
    return nodes;
}

}  // namespace zonal::grids

namespace zonal {

Grid Grid::gauss_legendre(std::int64_t n_rings, std::int64_t n_phi, double phi_0) {
    return grids::kept_grid({grids::GridKey::Factory::gauss_legendre, {n_rings, n_phi}, phi_0}, [&] {
        grids::check_n_rings(n_rings);
        return exact_to(2 * n_rings - 1, grids::grid_of_rings(grids::gauss_legendre_nodes(n_rings), n_rings,
                                                              n_phi, phi_0, "gauss_legendre"));
    });
}

}  // namespace zonal
