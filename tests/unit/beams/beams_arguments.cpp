#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "beam_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;

TEST(BeamArguments, OfConvolversAreChecked) {
    const AlmLayout of_beam(8, 2);
    AlmArray beam = random_teb(of_beam, 1, 3, 1), two({1, 2, of_beam.size()}), scalar({1, 1, of_beam.size()});
    const auto make = [&](const AlmArray& beams, const BeamOptions& options) {
        return refusal([&] { BeamConvolver(of_beam, beams.view(), options); });
    };
    EXPECT_THAT(make(beam, {.kmax = 3}), HasSubstr("kmax = 3: must be from 0 to that of the beams, 2"));
    EXPECT_THAT(make(beam, {.error = 1e-14}), HasSubstr("error = 1e-14: must be from 1e-13 to 0.1"));
    EXPECT_THAT(make(beam, {.error = std::nan("")}), HasSubstr("error = nan"));
    EXPECT_THAT(make(beam, {.n_pointings = -1}), HasSubstr("n_pointings = -1"));
    EXPECT_THAT(make(two, {}), HasSubstr("must be 1 (T) or 3 (T, E, B)"));
    EXPECT_THAT(make(scalar, {.half_wave_plate = true}), HasSubstr("half_wave_plate"));
    EXPECT_THAT(refusal([&] { BeamConvolver(AlmLayout(9, 2), beam.view(), {}); }),
                HasSubstr("beams: axis 2"));
    beam(0, 1, 4) = std::nan("");
    EXPECT_THAT(make(beam, {}), HasSubstr("beams[0, 1, 4]: must be finite"));
}

TEST(BeamArguments, OfPointingsAreChecked) {
    const AlmLayout of_beam(8, 2);
    const AlmArray beam = random_teb(of_beam, 1, 3, 1);
    const BeamConvolver convolver(of_beam, beam.view(), on_test_device({})),
        other(of_beam, beam.view(), on_test_device({})),
        plate(of_beam, beam.view(), on_test_device({.half_wave_plate = true}));
    Scan scan = random_scan(5, 1);
    const auto refused = [&](const Scan& s) { return refusal([&] { s.pointings(convolver); }); };
    const auto changed = [&](auto change) {
        Scan s = scan;
        change(s);
        return refused(s);
    };
    EXPECT_THAT(changed([](Scan& s) { s.theta[3] = 4; }),
                HasSubstr("theta = 4: must be from 0 to pi (point 3)"));
    EXPECT_THAT(changed([](Scan& s) { s.psi[2] = INFINITY; }),
                HasSubstr("psi = inf: must be finite (pointing 2)"));
    EXPECT_THAT(refusal([&] {
                    Pointings(convolver, scan.view(scan.theta), scan.view(scan.phi), scan.view(scan.psi),
                              scan.view(scan.hwp));
                }),
                HasSubstr("hwp: must not be given"));
    EXPECT_THAT(
        refusal([&] { Pointings(plate, scan.view(scan.theta), scan.view(scan.phi), scan.view(scan.psi)); }),
        HasSubstr("hwp: must be given"));
    const AlmArray sky = random_teb(AlmLayout(8), 1, 3, 1);
    const BeamPlanes planes = convolver.make_planes<double>(sky.view()[0]);
    Tod tod({1, 5}), short_tod({1, 4});
    EXPECT_THAT(refusal([&] { convolver.scan<double>(planes, scan.pointings(other), tod.view()); }),
                HasSubstr("pointings: are of another BeamConvolver"));
    EXPECT_THAT(refusal([&] { other.scan<double>(planes, scan.pointings(other), tod.view()); }),
                HasSubstr("planes: are of another BeamConvolver"));
    EXPECT_THAT(refusal([&] { convolver.scan<double>(planes, scan.pointings(convolver), short_tod.view()); }),
                HasSubstr("tod: axis 1 (pointing)"));
    EXPECT_THAT(refusal([&] { convolver.make_planes<double>(sky.view()[0].slice(0, 2)); }),
                HasSubstr("sky: axis 0 (component)"));
    const Scan none;
    Tod empty({1, 0});
    convolver.scan<double>(planes, none.pointings(convolver), empty.view());
}

}  // namespace
}  // namespace zonal::test
