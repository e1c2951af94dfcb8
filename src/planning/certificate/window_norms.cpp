#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "core/constants.hpp"
#include "planning/certificate/disc_discrepancy.hpp"
#include "planning/certificate/window_norms.hpp"
#include "sht/rings/meridian_integral.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal {
namespace {

using core::pi;

/// Bounds of the eigenvalues of S^T W S up to degrees = lmax / nside, for spin 0 and 2: computed by Lanczos
/// for every nside from 8 to 31 (bench/healpix_spectrum.py), at some above, and with ring weights at some,
/// plus a margin. From 2.45 on several waves can have one
/// image on the pixels near the meridians where the quarters of a cap meet. With growing nside the largest
/// eigenvalues then tend to the number of such waves (2 up to 3.8, 3 up to 4.5, 4 up to 6, then 5), and the
/// smallest to 0.
struct Eigenvalues {
    double degrees, largest, smallest;
};
constexpr Eigenvalues on_healpix[] = {
    {1, 1.006, 0.95}, {1.5, 1.02, 0.9}, {2, 1.08, 0.83}, {2.25, 1.14, 0.79}, {2.4, 1.22, 0.74}, {3.4, 2.1, 0},
    {3.75, 2.3, 0},   {4, 3.15, 0},     {4.5, 3.75, 0},  {5.5, 4.2, 0},      {6, 5.3, 0}};
/// The same for nside 1 to 7.
constexpr Eigenvalues on_coarse_healpix[] = {{1, 1.1, 0.85},   {1.5, 1.1, 0.8}, {2, 1.27, 0.46},
                                             {2.4, 1.4, 0.45}, {2.99, 1.9, 0},  {3.4, 2.5, 0},
                                             {4, 3.8, 0},      {5, 4.2, 0},     {6, 5.8, 0}};

/// Bounds the largest eigenvalue above lmax = 6 nside and on other grids. With sigma^2 = 1 / (lmax(lmax+1)),
/// 1 <= e^(1/2) exp(-l(l+1) sigma^2 / 2) up to lmax, so N of this Gaussian times e^(1/2) is a bound.
double by_gaussian(const Grid& grid, std::int64_t lmax) {
    const double sigma = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, lmax * (lmax + 1))));
    const auto gaussian = RadialKernel::gaussian(sigma * std::sqrt(8 * std::log(2.0)));
    return std::exp(0.5) * KernelNorms(grid, gaussian).whole();
}

/// Returns the last degree up to which the rings' weights integrate P_l to rounding, perhaps -1.
std::int64_t exact_degree(const Grid& grid) {
    if (grid.exact_degree() >= 0) return grid.exact_degree();
    constexpr double rounding = 1e-11;  // of the sphere's area
    std::vector<double> before(grid.rings().size(), 0), now(grid.rings().size(), 1);
    for (std::int64_t l = 0; l <= 2 * grid.n_rings(); ++l) {
        double sum = 0;
        for (std::size_t r = 0; r < now.size(); ++r) {
            const Ring& ring = grid.rings()[r];
            sum += ring.weight * static_cast<double>(ring.n_pixels) * now[r];
            const auto degree = static_cast<double>(l);
            const double next =
                ((2 * degree + 1) * ring.cos_theta * now[r] - degree * before[r]) / (degree + 1);
            before[r] = now[r];
            now[r] = next;
        }
        if (!(std::abs(sum - (l == 0 ? 4 * pi : 0)) <= 4 * pi * rounding)) return l - 1;
    }
    return 2 * grid.n_rings();
}

/// Returns the largest lmax for which products of two functions are integrated to rounding, perhaps -1.
std::int64_t lmax_of_weights(const Grid& grid) {
    const auto degree = exact_degree(grid);
    return degree < 0 ? -1 : std::min(degree, sht::fewest_pixels(grid) - 1) / 2;
}

/// Returns the entry for lmax; null above the last one.
const Eigenvalues* entry_of(std::int64_t nside, std::int64_t lmax) {
    constexpr std::int64_t fine = 8;
    const auto* begin = nside < fine ? std::begin(on_coarse_healpix) : std::begin(on_healpix);
    const auto* end = nside < fine ? std::end(on_coarse_healpix) : std::end(on_healpix);
    const auto* entry = std::find_if(begin, end, [&](const Eigenvalues& one) {
        return static_cast<double>(lmax) <= one.degrees * static_cast<double>(nside);
    });
    return entry == end ? nullptr : entry;
}

constexpr double exact_to = 1e-10;

}  // namespace

double largest_eigenvalue(const Grid& grid, std::int64_t lmax) {
    const auto nside = grid.healpix_nside_of_rings();
    const auto* entry = nside > 0 ? entry_of(nside, lmax) : nullptr;
    if (entry != nullptr) return entry->largest;  // a subset of rings has no larger one
    if (nside == 0 && lmax <= lmax_of_weights(grid)) return 1 + exact_to;
    return by_gaussian(grid, lmax);
}

double smallest_eigenvalue(const Grid& grid, std::int64_t lmax) {
    const auto nside = grid.healpix_nside_of_rings();
    const bool is_whole = nside > 0 && grid.n_rings() == 4 * nside - 1;
    const auto* entry = is_whole ? entry_of(nside, lmax) : nullptr;
    if (entry != nullptr) return entry->smallest;
    return nside == 0 && lmax <= lmax_of_weights(grid) ? 1 - exact_to : 0;
}

std::int64_t certifiable_lmax(const Grid& grid) {
    const auto nside = grid.healpix_nside_of_rings();
    if (nside == 0) return lmax_of_weights(grid);
    std::int64_t lmax = -1;
    while (smallest_eigenvalue(grid, lmax + 1) > 0) ++lmax;
    return lmax;
}

// The eigenvalues of G = S^T W S are from `least` to `most`, so G differs from 1 by at most
// away = max(1 - least, most - 1). Then |S a|^2 <= most |a|^2 and least |a|^2 <= |f|^2 in the analysis's
// weights. What is left follows from one of
//   a - a_k = G^-1 S^T W (f - S a_k)       conjugate gradients report |S^T W (f - S a_k)| / |S^T W f|;
//   a - a_k = (1 - G) G^-1 (a_k - a_{k-1})  Jacobi iterations report |a_k - a_{k-1}| / |a_k|;
//   a - a_k = (1 - G)^{k+1} a              for any map.
double analysis_norm(const Grid& grid, std::int64_t lmax, const AnalysisReport& report, double weight) {
    const double least = smallest_eigenvalue(grid, lmax), most = largest_eigenvalue(grid, lmax);
    if (!(least > 0) || std::isnan(report.residual) || std::isnan(report.last_update))
        return std::numeric_limits<double>::infinity();
    if (report.residual > 0) return most * std::sqrt(weight) * report.residual / least;
    const double away = std::max(1 - least, most - 1), size = std::sqrt(most * weight / least);
    if (report.iterations == 0) return size * away;
    const double moved = away * report.last_update / least;
    return moved < 1 ? size * moved / (1 - moved) : std::numeric_limits<double>::infinity();
}

double analysis_norm(const Grid& grid, std::int64_t lmax, int iterations) {
    const double least = smallest_eigenvalue(grid, lmax), most = largest_eigenvalue(grid, lmax);
    if (!(least > 0)) return std::numeric_limits<double>::infinity();
    return std::sqrt(most / least) * std::pow(std::max(1 - least, most - 1), iterations + 1);
}

double planning::largest_of(const Windows& windows, std::int64_t first, std::int64_t last) {
    double largest = 0;
    for (const auto& window : windows)
        for (auto l = std::max<std::int64_t>(0, first); l <= std::min(last, std::ssize(window) - 1); ++l)
            largest = std::max(largest, std::abs(window[l]));
    return largest;
}

std::int64_t planning::last_degree(const Windows& windows, double error, std::int64_t most) {
    constexpr double share = 0.1;
    const double least = share * error * largest_of(windows);
    auto last = most;
    while (last > 2 && largest_of(windows, last, last) <= least) --last;
    return last;
}

// Let P_l be the quadrature and synthesis of degree l alone, which is symmetric and not negative in the
// grid's weights, and M_l the largest |difference| from l on. Then -sum M_l P_l <= sum difference_l P_l <=
// sum M_l P_l, and
//   sum_l M_l P_l = sum_l (M_l - M_{l+1}) (P_0 + ... + P_l).
// The norm of the bracket P_0 + ... + P_l is the largest eigenvalue of S^T W S up to l. If the difference
// begins at some degree, M does not change below it.
std::vector<double> planning::window_norms_from(const Grid& grid, const Windows& windows) {
    std::size_t size = 0;
    for (const auto& component : windows) size = std::max(size, component.size());
    std::vector<double> norms(size + 1);
    double largest = 0, bound = 0;
    // Eigenvalues grow with l, so one bound serves some degrees below as well.
    constexpr double share = 0.95;
    std::size_t next = size;
    for (std::size_t l = size; l-- > 0;) {
        double here = largest;
        for (const auto& component : windows)
            if (l < component.size()) here = std::max(here, std::abs(component[l]));
        if (l < next && here > largest) {
            bound = largest_eigenvalue(grid, static_cast<std::int64_t>(l));
            next = static_cast<std::size_t>(share * static_cast<double>(l));
        }
        norms[l] = norms[l + 1] + (here - largest) * bound;
        largest = here;
    }
    return norms;
}

double window_norm(const Grid& grid, const std::vector<std::vector<double>>& difference) {
    return planning::window_norms_from(grid, difference)[0];
}

}  // namespace zonal
