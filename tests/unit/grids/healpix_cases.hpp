#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "zonal/healpix.hpp"

/// Pixels and directions that tests of batches take.
namespace zonal::healpix {

using Reals = std::vector<double>;
using Pixels = std::vector<std::int64_t>;

template <class T>
View<T, 1> view(std::vector<T>& values) {
    return {values.data(), {std::ssize(values)}};
}

/// Every nside with its orders: small, not a power of 2, and as large as pixel numbers and doubles allow.
inline std::vector<std::int64_t> sides() {
    return {1, 2, 3, 4, 5, 7, 8, 13, 16, 100, 1024, 1000003, (1 << 26) + 1, max_nside - 1, max_nside};
}

inline std::vector<Order> orders(std::int64_t nside) {
    return is_valid_nside(nside, Order::nest) ? std::vector{Order::ring, Order::nest}
                                              : std::vector{Order::ring};
}

/// All pixels of a small map; of a large one its corners, the ends of rings of every kind, and others.
inline Pixels some_pixels(std::int64_t nside) {
    const std::int64_t n = n_pixels(nside);
    Pixels pixels(static_cast<std::size_t>(std::min<std::int64_t>(n, 3072)));
    if (n <= 3072) {
        std::iota(pixels.begin(), pixels.end(), 0);
        return pixels;
    }
    std::mt19937_64 random(1);
    for (auto& pixel : pixels) pixel = std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
    std::uniform_int_distribution<std::int64_t> any_ring(0, n_rings(nside) - 1);
    std::vector<std::int64_t> rings{0,
                                    1,
                                    nside - 2,
                                    nside - 1,
                                    nside,
                                    2 * nside - 1,
                                    3 * nside - 2,
                                    3 * nside - 1,
                                    3 * nside,
                                    4 * nside - 2};
    for (int k = 0; k < 300; ++k) rings.push_back(any_ring(random));
    for (const auto index : rings) {
        const Ring row = ring(nside, index);
        for (const auto k :
             {std::int64_t{0}, std::int64_t{1}, row.n_pixels / 4, row.n_pixels / 2 - 1, row.n_pixels - 1})
            pixels.push_back(row.first_pixel + k);
    }
    return pixels;
}

/// Directions everywhere, and where formulas change or rounding decides: poles, corners and edges of faces
/// and pixels, phi just at, below and far beyond the turn.
struct Directions {
    Reals theta, phi;
    void add(double t, double p) {
        theta.push_back(t);
        phi.push_back(p);
    }
};

inline Directions some_directions(std::int64_t nside) {
    constexpr double pi = std::numbers::pi;
    Directions all;
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int k = 0; k < 5000; ++k) all.add(std::acos(1 - 2 * uniform(random)), 2 * pi * uniform(random));
    for (int k = 0; k < 500; ++k) all.add(1e-6 * uniform(random), 2 * pi * uniform(random));
    for (int k = 0; k < 500; ++k) all.add(pi - 1e-6 * uniform(random), 2 * pi * uniform(random));
    const double edge = std::acos(2.0 / 3);
    for (const double theta :
         {0.0, 1e-300, edge, std::nextafter(edge, 0), pi / 2, pi - edge, std::nextafter(pi, 0), pi})
        for (const double phi :
             {0.0, -0.0, -1e-300, pi / 4, pi / 2, pi, 3 * pi / 2, std::nextafter(2 * pi, 0), 2 * pi,
              std::nextafter(2 * pi, 7), -2 * pi, -0.1, 100.0, -12345.678, 2e6, 1e15, -1e300, 5e-324})
            all.add(theta, phi);
    for (int k = 0; k < 200; ++k)
        all.add(std::acos(1 - 2 * uniform(random)), std::ldexp(uniform(random) - 0.5, k % 60));
    for (const auto pixel : some_pixels(nside)) {
        const Angles centre = pix2ang(nside, Order::ring, pixel);
        all.add(centre.theta, centre.phi);
        all.add(centre.theta, centre.phi + pi / static_cast<double>(4 * nside));
    }
    return all;
}

}  // namespace zonal::healpix
