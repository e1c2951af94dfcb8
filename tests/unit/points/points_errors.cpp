#include <gtest/gtest.h>

#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "point_helpers.hpp"

/// The error that is named is kept, whatever the function and the points.
namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

/// Points where windows end or sums have few terms: poles, beside them, on samples, half-way, on the rings of
/// the Legendre stage, one beside the other, many turns away; and anywhere.
Points hostile_points(const SphereSamples& samples) {
    Points points;
    const double step = 2 * pi / static_cast<double>(samples.n_samples());
    const auto north = [&](double theta) { return std::min(theta, pi); };
    for (const double theta : {0.0, pi, 1e-300, 1e-8, pi - 1e-8, 1e-3, 0.4 * step, pi - 0.6 * step})
        for (const double phi : {0.0, 1.0, -3.0, 6.28}) points.add(theta, phi);
    for (const std::int64_t j : {0, 1, 7, 20})
        for (const double beside : {-0.5, -0.5 + 1e-9, -1e-9, 0.0, 1e-9, 0.5 - 1e-9, 0.5})
            for (const double also : {-0.5, 0.0, 0.5})
                points.add(north(std::abs((static_cast<double>(j) + beside) * step)),
                           (static_cast<double>(3 * j) + also) * step);
    for (const std::int64_t ring : {0, 3, 9}) points.add((static_cast<double>(ring) + 0.5) * pi / 48, 2);
    for (int i = 0; i < 20; ++i) points.add(1.2345 + 1e-12 * i, 2.5 - 1e-13 * i);
    for (const double phi : {12345.0, -12345.678, 1e6}) points.add(2.0, phi);
    const Points others = random_points(60, 5);
    for (std::size_t i = 0; i < others.theta.size(); ++i) points.add(others.theta[i], others.phi[i]);
    return points;
}

/// Random functions; one mode at the largest l, with m = l, 0 and between; and one whose modes all meet at a
/// pole. [case, component, coefficient]
AlmArray hostile_alm(const AlmLayout& layout, int spin) {
    const std::int64_t components = spin == 0 ? 1 : 2, lmax = layout.lmax();
    const AlmArray random = random_spin_alm(layout, 2, components, spin, 17);
    AlmArray alm({6, components, layout.size()});
    std::copy(random.begin(), random.end(), alm.begin());
    alm(2, 0, layout.index(lmax, lmax)) = Complex(0.6, 0.8);
    alm(3, components - 1, layout.index(lmax, 0)) = 1;
    alm(4, components - 1, layout.index(lmax, lmax / 2)) = Complex(0.6, -0.8);
    for (std::int64_t l = spin; l <= lmax; ++l)
        alm(5, 0, layout.index(l, spin)) = std::sqrt((2 * static_cast<double>(l) + 1) / (4 * pi));
    return alm;
}

/// max |f| over a grid of four times as many rings and pixels as the degree needs, [case][component]: of f,
/// not more.
std::vector<std::vector<double>> largest_values(const AlmArray& alm, std::int64_t lmax, int spin) {
    const Grid grid = Grid::clenshaw_curtis(4 * lmax + 5, 8 * lmax + 4);
    const MapArray map = synthesis(ShtPlan(grid, options_of(lmax, spin)), alm);
    std::vector<std::vector<double>> largest;
    for (std::int64_t k = 0; k < map.extent(0); ++k) {
        auto& of_case = largest.emplace_back();
        for (std::int64_t c = 0; c < map.extent(1); ++c) {
            double most = 0;
            for (std::int64_t p = 0; p < map.extent(2); ++p) most = larger(most, std::abs(map(k, c, p)));
            of_case.push_back(most);
        }
    }
    return largest;
}

struct Case {
    std::int64_t lmax;
    int spin;
    double error;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << fmt::format("lmax {}, spin {}, error {:g}", c.lmax, c.spin, c.error);
}

class PointErrors : public ::testing::TestWithParam<Case> {};

TEST_P(PointErrors, AreWithinTheOneNamed) {
    const auto [lmax, spin, error] = GetParam();
    const AlmLayout layout(lmax);
    const AlmArray alm = hostile_alm(layout, spin);
    const auto largest = largest_values(alm, lmax, spin);
    // Few points for a function mean few samples and wide windows, many the opposite.
    double worst = 0;
    for (const std::int64_t n_points : {1, 100'000'000}) {
        PointOptions options = point_options(lmax, spin, error);
        options.n_points = n_points;
        const SphereSamples samples(options);
        EXPECT_LE(samples.bound(), error);
        const Points points = hostile_points(samples);
        const PointPlan plan(samples, points.theta_view(), points.phi_view());
        auto array = samples.make_array(alm.extent(0), plan.rows());
        MapArray values({alm.extent(0), alm.extent(1), points.size()});
        samples.synthesize<double>(alm.view(), array);
        plan.interpolate<double>(array, values.view());
        const MapArray wanted = direct_values(points, layout, spin, alm);
        for (std::int64_t k = 0; k < alm.extent(0); ++k)
            for (std::int64_t c = 0; c < alm.extent(1); ++c)
                for (std::int64_t i = 0; i < points.size(); ++i) {
                    const double most = largest[static_cast<std::size_t>(k)][static_cast<std::size_t>(c)];
                    const double ratio = std::abs(values(k, c, i) - wanted(k, c, i)) / (error * most);
                    // A field that is 0 (m = 0 has no U of E) has rounding alone.
                    if (most > 1e-10) worst = larger(worst, ratio);
                }
    }
    EXPECT_LT(worst, 1);
    RecordProperty("share_of_error", std::to_string(worst));
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const std::int64_t lmax : {4, 30})
        for (const int spin : {0, 1, 2, 3})
            for (const double error : {1e-1, 1e-3, 1e-5, 1e-8, 1e-11, 1e-12, 1e-13})
                cases.push_back({lmax, spin, error});
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Hostile, PointErrors, ::testing::ValuesIn(all_cases()));

}  // namespace
}  // namespace zonal::test
