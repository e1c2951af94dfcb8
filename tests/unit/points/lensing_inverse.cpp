#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "lensing_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::test {
namespace {

/// d at points by direct sums.
Array<double, 2> deflection_at(const Points& points, const AlmLayout& layout, const PotentialArray& alm) {
    AlmArray field({1, 2, layout.size()});
    for (std::int64_t row = 0; row < alm.extent(0); ++row)
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                const double ll = static_cast<double>(l) * (static_cast<double>(l) + 1);
                field(0, row, layout.index(l, m)) = std::sqrt(ll) * alm(row, layout.index(l, m));
            }
    const MapArray values = direct_values(points, layout, 1, field);
    Array<double, 2> deflection({2, points.size()});
    std::copy(values.begin(), values.end(), deflection.begin());
    return deflection;
}

Points displaced(const Points& from, const Array<double, 2>& deflection) {
    Points to = from;
    Array<double, 2> rotation({2, from.size()});
    displace(from.theta_view(), from.phi_view(), deflection.view(), {to.theta.data(), {to.size()}},
             {to.phi.data(), {to.size()}}, rotation.view());
    return to;
}

double distance(const Points& a, const Points& b, std::size_t i) {
    const double x = std::sin((a.theta[i] - b.theta[i]) / 2), y = std::sin((a.phi[i] - b.phi[i]) / 2);
    return 2 * std::asin(std::sqrt(x * x + std::sin(a.theta[i]) * std::sin(b.theta[i]) * y * y));
}

TEST(InverseDeflection, ComesBackToItsPoints) {
    const AlmLayout layout(32);
    const Points points = points_and_poles(300, 4);
    for (const std::int64_t rows : {1, 2})
        for (const double size : {1e-3, 0.05, 0.15}) {
            const auto potentials = random_potentials(layout, rows, size, 3);
            for (const double error : {1e-3, 1e-8, 1e-12}) {
                Array<double, 2> inverse({2, points.size()});
                const auto report =
                    invert_deflection(potentials_of(layout, potentials), points.theta_view(),
                                      points.phi_view(), inverse.view(), {.error = error, .threads = 1});
                const Points seen = displaced(points, inverse);
                const auto deflection = deflection_at(seen, layout, potentials);
                const Points back = displaced(seen, deflection);
                double most = 0, miss = 0;
                for (std::size_t i = 0; i < points.theta.size(); ++i) {
                    const auto k = static_cast<std::int64_t>(i);
                    most = larger(most, std::hypot(deflection(0, k), deflection(1, k)));
                    miss = larger(miss, distance(back, points, i));
                }
                EXPECT_LE(miss, error * most + 4e-15) << size << ", " << error;
                EXPECT_LE(report.residual, error * most);
                EXPECT_LE(report.iterations, 8);
                EXPECT_GT(report.contraction, size);
                EXPECT_LT(report.contraction, 1);
            }
        }
}

TEST(InverseDeflection, OnAGridIsThatAtItsPixels) {
    const AlmLayout layout(20);
    const auto potentials = random_potentials(layout, 1, 0.05, 3);
    const Grid whole = Grid::healpix(4), part = whole.subset({2, 9});
    const InverseDeflectionOptions options{.error = 1e-10, .threads = 1};
    Array<double, 2> on_part({2, whole.n_pixels()});
    std::fill(on_part.begin(), on_part.end(), -7.0);
    invert_deflection(potentials_of(layout, potentials), part, on_part.view(), options);
    Points points;
    std::vector<std::int64_t> pixels;
    for (const Ring& ring : part.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            points.add(ring.theta, ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) /
                                                    static_cast<double>(ring.n_pixels));
            pixels.push_back(ring.first_pixel + k);
        }
    Array<double, 2> wanted({2, points.size()});
    invert_deflection(potentials_of(layout, potentials), points.theta_view(), points.phi_view(),
                      wanted.view(), options);
    for (std::size_t i = 0; i < pixels.size(); ++i)
        for (int c = 0; c < 2; ++c) {
            EXPECT_NEAR(on_part(c, pixels[i]), wanted(c, static_cast<std::int64_t>(i)), 1e-15);
            on_part(c, pixels[i]) = -7;
        }
    for (const double value : on_part) EXPECT_EQ(value, -7);
}

TEST(InverseDeflection, RefusesFoldedSkiesAndWrongArguments) {
    const AlmLayout layout(32);
    const Points points = random_points(300, 4);
    const auto message = [&](const PotentialArray& potentials, const InverseDeflectionOptions& options) {
        Array<double, 2> inverse({2, points.size()});
        try {
            invert_deflection(potentials_of(layout, potentials), points.theta_view(), points.phi_view(),
                              inverse.view(), options);
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const auto potentials = random_potentials(layout, 1, 0.01, 3);
    EXPECT_EQ(message(potentials, {.error = 1e-15}), "error = 1e-15: must be from 4e-14 to 0.1");
    EXPECT_EQ(message(potentials, {.error = NAN}), "error = nan: must be from 4e-14 to 0.1");
    EXPECT_EQ(message(potentials, {.max_iterations = 0}), "max_iterations = 0: must be 1 or more");
    EXPECT_NE(message(potentials, {.error = 1e-13, .max_iterations = 1}).find("after 1 iterations"),
              std::string::npos);
    const std::string folded = message(random_potentials(layout, 1, 0.9, 3), {});
    EXPECT_EQ(folded.substr(0, 10), "potentials") << folded;
}

}  // namespace
}  // namespace zonal::test
