// What the bounds know of HEALPix from tables, against G = S^T W S itself: its eigenvalues, and the norms of
// the blocks of 1 - G between bands of degrees. G is summed here over rings, with Legendre functions of the
// standard library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "planning/certificate/analysis_bounds.hpp"
#include "zonal/grid.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal {
namespace {

using std::numbers::pi;
using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// G of spin 0 for the orders m = first_order + 4 n, whose degrees l have l + m of one parity. The quarters
/// of HEALPix and its mirror in the equator keep other orders and the other parity apart from these.
class Sector {
  public:
    Sector(std::int64_t nside, std::int64_t lmax, int first_order, int parity) {
        const auto grid = Grid::healpix(nside);
        for (std::int64_t l = 0; l <= lmax; ++l)
            for (auto m = -l; m <= l; ++m)
                if ((m - first_order) % 4 == 0 && (l + m) % 2 == parity) places_.push_back({l, m});
        g_.assign(places_.size(), Vector(places_.size(), 0));
        // The rings of the south are those of the north again.
        for (std::int64_t r = 0; r < 2 * nside; ++r) add(grid.rings()[r], r + 1 < 2 * nside ? 2 : 1);
    }

    /// How many of the alm have degrees up to l. They are in the order of l.
    std::size_t count(std::int64_t l) const {
        const auto above =
            std::find_if(places_.begin(), places_.end(), [l](const auto& p) { return p.l > l; });
        return static_cast<std::size_t>(above - places_.begin());
    }
    /// The eigenvalue of G, up to the degree lmax, that is furthest from `from`: from the inside.
    double furthest_from(double from, std::int64_t lmax) const {
        const auto n = count(lmax);
        Vector x(n, 0), y(n);
        for (std::size_t i = 0; i < n; ++i) x[i] = 1 + 0.5 * std::sin(1.7 * static_cast<double>(i));
        double found = 0;
        for (int step = 0; step < 30; ++step) {
            double size = 0, product = 0;
            for (std::size_t i = 0; i < n; ++i) {
                double sum = -from * x[i];
                const double* row = g_[i].data();
                for (std::size_t j = 0; j < n; ++j) sum += row[j] * x[j];
                y[i] = sum;
                product += x[i] * sum;
                size += x[i] * x[i];
            }
            if (product == 0) break;
            found = product / size;
            const double scale = 1 / std::sqrt(size);
            for (std::size_t i = 0; i < n; ++i) x[i] = y[i] * scale;
        }
        return from + found;
    }
    /// The norm of the block of 1 - G between degrees above `from` up to `to`, and others: from below.
    double coupling(std::pair<std::int64_t, std::int64_t> one,
                    std::pair<std::int64_t, std::int64_t> other) const {
        const auto begin = count(one.first), end = count(one.second), first = count(other.first),
                   last = count(other.second);
        Vector x(last - first, 1), y(end - begin);
        if (x.empty() || y.empty()) return 0;
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = 1 + 0.5 * std::sin(1.7 * static_cast<double>(j));
        double norm = 0;
        for (int step = 0; step < 30; ++step) {
            double before = 0, after = 0;
            for (const double value : x) before += value * value;
            if (before == 0) return 0;
            for (std::size_t i = 0; i < y.size(); ++i) {
                y[i] = 0;
                for (std::size_t j = 0; j < x.size(); ++j) y[i] += of_difference(begin + i, first + j) * x[j];
                after += y[i] * y[i];
            }
            norm = std::sqrt(after / before);
            for (std::size_t j = 0; j < x.size(); ++j) {
                x[j] = 0;
                for (std::size_t i = 0; i < y.size(); ++i) x[j] += of_difference(begin + i, first + j) * y[i];
            }
        }
        return norm;
    }

  private:
    struct Place {
        std::int64_t l, m;
    };

    /// times: how many such rings there are.
    void add(const Ring& ring, double times) {
        Vector legendre(places_.size());
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const auto [l, m] = places_[i];
            const double sign = m < 0 && m % 2 != 0 ? -1 : 1;
            legendre[i] = sign * std::sph_legendre(static_cast<unsigned>(l),
                                                   static_cast<unsigned>(std::abs(m)), ring.theta);
        }
        const double weight = times * ring.weight * static_cast<double>(ring.n_pixels);
        for (std::size_t i = 0; i < places_.size(); ++i)
            for (std::size_t j = 0; j < places_.size(); ++j) {
                const auto m = places_[j].m - places_[i].m;
                if (m % ring.n_pixels == 0)
                    g_[i][j] +=
                        weight * legendre[i] * legendre[j] * std::cos(static_cast<double>(m) * ring.phi_0);
            }
    }
    double of_difference(std::size_t i, std::size_t j) const { return (i == j ? 1 : 0) - g_[i][j]; }

    std::vector<Place> places_;
    Matrix g_;
};

/// All of G up to lmax; orders of 3 + 4 n are those of 1 + 4 n mirrored.
std::vector<Sector> sectors(std::int64_t nside, std::int64_t lmax) {
    std::vector<Sector> all;
    for (const int first_order : {0, 1, 2})
        for (const int parity : {0, 1}) all.emplace_back(nside, lmax, first_order, parity);
    return all;
}

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t n_bands = 8;
constexpr double certified = 2.4;  // degrees over nside, up to which analyses have bounds

/// The last degree of a band of 0.3 nside.
std::int64_t end_of(std::int64_t nside, std::size_t band) {
    return (3 * nside * static_cast<std::int64_t>(band + 1)) / 10;
}

/// Y = H (1 - H)^-1 of the couplings H that windowed_residual takes, for as many bands as there are up to
/// lmax: a residual of 1 in one band leaves this in another, seen through a window that is 1 there alone.
Matrix left_by(const Grid& grid, std::int64_t lmax, std::size_t n, int corrections) {
    const auto exact = Grid::gauss_legendre(lmax + 1, 2 * lmax + 1);
    Matrix left(n, Vector(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            const auto nside = grid.healpix_nside_of_rings();
            Vector window(static_cast<std::size_t>(lmax + 1), 0), power = window;
            const auto first = i == 0 ? 0 : end_of(nside, i - 1) + 1;
            for (auto l = first; l <= std::min(lmax, end_of(nside, i)); ++l) window[l] = l % 2 == 0 ? 1 : -1;
            power[j == 0 ? 0 : end_of(nside, j - 1) + 1] = 1;
            left[i][j] =
                planning::windowed_residual(grid, exact, {window}, {power}, corrections) * std::sqrt(4 * pi);
        }
    return left;
}

Vector times(const Matrix& matrix, const Vector& x) {
    Vector product(matrix.size(), 0);
    for (std::size_t i = 0; i < matrix.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j) product[i] += matrix[i][j] * x[j];
    return product;
}

/// H = Y (1 + Y)^-1, by Gauss and Jordan on the rows of (1 + Y)^T and Y^T. H is symmetric.
Matrix couplings_from(const Matrix& left) {
    const auto n = left.size();
    Matrix a(n, Vector(n)), h(n, Vector(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            h[i][j] = left[j][i];
            a[i][j] = h[i][j] + (i == j ? 1 : 0);
        }
    for (std::size_t k = 0; k < n; ++k) {
        const double pivot = a[k][k];
        for (std::size_t j = 0; j < n; ++j) {
            a[k][j] /= pivot;
            h[k][j] /= pivot;
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const double factor = a[i][k];
            for (std::size_t j = 0; j < n; ++j) {
                a[i][j] -= factor * a[k][j];
                h[i][j] -= factor * h[k][j];
            }
        }
    }
    return h;
}

Matrix couplings_of(std::int64_t nside, std::size_t n = n_bands) {
    const auto lmax = end_of(nside, n - 1);
    return couplings_from(left_by(Grid::healpix(nside), lmax, n, 1));
}

TEST(HealpixTables, CouplingsAreTheLargestOfAllResolutionsAndFivePerCent) {
    // Where the largest are. Entries are rounded up to three digits; some are of spin 2, which is up to a
    // quarter more.
    constexpr double of_spin_2 = 1.25, rounding = 0.001, iterated = 0.99;
    for (const auto& resolutions : {std::vector<std::int64_t>{1, 2, 3, 4, 5, 7}, {8, 9, 10, 11}}) {
        Matrix largest(n_bands, Vector(n_bands, 0));
        for (const auto nside : resolutions)
            for (const auto& sector : sectors(nside, end_of(nside, n_bands - 1)))
                for (std::size_t i = 0; i < n_bands; ++i)
                    for (std::size_t j = 0; j <= i; ++j) {
                        const auto band = [nside](std::size_t k) {
                            return std::pair(k == 0 ? -1 : end_of(nside, k - 1), end_of(nside, k));
                        };
                        largest[i][j] = std::max(largest[i][j], sector.coupling(band(i), band(j)));
                    }
        const auto found = couplings_of(resolutions.back() < 8 ? 5 : 10);
        for (std::size_t i = 0; i < n_bands; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                EXPECT_GE(found[i][j], 1.05 * iterated * largest[i][j]) << i << ", " << j;
                EXPECT_LE(found[i][j], 1.05 * of_spin_2 * largest[i][j] + rounding) << i << ", " << j;
                EXPECT_NEAR(found[j][i], found[i][j], 1e-9) << i << ", " << j;
            }
    }
}

/// Ends of the steps of a table, degrees over nside, and how much larger than the true excess over 1 the
/// bound of the largest eigenvalue may be there.
struct Step {
    double degrees, slack;
};

/// The smallest and the largest eigenvalue up to a degree; 0 for the smallest where none is asked for.
std::pair<double, double> eigenvalues(const std::vector<Sector>& all, std::int64_t lmax, bool has_least) {
    double least = has_least ? infinite : 0, most = 0;
    for (const auto& sector : all) {
        if (sector.count(lmax) == 0) continue;
        double low = 0;
        if (has_least) low = sector.furthest_from(sector.furthest_from(0, lmax), lmax);
        least = std::min(least, low);
        most = std::max(most, sector.furthest_from(low, lmax));
    }
    return {least, most};
}

void expect_tight_steps(const std::vector<Step>& steps,
                        const std::vector<std::pair<std::int64_t, double>>& grids) {
    std::vector<std::pair<double, double>> found(steps.size(), {infinite, 0});
    for (const auto& [nside, most_degrees] : grids) {
        const auto all = sectors(nside, static_cast<std::int64_t>(most_degrees * static_cast<double>(nside)));
        for (std::size_t i = 0; i < steps.size() && steps[i].degrees <= most_degrees; ++i) {
            const auto lmax = static_cast<std::int64_t>(steps[i].degrees * static_cast<double>(nside));
            const auto grid = Grid::healpix(nside);
            const auto [least, most] = eigenvalues(all, lmax, smallest_eigenvalue(grid, lmax) > 0);
            EXPECT_GE(largest_eigenvalue(grid, lmax), most * (1 - 1e-12)) << nside << ", " << lmax;
            EXPECT_LE(smallest_eigenvalue(grid, lmax), least * (1 + 1e-12)) << nside << ", " << lmax;
            found[i] = {std::min(found[i].first, least), std::max(found[i].second, most)};
        }
    }
    const auto nside = grids.front().first;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto grid = Grid::healpix(nside);
        const auto lmax = static_cast<std::int64_t>(steps[i].degrees * static_cast<double>(nside));
        EXPECT_LE(largest_eigenvalue(grid, lmax) - 1, steps[i].slack * (found[i].second - 1))
            << steps[i].degrees;
        if (steps[i].degrees <= certified) {
            EXPECT_GE(smallest_eigenvalue(grid, lmax), 0.935 * found[i].first) << steps[i].degrees;
        } else
            EXPECT_EQ(smallest_eigenvalue(grid, lmax), 0) << steps[i].degrees;
    }
}

TEST(HealpixTables, EigenvaluesAreCloseWhereTheirBoundsStep) {
    expect_tight_steps({{1, 2},
                        {1.5, 2},
                        {2, 1.4},
                        {2.25, 1.4},
                        {2.4, 1.4},
                        {3.4, 1.1},
                        {3.75, 1.15},
                        {4, 1.5},
                        {4.5, 1.1},
                        {5.5, 1.1},
                        {6, 1.25}},
                       {{8, 6}});
    expect_tight_steps(
        {{1, 1.85}, {1.5, 1.4}, {2, 1.2}, {2.4, 1.65}, {2.99, 1.7}, {3.4, 1.1}, {4, 1.1}, {5, 1.1}, {6, 1.1}},
        {{3, 6}, {2, 6}, {1, 6}, {5, 2.99}});
}

TEST(HealpixTables, BelowNside8AreOfTheirOwn) {
    const auto coarse = Grid::healpix(7), fine = Grid::healpix(9);
    for (const double degrees : {1.0, 2.4, 4.0}) {
        const auto at = [&](const Grid& grid, std::int64_t nside) {
            return largest_eigenvalue(grid, static_cast<std::int64_t>(degrees * static_cast<double>(nside)));
        };
        EXPECT_EQ(at(coarse, 7), at(Grid::healpix(3), 3)) << degrees;
        EXPECT_EQ(at(Grid::healpix(8), 8), at(fine, 9)) << degrees;
        EXPECT_NE(at(coarse, 7), at(fine, 9)) << degrees;
    }
    for (const auto& [nside, like] : {std::pair<std::int64_t, std::int64_t>{7, 5}, {8, 10}}) {
        const auto one = couplings_of(nside), other = couplings_of(like);
        for (std::size_t i = 0; i < n_bands; ++i)
            for (std::size_t j = 0; j < n_bands; ++j)
                EXPECT_NEAR(one[i][j], other[i][j], 1e-9) << i << ", " << j;
    }
}

TEST(HealpixTables, LowerDegreesHaveFewerBands) {
    const auto whole = couplings_of(10);
    for (std::size_t n = 1; n <= n_bands; ++n) {
        const auto found = couplings_of(10, n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                EXPECT_NEAR(found[i][j], whole[i][j], 1e-9) << n << ": " << i << ", " << j;
    }
}

// |e_i| <= x_i with x = r + H x. An answer that has a_k misses B e, with |B e| <= |B r| + b |H x|; one that
// has n corrections misses B (1 - G)^n e.
void expect_sum_of_powers(double decay) {
    constexpr std::int64_t nside = 10, lmax = 22;  // a part of the last band
    const auto grid = Grid::healpix(nside);
    const auto h = couplings_of(nside);
    std::vector<Vector> windows(2, Vector(lmax + 4)), power(2, Vector(lmax + 1));
    for (std::size_t c = 0; c < 2; ++c)
        for (std::size_t l = 0; l < windows[c].size(); ++l) {
            const auto t = static_cast<double>(l + 3 * c);
            windows[c][l] = std::cos(t) * std::exp(-decay * t);
            if (l < power[c].size()) power[c][l] = std::pow(std::sin(3 * t), 2) + 0.1;
        }
    Vector residual(n_bands, 0), windowed(n_bands, 0), largest(n_bands, 0);
    for (std::size_t c = 0; c < 2; ++c)
        for (std::int64_t l = 0; l <= lmax; ++l) {
            std::size_t i = 0;
            while (l > end_of(nside, i)) ++i;
            residual[i] += power[c][l];
            windowed[i] += windows[c][l] * windows[c][l] * power[c][l];
            largest[i] = std::max(largest[i], std::abs(windows[c][l]));
        }
    for (double& one : residual) one = std::sqrt(one);
    Vector error = residual, term = residual;
    for (int k = 0; k < 60; ++k) {
        term = times(h, term);
        for (std::size_t i = 0; i < n_bands; ++i) error[i] += term[i];
    }
    for (const int corrections : {0, 1, 2, 3}) {
        Vector left = error;
        for (int k = 0; k < std::max(1, corrections); ++k) left = times(h, left);
        double squares = 0, mixed = 0;
        for (std::size_t i = 0; i < n_bands; ++i) {
            left[i] *= largest[i];
            if (corrections == 0) left[i] += std::sqrt(windowed[i]);
            squares += left[i] * left[i];
        }
        const auto of_left = times(h, left);
        for (std::size_t i = 0; i < n_bands; ++i) mixed += left[i] * of_left[i];
        for (const auto& out : {grid, Grid::healpix(16), Grid::gauss_legendre(30, 60)}) {
            // |S a|^2 is at most the largest eigenvalue times |a|^2, and a G a of the same pixels.
            double raised = largest_eigenvalue(out, lmax) * squares;
            if (out.name() == grid.name()) raised = std::min(raised, squares + mixed);
            EXPECT_NEAR(planning::windowed_residual(grid, out, windows, power, corrections) /
                            std::sqrt(raised / (4 * pi)),
                        1, 1e-9)
                << corrections << ", " << out.name();
        }
    }
    // As many degrees of the window as of the residual, or there is no bound.
    for (auto& window : windows) window.resize(lmax + 1);
    EXPECT_TRUE(std::isfinite(planning::windowed_residual(grid, grid, windows, power, 1)));
    windows[1].pop_back();
    EXPECT_EQ(planning::windowed_residual(grid, grid, windows, power, 1), infinite);
}

TEST(WindowedResidual, IsTheSumOfAllPowersOfTheCouplings) {
    // Of low degrees alone G is closer to 1 than its largest eigenvalue.
    for (const double decay : {0.05, 1.0}) expect_sum_of_powers(decay);
}

TEST(WindowedResidual, OfExactQuadratureIsWhatTheAnswerLacks) {
    const auto grid = Grid::gauss_legendre(20, 40);
    const std::vector<Vector> windows{{3, -2, 1, 0.5}}, power{{0.1, 0.2, 0.3, 0.4}};
    const double seen = std::sqrt((9 * 0.1 + 4 * 0.2 + 0.3 + 0.25 * 0.4) / (4 * pi)),
                 all = std::sqrt(1 / (4 * pi));
    EXPECT_NEAR(planning::windowed_residual(grid, grid, windows, power, 0) / seen, 1, 1e-9);
    // G differs from 1 by rounding, so a correction leaves nothing.
    EXPECT_LE(planning::windowed_residual(grid, grid, windows, power, 1), 1.01e-10 * 3 * all);
}

}  // namespace
}  // namespace zonal
