#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "beam_helpers.hpp"
#include "beams/displaced_fit.hpp"
#include "compare.hpp"
#include "zonal/beams/displaced.hpp"
#include "zonal/beams/elliptical.hpp"
#include "zonal/grid.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::test {
namespace {

using std::numbers::pi;
using Signal = std::vector<double>;

/// An elliptical beam whose centre is delta from the axis in the direction chi: all orders where it is.
BeamAlm offset_beam(std::int64_t lmax, double fwhm, double ellipticity, double delta, double chi) {
    BeamAlm beam = elliptical_beam({.lmax = lmax,
                                    .fwhm = fwhm,
                                    .ellipticity = ellipticity,
                                    .orientation = 0.4,
                                    .error = 1e-12,
                                    .threads = 1});
    if (delta == 0) return beam;
    const AlmLayout all(lmax);
    Array<Complex, 2> turned({1, all.size()});
    rotate_alm<double>(beam.layout, beam.alm.view(), {.psi = 0, .theta = delta, .phi = chi}, all,
                       turned.view(), {.threads = 1});
    return {all, std::move(turned), 0};
}

View<const Complex, 1> row(const Array<Complex, 2>& alm) {
    return {alm.data(), {alm.extent(1)}};
}
View<const Complex, 1> row(const AlmArray& alm) {
    return {alm.data(), {alm.extent(2)}};
}
View<const double, 1> line(const std::vector<double>& values) {
    return {values.data(), {std::ssize(values)}};
}

Signal scanned(const DisplacedConvolver& convolver, const AlmArray& sky, const Scan& scan,
               BeamReport* report = nullptr) {
    Signal tod(scan.theta.size());
    const auto samples = convolver.make_samples<double>(row(sky), convolver.samples().all_rows(), report);
    convolver.scan<double>(samples, line(scan.theta), line(scan.phi), line(scan.psi),
                           View<double, 1>(tod.data(), {std::ssize(tod)}));
    return tod;
}

/// [l] C_l.
std::vector<double> spectrum_of(const AlmLayout& layout, const AlmArray& sky) {
    return cross_spectrum<double>(layout, row(sky), row(sky));
}

/// Random; l = m = lmax alone; a point source at the north pole; steep; one degree.
std::vector<AlmArray> hostile_skies(const AlmLayout& layout) {
    std::vector<AlmArray> skies;
    skies.reserve(5);
    for (int i = 0; i < 5; ++i)
        skies.push_back(i == 0 || i == 3 ? random_alm(layout, 1, 1, 7) : AlmArray({1, 1, layout.size()}));
    skies[1](0, 0, layout.size() - 1) = Complex(1, 2);
    for (std::int64_t l = 0; l <= layout.lmax(); ++l) {
        skies[2](0, 0, l) = std::sqrt(static_cast<double>(2 * l + 1));
        for (std::int64_t m = 0; m <= l; ++m) skies[3](0, 0, layout.index(l, m)) *= std::pow(l + 1.0, -3);
    }
    skies[4](0, 0, layout.index(layout.lmax() / 2, 3)) = 1;
    return skies;
}

/// b less the sum of the kernels, by the standard library's functions.
AlmArray residual(const AlmLayout& layout, const Array<Complex, 2>& beam, const AlmLayout& of_beam,
                  const DisplacedKernels& kernels) {
    AlmArray made({1, 1, layout.size()});
    for (std::int64_t k = 0; k <= layout.mmax(); ++k)
        for (std::int64_t l = k; l <= layout.lmax(); ++l) {
            Complex sum = 0;
            for (std::size_t j = 0; j < kernels.weight.size(); ++j)
                sum +=
                    kernels.weight[j] *
                    std::sph_legendre(static_cast<unsigned>(l), static_cast<unsigned>(k), kernels.delta[j]) *
                    std::polar(1.0, -static_cast<double>(k) * kernels.chi[j]);
            sum *= kernels.window[static_cast<std::size_t>(l)];
            made(0, 0, layout.index(l, k)) =
                (k <= of_beam.mmax() ? beam(0, of_beam.index(l, k)) : Complex(0)) - sum;
        }
    return made;
}

TEST(DisplacedKernels, OfARoundBeamAnywhereAreOne) {
    const BeamAlm beam = offset_beam(40, 0.3, 1, 2.2, -1.3);
    const auto kernels = fit_displaced_kernels(beam.layout, row(beam.alm), {.error = 1e-9, .threads = 1});
    ASSERT_EQ(kernels.size(), 1);
    // The centre is that of the dipole, whose coefficients the rotation rounds by 1e-15.
    EXPECT_NEAR(kernels.delta[0], 2.2, 1e-13);
    // The same, over the sine of 2.2.
    EXPECT_NEAR(kernels.chi[0], -1.3, 1e-13);
}

TEST(DisplacedKernels, KnowWhatTheyMiss) {
    for (const double delta : {0.0, 0.8}) {
        const BeamAlm beam = offset_beam(32, 0.35, 1.4, delta, 2.0);
        const AlmLayout layout(32);
        for (const int most : {2, 4}) {
            const auto kernels = fit_displaced_kernels(beam.layout, row(beam.alm),
                                                       {.error = 0.5, .max_kernels = most, .threads = 1});
            const AlmArray left = residual(layout, beam.alm, beam.layout, kernels);
            for (std::int64_t l = 0; l <= 32; ++l) {
                double missed = std::norm(left(0, 0, l));
                for (std::int64_t k = 1; k <= l; ++k) missed += 2 * std::norm(left(0, 0, layout.index(l, k)));
                // Coefficients of the order of 1 are rounded by 1e-15.
                EXPECT_NEAR(std::sqrt(missed), std::sqrt(kernels.missed[static_cast<std::size_t>(l)]), 1e-13);
            }
            const ShtPlan plan(Grid::gauss_legendre(600, 1200), {.lmax = 32, .threads = 1});
            MapArray map({1, 1, plan.grid().n_pixels()});
            plan.synthesize<double>(left.view(), map.view());
            double integral = 0;
            for (const Ring& ring : plan.grid().rings())
                for (std::int64_t i = 0; i < ring.n_pixels; ++i)
                    integral += ring.weight * std::abs(map(0, 0, ring.first_pixel + i));
            // 18 samples a wave know the integral to a per cent; the bound's factors are 1.24 each.
            EXPECT_GE(kernels.integral, 0.99 * integral);
            EXPECT_LE(kernels.integral, 1.6 * integral);
        }
    }
}

TEST(DisplacedKernels, ReachAsMuchAsOrdersOfTwiceTheirNumber) {
    // Relative rms of a white sky: what orders above kmax = 2, 4, 6 of a Gaussian of this ellipticity hold,
    // 3e-2, 5e-3, 8e-4 for 1.5, is what 2, 3, 4 kernels miss within a factor of two.
    const BeamAlm beam = offset_beam(128, 3 * pi / 180, 1.5, 0, 0);
    const std::vector<double> white(129, 1.0);
    for (const auto& [kmax, n] : {std::pair(2, 2), {4, 3}, {6, 4}}) {
        double above = 0, all = 0;
        for (std::int64_t k = 0; k <= beam.layout.mmax(); ++k)
            for (std::int64_t l = k; l <= 128; ++l) {
                const double part = (k == 0 ? 1 : 2) * std::norm(beam.alm(0, beam.layout.index(l, k)));
                all += part;
                if (k > kmax) above += part;
            }
        const auto kernels =
            fit_displaced_kernels(beam.layout, row(beam.alm), {.error = 0.5, .max_kernels = n, .threads = 1});
        if (kernels.size() < n) continue;
        EXPECT_LT(kernels.rms_error(white) / kernels.rms(white), 2 * std::sqrt(above / all)) << kmax;
    }
}

/// What kernels along the long axis miss, sum of squares over all orders, with the best window for each l.
double missed_along_axis(const beams::CentredBeam& beam, const std::vector<double>& places,
                         const std::vector<double>& weights) {
    double missed = 0;
    for (std::int64_t l = 0; l <= beam.layout.lmax(); ++l) {
        double product = 0, square = 0, all = 0;
        for (std::int64_t k = 0; k <= l; ++k) {
            double sum = 0;
            for (std::size_t j = 0; j < places.size(); ++j)
                sum += weights[j] * (places[j] < 0 && k % 2 != 0 ? -1 : 1) *
                       std::sph_legendre(static_cast<unsigned>(l), static_cast<unsigned>(k),
                                         std::abs(places[j]));
            const double b = k <= beam.layout.mmax()
                                 ? beam.alm[static_cast<std::size_t>(beam.layout.index(l, k))].real()
                                 : 0;
            product += (k == 0 ? 1 : 2) * sum * b;
            square += (k == 0 ? 1 : 2) * sum * sum;
            all += (k == 0 ? 1 : 2) * b * b;
        }
        missed += all - product * product / square;
    }
    return missed;
}

TEST(DisplacedKernels, BeginFromTheGaussHermiteRule) {
    // The rule of eight places for exp(-x^2), of which these are the half (Abramowitz & Stegun 1972, table
    // 25.10). Every step of the fit must miss less, so that its end misses less than where it begins.
    const std::vector<std::pair<double, double>> rule{{0.381186990207322, 0.6611470125582},
                                                      {1.157193712446780, 0.2078023258149},
                                                      {1.981656756695843, 0.01707798300741},
                                                      {2.930637420257244, 0.0001996040722114}};
    for (const double ellipticity : {1.5, 2.0}) {
        const BeamAlm beam = offset_beam(64, 6 * pi / 180, ellipticity, 0, 0);
        const auto centred = beams::centred(beam.layout, row(beam.alm), beam.layout.mmax(), 1);
        const auto fit = beams::fit_line(centred, std::vector<double>(65, 1.0), 8, 1);
        std::vector<double> places, weights;
        for (const auto& [x, weight] : rule)
            for (const double sign : {-1.0, 1.0}) {
                places.push_back(sign * x * std::sqrt(2 * centred.elongation));
                weights.push_back(weight / std::sqrt(pi));
            }
        const double of_rule = missed_along_axis(centred, places, weights);
        EXPECT_LT(missed_along_axis(centred, fit.place, fit.weight), of_rule) << ellipticity;
    }
}

TEST(DisplacedKernels, KeepTheirBoundsForHostileSkies) {
    const std::int64_t lmax = 32;
    const AlmLayout layout(lmax);
    const Scan scan = random_scan(100, 5);
    const std::vector<AlmArray> skies = hostile_skies(layout);
    for (const double ellipticity : {1.05, 1.3, 2.0})
        for (const double delta : {0.0, 0.3, 2.5}) {
            const BeamAlm beam = offset_beam(lmax, 0.25, ellipticity, delta, 1.1);
            const auto kernels =
                fit_displaced_kernels(beam.layout, row(beam.alm), {.error = 0.5, .threads = 1});
            const DisplacedConvolver convolver(kernels, {.error = 1e-7, .threads = 1});
            for (std::size_t s = 0; s < skies.size(); ++s) {
                const auto spectrum = spectrum_of(layout, skies[s]);
                BeamReport report;
                const Signal tod = scanned(convolver, skies[s], scan, &report);
                const auto wanted = by_turning(beam.layout, beam.alm.view(), skies[s], scan);
                double most = 0;
                for (std::size_t i = 0; i < tod.size(); ++i)
                    most = std::max(most, std::abs(tod[i] - wanted[i]));
                // Turning the beam rounds by 1e-14 of the largest signal.
                const double rounding = 1e-12 * std::sqrt(static_cast<double>(lmax)) * kernels.rms(spectrum);
                EXPECT_LE(most, report.bound * kernels.rms(spectrum) + rounding)
                    << ellipticity << ", " << delta << ", sky " << s;
                const ShtPlan plan(Grid::gauss_legendre(2 * lmax, 4 * lmax), {.lmax = lmax, .threads = 1});
                MapArray map({1, 1, plan.grid().n_pixels()});
                plan.synthesize<double>(skies[s].view(), map.view());
                // The largest pixel is within the largest value of the sky, which only makes this harder.
                EXPECT_LE(most,
                          1.01 * kernels.integral * largest(map) + 1e-6 * kernels.largest_smoothed(spectrum))
                    << ellipticity << ", " << delta << ", sky " << s;
            }
        }
}

TEST(DisplacedKernels, ReportTheirMeanError) {
    const AlmLayout layout(40);
    const BeamAlm beam = offset_beam(40, 0.3, 1.5, 0.5, 1.1);
    const AlmArray sky = random_alm(layout, 1, 1, 4);
    const auto kernels =
        fit_displaced_kernels(beam.layout, row(beam.alm), {.error = 0.5, .max_kernels = 3, .threads = 1});
    const Scan scan = random_scan(20000, 8);
    BeamReport report;
    const Signal tod =
        scanned(DisplacedConvolver(kernels, {.error = 1e-9, .threads = 1}), sky, scan, &report);
    const Tod exact = scanned(
        BeamConvolver(beam.layout, View<const Complex, 3>(beam.alm.data(), {1, 1, beam.layout.size()}),
                      {.error = 1e-9, .threads = 1}),
        sky, scan);
    double error = 0, square = 0;
    for (std::int64_t i = 0; i < scan.size(); ++i) {
        error += std::pow(tod[static_cast<std::size_t>(i)] - exact(0, i), 2);
        square += std::pow(exact(0, i), 2);
    }
    // 20,000 random pointings: the variance of a field of 41^2 modes is known to a few per cent.
    EXPECT_NEAR(std::sqrt(error / square) / report.mean_error, 1, 0.05);
    EXPECT_EQ(report.kernels, kernels.size());
    EXPECT_EQ(report.method, BeamMethod::displaced);
}

TEST(DisplacedKernels, HaveTheirTranspose) {
    const AlmLayout layout(24);
    const BeamAlm beam = offset_beam(24, 0.5, 1.5, 0.2, 1.1);
    const auto kernels = fit_displaced_kernels(beam.layout, row(beam.alm), {.error = 0.3, .threads = 1});
    ASSERT_GT(kernels.size(), 1);
    const DisplacedConvolver convolver(kernels, {.error = 1e-6, .threads = 2});
    const AlmArray sky = random_alm(layout, 1, 1, 4);
    const Scan scan = random_scan(500, 9), weights = random_scan(500, 10);
    const Signal tod = scanned(convolver, sky, scan);
    AlmArray back({1, 1, layout.size()});
    convolver.adjoint<double>(line(scan.theta), line(scan.phi), line(scan.psi), line(weights.psi),
                              View<Complex, 1>(back.data(), {layout.size()}));
    double product = 0, size = 0;
    for (std::size_t i = 0; i < tod.size(); ++i) {
        product += tod[i] * weights.psi[i];
        size += std::abs(tod[i] * weights.psi[i]);
    }
    // Sums of hundreds of terms are rounded by about 1e-15 of their size.
    EXPECT_NEAR(inner_product(layout, back, sky), product, 1e-13 * size);
}

/// Pointings are displaced 2^21 points at a time.
TEST(DisplacedKernels, SumPiecesOfManyPointings) {
    const AlmLayout layout(8);
    const DisplacedKernels kernels{
        .delta = {0.2, 0.1}, .chi = {0, 2}, .weight = {0.6, 0.4}, .window = std::vector<double>(9, 1.0)};
    const DisplacedConvolver convolver(kernels, {.error = 1e-6, .threads = 2});
    const std::int64_t n = (1 << 20) + 100;
    const Scan scan = random_scan(n, 9);
    const AlmArray sky = random_alm(layout, 1, 1, 4);
    const Signal tod = scanned(convolver, sky, scan);
    AlmArray all({1, 1, layout.size()}), part({1, 1, layout.size()});
    const auto back = [&](std::int64_t first, std::int64_t count, AlmArray& to) {
        const auto of = [&](const std::vector<double>& angles) { return line(angles).slice(first, count); };
        convolver.adjoint<double>(of(scan.theta), of(scan.phi), of(scan.psi), of(tod),
                                  View<Complex, 1>(to.data(), {layout.size()}));
    };
    back(0, n, all);
    AlmArray sum({1, 1, layout.size()});
    for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>(0, 1000), {1000, n - 1000}}) {
        back(first, count, part);
        for (std::int64_t i = 0; i < layout.size(); ++i) sum(0, 0, i) += part(0, 0, i);
    }
    // A million terms, rounded in another order.
    EXPECT_LT(relative_difference(all, sum), 1e-11);
    Scan last;
    last.add(scan.theta.back(), scan.phi.back(), scan.psi.back());
    EXPECT_EQ(scanned(convolver, sky, last)[0], tod.back());
}

TEST(DisplacedKernels, RefuseWhatTheyCannotBe) {
    const AlmLayout layout(16, 3);
    const AlmArray beam = random_alm(layout, 1, 1, 3);
    EXPECT_NE(refusal([&] {
                  fit_displaced_kernels(layout, row(beam), {.error = 1e-6});
              }).find("error = 1e-06: up to 8 displaced kernels reach"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                  fit_displaced_kernels(layout, row(beam), {.error = 0.9});
              }).find("error = 0.9: must be from 1e-09 to 0.5"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                  fit_displaced_kernels(layout, row(beam), {.max_kernels = 17});
              }).find("max_kernels = 17: must be from 1 to 16"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                  fit_displaced_kernels(layout, row(beam), {.spectrum = {1, 2}});
              }).find("has 2 values: must have 17"),
              std::string::npos);
    const AlmArray dark({1, 1, layout.size()});
    EXPECT_NE(refusal([&] { fit_displaced_kernels(layout, row(dark)); }).find("integral of 0"),
              std::string::npos);
    const DisplacedKernels behind{.delta = {3.1}, .chi = {0}, .weight = {1}, .window = {1, 1}};
    EXPECT_NE(refusal([&] { DisplacedConvolver(behind, {}); }).find("must be from 0 to 3"),
              std::string::npos);
}

TEST(DisplacedKernels, NameThePointingThatIsNowhere) {
    const BeamAlm beam = offset_beam(16, 0.5, 1, 0, 0);
    const DisplacedConvolver convolver(fit_displaced_kernels(beam.layout, row(beam.alm)), {.threads = 1});
    const AlmArray sky = random_alm(AlmLayout(16), 1, 1, 4);
    for (const auto& [which, message] : {std::pair(0, "theta = -1: must be from 0 to pi (pointing 1)"),
                                         {1, "phi = inf: must be finite (pointing 1)"},
                                         {2, "psi = inf: must be finite (pointing 1)"}}) {
        Scan scan = random_scan(3, 5);
        const double infinite = std::numeric_limits<double>::infinity();
        (which == 0 ? scan.theta : which == 1 ? scan.phi : scan.psi)[1] = which == 0 ? -1 : infinite;
        EXPECT_NE(refusal([&] { scanned(convolver, sky, scan); }).find(message), std::string::npos) << which;
    }
}

}  // namespace
}  // namespace zonal::test
