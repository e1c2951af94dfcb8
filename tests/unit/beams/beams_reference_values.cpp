#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "beam_helpers.hpp"

namespace zonal::test {
namespace {

/// b^T = (1 + i m) / (2 + l + m)^2, b^E = (2 - i m) / (3 + l + m)^2 for l >= 2, b^B = i b^E for m > 0.
AlmArray explicit_beam(const AlmLayout& layout) {
    AlmArray beam({1, 3, layout.size()});
    for (std::int64_t m = 0; m <= layout.mmax(); ++m)
        for (std::int64_t l = m; l <= layout.lmax(); ++l) {
            const auto x = static_cast<double>(l), y = static_cast<double>(m);
            const std::int64_t i = layout.index(l, m);
            beam(0, 0, i) = Complex(1, y) / ((2 + x + y) * (2 + x + y));
            if (l < 2) continue;
            beam(0, 1, i) = Complex(2, -y) / ((3 + x + y) * (3 + x + y));
            if (m > 0) beam(0, 2, i) = Complex(0, 1) * beam(0, 1, i);
        }
    return beam;
}

AlmArray explicit_sky(const AlmLayout& layout) {
    const AlmArray scalar = explicit_alm(layout, 0), tensor = explicit_alm(layout, 2);
    AlmArray sky({1, 3, layout.size()});
    for (std::int64_t i = 0; i < layout.size(); ++i) {
        sky(0, 0, i) = scalar(0, 0, i);
        sky(0, 1, i) = tensor(0, 0, i);
        sky(0, 2, i) = tensor(0, 1, i);
    }
    return sky;
}

// Values that explicit Wigner sums in 40 digits gave.
TEST(BeamReferenceValues, AreReached) {
    const AlmLayout layout(8), of_beam(8, 2);
    const BeamConvolver convolver(of_beam, explicit_beam(of_beam).view(),
                                  on_test_device({.error = 1e-13, .threads = 1}));
    Scan scan;
    scan.add(0.3, 1, 2);
    scan.add(1.5, 4, 0.5);
    scan.add(3, 6.2, 5);
    const Tod tod = scanned(convolver, explicit_sky(layout), scan);
    const double wanted[3] = {0.25696701110715752, 0.25985178177192422, 0.24559305571921512};
    // Rounding of five fields, each below 1: a few 1e-16 of each. A GPU has another window, and keeps the
    // error asked for, of signals below 1.
    const double error = test_device() == Device::cpu() ? 1e-14 : 1e-13;
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_LT(std::abs(tod(0, i) - wanted[i]), error) << i;
}

}  // namespace
}  // namespace zonal::test
