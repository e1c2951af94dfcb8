#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "lensing_helpers.hpp"
#include "points/lensing/lensing.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/rotation.hpp"

namespace zonal::test {
namespace {

/// [2, point], from where Lensing has them.
Array<double, 2> pairs_of(const points::WorkArray<double, 2>& there) {
    Array<double, 2> pairs({there.extent(0), there.extent(1)});
    there.copy_to(pairs.data());
    return pairs;
}

Points displaced_points(const Lensing& lensing) {
    Points points;
    const auto there = pairs_of(lensing.implementation().displaced);
    for (std::int64_t i = 0; i < there.extent(1); ++i) points.add(there(0, i), there(1, i));
    return points;
}

/// By direct sums at the displaced points, and e^{2 i gamma}.
MapArray direct_lensed(const Lensing& lensing, const AlmArray& alm) {
    const Points points = displaced_points(lensing);
    const auto rotation = pairs_of(lensing.implementation().rotation);
    const AlmLayout& layout = lensing.layout();
    MapArray values({alm.extent(0), alm.extent(1), points.size()});
    for (std::int64_t map = 0; map < alm.extent(0); ++map)
        for (const auto& part : lensing.implementation().parts) {
            AlmArray some({1, part.components, layout.size()});
            for (std::int64_t c = 0; c < part.components; ++c)
                for (std::int64_t i = 0; i < layout.size(); ++i) some(0, c, i) = alm(map, part.first + c, i);
            const MapArray field = direct_values(points, layout, part.spin, some);
            for (std::int64_t i = 0; i < points.size(); ++i) {
                const Complex turn =
                    part.spin == 2 ? std::pow(Complex(rotation(0, i), rotation(1, i)), 2) : 1;
                const Complex value = turn * Complex(field(0, 0, i), part.spin == 2 ? field(0, 1, i) : 0);
                values(map, part.first, i) = value.real();
                if (part.spin == 2) values(map, part.first + 1, i) = value.imag();
            }
        }
    return values;
}

Points reference_points() {
    Points points;
    points.add(0.3, 1);
    points.add(1.5, 4);
    points.add(3, 6.2);
    return points;
}

TEST(LensedSkies, ReachReferenceValues) {
    const AlmLayout layout(16), of_potential(8);
    const auto potentials = explicit_potentials(of_potential);
    const AlmArray scalar = explicit_alm(layout, 0), pair = explicit_alm(layout, 2);
    AlmArray sky({1, 3, layout.size()});
    for (std::int64_t i = 0; i < layout.size(); ++i) {
        sky(0, 0, i) = scalar(0, 0, i);
        for (int c = 0; c < 2; ++c) sky(0, c + 1, i) = pair(0, c, i);
    }
    const double of_t[3] = {0.464811856708818, 0.1977956770952355, 0.2058423674129611};
    const Complex of_p[3] = {{0.04613962990060451, 0.01954015881080756},
                             {0.01430632886060527, -0.08478425883454781},
                             {-0.04407618512577812, -0.02486580842079644}};
    const double d[3][2] = {{-0.01583236407181491, 0.01070649257482849},
                            {-0.001615593598319928, -0.006288368982219863},
                            {-0.0001109377150351562, -0.001449764779628964}};
    const Points points = reference_points();
    const auto check = [&](const Lensing& lensing, double tolerance) {
        const MapArray values = lensed(lensing, sky);
        const auto deflection = pairs_of(lensing.implementation().deflection);
        for (std::int64_t i = 0; i < 3; ++i) {
            for (int c = 0; c < 2; ++c)
                // Transforms round 0.02 rad by up to 4e-16; interpolated ones err by the error over 16.
                EXPECT_NEAR(deflection(c, i), d[i][c], tolerance / 10);
            // Half of the error that is asked for; the largest values are about 1.
            EXPECT_NEAR(values(0, 0, i), of_t[i], tolerance);
            // The same.
            EXPECT_LT(std::abs(Complex(values(0, 1, i), values(0, 2, i)) - of_p[i]), tolerance);
        }
    };
    check(Lensing(points.grid(), potentials_of(of_potential, potentials), lensing_options(16, 3, 2e-14)),
          1e-14);
    check(Lensing(points.theta_view(), points.phi_view(), potentials_of(of_potential, potentials),
                  lensing_options(16, 3, 2e-13)),
          1e-13);
}

TEST(LensedSkies, MatchDirectSums) {
    const AlmLayout layout(40), of_potential(25);
    for (const std::int64_t rows : {1, 2}) {
        const auto potentials = random_potentials(of_potential, rows, 0.05, 3);
        const Points points = points_and_poles(60, 4);
        const auto of = potentials_of(of_potential, potentials);
        for (const int components : {1, 2, 3}) {
            const AlmArray sky = random_sky(layout, 5, components, 7);
            // Deflections of grids are right to rounding; max |f| is at least that of the points.
            const MapArray wanted =
                direct_lensed(Lensing(points.grid(), of, lensing_options(40, components, 1e-3)), sky);
            for (const double error : {1e-3, 1e-6, 1e-11}) {
                const auto options = lensing_options(40, components, error);
                const Lensing at_points(points.theta_view(), points.phi_view(), of, options),
                    at_pixels(points.grid(), of, options);
                EXPECT_LE(at_points.bound(), error);
                EXPECT_LE(at_pixels.bound(), error);
                // The error asked for, which is a bound for any sky and point.
                EXPECT_LT(largest_difference(lensed(at_pixels, sky), wanted), error * largest(wanted));
                // The same.
                EXPECT_LT(largest_difference(lensed(at_points, sky), wanted), error * largest(wanted));
            }
        }
    }
}

TEST(LensedSkies, WithoutDeflectionAreTheSky) {
    const AlmLayout layout(30);
    const PotentialArray none({1, AlmLayout(1).size()});
    const Grid grid = Grid::clenshaw_curtis(20, 31);  // with pixels at the poles
    const Lensing lensing(grid, potentials_of(AlmLayout(1), none), lensing_options(30, 3, 1e-12));
    EXPECT_EQ(lensing.largest(), 0);
    const AlmArray sky = random_sky(layout, 1, 3, 7);
    const MapArray made = lensed(lensing, sky);
    AlmArray pair({1, 2, layout.size()}), scalar({1, 1, layout.size()});
    for (std::int64_t i = 0; i < layout.size(); ++i) {
        scalar(0, 0, i) = sky(0, 0, i);
        for (int c = 0; c < 2; ++c) pair(0, c, i) = sky(0, c + 1, i);
    }
    const MapArray t = synthesis(ShtPlan(grid, options_of(30)), scalar),
                   p = synthesis(ShtPlan(grid, options_of(30, 2)), pair);
    for (std::int64_t i = 0; i < grid.n_pixels(); ++i) {
        // The error asked for, which is a bound for any sky; that of both components of a spin.
        EXPECT_NEAR(made(0, 0, i), t(0, 0, i), 1e-12 * largest(t));
        for (int c = 0; c < 2; ++c)
            // The same.
            EXPECT_NEAR(made(0, c + 1, i), p(0, c, i), 2e-12 * largest(p));
    }
}

/// Unlensed polarisation tells by which angle the axes of a turned point are turned; with gamma of the other
/// sign, or another rotation between n and n', lensed ones would be turned by another.
TEST(LensedSkies, TurnWithTheSkyAndItsPotentials) {
    const AlmLayout layout(20);
    const EulerAngles angles{0.4, 1.1, 2.2};
    const auto matrix = rotation_matrix(angles);
    auto potentials = random_potentials(layout, 2, 0.1, 3), turned_potentials = potentials;
    AlmArray sky = random_sky(layout, 1, 3, 7), turned_sky = sky;
    rotate_alm<double>(layout, angles, turned_potentials.view());
    rotate_alm<double>(layout, angles, turned_sky.view()[0]);
    const Points points = random_points(100, 4);
    Points turned;
    for (std::size_t i = 0; i < points.theta.size(); ++i) {
        const double t = points.theta[i], p = points.phi[i];
        const double n[3] = {std::sin(t) * std::cos(p), std::sin(t) * std::sin(p), std::cos(t)};
        double r[3];
        for (std::size_t k = 0; k < 3; ++k)
            r[k] = matrix[k][0] * n[0] + matrix[k][1] * n[1] + matrix[k][2] * n[2];
        turned.add(std::atan2(std::hypot(r[0], r[1]), r[2]), std::atan2(r[1], r[0]));
    }
    const PotentialArray none({1, layout.size()});
    const auto options = lensing_options(20, 3, 1e-12);
    const auto values = [&](const Points& where, const PotentialArray& alm, const AlmArray& of_sky) {
        return lensed(Lensing(where.grid(), potentials_of(layout, alm), options), of_sky);
    };
    const MapArray plain = values(points, none, sky), plain_turned = values(turned, none, turned_sky),
                   seen = values(points, potentials, sky),
                   seen_turned = values(turned, turned_potentials, turned_sky);
    double moved = 0;
    for (std::int64_t i = 0; i < points.size(); ++i) {
        const auto polarisation = [&](const MapArray& map) { return Complex(map(0, 1, i), map(0, 2, i)); };
        const Complex axes = polarisation(plain_turned) / polarisation(plain);
        // Rounding of turned coefficients and points, each about 1e-14 of the largest, and twice the error.
        EXPECT_NEAR(std::abs(axes), 1, 1e-11);
        // The same, where the largest value anywhere is below twice that of 100 points.
        EXPECT_NEAR(seen_turned(0, 0, i), seen(0, 0, i), 4.1e-12 * largest(seen));
        // The axes err by that over |Q + i U|, which at one of 100 points may be a tenth of the rms.
        EXPECT_LT(std::abs(polarisation(seen_turned) - axes * polarisation(seen)), 5e-11 * largest(seen));
        moved = larger(moved, std::abs(polarisation(seen) - polarisation(plain)));
    }
    EXPECT_GT(moved, 0.1 * largest(plain));
}

TEST(LensedSkies, OfPartOfAGridLeaveOtherPixelsAlone) {
    const AlmLayout layout(30);
    const auto potentials = random_potentials(AlmLayout(20), 1, 0.05, 3);
    const Grid whole = Grid::healpix(8), part = whole.subset({5, 3, 20});
    const auto options = lensing_options(30, 3, 1e-9);
    auto lean = options;
    lean.derivatives = false;
    const Lensing all(whole, potentials_of(AlmLayout(20), potentials), lean),
        some(part, potentials_of(AlmLayout(20), potentials), options);
    EXPECT_EQ(some.n_values(), whole.n_pixels());
    const AlmArray sky = random_sky(layout, 2, 3, 7);
    const MapArray wanted = lensed(all, sky);
    MapArray made(wanted.extents()), factors(wanted.extents());
    std::fill(made.begin(), made.end(), -7.0);
    some.lens<double>(sky.view(), made.view());
    std::vector<bool> inside(static_cast<std::size_t>(whole.n_pixels()));
    for (const Ring& ring : part.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k)
            inside[static_cast<std::size_t>(ring.first_pixel + k)] = true;
    const MapArray random = random_values(2, 3, whole.n_pixels(), 4);
    for (std::int64_t map = 0; map < 2; ++map)
        for (int c = 0; c < 3; ++c)
            for (std::int64_t i = 0; i < whole.n_pixels(); ++i) {
                const bool is_inside = inside[static_cast<std::size_t>(i)];
                const double due = is_inside ? wanted(map, c, i) : -7;
                EXPECT_NEAR(made(map, c, i), due, is_inside ? 2e-9 * largest(wanted) : 0);
                factors(map, c, i) = is_inside ? random(map, c, i) : 0;
            }
    // And its transpose does not read them.
    AlmArray back({2, 3, layout.size()}), back_of_all(back.extents());
    some.adjoint<double>(random.view(), back.view());
    all.adjoint<double>(factors.view(), back_of_all.view());
    // Each value's part errs by (lmax + 1) / sqrt(4 pi) times the error in |.|_2, in both.
    EXPECT_LT(relative_difference(back, back_of_all), 2 * 8.8e-9);
}

TEST(LensedSkies, HaveATranspose) {
    const AlmLayout layout(40, 33), of_potential(25);
    const auto potentials = random_potentials(of_potential, 2, 0.05, 3);
    const Points points = points_and_poles(400, 4);
    for (const int components : {1, 2, 3})
        for (const double error : {1e-2, 1e-10}) {
            auto options = lensing_options(40, components, error);
            options.mmax = 33;
            const AlmArray sky = random_sky(layout, 5, components, 7);
            for (const bool on_grid : {true, false}) {
                const auto lensing =
                    on_grid ? Lensing(points.grid(), potentials_of(of_potential, potentials), options)
                            : Lensing(points.theta_view(), points.phi_view(),
                                      potentials_of(of_potential, potentials), options);
                const MapArray values = random_values(5, components, points.size(), 9),
                               made = lensed(lensing, sky);
                AlmArray back(sky.extents());
                lensing.adjoint<double>(values.view(), back.view());
                // What 2,000 to 6,000 values round by.
                EXPECT_NEAR(dot(made, values), inner_product(layout, sky, back),
                            transpose_rounding(40, components == 1 ? 0 : 2, values.size()) *
                                std::sqrt(dot(made, made) * dot(values, values)));
            }
        }
}

TEST(LensedSkies, DoNotDependOnThreads) {
    const AlmLayout layout(50);
    const auto potentials = random_potentials(layout, 1, 0.05, 3);
    const Points points = points_and_poles(30000, 4);
    const AlmArray sky = random_sky(layout, 2, 3, 7);
    const MapArray values = random_values(2, 3, points.size(), 9);
    std::vector<MapArray> made;
    std::vector<AlmArray> back;
    std::vector<PotentialArray> gradient;
    for (const int threads : {1, 2, 5}) {
        const Lensing lensing(points.theta_view(), points.phi_view(), potentials_of(layout, potentials),
                              lensing_options(50, 3, 1e-6, threads));
        made.push_back(lensed(lensing, sky));
        lensing.adjoint<double>(values.view(), back.emplace_back(sky.extents()).view());
        lensing.differentiate<double>(sky.view(), values.view(),
                                      gradient.emplace_back(PotentialArray({1, layout.size()})).view());
    }
    for (std::size_t i = 1; i < made.size(); ++i) {
        EXPECT_TRUE(std::equal(made[0].begin(), made[0].end(), made[i].begin()));
        EXPECT_TRUE(std::equal(back[0].begin(), back[0].end(), back[i].begin()));
        EXPECT_TRUE(std::equal(gradient[0].begin(), gradient[0].end(), gradient[i].begin()));
    }
}

TEST(LensedSkies, InFloatsAreTheDoublesRounded) {
    const AlmLayout layout(30);
    const auto potentials = random_potentials(layout, 1, 0.05, 3);
    const Lensing lensing(Grid::healpix(8), potentials_of(layout, potentials), lensing_options(30, 3, 1e-9));
    AlmArray sky = random_sky(layout, 1, 3, 7);
    Array<std::complex<float>, 3> narrow(sky.extents());
    for (std::int64_t i = 0; i < sky.size(); ++i) {
        narrow.data()[i] = std::complex<float>(sky.data()[i]);
        sky.data()[i] = Complex(narrow.data()[i]);
    }
    const MapArray wanted = lensed(lensing, sky);
    Array<float, 3> made(wanted.extents());
    LensingReport report;
    lensing.lens<float>(narrow.view(), made.view(), &report);
    EXPECT_EQ(report.bound, lensing.bound());
    EXPECT_GT(report.mean_error, 0);
    EXPECT_LT(report.mean_error, 1e-9);  // a mean, which is far below the bound that was asked for
    // Q and U are rounded before and after they are turned.
    for (std::int64_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(made.data()[i], wanted.data()[i], 2e-7 * largest(wanted));
}

TEST(LensedSkies, RefuseWhatTheyCannotDo) {
    const AlmLayout layout(8);
    const auto potentials = random_potentials(layout, 1, 0.05, 3);
    const Points points = random_points(5, 1);
    const auto refusal = [&](const LensingOptions& options, const AlmLayout& of_potential,
                             const PotentialArray& alm) -> std::string {
        try {
            const Lensing lensing(points.theta_view(), points.phi_view(), {of_potential, alm.view()},
                                  options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(lensing_options(8, 3, 1e-9), layout, potentials), "");
    EXPECT_EQ(refusal(lensing_options(-1, 3, 1e-9), layout, potentials),
              "lmax = -1: must be given, and 0 or more");
    EXPECT_EQ(refusal(lensing_options(1, 2, 1e-9), layout, potentials),
              "lmax = 1: must be 2 or more with E and B, which begin there");
    EXPECT_EQ(refusal(lensing_options(8, 3, NAN), layout, potentials),
              "error = nan: must be from 2e-14 to 0.1");
    EXPECT_EQ(refusal(lensing_options(8, 4, 1e-9), layout, potentials).substr(0, 3), "alm");
    EXPECT_EQ(refusal(lensing_options(8, 3, 1e-9), AlmLayout(7), potentials),
              "potentials: axis 1 (coefficients) has length 45: must be 36");
    EXPECT_EQ(refusal(lensing_options(8, 3, 1e-9), AlmLayout(0), PotentialArray({1, 1})),
              "potentials: end at l = 0: must have l = 1 at least, which deflects");
    EXPECT_EQ(refusal(lensing_options(8, 3, 1e-9), layout, PotentialArray({3, layout.size()})),
              "potentials = 3: must be phi, or phi and the curl potential: 1 or 2 rows of alm");
    auto broken = potentials;
    broken(0, layout.index(5, 2)) = NAN;
    EXPECT_EQ(refusal(lensing_options(8, 3, 1e-9), layout, broken),
              "potentials: must be finite (l = 5, m = 2)");
    const auto large = random_potentials(layout, 1, 5, 3);
    EXPECT_NE(refusal(lensing_options(8, 3, 1e-9), layout, large).find("must be a number of radians up to 3"),
              std::string::npos);
    EXPECT_EQ(refusal(lensing_options(8, 3, 2e-14), layout, potentials).substr(0, 13), "error = 2e-14");
    auto options = lensing_options(8, 3, 1e-9);
    options.device = Device::cuda(1000);
    EXPECT_EQ(refusal(options, layout, potentials).substr(0, 19), "device = cuda:1000:");
    // Shapes of calls.
    const Lensing lensing(points.theta_view(), points.phi_view(), potentials_of(layout, potentials),
                          lensing_options(8, 3, 1e-9));
    AlmArray sky({1, 2, layout.size()}), right({1, 3, layout.size()});
    MapArray values({1, 3, 5}), other({1, 3, 6});
    PotentialArray gradient({2, layout.size()});
    auto without = lensing_options(8, 3, 1e-9);
    without.derivatives = false;
    const Lensing plain(points.theta_view(), points.phi_view(), potentials_of(layout, potentials), without);
    PotentialArray one({1, layout.size()});
    EXPECT_THROW(plain.differentiate<double>(right.view(), values.view(), one.view()), InvalidArgument);
    EXPECT_THROW(lensing.lens<double>(sky.view(), values.view()), InvalidArgument);
    EXPECT_THROW(lensing.lens<double>(right.view(), other.view()), InvalidArgument);
    EXPECT_THROW(lensing.adjoint<double>(other.view(), right.view()), InvalidArgument);
    EXPECT_THROW(lensing.differentiate<double>(right.view(), values.view(), gradient.view()),
                 InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
