#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sht_helpers.hpp"
#include "zonal/analysis.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/weights.hpp"

namespace zonal::test {
namespace {

namespace hpx = healpix;

TEST(PixelWeights, HaveOneValueForEachClassOfPixels) {
    for (const std::int64_t nside : {1, 2, 3, 4, 5, 8, 16, 31}) {
        std::vector<double> numbers(hpx::n_pixel_weights(nside));
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
        const auto weights = hpx::expand_pixel_weights(nside, numbers);
        EXPECT_EQ(std::set<double>(weights.begin(), weights.end()).size(), numbers.size()) << nside;
        EXPECT_EQ(hpx::compress_pixel_weights(nside, weights), numbers) << nside;
    }
}

/// The layout of HEALPix' files: healpy 1.20.1 read our compressed weights of nside 32 and analysed with them
/// as we do with the expanded ones (equal to the last bit). Here, the classes of a small grid by hand.
TEST(PixelWeights, RunAlongRingsFromTheNorth) {
    const auto weights = hpx::expand_pixel_weights(2, {0, 1, 2, 3, 4});
    const std::vector<double> want{1, 1, 1, 1,              // 4 pixels
                                   2, 2, 2, 2, 2, 2, 2, 2,  // starts half a pixel beyond phi = 0
                                   3, 4, 3, 4, 3, 4, 3, 4,  // starts at phi = 0
                                   5, 5, 5, 5, 5, 5, 5, 5,  // equator
                                   3, 4, 3, 4, 3, 4, 3, 4, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1};
    EXPECT_EQ(weights, want);
}

/// |integral of Y_lm| / sqrt(4 pi), largest over 0 < l <= lmax.
double largest_integral(std::int64_t nside, std::int64_t lmax, const std::vector<double>& weights) {
    const ShtPlan plan(Grid::healpix(nside), options_of(lmax));
    MapArray map({1, 1, 12 * nside * nside});
    std::copy(weights.begin(), weights.end(), map.begin());
    auto alm = quadrature(plan, map);
    alm(0, 0, 0) -= std::sqrt(4 * std::numbers::pi);
    return largest(alm) / std::sqrt(4 * std::numbers::pi);
}

TEST(PixelWeights, IntegrateAllDegreesExactly) {
    for (const std::int64_t nside : {1, 2, 3, 8, 16}) {
        const auto weights = hpx::compute_pixel_weights(nside);
        EXPECT_TRUE(weights.converged) << nside;
        EXPECT_EQ(weights.lmax, 5 * nside / 2);
        // The solver's tolerance, and another rounding of the transform.
        EXPECT_LE(largest_integral(nside, weights.lmax, hpx::expand_pixel_weights(nside, weights.deviations)),
                  2e-13);
    }
}

std::vector<double> as_pixels(std::int64_t nside, const std::vector<double>& ring_weights) {
    std::vector<double> pixels;
    const auto rings = Grid::healpix(nside).rings();
    for (std::size_t i = 0; i < rings.size(); ++i)
        pixels.insert(pixels.end(), rings[i].n_pixels, ring_weights[i]);
    return pixels;
}

TEST(RingWeights, IntegrateOrderZeroExactly) {
    for (const std::int64_t nside : {1, 2, 5, 16}) {
        for (const std::int64_t lmax : {2 * nside, std::min(3 * nside, 4 * nside - 2)}) {
            hpx::WeightOptions options;
            options.lmax = lmax;
            const auto weights = hpx::compute_ring_weights(nside, options);
            EXPECT_TRUE(weights.converged);
            const auto rings = hpx::expand_ring_weights(nside, weights.deviations);
            EXPECT_EQ(rings.front(), rings.back());
            const ShtPlan plan(Grid::healpix(nside), options_of(lmax, 0, 0));
            MapArray map({1, 1, 12 * nside * nside});
            const auto pixels = as_pixels(nside, rings);
            std::copy(pixels.begin(), pixels.end(), map.begin());
            auto alm = quadrature(plan, map);
            alm(0, 0, 0) -= std::sqrt(4 * std::numbers::pi);
            // The weights' tolerance, 1e-13.
            EXPECT_LE(largest(alm), 1e-13 * std::sqrt(4 * std::numbers::pi)) << nside << " " << lmax;
        }
    }
}

/// The weights nearest to 1 leave no room: any other exact weights differ by something orthogonal to all
/// Y_lm.
TEST(PixelWeights, AreTheNearestToOne) {
    const std::int64_t nside = 4;
    const auto weights = hpx::compute_pixel_weights(nside);
    // delta is a combination of Y_lm, l <= lmax: what their best fit leaves of it is rounding.
    const ShtPlan plan(Grid::healpix(nside), options_of(weights.lmax));
    MapArray delta({1, 1, 192});
    const auto full = hpx::expand_pixel_weights(nside, weights.deviations);
    for (std::int64_t p = 0; p < 192; ++p) delta(0, 0, p) = full[p] - 1;
    AlmArray alm({1, 1, plan.layout().size()});
    AnalysisOptions options;
    options.tolerance = 1e-13;
    analyze<double>(plan, delta.view(), alm.view(), options);
    // What is asked for; the solver's last step goes beyond it.
    EXPECT_LE(largest_difference(synthesis(plan, alm), delta), options.tolerance * largest(delta));
}

TEST(PixelWeights, MakeAnalysisExactToHalfTheirDegree) {
    const std::int64_t nside = 8, lmax = 10;
    const auto full = hpx::expand_pixel_weights(nside, hpx::compute_pixel_weights(nside).deviations);
    const ShtPlan plan(Grid::healpix(nside), options_of(lmax));
    const auto alm = random_alm(plan.layout(), 1, 1, 3);
    const auto map = synthesis(plan, alm);
    AlmArray found(alm.extents());
    AnalysisOptions options;
    options.pixel_weights = View<const double, 1>(full.data(), {768});
    analyze<double>(plan, map.view(), found.view(), options);
    EXPECT_LE(largest_difference(found, alm), 1e-13);  // the weights' tolerance, of coefficients of order 1
}

TEST(Weights, RejectWhatHasNoMeaning) {
    EXPECT_THROW(hpx::compute_pixel_weights(0), InvalidArgument);
    hpx::WeightOptions options;
    options.lmax = 14;
    EXPECT_THROW(hpx::compute_pixel_weights(4, options), InvalidArgument);
    options.lmax = 15;
    EXPECT_THROW(hpx::compute_ring_weights(4, options), InvalidArgument);
    EXPECT_THROW(hpx::expand_pixel_weights(4, std::vector<double>(15)), InvalidArgument);
    EXPECT_THROW(hpx::expand_ring_weights(4, std::vector<double>(7)), InvalidArgument);
    options.lmax = 12;
    options.max_iterations = 1;
    EXPECT_FALSE(hpx::compute_pixel_weights(4, options).converged);
}

}  // namespace
}  // namespace zonal::test
