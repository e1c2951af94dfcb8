#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "beam_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/window.hpp"

namespace zonal::test {
namespace {

BeamOptions beam_options(double error, int threads = 1) {
    return on_test_device({.error = error, .threads = threads});
}

TEST(BeamConvolution, MatchesTurnedBeams) {
    for (const auto& [lmax, kmax, components] :
         std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>{
             {32, 5, 3}, {32, 0, 3}, {20, 20, 1}, {3, 3, 3}, {2, 1, 3}, {1, 1, 3}, {0, 0, 1}}) {
        const AlmLayout layout(lmax), of_beam(lmax, kmax);
        const AlmArray beam = random_teb(of_beam, 1, components, 3),
                       sky = random_teb(layout, 1, components, 4);
        const BeamConvolver convolver(of_beam, beam.view(), beam_options(1e-12));
        const Scan scan = random_scan(100, 5);
        const Tod tod = scanned(convolver, sky, scan);
        const auto wanted = by_turning(of_beam, beam.view()[0], sky, scan);
        const double scale = largest_of(tod);
        for (std::int64_t i = 0; i < scan.size(); ++i)
            // The error asked for, of the largest signal anywhere: below twice that of 100.
            EXPECT_LT(std::abs(tod(0, i) - wanted[static_cast<std::size_t>(i)]) / scale, 2e-12)
                << lmax << ", " << kmax << ", pointing " << i;
    }
}

/// Random; the mode of l = m = lmax alone; those of l = lmax and m = 0, which are large at the poles.
std::vector<AlmArray> skies_of_every_kind(const AlmLayout& layout) {
    std::vector<AlmArray> skies = {random_teb(layout, 1, 3, 4), AlmArray({1, 3, layout.size()}),
                                   AlmArray({1, 3, layout.size()})};
    for (std::int64_t c = 0; c < 3; ++c) {
        skies[1](0, c, layout.size() - 1) = Complex(1, 2);
        skies[2](0, c, layout.lmax()) = 1;
    }
    return skies;
}

TEST(BeamConvolution, KeepsTheErrorAskedFor) {
    const AlmLayout layout(40), of_beam(40, 7);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3);
    Scan scan = random_scan(2000, 6);
    for (int i = 0; i < 200; ++i) scan.add(1e-4 * i, 12345.678 + i, 0.1 * i);
    const BeamConvolver best(of_beam, beam.view(), beam_options(1e-12));
    for (const AlmArray& sky : skies_of_every_kind(layout)) {
        const Tod exact = scanned(best, sky, scan);
        for (const double error : {1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9}) {
            const BeamConvolver convolver(of_beam, beam.view(), beam_options(error));
            EXPECT_LE(convolver.bound(), error);
            const Tod tod = scanned(convolver, sky, scan);
            double most = 0;
            for (std::int64_t i = 0; i < scan.size(); ++i)
                most = std::max(most, std::abs(tod(0, i) - exact(0, i)));
            // The largest |d| of all pointings is at least that of these.
            EXPECT_LE(most, error * largest_of(exact)) << error;
        }
    }
}

TEST(BeamConvolution, ReportsItsMeanError) {
    const AlmLayout layout(40), of_beam(40, 7);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    const Scan scan = random_scan(2000, 6);
    const Tod exact = scanned(BeamConvolver(of_beam, beam.view(), beam_options(1e-12)), sky, scan);
    for (const double error : {1e-1, 1e-3, 1e-6}) {
        const BeamConvolver convolver(of_beam, beam.view(), beam_options(error));
        BeamReport report;
        const BeamPlanes planes = convolver.make_planes<double>(sky.view()[0], &report);
        EXPECT_EQ(report.bound, convolver.bound());
        EXPECT_EQ(report.left_out, 0);
        Tod tod({1, scan.size()});
        convolver.scan<double>(planes, scan.pointings(convolver), tod.view());
        double error_square = 0, square = 0;
        for (std::int64_t i = 0; i < scan.size(); ++i) {
            error_square += std::pow(tod(0, i) - exact(0, i), 2);
            square += std::pow(exact(0, i), 2);
        }
        // The report is of the torus, pointings lie there as sin(theta), and are 2,000: seen within 40 %.
        EXPECT_NEAR(std::sqrt(error_square / square) / report.mean_error, 1, 0.4) << error;
    }
}

TEST(BeamConvolution, OfRoundBeamsIsSmoothing) {
    const std::int64_t lmax = 48;
    const AlmLayout layout(lmax), of_beam(lmax, 0);
    const auto window = gaussian_window(0.1, lmax);
    AlmArray beam({1, 1, of_beam.size()}), sky = random_alm(layout, 1, 1, 4);
    for (std::int64_t l = 0; l <= lmax; ++l)
        beam(0, 0, l) = std::sqrt(static_cast<double>(2 * l + 1) / (4 * std::numbers::pi)) *
                        window[static_cast<std::size_t>(l)];
    const Scan scan = random_scan(300, 7);
    const Tod tod = scanned(BeamConvolver(of_beam, beam.view(), beam_options(1e-11)), sky, scan);
    apply_beam<double>(layout, uniform_beam(window), sky.view()[0]);
    Points points;
    for (std::size_t i = 0; i < scan.theta.size(); ++i) points.add(scan.theta[i], scan.phi[i]);
    const MapArray wanted = direct_values(points, layout, 0, sky);
    for (std::int64_t i = 0; i < scan.size(); ++i)
        // The error asked for, which is a bound for any sky.
        EXPECT_LT(std::abs(tod(0, i) - wanted(0, 0, i)), 1e-11 * largest(wanted)) << i;
}

TEST(BeamConvolution, AtAPoleTurnsWithPhiAndPsi) {
    const AlmLayout layout(24), of_beam(24, 4);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    const double pi = std::numbers::pi;
    Scan scan;  // R_z(phi) R_z(psi), and R_z(phi) R_y(pi) R_z(psi) = R_y(pi) R_z(psi - phi)
    scan.add(0, 0.3, 1.1);
    scan.add(0, 1.4, 0);
    scan.add(pi, 0.3, 1.1);
    scan.add(pi, 0, 0.8);
    const Tod tod = scanned(BeamConvolver(of_beam, beam.view(), beam_options(1e-13)), sky, scan);
    const double error = 2 * 1e-13 * 5 * largest_of(tod);
    // Twice the error asked for, of the largest signal anywhere: below five times that of four.
    EXPECT_NEAR(tod(0, 0), tod(0, 1), error);
    // The same.
    EXPECT_NEAR(tod(0, 2), tod(0, 3), error);
}

TEST(BeamConvolution, LeavesOutOrdersAboveKmax) {
    const AlmLayout layout(24), of_beam(24, 6), fewer(24, 2);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    AlmArray cut({1, 3, fewer.size()});
    for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t i = 0; i < fewer.size(); ++i) cut(0, c, i) = beam(0, c, i);
    const Scan scan = random_scan(20000, 8);
    BeamOptions options = beam_options(1e-9);
    const Tod all = scanned(BeamConvolver(of_beam, beam.view(), options), sky, scan);
    options.kmax = 2;
    const BeamConvolver convolver(of_beam, beam.view(), options);
    EXPECT_EQ(convolver.options().kmax, 2);
    const Tod some = scanned(convolver, sky, scan),
              wanted = scanned(BeamConvolver(fewer, cut.view(), beam_options(1e-9)), sky, scan);
    BeamReport report;
    convolver.make_planes<double>(sky.view()[0], &report);
    double missing = 0, square = 0;
    for (std::int64_t i = 0; i < scan.size(); ++i) {
        EXPECT_EQ(some(0, i), wanted(0, i));
        missing += std::pow(all(0, i) - some(0, i), 2);
        square += std::pow(some(0, i), 2);
    }
    // 20,000 random pointings: the variance of a field of 25^2 modes is known to a few per cent.
    EXPECT_NEAR(std::sqrt(missing / square) / report.left_out, 1, 0.05);
}

TEST(BeamConvolution, SkipsOrdersThatABeamHasNot) {
    const AlmLayout layout(24), of_beam(24, 6);
    AlmArray beam = random_teb(of_beam, 1, 1, 3);
    for (const std::int64_t k : {0, 1, 3, 4, 5})
        for (std::int64_t l = k; l <= 24; ++l) beam(0, 0, of_beam.index(l, k)) = 0;
    const BeamConvolver convolver(of_beam, beam.view(), beam_options(1e-12));
    EXPECT_EQ(convolver.n_fields(), 4);  // Q and U of k = 2 and 6
    const AlmArray sky = random_alm(layout, 1, 1, 4);
    const Scan scan = random_scan(50, 9);
    const Tod tod = scanned(convolver, sky, scan);
    const auto wanted = by_turning(of_beam, beam.view()[0], sky, scan);
    for (std::int64_t i = 0; i < scan.size(); ++i)
        // The error asked for, of the largest signal anywhere: below twice that of 50.
        EXPECT_NEAR(tod(0, i), wanted[static_cast<std::size_t>(i)], 2e-12 * largest_of(tod));
    std::fill(beam.begin(), beam.end(), 0.0);
    const BeamConvolver dark(of_beam, beam.view(), beam_options(1e-6));
    EXPECT_EQ(dark.n_fields(), 0);
    EXPECT_EQ(largest_of(scanned(dark, sky, scan)), 0);
}

TEST(BeamConvolution, OfSeveralDetectorsIsThatOfEach) {
    const AlmLayout layout(24), of_beam(24, 3);
    const AlmArray beams = random_teb(of_beam, 3, 3, 3), sky = random_teb(layout, 1, 3, 4);
    const std::int64_t n = 400;
    const BeamConvolver convolver(of_beam, beams.view(), beam_options(1e-9));
    const BeamPlanes planes = convolver.make_planes<double>(sky.view()[0]);
    std::vector<Scan> scans = {random_scan(n, 1), random_scan(n, 2), random_scan(n, 3)};
    std::vector<double> theta, phi, psi;
    for (const Scan& scan : scans) {
        theta.insert(theta.end(), scan.theta.begin(), scan.theta.end());
        phi.insert(phi.end(), scan.phi.begin(), scan.phi.end());
        psi.insert(psi.end(), scan.psi.begin(), scan.psi.end());
    }
    const auto all = [&](const std::vector<double>& angles) {
        return View<const double, 2>(angles.data(), {3, n});
    };
    Tod own({3, n}), shared({3, n}), own_psi({3, n});
    convolver.scan<double>(planes, Pointings(convolver, all(theta), all(phi), all(psi)), own.view());
    convolver.scan<double>(planes, scans[0].pointings(convolver), shared.view());
    const auto first = [&](const std::vector<double>& angles) {
        return View<const double, 2>(angles.data(), {1, n});
    };
    convolver.scan<double>(planes, Pointings(convolver, first(theta), first(phi), all(psi)), own_psi.view());
    for (std::int64_t d = 0; d < 3; ++d) {
        const auto k = static_cast<std::size_t>(d);
        const BeamConvolver one(of_beam, beams.view().slice(d, 1), beam_options(1e-9));
        const Tod wanted = scanned(one, sky, scans[k]), wanted_shared = scanned(one, sky, scans[0]);
        Scan turned = scans[0];
        turned.psi = scans[k].psi;
        const Tod wanted_turned = scanned(one, sky, turned);
        // Transforms of several maps share the recurrences, and on a GPU round otherwise: each of seven
        // fields.
        const double rounding =
            test_device() == Device::cpu() ? 0 : 7 * transform_rounding(24, 3) * largest_of(own);
        for (std::int64_t i = 0; i < n; ++i) {
            EXPECT_NEAR(own(d, i), wanted(0, i), rounding);
            EXPECT_NEAR(shared(d, i), wanted_shared(0, i), rounding);
            EXPECT_NEAR(own_psi(d, i), wanted_turned(0, i), rounding);
        }
    }
}

/// Multiples of psi are made for a detector as far as its own beam has orders, or the highest of those that
/// share the angles.
TEST(BeamConvolution, OfDetectorsOfDifferentOrdersIsThatOfEach) {
    const AlmLayout layout(24), of_beam(24, 4);
    AlmArray beams = random_teb(of_beam, 3, 3, 3);
    const AlmArray sky = random_teb(layout, 1, 3, 4);
    for (std::int64_t d = 0; d < 2; ++d)  // orders 0, up to 2, and all
        for (std::int64_t c = 0; c < 3; ++c)
            for (std::int64_t k = 2 * d + 1; k <= 4; ++k)
                for (std::int64_t l = k; l <= 24; ++l) beams(d, c, of_beam.index(l, k)) = 0;
    const std::int64_t n = 520;  // more than one block of 512
    const Scan scan = random_scan(n, 1);
    std::vector<double> psi;
    for (std::int64_t d = 0; d < 3; ++d)
        for (const double angle : scan.psi) psi.push_back(angle + static_cast<double>(d));
    const BeamConvolver convolver(of_beam, beams.view(), beam_options(1e-9));
    const BeamPlanes planes = convolver.make_planes<double>(sky.view()[0]);
    Tod own({3, n}), shared({3, n});
    convolver.scan<double>(
        planes, Pointings(convolver, scan.view(scan.theta), scan.view(scan.phi), {psi.data(), {3, n}}),
        own.view());
    convolver.scan<double>(planes, scan.pointings(convolver), shared.view());
    const double error = 2e-9 * largest_of(own);
    const std::int64_t first = n - 40;  // of both blocks
    for (std::int64_t d = 0; d < 3; ++d) {
        Scan alike, turned;
        for (auto i = static_cast<std::size_t>(first); i < scan.theta.size(); ++i) {
            alike.add(scan.theta[i], scan.phi[i], scan.psi[i]);
            turned.add(scan.theta[i], scan.phi[i], scan.psi[i] + static_cast<double>(d));
        }
        const auto beam = beams.view()[d];
        const auto wanted = by_turning(of_beam, beam, sky, turned),
                   wanted_shared = by_turning(of_beam, beam, sky, alike);
        for (std::int64_t i = 0; i < alike.size(); ++i) {
            // The error asked for, of the largest signal anywhere, which is below twice the largest of 520.
            EXPECT_NEAR(own(d, first + i), wanted[static_cast<std::size_t>(i)], error) << d;
            // The same.
            EXPECT_NEAR(shared(d, first + i), wanted_shared[static_cast<std::size_t>(i)], error) << d;
        }
    }
}

TEST(BeamConvolution, OfPartOfTheSkyIsThatOfTheWhole) {
    const AlmLayout layout(60), of_beam(60, 3);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    const BeamConvolver convolver(of_beam, beam.view(), beam_options(1e-8));
    Scan scan;
    for (int i = 0; i < 500; ++i) scan.add(1 + 0.0002 * i, 0.3 * i, 0.1 * i);
    const Pointings pointings = scan.pointings(convolver);
    const BeamPlanes part = convolver.make_planes<double>(sky.view()[0], pointings.rows()),
                     whole = convolver.make_planes<double>(sky.view()[0]);
    EXPECT_LT(part.bytes(), whole.bytes() / 2);
    Tod tod({1, scan.size()});
    convolver.scan<double>(part, pointings, tod.view());
    const Tod wanted = scanned(convolver, sky, scan);
    // Two rows share a Fourier transform, others than before where the first row is another: rounding.
    for (std::int64_t i = 0; i < scan.size(); ++i)
        EXPECT_NEAR(tod(0, i), wanted(0, i), 1e-14 * largest_of(wanted));
    scan.add(2, 0, 0);
    Tod more({1, scan.size()});
    EXPECT_THROW(convolver.scan<double>(part, scan.pointings(convolver), more.view()), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
