#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "grids/latitude_nodes.hpp"

namespace zonal::grids {
namespace {

using Real = long double;

/// Nodes whose recurrences run side by side: enough to keep the processor's adders busy, few enough for its
/// nearest cache.
constexpr std::size_t block_size = 64;
using Block = std::array<double, block_size>;

/// What Newton's method needs of P_n at x, with g = (1 - x^2) P_n'(x).
struct Legendre {
    Block p;
    Block g;
};

// With e_k = k (P_k - P_{k-1}) and h = 1 - x,
//   e_{k+1} = e_k - (2k+1) h P_k ;  P_{k+1} = P_k + e_{k+1} / (k+1) ;  g = n h P_n - e_n,
// which is the three-term recurrence in differences: nothing cancels where h is small (shared with the
// transform, docs/methods.md).
void evaluate_near_pole(const Block& h, const std::vector<double>& inverse, Legendre& at) {
    Block e{};
    at.p.fill(1);
    const std::size_t n = inverse.size() - 1;
    for (std::size_t k = 0; k < n; ++k) {
        const double odd = static_cast<double>(2 * k + 1), factor = inverse[k + 1];
        for (std::size_t j = 0; j < block_size; ++j) {
            e[j] -= odd * h[j] * at.p[j];
            at.p[j] += e[j] * factor;
        }
    }
    for (std::size_t j = 0; j < block_size; ++j) at.g[j] = static_cast<double>(n) * h[j] * at.p[j] - e[j];
}

// With g_k = (1 - x^2) P_k' (DLMF 14.10.4, 14.10.5),
//   P_{k+1} = x P_k - g_k / (k+1) ;  g_{k+1} = (k+1) (P_k - x P_{k+1}),
// where x and not 1 - x enters, so that nodes near the equator keep their relative precision.
void evaluate_near_equator(const Block& x, const std::vector<double>& inverse, Legendre& at) {
    at.p.fill(1);
    at.g.fill(0);
    const std::size_t n = inverse.size() - 1;
    for (std::size_t k = 0; k < n; ++k) {
        const double next = static_cast<double>(k + 1), factor = inverse[k + 1];
        for (std::size_t j = 0; j < block_size; ++j) {
            const double p = x[j] * at.p[j] - at.g[j] * factor;
            at.g[j] = next * (at.p[j] - x[j] * p);
            at.p[j] = p;
        }
    }
}

/// Zero number k = 1, 2, ... of the Bessel function J_0, to 1e-6 or better.
double bessel_zero(std::int64_t k) {
    constexpr std::array<double, 4> first{2.404825557695773, 5.520078110286311, 8.653727912911012,
                                          11.791534439014282};
    if (k <= 4) return first[static_cast<std::size_t>(k - 1)];
    // McMahon's expansion, DLMF 10.21.19.
    const double b = 8 * (static_cast<double>(k) - 0.25) * std::numbers::pi, b2 = b * b;
    return b / 8 + (1 - (124.0 / 3 - 120928.0 / 15 / b2) / b2) / b;
}

// Colatitude of the node k = 1, 2, ... from the north, Olver's expansion (DLMF 18.16.12), within O(n^-4) of
// its value.
double first_guess(std::int64_t n, std::int64_t k) {
    const double degree = static_cast<double>(n) + 0.5, psi = bessel_zero(k) / degree;
    return psi + (psi / std::tan(psi) - 1) / (8 * psi * degree * degree);
}

/// The coordinate that the nodes of a block are sought in: 1 - x near the pole, x near the equator.
enum class Coordinate { from_pole, from_equator };

Node make_node(Coordinate coordinate, Real value, Real g) {
    const Real h = coordinate == Coordinate::from_pole ? value : 1 - value;
    const Real x = coordinate == Coordinate::from_pole ? 1 - value : value;
    const Real sin_squared = coordinate == Coordinate::from_pole ? h * (2 - h) : (1 - x) * (1 + x);
    const Real s = std::sqrt(sin_squared);
    // w = 2 / ((1 - x^2) P_n'(x)^2)
    return {static_cast<double>(std::atan2(s, x)), static_cast<double>(x), static_cast<double>(s),
            static_cast<double>(2 * sin_squared / (g * g))};
}

/// Nodes first, ..., first + count - 1 (from 1 at the north), count <= block_size, by Newton's method.
void find_nodes(Coordinate coordinate, std::int64_t first, std::size_t count,
                const std::vector<double>& inverse, std::vector<Node>& nodes) {
    const auto n = static_cast<std::int64_t>(inverse.size()) - 1;
    Block position{};
    for (std::size_t j = 0; j < count; ++j) {
        const std::int64_t k = first + static_cast<std::int64_t>(j);
        const double theta = first_guess(n, k), half = std::sin(theta / 2);
        position[j] = coordinate == Coordinate::from_pole ? 2 * half * half : std::cos(theta);
        if (2 * k == n + 1) position[j] = 0;  // the equator, where P_n(0) = 0 exactly
    }
    // A step errs by its square, and g by the square of the step in phase, which is n times the step in
    // theta.
    constexpr double phase_tolerance = 1e-9;
    constexpr int max_steps = 10;  // 4 suffice for n = 1, 1 for n > 200
    Block step{};
    Legendre at{};
    double phase = 1;
    for (int i = 0; i < max_steps && phase > phase_tolerance; ++i) {
        for (std::size_t j = 0; j < count; ++j) position[j] += step[j];
        coordinate == Coordinate::from_pole ? evaluate_near_pole(position, inverse, at)
                                            : evaluate_near_equator(position, inverse, at);
        phase = 0;
        for (std::size_t j = 0; j < count; ++j) {
            const double h = position[j];
            const double sin_squared = coordinate == Coordinate::from_pole ? h * (2 - h) : (1 - h) * (1 + h);
            const double newton = at.p[j] * sin_squared / at.g[j];
            step[j] = coordinate == Coordinate::from_pole ? newton : -newton;
            phase = std::max(phase, static_cast<double>(n) * std::abs(newton) / std::sqrt(sin_squared));
        }
    }
    // The last step is kept apart from the position, so that the sum has more digits than a double.
    for (std::size_t j = 0; j < count; ++j)
        nodes.push_back(make_node(coordinate, Real(position[j]) + Real(step[j]), Real(at.g[j])));
}

}  // namespace

std::vector<Node> gauss_legendre_nodes(std::int64_t n_rings) {
    std::vector<double> inverse(static_cast<std::size_t>(n_rings) + 1);
    for (std::size_t k = 1; k < inverse.size(); ++k) inverse[k] = 1 / static_cast<double>(k);
    const std::int64_t n_northern = (n_rings + 1) / 2;
    std::vector<Node> nodes;
    nodes.reserve(static_cast<std::size_t>(n_northern));
    while (static_cast<std::int64_t>(nodes.size()) < n_northern) {
        const auto first = static_cast<std::int64_t>(nodes.size()) + 1;
        // Nodes stand pi / (n_rings + 1/2) apart, so up to a quarter of them lie within pi/4 of the north
        // pole.
        const std::int64_t n_polar = n_rings / 4;
        const bool polar = first <= n_polar;
        const std::int64_t last =
            std::min((polar ? n_polar : n_northern), first + std::int64_t{block_size} - 1);
        find_nodes(polar ? Coordinate::from_pole : Coordinate::from_equator, first,
                   static_cast<std::size_t>(last - first + 1), inverse, nodes);
    }
    return nodes;
}

}  // namespace zonal::grids

namespace zonal {

Grid Grid::gauss_legendre(std::int64_t n_rings, std::int64_t n_phi, double phi_0) {
    grids::check_n_rings(n_rings);
    return grids::grid_of_rings(grids::gauss_legendre_nodes(n_rings), n_rings, n_phi, phi_0,
                                "gauss_legendre");
}

}  // namespace zonal
