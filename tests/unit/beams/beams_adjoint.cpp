#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "beam_helpers.hpp"

namespace zonal::test {
namespace {

Tod random_tod(std::int64_t detectors, std::int64_t n, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    Tod tod({detectors, n});
    for (double& value : tod) value = normal(generator);
    return tod;
}

AlmArray sky_of(const BeamConvolver& convolver, const Pointings& pointings, const Tod& tod) {
    AlmArray sky({1, convolver.components(), convolver.sky_layout().size()});
    convolver.adjoint<double>(pointings, tod.view(), sky.view()[0]);
    return sky;
}

double dot(const Tod& a, const Tod& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
    return sum;
}

TEST(BeamAdjoint, IsTheTranspose) {
    const std::int64_t lmax = 30, n = 700;
    const AlmLayout layout(lmax), of_beam(lmax, 4);
    for (const bool plate : {false, true})
        for (const std::int64_t detectors : {1, 2})
            for (const bool shared : {false, true}) {
                const AlmArray beams = random_teb(of_beam, detectors, 3, 3),
                               sky = random_teb(layout, 1, 3, 4);
                const BeamConvolver convolver(
                    of_beam, beams.view(),
                    on_test_device({.half_wave_plate = plate, .error = 1e-6, .threads = 2}));
                const std::int64_t sets = shared ? 1 : detectors;
                const Scan scan = random_scan(n * sets, 5);
                const auto of = [&](const std::vector<double>& x) {
                    return View<const double, 2>(x.data(), {sets, n});
                };
                const Pointings pointings(convolver, of(scan.theta), of(scan.phi), of(scan.psi),
                                          plate ? of(scan.hwp) : View<const double, 2>());
                Tod made({detectors, n});
                convolver.scan<double>(convolver.make_planes<double>(sky.view()[0]), pointings, made.view());
                const Tod tod = random_tod(detectors, n, 6);
                const double forth = dot(made, tod),
                             back = inner_product(layout, sky, sky_of(convolver, pointings, tod));
                // Values round by some 10 eps of their rms, with signs that differ: over 700 and more of them
                // by 10 eps / sqrt(700) = 0.4 eps of what the root is here. Ten times that; on a GPU what the
                // recurrences of both ways may round by, for orders up to 8.
                const double rounding =
                    test_device() == Device::cpu() ? 4 * eps : transpose_rounding(lmax, 8, tod.size());
                EXPECT_LT(std::abs(forth - back), rounding * std::sqrt(dot(made, made) * dot(tod, tod)))
                    << plate << detectors << shared;
            }
}

TEST(BeamAdjoint, AndScanDoNotDependOnThreads) {
    const std::int64_t lmax = 50;
    const AlmLayout layout(lmax), of_beam(lmax, 4);
    const AlmArray beams = random_teb(of_beam, 2, 3, 3), sky = random_teb(layout, 1, 3, 4);
    Scan scan = random_scan(20000, 5);
    for (int i = 0; i < 40000; ++i) scan.add(1.1 + 1e-8 * i, 2.2, 0.01 * i, 0.3);
    const Tod tod = random_tod(2, scan.size(), 6);
    std::vector<Tod> made;
    std::vector<AlmArray> back;
    for (const int threads : {1, 2, 5}) {
        const BeamConvolver convolver(
            of_beam, beams.view(),
            on_test_device({.half_wave_plate = true, .error = 1e-5, .threads = threads}));
        made.push_back(scanned(convolver, sky, scan));
        back.push_back(sky_of(convolver, scan.pointings(convolver), tod));
    }
    for (std::size_t i = 1; i < made.size(); ++i) {
        EXPECT_TRUE(std::equal(made[0].begin(), made[0].end(), made[i].begin()));
        EXPECT_TRUE(std::equal(back[0].begin(), back[0].end(), back[i].begin()));
    }
}

TEST(BeamAdjoint, AndScanOfFloatsAreTheDoublesRounded) {
    const AlmLayout layout(20), of_beam(20, 3);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3);
    AlmArray sky = random_teb(layout, 1, 3, 4);
    Array<std::complex<float>, 2> narrow({3, layout.size()});
    for (std::int64_t i = 0; i < sky.size(); ++i) {
        narrow.data()[i] = std::complex<float>(sky.data()[i]);
        sky.data()[i] = Complex(narrow.data()[i]);
    }
    const BeamConvolver convolver(of_beam, beam.view(), on_test_device({.threads = 1}));
    const Scan scan = random_scan(100, 2);
    const Pointings pointings = scan.pointings(convolver);
    Array<float, 2> tod({1, scan.size()});
    convolver.scan<float>(convolver.make_planes<float>(narrow.view()), pointings, tod.view());
    const Tod wanted = scanned(convolver, sky, scan);
    Tod wide({1, scan.size()});
    for (std::int64_t i = 0; i < scan.size(); ++i) {
        EXPECT_EQ(tod(0, i), static_cast<float>(wanted(0, i)));
        wide(0, i) = tod(0, i);
    }
    const AlmArray wanted_sky = sky_of(convolver, pointings, wide);
    convolver.adjoint<float>(pointings, tod.view(), narrow.view());
    for (std::int64_t i = 0; i < wanted_sky.size(); ++i)
        EXPECT_EQ(narrow.data()[i], std::complex<float>(wanted_sky.data()[i]));
}

}  // namespace
}  // namespace zonal::test
