// What arguments of a splitter may be, up to the bounds themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/split.hpp"
#include "zonal/window.hpp"

namespace zonal::test {
namespace {

KernelSplitOptions options_of_one_radian() {
    KernelSplitOptions options;
    options.theta_cut = 1;
    options.threads = 1;
    return options;
}

TEST(KernelSplitter, TakesArgumentsUpToTheirBounds) {
    const auto kernel = gaussian_window(0.1, 8);  // the fewest degrees
    struct Number {
        double KernelSplitOptions::*member;
        std::vector<double> taken, refused;
    };
    using Options = KernelSplitOptions;
    for (const auto& [member, taken, refused] :
         {Number{&Options::alpha, {1e-3, 1e3}, {0, HUGE_VAL, std::nan("")}},
          {&Options::cutoff, {1e-15, 0.999999}, {0.9e-15, 1}},
          {&Options::max_amplification, {1e-9, HUGE_VAL}, {0, std::nan("")}},
          {&Options::leakage_weight, {1e-3, 1}, {0, 1.0001}},
          {&Options::spectrum_beyond, {0, 1e3}, {-1e-9, HUGE_VAL}},
          {&Options::max_leakage, {0, HUGE_VAL}, {-1e-9}},
          {&Options::knot_density, {1, 100}, {0.999, 100.1}},
          {&Options::theta_cut, {std::numbers::pi}, {3.15}}}) {
        const auto with = [&, member = member](double value) {
            auto options = options_of_one_radian();
            options.*member = value;
            KernelSplitter splitter(kernel, options);
        };
        for (const double value : taken) EXPECT_NO_THROW(with(value)) << value;
        for (const double value : refused) EXPECT_THROW(with(value), InvalidArgument) << value;
    }
    auto options = options_of_one_radian();
    EXPECT_THROW(KernelSplitter(gaussian_window(0.1, 7), options), InvalidArgument);
    for (const int spin : {0, 1, 2, 3}) {
        options.spin = spin;
        if (spin % 2 == 0) {
            EXPECT_NO_THROW(KernelSplitter(kernel, options)) << spin;
        } else
            EXPECT_THROW(KernelSplitter(kernel, options), InvalidArgument) << spin;
    }
    options.spin = 0;
    for (const std::int64_t n : {6, 7, 4097}) {
        options.n_intervals = n;
        if (n == 7) {
            EXPECT_EQ(KernelSplitter(kernel, options).options().n_intervals, 7);
        } else
            EXPECT_THROW(KernelSplitter(kernel, options), InvalidArgument) << n;
    }
    // One and a half knots for each half wave of the highest degree, pi / (lmax + 1).
    options.n_intervals = 0;
    EXPECT_EQ(KernelSplitter(gaussian_window(0.1, 99), options).options().n_intervals, 48);
    const KernelSplitter splitter(kernel, options);
    EXPECT_NO_THROW(splitter.quality(0));
    EXPECT_NO_THROW(splitter.quality(7));
    EXPECT_THROW(splitter.quality(8), InvalidArgument);
    EXPECT_THROW(splitter.quality(-1), InvalidArgument);
    for (const std::int64_t neighbourhood : {0, 1000}) EXPECT_NO_THROW(splitter.find_l_cut(1, neighbourhood));
    for (const std::int64_t neighbourhood : {-1, 1001})
        EXPECT_THROW(splitter.find_l_cut(1, neighbourhood), InvalidArgument);
    // A spectrum may be 0, but must be a number.
    options.input_spectrum.assign(9, 1.0);
    options.input_spectrum[3] = 0;
    EXPECT_NO_THROW(KernelSplitter(kernel, options));
    options.input_spectrum[3] = HUGE_VAL;
    EXPECT_THROW(KernelSplitter(kernel, options), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
