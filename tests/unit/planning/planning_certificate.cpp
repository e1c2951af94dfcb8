#include "zonal/planning/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "radial/reference.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace {

using Map = std::vector<double>;

double rms(const Map& map) {
    double sum = 0;
    for (const double value : map) sum += value * value;
    return std::sqrt(sum / static_cast<double>(map.size()));
}

Map difference(const Map& a, const Map& b) {
    Map result(a);
    for (std::size_t i = 0; i < a.size(); ++i) result[i] -= b[i];
    return result;
}

template <class Value>
Map map_of(const Grid& grid, Value&& value) {
    Map map(static_cast<std::size_t>(grid.n_pixels()));
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
        const Ring& ring = grid.rings()[static_cast<std::size_t>(r)];
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const double phi = ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) /
                                                static_cast<double>(ring.n_pixels);
            map[static_cast<std::size_t>(ring.first_pixel + k)] = value(r, k, ring.theta, phi);
        }
    }
    return map;
}

/// Maps that a spectrum does not foresee: an offset that hides fluctuations, white noise, a bright pixel, a
/// checkerboard, stripes along rings and across them, and waves that kernels nearly remove.
std::vector<Map> hostile_maps(const Grid& grid) {
    using I = std::int64_t;
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    return {map_of(grid, [&](I, I, double, double) { return 2.7255 + 1e-5 * normal(random); }),
            map_of(grid, [&](I, I, double, double) { return normal(random); }),
            map_of(grid, [&](I r, I k, double, double) { return r == grid.n_rings() / 5 && k == 1 ? 1 : 0; }),
            map_of(grid, [](I, I k, double, double) { return k % 2 == 0 ? 1 : -1; }),
            map_of(grid, [](I r, I, double, double) { return r % 2 == 0 ? 1 : -1; }),
            map_of(grid, [](I, I, double theta, double) { return std::cos(9 * theta); }),
            map_of(grid, [](I, I, double theta, double phi) {
                return std::pow(std::sin(theta), 7) * std::cos(7 * phi);
            })};
}

ConvolutionRequest request_of(const Grid& grid, const RadialKernel& kernel, std::int64_t lmax) {
    ConvolutionRequest request;
    request.grid = grid;
    request.kernel = kernel;
    request.lmax = lmax;
    request.reference = ConvolutionReference::discrete;
    request.threads = 1;
    return request;
}

Map convolved(ConvolutionPlan& plan, std::int64_t rows, const Map& map) {
    Map result(map.size());
    const auto n_pixels = std::ssize(map) / rows;
    plan.convolve<double>({map.data(), {rows, n_pixels}}, {result.data(), {rows, n_pixels}});
    return result;
}

/// The whole kernel's sum over pixels, term by term.
Map direct_sum(const ConvolutionRequest& request, const Map& map) {
    const auto n_pixels = request.grid.n_pixels();
    Map result(map.size());
    if (request.polarization)
        reference::convolve(request.grid, *request.polarization, request.grid, {map.data(), {2, n_pixels}},
                            {result.data(), {2, n_pixels}});
    else
        reference::convolve(request.grid, request.kernel, request.grid, {map.data(), {n_pixels}},
                            {result.data(), {n_pixels}});
    return result;
}

void expect_bounds(const ConvolutionRequest& request, const std::vector<ConvolutionChoice>& choices,
                   const std::vector<Map>& maps) {
    std::vector<Map> truths;
    truths.reserve(maps.size());
    for (const Map& map : maps) truths.push_back(direct_sum(request, map));
    for (const ConvolutionChoice& choice : choices) {
        const auto bound = bound_of(request, choice);
        ConvolutionPlan plan(request, choice);
        for (std::size_t i = 0; i < maps.size(); ++i) {
            const auto result = convolved(plan, request.polarization ? 2 : 1, maps[i]);
            const double error = rms(difference(result, truths[i])),
                         certified = certified_error(bound, rms(maps[i]), rms(result));
            EXPECT_LE(error, largest_error(bound, rms(maps[i]), rms(result))) << to_string(choice.method);
            EXPECT_LE(error, certified * rms(truths[i])) << to_string(choice.method);
        }
    }
}

TEST(ErrorBound, HoldsForSumsOverPixels) {
    const auto grid = Grid::healpix(8);
    for (const double fwhm : {0.2, 0.8}) {
        std::vector<ConvolutionChoice> choices;
        for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft})
            for (const auto precision : {Precision::float32, Precision::float64})
                for (const double cut : {1.2, 2.0, 0.0})
                    choices.push_back({method, Device::cpu(), precision, cut * fwhm, 1e-6});
        const auto request = request_of(grid, RadialKernel::gaussian(fwhm), 23);
        expect_bounds(request, choices, hostile_maps(grid));
    }
}

TEST(ErrorBound, HoldsForQAndU) {
    const auto grid = Grid::healpix(6);
    auto request = request_of(grid, RadialKernel::gaussian(0.8), 17);
    request.polarization = PolarizationKernel::gaussian(0.8);
    std::vector<ConvolutionChoice> choices;
    for (const auto precision : {Precision::float32, Precision::float64})
        choices.push_back({ConvolutionMethod::ring_fft, Device::cpu(), precision, 1.2, 1e-6});
    auto maps = hostile_maps(grid);
    for (std::size_t i = 0; i + 1 < maps.size(); ++i)
        maps[i].insert(maps[i].end(), maps[i + 1].begin(), maps[i + 1].end());
    maps.pop_back();
    expect_bounds(request, choices, maps);
}

TEST(ErrorBound, HoldsForWindowsThatEndBeforeTheKernel) {
    const auto grid = Grid::healpix(8);
    std::vector<double> window(24);
    for (std::size_t l = 0; l < window.size(); ++l) window[l] = std::exp(-0.012 * static_cast<double>(l * l));
    for (const auto& kernel : {RadialKernel::from_window(window), RadialKernel::gaussian(0.4)})
        for (const std::int64_t lmax : {12, 20})
            expect_bounds(request_of(grid, kernel, lmax), {{ConvolutionMethod::harmonic}},
                          hostile_maps(grid));
}

TEST(ErrorBound, HoldsForSplits) {
    const auto grid = Grid::healpix(8);
    std::vector<double> window(17);
    for (std::size_t l = 0; l < window.size(); ++l)
        window[l] = 1 / (1 + static_cast<double>(l)) * std::exp(-0.02 * static_cast<double>(l * l));
    const auto request = request_of(grid, RadialKernel::from_window(window), 16);
    ConvolutionChoice choice{ConvolutionMethod::split};
    KernelSplitOptions options;
    options.theta_cut = 2.4;
    options.threads = 1;
    choice.split = std::make_shared<const KernelSplit>(KernelSplitter(window, options).split(5));
    choice.accuracy = 1e-8;
    expect_bounds(request, {choice}, hostile_maps(grid));
}

TEST(ErrorBound, HoldsForQuotientsOfMaskedMaps) {
    const auto grid = Grid::healpix(8);
    const auto request = request_of(grid, RadialKernel::gaussian(0.7), 23);
    const ConvolutionChoice choice{ConvolutionMethod::ring_fft, Device::cpu(), Precision::float64, 1.3, 1e-7};
    ConvolutionOptions options;
    options.mask.mode = MaskMode::renormalize;
    options.mask.threshold = 0.2;
    options.mask.fill_masked = true;
    const auto mask = map_of(grid, [](auto r, auto k, double, double phi) {
        return phi > 4 || (r % 7 == 0 && k % 3 == 0) ? 0.0 : 1.0;
    });
    const auto bound = bound_of(request, choice, options);
    ASSERT_TRUE(std::isfinite(bound.total()));
    ConvolutionPlan plan(request, choice, options);
    const Map of_mask = direct_sum(request, mask);
    for (const Map& map : hostile_maps(grid)) {
        Map known(map), whole(map.size()), result, truth;
        for (std::size_t i = 0; i < map.size(); ++i) known[i] *= mask[i];
        plan.convolve<double>({map.data(), {1, grid.n_pixels()}}, {mask.data(), {grid.n_pixels()}},
                              {whole.data(), {1, grid.n_pixels()}});
        const Map of_known = direct_sum(request, known);
        for (std::size_t i = 0; i < map.size(); ++i)
            if (!is_unseen_value(whole[i])) {
                result.push_back(whole[i]);
                truth.push_back(of_known[i] / of_mask[i]);
            }
        ASSERT_GT(result.size(), map.size() / 2);
        // The sums over all pixels bound those over the shown ones.
        const double share = std::sqrt(static_cast<double>(map.size()) / static_cast<double>(result.size()));
        EXPECT_LE(rms(difference(result, truth)), largest_error(bound, rms(known) * share, rms(result)));
    }
}

TEST(ErrorBound, HoldsForCounts) {
    const auto grid = Grid::healpix(8);
    const auto request = request_of(grid, RadialKernel::gaussian(0.6), 23);
    const ConvolutionChoice choice{ConvolutionMethod::pixel_sum, Device::cpu(), Precision::float64, 0.9,
                                   1e-7};
    ConvolutionOptions options;
    options.keep_counts = true;
    const auto bound = bound_of(request, choice, options);
    ASSERT_TRUE(std::isfinite(bound.total()));
    ConvolutionPlan plan(request, choice, options);
    // Pixels of one size, by a symmetric kernel: a pixel's counts go where the values of others come from.
    const Map of_ones = direct_sum(request, Map(static_cast<std::size_t>(grid.n_pixels()), 1));
    for (const Map& map : hostile_maps(grid)) {
        Map shares(map), result(map.size());
        for (std::size_t i = 0; i < map.size(); ++i) shares[i] /= of_ones[i];
        plan.convolve<double>({map.data(), {1, grid.n_pixels()}}, {result.data(), {1, grid.n_pixels()}});
        const Map truth = direct_sum(request, shares);
        EXPECT_LE(rms(difference(result, truth)), largest_error(bound, rms(map), rms(result)));
    }
}

TEST(ErrorBound, CountsEveryPartOnce) {
    const auto request = request_of(Grid::healpix(16), RadialKernel::gaussian(0.3), 47);
    const ConvolutionChoice choice{ConvolutionMethod::ring_fft, Device::cpu(), Precision::float64, 0.5, 1e-8};
    const auto bound = bound_of(request, choice);
    const KernelNorms norms(request.grid, request.kernel);
    EXPECT_EQ(bound.cut, norms.beyond(0.5));
    EXPECT_EQ(bound.window, 0);
    EXPECT_DOUBLE_EQ(bound.total(), bound.cut + bound.accuracy + bound.rounding);
    EXPECT_DOUBLE_EQ(largest_error(bound, 2, 3), 2 * bound.total() + 3 * bound.of_output);
}

TEST(ErrorBound, IsRelativeToTheReference) {
    ErrorBound bound;
    bound.cut = 0.1;
    // The reference may be as small as 1 - 0.2.
    EXPECT_DOUBLE_EQ(certified_error(bound, 2, 1), 0.25);
    EXPECT_EQ(certified_error(bound, 10, 1), std::numeric_limits<double>::infinity());
    EXPECT_EQ(certified_error(bound, 0, 0), 0);
    EXPECT_DOUBLE_EQ(certified_error_of_variations(bound, 1, 10, 0.2), 1);
}

TEST(ErrorBound, IsInfiniteWhereNoneIsKnown) {
    auto request = request_of(Grid::healpix(16), RadialKernel::gaussian(0.3), 40);
    request.reference = ConvolutionReference::continuous;
    EXPECT_TRUE(std::isinf(bound_of(request, {ConvolutionMethod::harmonic}).total()));
    request.grid = Grid::gauss_legendre(41, 82);
    EXPECT_LE(bound_of(request, {ConvolutionMethod::harmonic}).total(), 1e-9);
}

/// S^T W S for a random alm, and the ratio of |S a|^2 to |a|^2.
TEST(LargestEigenvalue, BoundsWhatSynthesisDoesToAlm) {
    for (const std::int64_t nside : {1, 2, 3, 5, 7, 8, 10, 12, 16})
        for (const double degrees : {1.0, 2.0, 2.4, 3.0, 3.4, 3.75, 4.0, 4.5, 5.0, 6.5}) {
            const auto grid = Grid::healpix(nside);
            const auto lmax = static_cast<std::int64_t>(degrees * static_cast<double>(nside));
            const ShtPlan plan(grid, {.lmax = lmax, .threads = 1, .device = Device::cpu()});
            Array<double, 3> map({1, 1, grid.n_pixels()});
            Array<std::complex<double>, 3> alm({1, 1, plan.layout().size()});
            // Power iteration from a bright pixel.
            map(0, 0, 0) = 1;
            double ratio = 0;
            for (int i = 0; i < 30; ++i) {
                double before = 0, after = 0;
                for (std::int64_t p = 0; p < grid.n_pixels(); ++p) before += map(0, 0, p) * map(0, 0, p);
                plan.quadrature<double>(std::as_const(map).view(), alm.view());
                plan.synthesize<double>(std::as_const(alm).view(), map.view());
                for (std::int64_t p = 0; p < grid.n_pixels(); ++p) after += map(0, 0, p) * map(0, 0, p);
                ratio = std::sqrt(after / before);
            }
            EXPECT_GE(largest_eigenvalue(grid, lmax), ratio) << nside << ", " << lmax;
            EXPECT_LE(smallest_eigenvalue(grid, lmax), 1);
        }
    EXPECT_NEAR(largest_eigenvalue(Grid::gauss_legendre(33, 66), 32), 1, 1e-9);
    EXPECT_EQ(smallest_eigenvalue(Grid::healpix(64), 160), 0);
}

double rms_of_difference(const Array<double, 3>& a, const Array<double, 3>& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) sum += std::pow(a.data()[i] - b.data()[i], 2);
    return std::sqrt(sum / static_cast<double>(a.size()));
}

/// Analyses and synthesizes a map again.
Array<double, 3> projected(const ShtPlan& plan, View<const double, 3> map, const AnalysisOptions& options,
                           AnalysisReport& report) {
    Array<std::complex<double>, 3> alm({1, plan.alm_components(), plan.layout().size()});
    Array<double, 3> again(map.extents());
    report = analyze<double>(plan, map, alm.view(), options);
    plan.synthesize<double>(std::as_const(alm).view(), again.view());
    return again;
}

TEST(AnalysisNorm, BoundsWhatIterationsLeave) {
    const auto grid = Grid::healpix(16);
    const auto maps = hostile_maps(grid);
    for (const int spin : {0, 2})
        for (const std::int64_t lmax : {24, 38}) {
            const ShtPlan plan(grid, {.lmax = lmax, .spin = spin, .threads = 1, .device = Device::cpu()});
            for (std::size_t i = 0; i + 1 < maps.size(); ++i) {
                Map rows = maps[i];
                if (spin == 2) rows.insert(rows.end(), maps[i + 1].begin(), maps[i + 1].end());
                const View<const double, 3> map(rows.data(), {1, plan.map_components(), grid.n_pixels()});
                AnalysisReport report;
                const auto converged = projected(plan, map, {.tolerance = 1e-13}, report);
                for (const AnalysisOptions& options :
                     {AnalysisOptions{.iterations = 0}, AnalysisOptions{.iterations = 1},
                      AnalysisOptions{.iterations = 4}, AnalysisOptions{.tolerance = 1e-3}}) {
                    const auto found = projected(plan, map, options, report);
                    // Rounding of the converged one.
                    EXPECT_LE(rms_of_difference(found, converged),
                              (analysis_norm(grid, lmax, report) + 1e-12) * rms(rows))
                        << spin << ", " << lmax << ", " << options.iterations;
                    if (options.tolerance > 0) continue;
                    EXPECT_LE(rms_of_difference(found, converged),
                              (analysis_norm(grid, lmax, options.iterations) + 1e-12) * rms(rows));
                }
            }
        }
}

TEST(AnalysisNorm, IsInfiniteWhereEigenvaluesVanish) {
    const auto grid = Grid::healpix(64);
    EXPECT_EQ(certifiable_lmax(grid), 153);
    EXPECT_TRUE(std::isinf(analysis_norm(grid, 160, AnalysisReport{})));
    EXPECT_EQ(certifiable_lmax(Grid::gauss_legendre(33, 66)), 32);
    EXPECT_EQ(certifiable_lmax(grid.subset({3, 4, 5})), -1);
}

}  // namespace
}  // namespace zonal
