#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "beams/displaced_fit.hpp"
#include "zonal/sht.hpp"

namespace zonal::beams {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

/// Samples of a circle for each frequency.
constexpr std::int64_t samples_per_frequency = 16;

/// A trigonometric polynomial g of degree n has integral |g| <= h sum |g(x_j)| / (1 - pi n / N) over N
/// samples h = 2 pi / N apart: each cell's |g(x)| is |g(x_j)| but for what g' adds, which is h / 2 times the
/// integral of |g'| over the cell at most, and integral |g'| <= n integral |g| (Bernstein).
double sampling_factor(std::int64_t degree, std::int64_t samples) {
    return 1 / (1 - pi * static_cast<double>(degree) / static_cast<double>(samples));
}

/// Sum of |f| over rings [first, end) of n_rings at (j + 1/2) pi / n_rings, times sin theta.
double sum_over(const AlmLayout& layout, const View<const Complex, 3>& alm, std::int64_t n_rings,
                std::int64_t n_phi, std::int64_t first, std::int64_t end, int threads) {
    std::vector<Ring> rings;
    rings.reserve(static_cast<std::size_t>(end - first));
    for (std::int64_t j = first; j < end; ++j)
        rings.push_back(make_ring((static_cast<double>(j) + 0.5) * pi / static_cast<double>(n_rings), 0, 1,
                                  n_phi, (j - first) * n_phi));
    const ShtPlan plan(
        Grid(std::move(rings), -1, "rings"),
        {.lmax = layout.lmax(), .mmax = layout.mmax(), .threads = threads, .device = Device::cpu()});
    Array<double, 3> map({1, 1, plan.grid().n_pixels()});
    plan.synthesize<double>(alm, map.view());
    double sum = 0;
    for (const Ring& ring : plan.grid().rings()) {
        double of_ring = 0;
        for (std::int64_t i = 0; i < n_phi; ++i) of_ring += std::abs(map(0, 0, ring.first_pixel + i));
        sum += std::sin(ring.theta) * of_ring;
    }
    return sum;
}

}  // namespace

// The integral over the sphere is half of that of |f sin theta| over the torus, on which f goes on with
// degree lmax in theta and in phi.
double integral_bound(const AlmLayout& layout, const std::vector<Complex>& alm, int threads) {
    const std::int64_t n_rings = samples_per_frequency / 2 * (layout.lmax() + 2),
                       n_phi = samples_per_frequency * (layout.mmax() + 1);
    constexpr std::int64_t most_pixels = 1 << 21;  // 16 MB at a time
    const std::int64_t at_once = std::max<std::int64_t>(1, most_pixels / n_phi);
    const View<const Complex, 3> view(alm.data(), {1, 1, layout.size()});
    double sum = 0;
    for (std::int64_t first = 0; first < n_rings; first += at_once)
        sum += sum_over(layout, view, n_rings, n_phi, first, std::min(n_rings, first + at_once), threads);
    return sum * pi / static_cast<double>(n_rings) * 2 * pi / static_cast<double>(n_phi) *
           sampling_factor(layout.lmax() + 1, 2 * n_rings) * sampling_factor(layout.mmax(), n_phi);
}

}  // namespace zonal::beams
