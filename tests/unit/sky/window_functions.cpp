#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/smoothing.hpp"
#include "zonal/window.hpp"

// Gaussian beams, lengths of windows, quotients, and the parts of a smoothing window.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double degree = std::numbers::pi / 180;

TEST(GaussianWindow, AgreesWithHealpy) {
    // healpy 1.20.1, gauss_beam(1.5 deg, lmax=40, pol=True)
    struct Row {
        std::int64_t l;
        double temperature, polarisation;
    };
    const auto t = gaussian_window(1.5 * degree, 40), p = gaussian_window(1.5 * degree, 40, 2);
    for (const Row& row :
         {Row{2, 0.9996292658918743, 0.9998764066892809}, Row{10, 0.9932250022902872, 0.9934705597458817},
          Row{40, 0.9036142012761985, 0.9038376040334719}}) {
        EXPECT_NEAR(t[row.l], row.temperature, 4 * eps);
        EXPECT_NEAR(p[row.l], row.polarisation, 4 * eps);
    }
    EXPECT_EQ(t[0], 1);
    EXPECT_EQ(p[2] / t[2], std::exp(2 * std::pow(1.5 * degree, 2) / (8 * std::numbers::ln2)));
}

TEST(GaussianWindow, OfSpinHasNoLowerDegrees) {
    const auto window = gaussian_window(0.1, 5, 2);
    EXPECT_EQ(window[0], 0);
    EXPECT_EQ(window[1], 0);
}

TEST(GaussianWindow, RejectsFwhmThatIsNotPositive) {
    for (const double fwhm : {0.0, -1.0, std::nan(""), HUGE_VAL})
        EXPECT_THROW(gaussian_window(fwhm, 5), InvalidArgument) << fwhm;
}

TEST(FitLength, CutsWhatIsTooLong) {
    EXPECT_EQ(fit_length({1, 2, 3}, 1, Extension::none, "beam"), (std::vector<double>{1, 2}));
}

TEST(FitLength, RejectsShortWindowsWithoutExtension) {
    EXPECT_THAT(
        [] {
            fit_length({1, 2, 3}, 5, Extension::none, "beam");
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("beam: ends at l = 2, lmax = 5")));
}

TEST(FitLength, ExtendsByZero) {
    EXPECT_EQ(fit_length({1, 2}, 3, Extension::zero, "beam"), (std::vector<double>{1, 2, 0, 0}));
}

TEST(FitLength, ContinuesPowerLaws) {
    std::vector<double> values(1000);
    for (int l = 1; l < 1000; ++l) values[l] = -3 * std::pow(l, -2.5);
    const auto longer = fit_length(values, 4000, Extension::powerlaw, "C_l");
    // The fit's rounding, about eps * ln l * 400, grows with ln(4000/800) by the slope's error.
    for (const int l : {1000, 2000, 4000}) EXPECT_NEAR(longer[l] / (-3 * std::pow(l, -2.5)), 1, 1e-11);
}

TEST(FitLength, ContinuesThePowerLawThroughTwoValues) {
    // l = 0 has no logarithm. Those of the others, up to ln 16, and their sums round by some eps.
    const auto longer = fit_length({7, 16, 2}, 6, Extension::powerlaw, "C_l");
    for (const int l : {3, 4, 6}) EXPECT_NEAR(longer[l] / (16 * std::pow(l, -3)), 1, 16 * eps) << l;
    EXPECT_THROW(fit_length({7, 16}, 6, Extension::powerlaw, "C_l"), InvalidArgument);
}

TEST(FitLength, RejectsPowerLawsOfChangingSign) {
    EXPECT_THROW(fit_length({1, 1, -1, 1}, 5, Extension::powerlaw, "beam"), InvalidArgument);
    EXPECT_THROW(fit_length({1, 1, 1, 0}, 5, Extension::powerlaw, "beam"), InvalidArgument);
    EXPECT_THROW(fit_length({1}, 5, Extension::powerlaw, "beam"), InvalidArgument);
}

TEST(Divide, BoundsTheDivisorByTheFloor) {
    const Beam one = uniform_beam({1, 1, 1, 1});
    const Beam quotient = divide(one, uniform_beam({1, 0.5, 0.01, -0.01}), 0.1);
    EXPECT_EQ(quotient.temperature, (std::vector<double>{1, 2, 10, -10}));
    EXPECT_EQ(quotient.gradient, (std::vector<double>{0, 0, 10, -10}));
}

TEST(Divide, RejectsZeroWithoutFloor) {
    const Beam one = uniform_beam({1, 1, 1, 1});
    EXPECT_THAT(
        [&] {
            divide(one, uniform_beam({1, 1, 1, 0}), 0);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("l = 3")));
    EXPECT_THROW(divide(one, one, -1), InvalidArgument);
}

TEST(SmoothingWindow, MultipliesAndDividesItsParts) {
    const std::int64_t lmax = 6;
    SmoothingWindow window;
    window.fwhm = 0.5;
    window.fwhm_in = 0.3;
    window.beam = uniform_beam(std::vector<double>(7, 0.5));
    window.pixel_window_in = uniform_beam(std::vector<double>(9, 0.8));
    const Beam beam = evaluate(window, lmax);
    for (std::int64_t l = 0; l <= lmax; ++l) {
        const double want = gaussian_window(0.5, lmax)[l] * 0.5 / (gaussian_window(0.3, lmax)[l] * 0.8);
        EXPECT_NEAR(beam.temperature[l], want, 4 * eps);
    }
    EXPECT_NEAR(beam.curl[4], gaussian_window(0.5, 6, 2)[4] * 0.5 / (gaussian_window(0.3, 6, 2)[4] * 0.8),
                4 * eps);
}

TEST(SmoothingWindow, RejectsWhatHasNoMeaning) {
    EXPECT_THROW(evaluate({}, 5), InvalidArgument);
    SmoothingWindow window;
    window.fwhm = 0.1;
    window.floor = 0.1;
    EXPECT_THROW(evaluate(window, 5), InvalidArgument);
    window.floor = 0;
    window.beam = uniform_beam({1, 1});
    EXPECT_THAT([&] { evaluate(window, 5); },
                ThrowsMessage<InvalidArgument>(HasSubstr("beam (temperature): ends at")));
}

TEST(ApplyBeam, TakesTheWindowOfEachComponent) {
    const AlmLayout layout(2);
    const Beam beam{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    for (const std::int64_t components : {1, 2, 3}) {
        Array<Complex, 2> alm({components, layout.size()});
        for (auto& a : alm) a = {1, 1};
        apply_beam<double>(layout, beam, alm.view());
        const auto at = layout.index(2, 1);
        EXPECT_EQ(alm(0, at), components == 2 ? Complex(6, 6) : Complex(3, 3));
        EXPECT_EQ(alm(components - 1, at), components == 1 ? Complex(3, 3) : Complex(9, 9));
        if (components == 3) {
            EXPECT_EQ(alm(1, at), Complex(6, 6));
        }
    }
}

}  // namespace
}  // namespace zonal::test
