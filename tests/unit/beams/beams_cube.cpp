#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "beam_helpers.hpp"
#include "zonal/beams/cube.hpp"
#include "zonal/error.hpp"

namespace zonal::test {
namespace {

using Cube = Array<double, 3>;
constexpr double pi = std::numbers::pi;

View<const double, 1> line(const std::vector<double>& angles) {
    return {angles.data(), {std::ssize(angles)}};
}

/// Planes of all orders of a beam.
Cube filled(const BeamCube& cube, const AlmLayout& of_beam, const AlmArray& beam, const AlmArray& sky) {
    Cube made({cube.n_planes(), cube.n_rows(), cube.n_columns()});
    for (std::int64_t k = 0; k <= cube.kmax(); ++k)
        cube.make_planes<double>(sky.view()[0], of_beam, beam.view()[0], k,
                                 made.view().slice(k == 0 ? 0 : 2 * k - 1, k == 0 ? 1 : 2));
    return made;
}

std::vector<double> scanned(const BeamCube& cube, const Cube& samples, const Scan& scan) {
    std::vector<double> signal(static_cast<std::size_t>(scan.size()));
    cube.scan<double>(samples.view(), 0, 0, line(scan.theta), line(scan.phi), line(scan.psi),
                      {signal.data(), {scan.size()}});
    return signal;
}

TEST(BeamCube, GivesTheSignalOfTurnedBeams) {
    for (const std::int64_t components : {1, 3}) {
        const std::int64_t lmax = 24, kmax = 4;
        const AlmLayout layout(lmax), of_beam(lmax, kmax);
        const AlmArray beam = random_teb(of_beam, 1, components, 3),
                       sky = random_teb(layout, 1, components, 4);
        const BeamCube cube(lmax, {.kmax = kmax, .error = 1e-12, .threads = 2});
        const Scan scan = random_scan(100, 5);
        const auto signal = scanned(cube, filled(cube, of_beam, beam, sky), scan);
        const auto wanted = by_turning(of_beam, beam.view()[0], sky, scan);
        double scale = 0;
        for (const double d : wanted) scale = std::max(scale, std::abs(d));
        for (std::size_t i = 0; i < signal.size(); ++i) EXPECT_NEAR(signal[i], wanted[i], 1e-10 * scale);
    }
}

TEST(BeamCube, IsThatOfAConvolverWithTheSameSamples) {
    const std::int64_t lmax = 20, kmax = 3;
    const AlmLayout layout(lmax), of_beam(lmax, kmax);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    const BeamOptions options{.kmax = kmax, .error = 1e-4, .threads = 1};
    const BeamCube cube(lmax, options);
    const BeamConvolver convolver(of_beam, beam.view(), options);
    EXPECT_EQ(cube.bound(), convolver.bound());
    const Scan scan = random_scan(300, 5);
    const auto signal = scanned(cube, filled(cube, of_beam, beam, sky), scan);
    const Tod wanted = test::scanned(convolver, sky, scan);
    for (std::int64_t i = 0; i < scan.size(); ++i)  // the same sums
        EXPECT_NEAR(signal[static_cast<std::size_t>(i)], wanted(0, i), 1e-14 * largest_of(wanted));
}

TEST(BeamCube, HasItsTransposes) {
    const std::int64_t lmax = 20, kmax = 3;
    const AlmLayout layout(lmax), of_beam(lmax, kmax);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    const BeamCube cube(lmax, {.kmax = kmax, .error = 1e-6, .threads = 2});
    const Scan scan = random_scan(500, 5);
    const auto signal = scanned(cube, filled(cube, of_beam, beam, sky), scan);
    Cube back({cube.n_planes(), cube.n_rows(), cube.n_columns()});
    const std::int64_t half = scan.size() / 2;
    std::vector<double> tod;
    for (std::int64_t i = 0; i < scan.size(); ++i) tod.push_back(std::cos(static_cast<double>(i * i)));
    for (const std::int64_t first : {std::int64_t{0}, half}) {  // several calls add up
        const auto part = [&](const std::vector<double>& x) {
            return View<const double, 1>(x.data() + first, {half});
        };
        cube.spread<double>(part(tod), 0, 0, part(scan.theta), part(scan.phi), part(scan.psi), back.view());
    }
    AlmArray made({1, 3, layout.size()});
    for (std::int64_t k = 0; k <= kmax; ++k)
        cube.add_sky<double>(back.view().slice(k == 0 ? 0 : 2 * k - 1, k == 0 ? 1 : 2), of_beam,
                             beam.view()[0], k, made.view()[0]);
    double forth = 0, squares = 0, others = 0;
    for (std::size_t i = 0; i < tod.size(); ++i) {
        forth += signal[i] * tod[i];
        squares += signal[i] * signal[i];
        others += tod[i] * tod[i];
    }
    // Sums of the same terms in another order.
    EXPECT_NEAR(forth, inner_product(layout, sky, made), 1e-13 * std::sqrt(squares * others));
}

TEST(BeamCube, PatchesHaveAllThatTheirPointingsNeed) {
    const std::int64_t lmax = 20, kmax = 2;
    const AlmLayout layout(lmax), of_beam(lmax, kmax);
    const AlmArray beam = random_teb(of_beam, 1, 1, 3), sky = random_teb(layout, 1, 1, 4);
    for (const double error : {1e-2, 1e-5, 1e-12}) {  // windows of odd and even width
        const BeamCube cube(lmax, {.kmax = kmax, .error = error, .threads = 1});
        const Cube samples = filled(cube, of_beam, beam, sky);
        const std::vector<double> thetas{0, 0.01, 1, 1.5, 3.1, pi}, phis{0, 0.02, 2, 2.5, 6.27, 2 * pi};
        for (std::size_t a = 0; a < 6; a += 1)
            for (std::size_t b = a; b < 6; ++b) {
                Scan scan;
                for (const double theta : {thetas[a], (thetas[a] + thetas[b]) / 2, thetas[b]})
                    for (const double phi : {phis[a], (phis[a] + phis[b]) / 2, phis[b]})
                        scan.add(theta, phi, 0.7);
                const CubePatch patch = cube.patch(thetas[a], thetas[b], phis[a], phis[b]);
                Cube part({cube.n_planes(), patch.row_end - patch.row, patch.column_end - patch.column});
                for (std::int64_t f = 0; f < part.extent(0); ++f)
                    for (std::int64_t r = 0; r < part.extent(1); ++r)
                        for (std::int64_t c = 0; c < part.extent(2); ++c)
                            part(f, r, c) = samples(f, patch.row + r, patch.column + c);
                std::vector<double> signal(static_cast<std::size_t>(scan.size()));
                cube.scan<double>(part.view(), patch.row, patch.column, line(scan.theta), line(scan.phi),
                                  line(scan.psi), {signal.data(), {scan.size()}});
                EXPECT_EQ(signal, scanned(cube, samples, scan)) << error << ", " << a << ", " << b;
            }
        EXPECT_EQ(cube.patch(0, pi, 0, 2 * pi), (CubePatch{0, cube.n_rows(), 0, cube.n_columns()}));
    }
}

TEST(BeamCube, RefusesWhatIsNotThere) {
    using ::testing::HasSubstr;
    EXPECT_THAT(refusal([] { BeamCube(8, {}); }), HasSubstr("kmax = -1: must be from 0 to lmax = 8"));
    EXPECT_THAT(refusal([] { BeamCube(8, {.kmax = 9}); }), HasSubstr("kmax = 9"));
    EXPECT_THAT(refusal([] { BeamCube(-1, {.kmax = 0}); }), HasSubstr("lmax = -1: must be 0 or more"));
    EXPECT_THAT(refusal([] { BeamCube(8, {.kmax = 1, .half_wave_plate = true}); }),
                HasSubstr("half_wave_plate"));
    const BeamCube cube(8, {.kmax = 1, .threads = 1});
    EXPECT_THAT(refusal([&] { cube.patch(0, 4, 0, 1); }), HasSubstr("theta = 0 to 4: must ascend"));
    EXPECT_THAT(refusal([&] { cube.patch(1, 0.5, 0, 1); }), HasSubstr("theta = 1 to 0.5"));
    EXPECT_THAT(refusal([&] { cube.patch(0, 1, 0, 7); }), HasSubstr("phi = 0 to 7"));
    const Cube samples({3, cube.n_rows(), cube.n_columns()});
    const std::vector<double> one{1}, north{0};
    std::vector<double> signal(1);
    const auto scan = [&](const Cube& part, std::int64_t row, const std::vector<double>& theta) {
        return refusal([&] {
            cube.scan<double>(part.view(), row, 0, line(theta), line(one), line(one), {signal.data(), {1}});
        });
    };
    EXPECT_THAT(scan(samples, 1, one), HasSubstr("row = 1: must be from 0 to 0"));
    EXPECT_THAT(scan(Cube({2, cube.n_rows(), cube.n_columns()}), 0, one), HasSubstr("cube"));
    EXPECT_THAT(scan(Cube({3, cube.n_rows() - 9, cube.n_columns()}), 9, north), HasSubstr("pointing 0"));
    EXPECT_EQ(scan(samples, 0, north), "nothing");
}

}  // namespace
}  // namespace zonal::test
