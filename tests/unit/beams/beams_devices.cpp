#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "beam_helpers.hpp"
#include "zonal/beams/cube.hpp"
#include "zonal/beams/planning.hpp"
#include "zonal/buffer.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;

/// What the work is refused with for want of a device.
template <class Work>
std::string unavailable(const Work& work) {
    try {
        work();
    } catch (const BackendUnavailable& e) {
        return e.what();
    }
    return "nothing";
}

/// A row of numbers in the memory of the tests' device.
template <class T>
class RowThere {
  public:
    explicit RowThere(const std::vector<T>& row)
        : size_(std::ssize(row)), memory_(test_device(), size_ * static_cast<std::int64_t>(sizeof(T))) {
        memory_.copy_from(row.data());
    }
    View<T, 2> view() const { return memory_.view<T, 2>({1, size_}); }
    std::vector<T> row() const {
        std::vector<T> here(static_cast<std::size_t>(size_));
        memory_.copy_to(here.data());
        return here;
    }

  private:
    std::int64_t size_;
    Buffer memory_;
};

template <class T>
View<T, 2> row_of(std::vector<T>& row) {
    return {row.data(), {1, std::ssize(row)}};
}

/// A sky and a beam behind a half-wave plate.
struct Plate {
    AlmLayout layout{24}, of_beam{24, 3};
    AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    BeamConvolver convolver{of_beam, beam.view(), on_test_device({.half_wave_plate = true, .threads = 2})};
    BeamPlanes planes = convolver.make_planes<double>(sky.view()[0]);
    Scan scan = random_scan(1000, 5);

    template <class T>
    AlmArray back(const Pointings& pointings, View<const T, 2> tod) const {
        Array<std::complex<T>, 2> made({3, layout.size()});
        convolver.adjoint<T>(pointings, tod, made.view());
        AlmArray wide({1, 3, layout.size()});
        std::transform(made.begin(), made.end(), wide.begin(), [](const auto& a) { return Complex(a); });
        return wide;
    }
};

template <class T>
void expect_arrays_of_the_device_are_those_of_the_host() {
    const Plate of;
    const Pointings here = of.scan.pointings(of.convolver);
    std::vector<T> signal(of.scan.theta.size());
    of.convolver.scan<T>(of.planes, here, row_of(signal));
    const RowThere<double> theta(of.scan.theta), phi(of.scan.phi), psi(of.scan.psi), hwp(of.scan.hwp);
    const Pointings there(of.convolver, theta.view(), phi.view(), psi.view(), hwp.view());
    const RowThere<T> tod(std::vector<T>(signal.size(), T{-1}));
    of.convolver.scan<T>(of.planes, there, tod.view());
    EXPECT_EQ(tod.row(), signal);
    const AlmArray wanted = of.back<T>(here, row_of(signal)), found = of.back<T>(there, tod.view());
    EXPECT_TRUE(std::equal(found.begin(), found.end(), wanted.begin()));
}

TEST(BeamDevices, TakeArraysInTheirMemory) {
    expect_arrays_of_the_device_are_those_of_the_host<double>();
    expect_arrays_of_the_device_are_those_of_the_host<float>();
}

TEST(BeamDevices, TakeRowsWithStrides) {
    const Plate of;
    const std::int64_t n = of.scan.size();
    const auto apart = [&](const std::vector<double>& row) {
        std::vector<double> twice(2 * row.size(), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t i = 0; i < row.size(); ++i) twice[2 * i] = row[i];
        return twice;
    };
    const auto strided = [&](auto& row) {
        return View<std::remove_pointer_t<decltype(row.data())>, 2>(row.data(), {1, n}, {0, 2});
    };
    const auto theta = apart(of.scan.theta), phi = apart(of.scan.phi), psi = apart(of.scan.psi),
               hwp = apart(of.scan.hwp);
    const Pointings pointings(of.convolver, strided(theta), strided(phi), strided(psi), strided(hwp));
    std::vector<double> tod(of.scan.theta.size()), wide(2 * tod.size(), -1);
    of.convolver.scan<double>(of.planes, of.scan.pointings(of.convolver), row_of(tod));
    of.convolver.scan<double>(of.planes, pointings, strided(wide));
    for (std::size_t i = 0; i < tod.size(); ++i) {
        EXPECT_EQ(wide[2 * i], tod[i]);
        EXPECT_EQ(wide[2 * i + 1], -1);
    }
    const auto given = apart(tod);
    const AlmArray wanted = of.back<double>(pointings, row_of(tod)),
                   found = of.back<double>(pointings, strided(given));
    EXPECT_TRUE(std::equal(found.begin(), found.end(), wanted.begin()));
}

TEST(BeamDevices, NameAnglesInTheirMemoryThatAreNotFinite) {
    const Plate of;
    std::vector<double> wrong = of.scan.psi;
    wrong[7] = std::nan("");
    wrong[600] = INFINITY;
    const RowThere<double> theta(of.scan.theta), phi(of.scan.phi), psi(of.scan.psi), bad(wrong);
    EXPECT_THAT(refusal([&] { Pointings(of.convolver, theta.view(), phi.view(), bad.view(), psi.view()); }),
                HasSubstr("psi = nan: must be finite (pointing 7)"));
    EXPECT_THAT(refusal([&] { Pointings(of.convolver, theta.view(), phi.view(), psi.view(), bad.view()); }),
                HasSubstr("hwp = nan: must be finite (pointing 7)"));
}

/// Signals are sums of more fields than are interpolated at once.
TEST(BeamDevices, AddUpFieldsOfManyDetectors) {
    const std::int64_t detectors = 9, n = 300;
    const AlmLayout layout(16), of_beam(16, 6);
    const AlmArray beams = random_teb(of_beam, detectors, 1, 3), sky = random_teb(layout, 1, 1, 4);
    const Scan scan = random_scan(n, 5), turns = random_scan(detectors * n, 6);
    const auto made = [&](const BeamOptions& options) {
        const BeamConvolver convolver(of_beam, beams.view(), options);
        const Pointings pointings(convolver, scan.view(scan.theta), scan.view(scan.phi),
                                  {turns.psi.data(), {detectors, n}});
        Tod tod({detectors, n});
        convolver.scan<double>(convolver.make_planes<double>(sky.view()[0]), pointings, tod.view());
        return tod;
    };
    const double error = 1e-9;
    const Tod wanted = made({.error = error, .threads = 1}),
              found = made(on_test_device({.error = error, .threads = 1}));
    for (std::int64_t i = 0; i < wanted.size(); ++i)
        // The error asked for of both, of the largest signal anywhere: below twice that of 300 of each
        // detector.
        EXPECT_NEAR(found.data()[i], wanted.data()[i], 4 * error * largest_of(wanted));
}

TEST(BeamDevices, OfKernelsAndCubesAreTheCpu) {
    const AlmLayout of_beam(32, 4);
    AlmArray beam({1, 1, of_beam.size()});
    beam(0, 0, 0) = 1;
    const AlmArray sky = random_alm(AlmLayout(32), 1, 1, 4);
    const auto choose = [&](Device device) {
        return choose_beam_method<double>(of_beam, beam.view(), sky.view()[0],
                                          {.error = 0.1, .threads = 1, .device = device},
                                          BeamMethod::displaced);
    };
    EXPECT_THAT(unavailable([&] { choose(Device::cuda()); }),
                HasSubstr("device = cuda:0: the method displaced runs on the CPU: must be cpu"));
    EXPECT_FALSE(choose(Device::automatic()).displaced.empty());
    EXPECT_THAT(unavailable([&] { BeamCube(8, {.kmax = 2, .device = Device::cuda()}); }),
                HasSubstr("device = cuda:0: BeamCube runs on the CPU: must be cpu"));
    EXPECT_EQ(BeamCube(8, {.kmax = 2, .device = Device::automatic()}).n_planes(), 5);
}

}  // namespace
}  // namespace zonal::test
