#include "planning/certificate/analysis_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <utility>
#include <vector>

#include "sanitized.hpp"
#include "zonal/analysis.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/sht.hpp"
#include "zonal/weights.hpp"

namespace zonal {
namespace {

using Alm = Array<std::complex<double>, 3>;
using Map = Array<double, 3>;

double rms(const Map& map, const Grid& grid) {
    double sum = 0;
    for (std::int64_t i = 0; i < map.size(); ++i) sum += map.data()[i] * map.data()[i];
    return std::sqrt(sum / static_cast<double>(grid.n_pixels()));
}

/// A grid, transforms up to lmax, and a window that falls to 1e-4 there.
struct Case {
    Case(const Grid& on, std::int64_t last, int spin)
        : grid(on),
          lmax(last),
          plan(grid, {.lmax = last, .spin = spin, .threads = 1, .device = Device::cpu()}) {
        windows.resize(static_cast<std::size_t>(plan.alm_components()));
        for (auto& window : windows)
            for (std::int64_t l = 0; l <= lmax; ++l)
                window.push_back(
                    std::pow(1e-4, static_cast<double>(l * l) / static_cast<double>(lmax * lmax)));
    }

    Map map() const { return Map({1, plan.map_components(), grid.n_pixels()}); }
    Alm alm() const { return Alm({1, plan.alm_components(), plan.layout().size()}); }
    AnalysisReport analyze_to(const Map& map, Alm& alm, AnalysisOptions options) const {
        options.power_by_degree = true;
        return analyze<double>(plan, map.view(), alm.view(), options);
    }
    /// S B (a - b)
    Map answer(const Alm& a, const Alm& b, bool has_window = true) const {
        auto difference = alm();
        for (std::int64_t c = 0; c < a.extent(1); ++c)
            for (std::int64_t m = 0; m <= lmax; ++m)
                for (std::int64_t l = m; l <= lmax; ++l) {
                    const auto i = plan.layout().index(l, m);
                    difference(0, c, i) = (a(0, c, i) - b(0, c, i)) * (has_window ? windows[c][l] : 1.0);
                }
        auto result = map();
        plan.synthesize<double>(std::as_const(difference).view(), result.view());
        return result;
    }

    Grid grid;
    std::int64_t lmax;
    ShtPlan plan;
    planning::Windows windows;
};

/// White noise, a mode of the highest degree, and what quadrature errs by most, which repeated errors of
/// quadrature tend to: all degrees, and those that the window leaves.
constexpr double rounding = 1e-11;

std::vector<Map> maps_of(const Case& one) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::vector<Map> maps;
    maps.push_back(one.map());
    for (std::int64_t i = 0; i < maps[0].size(); ++i) maps[0].data()[i] = normal(random);
    auto mode = one.alm();
    mode(0, 0, one.plan.layout().index(one.lmax, one.lmax / 2)) = 1;
    maps.push_back(one.answer(mode, one.alm(), false));
    for (const bool has_window : {false, true}) {
        Map worst = one.map();
        for (std::int64_t i = 0; i < worst.size(); ++i) worst.data()[i] = normal(random);
        for (int i = 0; i < 12; ++i) {
            auto exact = one.alm(), found = one.alm();
            one.analyze_to(worst, exact, {.tolerance = 1e-12});
            one.analyze_to(worst, found, {});
            Map next = one.answer(exact, found, has_window && i % 2 == 1);
            const double size = rms(next, one.grid);
            if (size < rounding) break;  // where quadrature is exact it errs by nothing
            worst = std::move(next);
            for (std::int64_t k = 0; k < worst.size(); ++k) worst.data()[k] /= size;
        }
        maps.push_back(std::move(worst));
    }
    return maps;
}

void expect_bounds(const Case& one, const std::vector<double>& ring_weights = {}) {
    for (const Map& map : maps_of(one)) {
        const double size = rms(map, one.grid);
        auto exact = one.alm();
        one.analyze_to(map, exact, {.tolerance = 1e-13, .ring_weights = ring_weights});
        for (const AnalysisOptions& options :
             {AnalysisOptions{}, AnalysisOptions{.iterations = 1}, AnalysisOptions{.iterations = 3},
              AnalysisOptions{.tolerance = 1e-1}, AnalysisOptions{.tolerance = 1e-3}}) {
            auto found = one.alm();
            auto with_weights = options;
            with_weights.ring_weights = ring_weights;
            const auto report = one.analyze_to(map, found, with_weights);
            const double error = rms(one.answer(exact, found), one.grid);
            const double bound = planning::windowed_residual(one.grid, one.grid, one.windows, report.power,
                                                             options.tolerance > 0 ? 0 : 1);
            EXPECT_LE(error, bound + rounding * size)
                << one.grid.name() << ", " << one.lmax << ", spin " << one.plan.options().spin << ", "
                << options.iterations << ", " << options.tolerance;
            if (options.tolerance == 0 && options.iterations == 0) {
                auto further = one.alm();
                with_weights.iterations = 2;
                one.analyze_to(map, further, with_weights);
                EXPECT_LE(rms(one.answer(exact, further), one.grid),
                          planning::windowed_residual(one.grid, one.grid, one.windows, report.power, 3) +
                              rounding * size);
            }
        }
    }
}

TEST(WindowedResidual, BoundsWhatAnAnalysisLeaves) {
    for (const std::int64_t nside : {1, 2, 3, 5, 8, 11, 16})
        for (const int spin : {0, 2})
            for (const double degrees : {1.3, 2.4}) {
                if (test::sanitized && nside > 8) continue;
                const auto lmax = static_cast<std::int64_t>(degrees * static_cast<double>(nside));
                if (lmax >= 2) expect_bounds(Case(Grid::healpix(nside), lmax, spin));
            }
    expect_bounds(Case(Grid::gauss_legendre(20, 40), 19, 0));
}

TEST(WindowedResidual, HoldsWithRingWeights) {
    for (const std::int64_t nside : {8, 16}) {
        const auto grid = Grid::healpix(nside);
        const auto weights = healpix::compute_ring_weights(nside, {.threads = 1, .device = Device::cpu()});
        std::vector<double> all(static_cast<std::size_t>(grid.n_rings()));
        for (std::int64_t r = 0; r < grid.n_rings(); ++r)
            all[r] = 1 + weights.deviations[std::min(r, grid.n_rings() - 1 - r)];
        for (const int spin : {0, 2}) expect_bounds(Case(grid, (12 * nside) / 5, spin), all);
    }
}

TEST(WindowedResidual, IsCloseToTheErrorAndFarBelowAnalysisNorm) {
    const Case one(Grid::healpix(16), 38, 0);
    const Map map = std::move(maps_of(one).front());
    auto exact = one.alm(), found = one.alm();
    one.analyze_to(map, exact, {.tolerance = 1e-13});
    const auto report = one.analyze_to(map, found, {.tolerance = 1e-3});
    const double error = rms(one.answer(exact, found), one.grid);
    const double bound = planning::windowed_residual(one.grid, one.grid, one.windows, report.power, 0);
    EXPECT_LE(bound, 2 * error);
    EXPECT_LE(4 * bound, analysis_norm(one.grid, one.lmax, report) * rms(map, one.grid));
    EXPECT_TRUE(std::isinf(planning::windowed_residual(one.grid, one.grid, {std::vector<double>(48, 1)},
                                                       {std::vector<double>(48, 1)}, 0)));
}

}  // namespace
}  // namespace zonal
