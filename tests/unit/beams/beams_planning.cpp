#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <utility>

#include "beam_helpers.hpp"
#include "zonal/beams/elliptical.hpp"
#include "zonal/beams/planning.hpp"

namespace zonal::test {
namespace {

/// Costs of which one is 1 s and the others 0.
BeamCosts only(double BeamCosts::*one) {
    BeamCosts costs{0, 0, 0, 0, 0, 0, 0};
    costs.*one = 1;
    return costs;
}

struct Elliptical {
    BeamAlm beam =
        elliptical_beam({.lmax = 32, .fwhm = 0.25, .ellipticity = 1.2, .error = 1e-6, .threads = 1});
    AlmArray sky = random_alm(AlmLayout(32), 1, 1, 4);
    BeamOptions options{.error = 0.05, .n_pointings = 1000, .threads = 1};

    View<const Complex, 3> beams() const { return {beam.alm.data(), {1, 1, beam.layout.size()}}; }
    BeamChoice choose(BeamMethod method, const BeamCosts& costs = {}) const {
        return choose_beam_method<double>(beam.layout, beams(), sky.view()[0], options, method, costs);
    }
};

TEST(BeamPlanning, CountsWhatIsDone) {
    const Elliptical given;
    const BeamChoice harmonic = given.choose(BeamMethod::harmonic);
    ASSERT_TRUE(harmonic.harmonic);
    const auto n = static_cast<double>(harmonic.harmonic->samples().n_samples()),
               width = static_cast<double>(harmonic.harmonic->samples().width()),
               fields = static_cast<double>(harmonic.harmonic->n_fields());
    const BeamWork of_orders = work_of(*harmonic.harmonic);
    EXPECT_EQ(of_orders.fields, fields);
    EXPECT_EQ(of_orders.samples, fields * n * n / 2);
    EXPECT_EQ(of_orders.degrees, fields * std::pow(33, 3));
    EXPECT_EQ(of_orders.places, 1000);
    EXPECT_EQ(of_orders.values, 1000 * fields);
    EXPECT_EQ(of_orders.products, 1000 * fields * width * width);
    EXPECT_EQ(of_orders.displacements, 0);
    EXPECT_EQ(of_orders.fits, 0);
    const BeamChoice displaced = given.choose(BeamMethod::displaced);
    ASSERT_EQ(displaced.displaced.size(), 1U);
    const auto kernels = static_cast<double>(displaced.displaced[0].kernels().size());
    const BeamWork of_kernels = work_of(displaced.displaced);
    EXPECT_GT(kernels, 1);
    EXPECT_EQ(displaced.harmonic_seconds, std::numeric_limits<double>::infinity());  // not looked at
    EXPECT_EQ(of_kernels.fields, 1);
    EXPECT_EQ(of_kernels.places, 1000 * kernels);
    EXPECT_EQ(of_kernels.values, 1000 * kernels);
    EXPECT_EQ(of_kernels.displacements, 1000 * kernels);
    EXPECT_EQ(of_kernels.fits, 33);
}

TEST(BeamPlanning, TakesWhatCostsLess) {
    const Elliptical given;
    // One field rather than those of all orders: kernels. More points, which are displaced and fitted:
    // orders.
    for (const auto one : {&BeamCosts::degree, &BeamCosts::sample}) {
        const BeamChoice choice = given.choose(BeamMethod::automatic, only(one));
        EXPECT_EQ(choice.method, BeamMethod::displaced);
        EXPECT_FALSE(choice.harmonic);
        EXPECT_LT(choice.displaced_seconds, choice.harmonic_seconds);
    }
    for (const auto one : {&BeamCosts::place, &BeamCosts::displace, &BeamCosts::fit}) {
        const BeamChoice choice = given.choose(BeamMethod::automatic, only(one));
        EXPECT_EQ(choice.method, BeamMethod::harmonic);
        EXPECT_TRUE(choice.harmonic);
        EXPECT_TRUE(choice.displaced.empty());
    }
}

/// So that a machine has no other results for having a GPU, but for rounding.
TEST(BeamPlanning, OnAnyDeviceTakesWhatCostsLessOnTheCpu) {
    Elliptical given;
    given.options.device = Device::automatic();
    EXPECT_EQ(given.choose(BeamMethod::automatic, only(&BeamCosts::degree)).method, BeamMethod::displaced);
    const BeamChoice choice = given.choose(BeamMethod::automatic, only(&BeamCosts::place));
    ASSERT_TRUE(choice.harmonic);
    EXPECT_EQ(choice.harmonic->options().device, resolve_device(Device::automatic()));
}

TEST(BeamPlanning, KeepsTheErrorWhicheverItTakes) {
    const Elliptical given;
    const Scan scan = random_scan(200, 5);
    const auto wanted = by_turning(given.beam.layout, given.beam.alm.view(), given.sky, scan);
    const BeamChoice choice = given.choose(BeamMethod::displaced);
    const DisplacedConvolver& convolver = choice.displaced[0];
    BeamReport report;
    const View<const Complex, 1> sky(given.sky.data(), {given.sky.size()});
    const auto samples = convolver.make_samples<double>(sky, convolver.samples().all_rows(), &report);
    EXPECT_LE(report.bound, given.options.error);
    Tod tod({1, scan.size()});
    convolver.scan<double>(samples, scan.view(scan.theta)[0], scan.view(scan.phi)[0], scan.view(scan.psi)[0],
                           tod.view()[0]);
    for (std::int64_t i = 0; i < scan.size(); ++i)
        // The bound is of the rms, which the largest of 200 pointings is above.
        EXPECT_LE(std::abs(tod(0, i) - wanted[static_cast<std::size_t>(i)]), report.bound * largest_of(tod));
}

TEST(BeamPlanning, TakesOrdersWhereNoFitKeepsTheError) {
    Elliptical given;
    given.options.error = 1e-9;
    const BeamChoice choice = given.choose(BeamMethod::automatic, only(&BeamCosts::degree));
    EXPECT_EQ(choice.method, BeamMethod::harmonic);
    EXPECT_EQ(choice.displaced_seconds, std::numeric_limits<double>::infinity());
    EXPECT_NE(refusal([&] {
                  given.choose(BeamMethod::displaced);
              }).find("error = 1e-09: up to 8 displaced kernels reach"),
              std::string::npos);
}

TEST(BeamPlanning, TakesOrdersWhereKernelsHaveNoMeaning) {
    Elliptical without_integral;
    without_integral.beam.alm(0, 0) = 0;
    Elliptical of_nothing;
    of_nothing.sky(0, 0, 5) = std::numeric_limits<double>::quiet_NaN();
    Elliptical backwards;
    const AlmLayout all(32);
    Array<Complex, 2> turned({1, all.size()});
    rotate_alm<double>(backwards.beam.layout, backwards.beam.alm.view(), {.psi = 0, .theta = 3.1, .phi = 1},
                       all, turned.view(), {.threads = 1});
    backwards.beam = {all, std::move(turned), 0};
    for (const Elliptical* given : {&without_integral, &of_nothing, &backwards}) {
        EXPECT_EQ(given->choose(BeamMethod::automatic, only(&BeamCosts::degree)).method,
                  BeamMethod::harmonic);
        EXPECT_NE(refusal([&] { given->choose(BeamMethod::displaced); }).find("displaced kernels reach inf"),
                  std::string::npos);
    }
}

TEST(BeamPlanning, TakesOrdersForPolarisation) {
    const AlmLayout of_beam(12, 2);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(AlmLayout(12), 1, 3, 4);
    const auto choose = [&](BeamMethod method, bool plate) {
        return choose_beam_method<double>(of_beam, beam.view(), sky.view()[0],
                                          {.half_wave_plate = plate, .error = 0.1, .threads = 1}, method,
                                          only(&BeamCosts::degree));
    };
    EXPECT_EQ(choose(BeamMethod::automatic, false).method, BeamMethod::harmonic);
    EXPECT_EQ(choose(BeamMethod::automatic, true).method, BeamMethod::harmonic);
    EXPECT_NE(refusal([&] { choose(BeamMethod::displaced, false); }).find("T alone"), std::string::npos);
    EXPECT_NE(refusal([&] { choose(BeamMethod::displaced, true); }).find("half-wave plate"),
              std::string::npos);
}

}  // namespace
}  // namespace zonal::test
