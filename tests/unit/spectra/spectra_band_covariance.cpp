#include "zonal/spectra/band_covariance.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/view.hpp"

// Errors beside those of simulated skies are in tests/python/test_band_powers.py.
namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();

struct Fields {
    Grid grid = Grid::healpix(4);
    Bins bins = Bins::linear(4, 2, 9);
    Array<double, 2> sky{{3, grid.n_pixels()}}, masks{{2, grid.n_pixels()}}, variances{{1, grid.n_pixels()}};
    Array<double, 3> c_l{{3, 3, 12}};
    std::vector<double> beam;
    std::vector<MaskedField> fields;

    Fields() {
        for (std::int64_t p = 0; p < grid.n_pixels(); ++p) {
            const auto x = static_cast<double>(p);
            for (int i = 0; i < 3; ++i) sky(i, p) = std::sin(1.3 * x + i);
            masks(0, p) = 1.5 + std::sin(x * x);
            masks(1, p) = 1.2 + std::cos(x * x);
            variances(0, p) = 0.02 + 0.01 * std::cos(x);
        }
        for (std::int64_t l = 0; l < 12; ++l) {
            const double x = 1 / static_cast<double>((l + 1) * (l + 1));
            c_l(0, 0, l) = x, c_l(1, 1, l) = 0.5 * x, c_l(2, 2, l) = 0.1 * x;
            c_l(0, 1, l) = c_l(1, 0, l) = 0.3 * x;
            beam.push_back(std::exp(-0.02 * static_cast<double>(l * l)));
        }
        const std::vector<std::vector<double>> noise(2, std::vector<double>(12, 0.003));
        fields.push_back({grid,
                          {{.maps = sky.view().slice(0, 1),
                            .mask = masks.view()[0],
                            .transfer = beam,
                            .variance = variances.view()[0]}}});
        fields.push_back({grid, {{.maps = sky.view().slice(1, 2), .mask = masks.view()[1], .noise = noise}}});
    }
    BandEstimate estimate() const { return estimate_bands(fields, bins, {.lmax_sky = 11, .threads = 1}); }
};

// The blocks are TT of field 0, TE and TB of both, and EE, EB, BE, BB of field 1; components are T, E, B.
TEST(BandCovariance, IsThatOfPseudoSpectraTimesTheBandsWeights) {
    const Fields given;
    const auto estimate = given.estimate();
    const std::vector<ComponentPair> pairs = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 1}, {2, 2}};
    // The sky as the maps have it: T through the beam, the noise of E and B with no beam in it.
    Array<double, 3> observed({3, 3, 12});
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (std::int64_t l = 0; l < 12; ++l) {
                const double x = given.beam[static_cast<std::size_t>(l)];
                const double transfer = (i == 0 ? x : 1) * (j == 0 ? x : 1);
                observed(i, j, l) = given.c_l(i, j, l) * transfer + (i == j && i > 0 ? 0.003 : 0);
            }
    Array<double, 2> variances({2, given.grid.n_pixels()});
    for (std::int64_t p = 0; p < given.grid.n_pixels(); ++p) variances(0, p) = given.variances(0, p);
    const MaskedSky sky{.grid = given.grid,
                        .masks = given.masks.view(),
                        .maps = {{0, 0}, {2, 1}},
                        .c_l = observed.view(),
                        .variances = variances.view()};
    Array<double, 4> all({7, 10, 7, 10});
    pseudo_covariance(sky, pairs, all.view(), {.exact_lmax = 5, .threads = 1});
    // [value][spectrum, l]
    std::vector<std::vector<double>> weights;
    std::int64_t first = 0;
    for (const auto& block : estimate.blocks) {
        const auto& matrix = block.decoupling->matrix;
        for (std::int64_t s = 0; s < matrix.extent(0); ++s)
            for (std::int64_t b = 0; b < matrix.extent(1); ++b) {
                auto& row = weights.emplace_back(70, 0.0);
                for (std::int64_t t = 0; t < matrix.extent(2); ++t)
                    for (std::int64_t l = 0; l < 10; ++l)
                        row[static_cast<std::size_t>((first + t) * 10 + l)] = matrix(s, b, t, l);
            }
        first += matrix.extent(0);
    }
    ASSERT_EQ(weights.size(), 14U);
    Array<double, 2> found({14, 14});
    const auto report = band_covariance(given.fields, estimate, given.c_l.view(), found.view(),
                                        {.exact_lmax = 5, .threads = 1});
    EXPECT_EQ(report.exact_lmax, 5);
    for (std::int64_t i = 0; i < 14; ++i)
        for (std::int64_t j = 0; j < 14; ++j) {
            double sum = 0, terms = 0;
            for (std::int64_t p = 0; p < 70; ++p)
                for (std::int64_t q = 0; q < 70; ++q) {
                    const double term = weights[static_cast<std::size_t>(i)][static_cast<std::size_t>(p)] *
                                        all(p / 10, p % 10, q / 10, q % 10) *
                                        weights[static_cast<std::size_t>(j)][static_cast<std::size_t>(q)];
                    sum += term;
                    terms += std::abs(term);
                }
            // Rounding of sums of 70 terms twice, here and there; and of the spectra, by which entries of the
            // covariance may differ in their last digits relative to the largest.
            EXPECT_LE(std::abs(found(i, j) - sum), 4 * 140 * eps * terms) << i << " " << j;
        }
}

/// There are 7 spectra of two bands each. The sixth, BE, repeats EB.
TEST(BandCovariance, WithoutWhatRepeatsHasAllOtherRowsAndColumns) {
    const auto estimate = Fields().estimate();
    Array<double, 2> all({14, 14});
    for (std::int64_t i = 0; i < 14; ++i)
        for (std::int64_t j = 0; j < 14; ++j) all(i, j) = static_cast<double>(100 * i + j);
    const auto found = distinct_covariance(estimate, std::as_const(all).view());
    ASSERT_EQ(found.extent(0), 12);
    ASSERT_EQ(found.extent(1), 12);
    const auto before = [](std::int64_t i) { return i < 10 ? i : i + 2; };
    for (std::int64_t i = 0; i < 12; ++i)
        for (std::int64_t j = 0; j < 12; ++j)
            EXPECT_EQ(found(i, j), static_cast<double>(100 * before(i) + before(j)));
    EXPECT_TRUE(is_repeated(estimate.blocks[2], "BE"));
    EXPECT_FALSE(is_repeated(estimate.blocks[2], "EB"));
    EXPECT_FALSE(is_repeated({.first = 0, .second = 1}, "BE"));
    EXPECT_THAT([&] { distinct_covariance(estimate, found.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must be [14, 14]")));
}

TEST(BandCovariance, RefusesWhatDoesNotFit) {
    Fields given;
    const auto estimate = given.estimate();
    Array<double, 2> found({14, 14}), small({13, 14});
    EXPECT_THAT([&] { band_covariance(given.fields, estimate, given.c_l.view(), small.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must be [14, 14]")));
    EXPECT_THAT([&] { band_covariance(given.fields, estimate, given.c_l.view().slice(0, 2), found.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must be [3, 3, 12]")));
    EXPECT_THAT([&] { band_covariance({given.fields[0]}, estimate, given.c_l.view(), found.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must be the 2 of the estimate")));
    Array<double, 3> wrong = given.c_l;
    wrong(0, 1, 7) = wrong(1, 0, 7) = 2 * given.c_l(0, 0, 7);
    EXPECT_THAT([&] { band_covariance(given.fields, estimate, wrong.view(), found.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("theory: is no covariance at l = 7")));
    wrong(1, 0, 7) = 0;
    EXPECT_THAT([&] { band_covariance(given.fields, estimate, wrong.view(), found.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("differ at l = 7")));
    wrong(0, 1, 7) = std::nan("");
    EXPECT_THAT([&] { band_covariance(given.fields, estimate, wrong.view(), found.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("theory: has nan at l = 7")));
    given.fields[1].grid = Grid::healpix(8);
    EXPECT_THAT([&] { band_covariance(given.fields, estimate, given.c_l.view(), found.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("one grid")));
}

}  // namespace
}  // namespace zonal
