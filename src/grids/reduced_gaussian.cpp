#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fft/complex_fft.hpp"
#include "grids/kept_grids.hpp"
#include "grids/latitude_nodes.hpp"
#include "zonal/error.hpp"

// Gauss-Legendre rings whose numbers of pixels fall towards the poles. The weights make sums over theta exact
// as they do on full rings; a ring of n pixels confuses the orders m and m - n, which does not matter where
// the functions of one of them are below rounding, as those of |m| > lmax sin theta soon are.
namespace zonal {
namespace {

void check_pixels(const std::vector<std::int64_t>& n_phi) {
    if (n_phi.empty()) throw InvalidArgument("n_phi", "is empty: must have the pixels of one ring or more");
    std::int64_t room = grids::max_n_pixels;
    for (std::size_t i = 0; i < n_phi.size(); ++i) {
        const std::size_t mirror = n_phi.size() - 1 - i;
        if (n_phi[i] < 1 || n_phi[i] > room)
            throw InvalidArgument(
                "n_phi", fmt::format("ring {} has {} pixels: must be 1 or more, 2^62 in all", i, n_phi[i]));
        if (n_phi[i] != n_phi[mirror])
            throw InvalidArgument(
                "n_phi",
                fmt::format("rings {} and {} have {} and {} pixels: must be as many, for they mirror each "
                            "other; the list goes from the north pole to the south pole",
                            std::min(i, mirror), std::max(i, mirror), n_phi[std::min(i, mirror)],
                            n_phi[std::max(i, mirror)]));
        room -= n_phi[i];
    }
}

Grid gaussian_rings(const std::vector<std::int64_t>& n_phi, const std::string& name) {
    const auto n_rings = static_cast<std::int64_t>(n_phi.size());
    grids::check_n_rings(n_rings);
    return grids::grid_of_nodes(grids::with_southern(grids::gauss_legendre_nodes(n_rings), n_rings), n_phi, 0,
                                name);
}

/// The order above which no function of degree lmax or less and of a spin up to `spin` is above rounding on a
/// ring.
// A wave of degree l and spin s turns back where |m - s cos theta| = sqrt(l^2 - s^2) sin theta and falls off
// beyond it as an Airy function does, within (l sin theta cos^2 theta)^(1/3) orders. t has 6 of these and 4
// orders more: then round trips err as on full rings, at lmax 1 to 1023, and with 4 of them by 7e-13 more at
// lmax 127.
double last_order(const grids::Node& node, std::int64_t lmax, int spin) {
    const double q = node.sin_theta, x = node.cos_theta, degree = static_cast<double>(lmax);
    const double t = degree * q + 6 * std::cbrt(degree * q * x * x) + 4;
    // s x + sqrt(t^2 - s^2 q^2) grows with s up to s = t x / q, where it is t / q.
    const double s = std::min(static_cast<double>(spin), t * x / q);
    return std::min(degree, s * x + std::sqrt(t * t - s * s * q * q));
}

}  // namespace

Grid Grid::reduced_gaussian(const std::vector<std::int64_t>& n_phi) {
    check_pixels(n_phi);
    return exact_to(2 * static_cast<std::int64_t>(n_phi.size()) - 1,
                    gaussian_rings(n_phi, fmt::format("reduced_gaussian n_rings={}", n_phi.size())));
}

Grid Grid::octahedral(std::int64_t n) {
    constexpr std::int64_t most = std::int64_t{1} << 29;
    if (n < 1 || n > most) throw InvalidArgument("n", n, "must be from 1 to 2^29");
    return grids::kept_grid({grids::GridKey::Factory::octahedral, {n}}, [&] {
        grids::check_n_rings(2 * n);
        std::vector<std::int64_t> n_phi(static_cast<std::size_t>(2 * n));
        for (std::int64_t i = 0; i < n; ++i)
            n_phi[static_cast<std::size_t>(i)] = n_phi[static_cast<std::size_t>(2 * n - 1 - i)] = 20 + 4 * i;
        return exact_to(4 * n - 1, gaussian_rings(n_phi, fmt::format("octahedral n={}", n)));
    });
}

Grid Grid::reduced_gauss_legendre(std::int64_t n_rings, std::int64_t lmax, int spin) {
    grids::check_n_rings(n_rings);
    if (spin < 0) throw InvalidArgument("spin", spin, "must be 0 or more");
    if (lmax < spin || lmax > n_rings - 1)
        throw InvalidArgument(
            "lmax", lmax,
            fmt::format("must be from spin = {} to n_rings - 1 = {}, up to which the rings are exact", spin,
                        n_rings - 1));
    return grids::kept_grid({grids::GridKey::Factory::reduced_gauss_legendre, {n_rings, lmax, spin}}, [&] {
        const auto nodes = grids::gauss_legendre_nodes(n_rings);
        std::vector<std::int64_t> n_phi(static_cast<std::size_t>(n_rings));
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            // Lengths with large primes take longer than longer ones without: with one pixel in a hundred
            // more, transforms of lmax 255 to 2047 take 15 to 25 % less time.
            const auto last = static_cast<std::int64_t>(std::ceil(last_order(nodes[i], lmax, spin)));
            n_phi[i] = n_phi[n_phi.size() - 1 - i] = fft::good_length(2 * last + 2);
        }
        return exact_to(2 * n_rings - 1,
                        grids::grid_of_nodes(grids::with_southern(nodes, n_rings), n_phi, 0,
                                             fmt::format("reduced_gauss_legendre n_rings={} lmax={} spin={}",
                                                         n_rings, lmax, spin)));
    });
}

}  // namespace zonal
