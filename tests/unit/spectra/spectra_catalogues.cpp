#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/error.hpp"
#include "zonal/spectra/catalogue.hpp"

// Sums over points of a catalogue. tests/python/test_catalogues.py has their spectra.
namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Catalogue {
    std::vector<double> theta, phi, weights;

    CataloguePoints points() const {
        const auto view = [](const std::vector<double>& values) {
            return View<const double, 1>(values.data(), {std::ssize(values)});
        };
        return {view(theta), view(phi), view(weights)};
    }
};

Catalogue some(int n, double step) {
    Catalogue made;
    for (int i = 0; i < n; ++i) {
        made.theta.push_back(std::acos(std::cos(step * (i + 1))));
        made.phi.push_back(2 * step * i);
        made.weights.push_back(1 + 0.5 * std::sin(3.0 * i));
    }
    return made;
}

double sum_of(const std::vector<double>& values, int power) {
    double sum = 0;
    for (const double value : values) sum += std::pow(value, power);
    return sum;
}

/// The field 1 at the points.
CatalogueAlm ones_at(const Catalogue& catalogue, const CatalogueOptions& options) {
    const std::vector<double> ones(catalogue.theta.size(), 1.0);
    return catalogue_field(catalogue.points(), {ones.data(), {1, std::ssize(ones)}}, options);
}

// Both sides have sums of as many terms to the transforms' error of 1e-12 of the largest there can be.
TEST(CatalogueCounts, AreThoseOfPointsLessThoseOfRandomOnes) {
    const auto points = some(9, 0.7), random = some(40, 0.31);
    const double alpha = sum_of(points.weights, 1) / sum_of(random.weights, 1),
                 tolerance = 4e-12 * sum_of(points.weights, 1);
    for (const std::int64_t mask_lmax : {-1, 3, 6, 9}) {
        const CatalogueOptions options{.lmax = 6, .mask_lmax = mask_lmax, .error = 1e-12, .threads = 1};
        const auto found = catalogue_counts(points.points(), random.points(), options);
        const auto of_points = ones_at(points, options), of_random = ones_at(random, options);
        ASSERT_EQ(found.alm.size(), AlmLayout(6).size());
        ASSERT_EQ(found.mask.size(), AlmLayout(mask_lmax < 0 ? 12 : mask_lmax).size());
        for (std::int64_t i = 0; i < found.alm.size(); ++i)
            EXPECT_LE(std::abs(found.alm(0, i) - of_points.alm(0, i) + alpha * of_random.alm(0, i)),
                      tolerance)
                << i;
        for (std::int64_t i = 0; i < found.mask.size(); ++i)
            EXPECT_LE(std::abs(found.mask(i) - alpha * of_random.mask(i)), tolerance) << i;
        const double of_mask = alpha * alpha * sum_of(random.weights, 2) / (4 * M_PI);
        EXPECT_DOUBLE_EQ(found.mask_noise, of_mask);
        EXPECT_DOUBLE_EQ(found.noise, of_mask + sum_of(points.weights, 2) / (4 * M_PI));
    }
}

TEST(CatalogueCounts, OfWeightsWithoutAPositiveSumAreRefused) {
    const auto right = some(5, 0.7);
    auto wrong = right;
    for (auto& weight : wrong.weights) weight = -weight;
    EXPECT_THAT([&] { catalogue_counts(wrong.points(), right.points(), {.lmax = 4}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("weights: have the sum")));
    EXPECT_THAT([&] { catalogue_counts(right.points(), wrong.points(), {.lmax = 4}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("random_weights: have the sum")));
}

}  // namespace
}  // namespace zonal
