#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "beam_helpers.hpp"
#include "grids/latitude_nodes.hpp"
#include "zonal/beams/elliptical.hpp"
#include "zonal/error.hpp"

namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

/// T, E, B of the beam by exact analysis of its pixels, on rings for five times the degree.
AlmArray by_analysis(const EllipticalBeamOptions& o, const AlmLayout& layout) {
    const std::int64_t n = 5 * o.lmax + 1;
    const Grid grid = Grid::gauss_legendre(n, 2 * n);
    const double sigma = o.fwhm / std::sqrt(8 * std::log(2.0)), a = sigma * std::sqrt(o.ellipticity),
                 b = sigma / std::sqrt(o.ellipticity);
    MapArray map({1, 3, grid.n_pixels()});
    for (const Ring& ring : grid.rings())
        for (std::int64_t j = 0; j < ring.n_pixels; ++j) {
            const double phi = 2 * pi * static_cast<double>(j) / static_cast<double>(ring.n_pixels),
                         x = ring.theta * std::cos(phi - o.orientation),
                         y = ring.theta * std::sin(phi - o.orientation),
                         value = std::exp(-x * x / (2 * a * a) - y * y / (2 * b * b));
            const std::int64_t p = ring.first_pixel + j;
            map(0, 0, p) = value;
            map(0, 1, p) = o.efficiency * value * std::cos(2 * (o.polarization - phi));
            map(0, 2, p) = o.efficiency * value * std::sin(2 * (o.polarization - phi));
        }
    AlmArray alm({1, 3, layout.size()});
    const std::int64_t pixels = grid.n_pixels();
    ShtPlan(grid, options_of(o.lmax, 0, layout.mmax()))
        .quadrature<double>({map.data(), {1, 1, pixels}}, {alm.data(), {1, 1, layout.size()}});
    ShtPlan(grid, options_of(o.lmax, 2, layout.mmax()))
        .quadrature<double>({map.data() + pixels, {1, 2, pixels}},
                            {alm.data() + layout.size(), {1, 2, layout.size()}});
    const double norm = std::sqrt(4 * pi) * alm(0, 0, 0).real();
    for (Complex& each : alm) each /= norm;
    return alm;
}

TEST(EllipticalBeam, IsThatOfItsPixels) {
    for (const double ellipticity : {1.0, 1.1, 1.7, 4.0})
        for (const double fwhm : {0.15, 0.6}) {
            const EllipticalBeamOptions options{.lmax = 60,
                                                .fwhm = fwhm,
                                                .ellipticity = ellipticity,
                                                .orientation = 0.7,
                                                .polarized = true,
                                                .polarization = -0.4,
                                                .efficiency = 0.9,
                                                .error = 1e-14,
                                                .threads = 1};
            const BeamAlm beam = elliptical_beam(options);
            const AlmArray wanted = by_analysis(options, beam.layout);
            EXPECT_DOUBLE_EQ(beam.alm(0, 0).real(), 1 / std::sqrt(4 * pi));
            double most = 0;
            for (std::int64_t c = 0; c < 3; ++c)
                for (std::int64_t i = 0; i < beam.layout.size(); ++i)
                    most = std::max(most, std::abs(beam.alm(c, i) - wanted(0, c, i)));
            // Rounding of transforms of functions below 1 / (2 pi sigma^2); 0.6 rad at e = 4 reaches round
            // the sphere, where exp(-9^2 / 2) is cut off.
            EXPECT_LT(most, 1e-12) << ellipticity << ", " << fwhm;
        }
}

/// Round beams that reach round the sphere, of so few degrees that their integrands hardly oscillate.
TEST(EllipticalBeam, IfWideAndOfLowDegreeIsItsIntegral) {
    const auto nodes = grids::gauss_legendre_nodes(200);  // of one hemisphere
    for (const std::int64_t lmax : {0, 1, 4})
        for (const double fwhm : {1.0, 4.0, 30.0}) {
            const BeamAlm beam = elliptical_beam({.lmax = lmax, .fwhm = fwhm, .error = 1e-14, .threads = 1});
            const double sigma = fwhm / std::sqrt(8 * std::log(2.0));
            std::vector<double> integrals(static_cast<std::size_t>(lmax) + 1, 0.0);
            for (const auto& node : nodes)
                for (const double x : {node.cos_theta, -node.cos_theta}) {
                    const double theta = pi * (1 + x) / 2,
                                 share = node.weight * std::sin(theta) *
                                         std::exp(-theta * theta / (2 * sigma * sigma));
                    for (std::size_t l = 0; l < integrals.size(); ++l)
                        integrals[l] += share * std::legendre(static_cast<unsigned>(l), std::cos(theta));
                }
            // Sums of some hundred terms, whose roundings add up like a walk.
            for (std::int64_t l = 0; l <= lmax; ++l)
                EXPECT_NEAR(beam.alm(0, beam.layout.index(l, 0)).real(),
                            std::sqrt((2 * static_cast<double>(l) + 1) / (4 * pi)) *
                                integrals[static_cast<std::size_t>(l)] / integrals[0],
                            64 * eps)
                    << lmax << ", " << fwhm << ", " << l;
        }
}

TEST(EllipticalBeam, KeepsItsErrorWithTheFewestOrders) {
    // Truncations that a least-squares study of a beam of 3 degrees gave: kmax 2, 4, 6, 8.
    const struct {
        double ellipticity, at[4];
    } known[] = {
        {1.1, {2e-3, 7e-5, 3e-6, 8e-8}}, {1.5, {3e-2, 5e-3, 8e-4, 1e-4}}, {2.0, {9e-2, 2e-2, 6e-3, 1e-3}}};
    for (const auto& each : known)
        for (int i = 0; i < 4; ++i) {
            EllipticalBeamOptions options{.lmax = 128,
                                          .fwhm = 3 * pi / 180,
                                          .ellipticity = each.ellipticity,
                                          .error = 0.5,
                                          .threads = 1};
            options.error = 1.5 * each.at[i];  // they have one digit
            const BeamAlm beam = elliptical_beam(options);
            EXPECT_EQ(beam.layout.mmax(), 2 * i + 2) << each.ellipticity;
            EXPECT_LE(beam.left_out, options.error);
            EXPECT_GT(beam.left_out, each.at[i] / 2);
        }
}

TEST(EllipticalBeam, IfNarrowMeasuresTheStokesParameters) {
    const std::int64_t lmax = 12;
    const AlmLayout layout(lmax);
    const AlmArray sky = random_teb(layout, 1, 3, 4);
    const double chi = 0.3;
    const BeamAlm beam = elliptical_beam({.lmax = lmax,
                                          .fwhm = 1e-3,
                                          .ellipticity = 1.3,
                                          .polarized = true,
                                          .polarization = chi,
                                          .efficiency = 0.8,
                                          .error = 1e-9,
                                          .threads = 1});
    const View<const Complex, 3> beams(beam.alm.data(), {1, 3, beam.layout.size()});
    const Scan scan = random_scan(100, 3);
    const Tod tod = scanned(BeamConvolver(beam.layout, beams, {.error = 1e-9}), sky, scan);
    Points points;
    for (std::size_t i = 0; i < scan.theta.size(); ++i) points.add(scan.theta[i], scan.phi[i]);
    const std::int64_t n = layout.size();
    AlmArray scalar({1, 1, n}), tensor({1, 2, n});
    std::copy_n(sky.data(), n, scalar.data());
    std::copy_n(sky.data() + n, 2 * n, tensor.data());
    const MapArray intensity = direct_values(points, layout, 0, scalar),
                   qu = direct_values(points, layout, 2, tensor);
    for (std::int64_t i = 0; i < scan.size(); ++i) {
        const double turn = 2 * (scan.psi[static_cast<std::size_t>(i)] + chi);
        const double wanted =
            intensity(0, 0, i) + 0.8 * (qu(0, 0, i) * std::cos(turn) + qu(0, 1, i) * std::sin(turn));
        // The beam smooths by l^2 sigma^2 / 2 = 1.3e-5 of each.
        EXPECT_LT(std::abs(tod(0, i) - wanted), 4e-5 * largest(intensity));
    }
}

TEST(EllipticalBeam, RefusesWhatIsOutOfRange) {
    const EllipticalBeamOptions fine{.lmax = 10, .fwhm = 0.1};
    const auto refuses = [&](auto change) {
        EllipticalBeamOptions options = fine;
        change(options);
        EXPECT_THROW(elliptical_beam(options), InvalidArgument);
    };
    refuses([](auto& o) { o.lmax = -1; });
    refuses([](auto& o) { o.fwhm = 0; });
    refuses([](auto& o) { o.fwhm = std::nan(""); });
    refuses([](auto& o) { o.ellipticity = 0.9; });
    refuses([](auto& o) { o.efficiency = 1.1; });
    refuses([](auto& o) { o.error = 0; });
    refuses([](auto& o) { o.orientation = INFINITY; });
    refuses([](auto& o) { o.lmax = 1, o.polarized = true; });
}

}  // namespace
}  // namespace zonal::test
