// What a request leaves open, and how it is filled in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "planning/request.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal {
namespace {

using std::numbers::pi;
using testing::HasSubstr;
using testing::ThrowsMessage;
using enum ConvolutionMethod;
using enum ConvolutionReference;

ConvolutionRequest request_of(const RadialKernel& kernel = RadialKernel::gaussian(0.35)) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(16);
    request.kernel = kernel;
    request.threads = 1;
    return request;
}

ConvolutionOptions renormalizing(double threshold = 0.3) {
    ConvolutionOptions options;
    options.mask.mode = MaskMode::renormalize;
    options.mask.threshold = threshold;
    return options;
}

ConvolutionOptions counting() {
    ConvolutionOptions options;
    options.keep_counts = true;
    return options;
}

TEST(CompletedRequests, TheReferenceIsContinuousForWindowsAndHarmonicSpace) {
    const auto profile = RadialKernel::from_profile({0, 0.3, 0.6}, {1, 0.5, 0});
    const auto reference = [](ConvolutionMethod method, const RadialKernel& kernel, bool has_spin = false) {
        auto request = request_of(kernel);
        request.method = method;
        if (has_spin) request.polarization = PolarizationKernel::gaussian(0.35);
        return default_reference(request);
    };
    for (const auto& window : {RadialKernel::gaussian(0.35), RadialKernel::from_window({1, 0.5, 0.1})})
        EXPECT_EQ(reference(automatic, window), continuous);
    EXPECT_EQ(reference(automatic, profile), discrete);
    EXPECT_EQ(reference(automatic, profile, true), continuous);
    EXPECT_EQ(reference(harmonic, profile), continuous);
    for (const auto method : {pixel_sum, ring_fft, split})
        for (const bool has_spin : {false, true})
            EXPECT_EQ(reference(method, RadialKernel::gaussian(0.35), has_spin), discrete);
    EXPECT_EQ(to_string(discrete), "discrete");
    EXPECT_EQ(to_string(continuous), "continuous");
}

TEST(CompletedRequests, FillsInWhatIsOpenAndNothingElse) {
    auto request = request_of();
    auto complete = completed(request);
    EXPECT_EQ(*complete.reference, continuous);
    EXPECT_EQ(complete.lmax, certified_lmax(request));
    EXPECT_TRUE(complete.consider_harmonic);
    auto like = request;
    like.reference = continuous;
    like.lmax = complete.lmax;
    EXPECT_EQ(*complete.gain, gain_of_noise(like));
    request.reference = discrete;
    complete = completed(request);
    EXPECT_EQ(complete.lmax, default_smoothing_lmax(request.grid));
    EXPECT_TRUE(complete.consider_harmonic);
    EXPECT_EQ(completed(request, counting()).consider_harmonic, false);
    EXPECT_EQ(completed(request, renormalizing()).consider_harmonic, false);
    like.reference = discrete;
    like.lmax = complete.lmax;
    EXPECT_EQ(*completed(request, renormalizing()).gain,
              effective_gain(like, renormalizing(), gain_of_noise(like, renormalizing())));
    request.reference = continuous;
    EXPECT_TRUE(completed(request, renormalizing()).consider_harmonic);
    request.reference.reset();
    EXPECT_EQ(*completed(request, counting()).reference, discrete);
    for (const std::int64_t lmax : {0, 5, 60}) {
        request.lmax = lmax;
        request.gain = 0.25;
        EXPECT_EQ(completed(request).lmax, lmax);
        EXPECT_EQ(*completed(request).gain, 0.25);
    }
    // Q and U have no degree below 2, however little the kernel has.
    auto pairs = request_of();
    pairs.polarization = PolarizationKernel({0, 0, 1}, {0, 0, 1});
    pairs.gain = 0.1;
    EXPECT_EQ(completed(pairs).lmax, 2);
    pairs.grid = Grid::healpix(16);
    pairs.reference = discrete;
    EXPECT_EQ(completed(pairs).lmax, 47);
}

TEST(CompletedRequests, RefuseGainsThatNothingIsLeftOf) {
    auto request = request_of(RadialKernel::from_window(std::vector<double>(20, 1.0)));
    request.reference = discrete;
    for (const auto& options : {renormalizing(), counting()})
        EXPECT_THAT([&] { completed(request, options); },
                    ThrowsMessage<ErrorNotKept>(HasSubstr("no bound above 0")));
}

TEST(CertifiedLmax, IsTheLeastOfGridsKernelAndError) {
    auto request = request_of(RadialKernel::gaussian(0.01));
    EXPECT_EQ(certified_lmax(request), 38);  // 2.4 nside
    request.grid_out = Grid::healpix(8);
    EXPECT_EQ(certified_lmax(request), 23);  // 3 nside - 1
    request.grid_out = Grid::healpix(32);
    EXPECT_EQ(certified_lmax(request), 38);
    request.grid_out.reset();
    std::vector<double> window(20, 1.0);
    request.kernel = RadialKernel::from_window(window);
    EXPECT_EQ(certified_lmax(request), 19);
    request.polarization = PolarizationKernel(std::vector<double>(15, 1.0), std::vector<double>(25, 1.0));
    EXPECT_EQ(certified_lmax(request), 24);
    request.polarization.reset();
    // Up to where a tenth of the error is left of the largest value.
    for (std::size_t l = 0; l < window.size(); ++l) window[l] = -std::pow(10, -static_cast<double>(l) / 4);
    request.kernel = RadialKernel::from_window(window);
    request.error = 1.01e-2;
    EXPECT_EQ(certified_lmax(request), 11);
    request.error = 0.99e-2;
    EXPECT_EQ(certified_lmax(request), 12);
    // A grid that certifies nothing leaves what it resolves.
    auto part = request_of(RadialKernel::gaussian(0.01));
    part.grid = Grid::equidistant_cylindrical(12, 24);
    EXPECT_EQ(certified_lmax(part), certifiable_lmax(part.grid) < 0 ? default_smoothing_lmax(part.grid)
                                                                    : certifiable_lmax(part.grid));
}

/// Sums K(theta) w over all pixels around those next to a pole, where caps end, and between, and compares
/// them with the integral of what is summed.
double plain_defect(const ConvolutionRequest& request, std::int64_t nside) {
    const auto* kernel = request.polarization ? request.polarization->plus() : &request.kernel;
    const double pixel = std::sqrt(pi / 3) / static_cast<double>(nside);
    const auto near = kernel->truncated(std::min({20 * pixel, kernel->support(), pi}));
    double largest = 0, scale = 0;
    for (const auto& window : planning::windows_of(request, 4 * nside))
        for (const double value : window) scale = std::max(scale, std::abs(value));
    const auto n_pixels = 12 * nside * nside;
    for (const std::int64_t ring : {std::int64_t{0}, nside / 2, nside - 1, 3 * nside / 2, 2 * nside - 1}) {
        const auto a = healpix::pix2ang(nside, healpix::Order::ring, healpix::ring(nside, ring).first_pixel);
        double sum = 0;
        for (std::int64_t other = 0; other < n_pixels; ++other) {
            const auto b = healpix::pix2ang(nside, healpix::Order::ring, other);
            const double square =
                std::pow(std::sin((a.theta - b.theta) / 2), 2) +
                std::sin(a.theta) * std::sin(b.theta) * std::pow(std::sin((a.phi - b.phi) / 2), 2);
            const double theta = 2 * std::asin(std::sqrt(std::min(1.0, square)));
            if (theta <= near.support()) sum += near.profile(theta) * pixel * pixel;
        }
        largest = std::max(largest, std::abs(sum - near.window(0)[0]));
    }
    return largest / scale;
}

TEST(DefectOfSums, IsTheLargestOfFiveRings) {
    for (const std::int64_t nside : {2, 5, 8})
        for (const double fwhm : {0.3, 0.7, 1.2}) {  // pixels
            const double pixel = std::sqrt(pi / 3) / static_cast<double>(nside);
            auto request = request_of(RadialKernel::gaussian(fwhm * pixel).scaled(-3));
            EXPECT_NEAR(planning::defect_of_sums(request, nside) / plain_defect(request, nside), 1, 1e-6)
                << nside << ", " << fwhm;
            request.polarization = PolarizationKernel::gaussian(2 * fwhm * pixel);
            EXPECT_NEAR(planning::defect_of_sums(request, nside) / plain_defect(request, nside), 1, 1e-6)
                << nside << ", " << fwhm;
        }
    // Of E alone there is a part without a peak as well; of nothing, nothing.
    auto request = request_of(RadialKernel::from_window({0, 0, 0}));
    EXPECT_EQ(planning::defect_of_sums(request, 4), 0);
}

TEST(DefectOfSums, OfMoreThanAFifthAreRefused) {
    const double pixel = std::sqrt(pi / 3) / 16;
    // Where the defect is a fifth, in pixels.
    double low = 0.4, high = 1.5;
    for (int i = 0; i < 30; ++i) {
        const double middle = (low + high) / 2;
        (planning::defect_of_sums(request_of(RadialKernel::gaussian(middle * pixel)), 16) > 0.2 ? low
                                                                                                : high) =
            middle;
    }
    auto wide = request_of(RadialKernel::gaussian(1.01 * high * pixel)),
         narrow = request_of(RadialKernel::gaussian(0.99 * low * pixel));
    wide.reference = narrow.reference = discrete;
    EXPECT_NO_THROW(completed(wide));
    EXPECT_THAT([&] { completed(narrow); }, ThrowsMessage<InvalidArgument>(HasSubstr("is so narrow")));
    // These are none of their sums, or are divided by them.
    EXPECT_NO_THROW(completed(narrow, counting()));
    auto other = narrow;
    other.reference = continuous;
    EXPECT_NO_THROW(completed(other));
    other = narrow;
    other.method = split;
    EXPECT_NO_THROW(completed(other));
    other = narrow;
    other.grid = Grid::gauss_legendre(16, 32);
    EXPECT_NO_THROW(completed(other));
}

TEST(EndsWithStep, WhereAPartIsAboveRoundingAtItsEnd) {
    const auto has_step = [](const RadialKernel& kernel) {
        return planning::ends_with_step(request_of(kernel));
    };
    EXPECT_TRUE(has_step(RadialKernel::top_hat(0.5)));
    EXPECT_TRUE(has_step(RadialKernel::gaussian(0.3).truncated(0.3)));
    EXPECT_TRUE(has_step(RadialKernel::gaussian(0.3).truncated(0.3).scaled(-1)));
    EXPECT_FALSE(has_step(RadialKernel::gaussian(0.3)));
    EXPECT_FALSE(has_step(RadialKernel::from_profile({0, 0.3, 0.6}, {1, 0.5, 0})));
    EXPECT_FALSE(has_step(RadialKernel::from_window({1, 1, 1})));  // goes on to the antipode
    auto request = request_of();
    std::vector<double> e(20, 1.0), b(20, 0.5);
    request.polarization = PolarizationKernel(e, b);
    EXPECT_FALSE(planning::ends_with_step(request));
    request.polarization = PolarizationKernel(e, b).truncated(0.4);
    EXPECT_TRUE(planning::ends_with_step(request));
    request.polarization = PolarizationKernel(e, e).truncated(0.4);
    EXPECT_TRUE(planning::ends_with_step(request));
}

TEST(RequestChecks, NameTheArgumentAndItsRange) {
    const auto refusal = [](auto change) {
        auto request = request_of();
        change(request);
        return [request] { planning::check(request); };
    };
    for (const double error : {0.0, -1.0, 1.0, std::nan("")})
        EXPECT_THAT(refusal([error](auto& r) { r.error = error; }),
                    ThrowsMessage<InvalidArgument>(HasSubstr("must be above 0 and below 1")));
    for (const double width : {-0.1, 3.2, std::nan("")}) {
        EXPECT_THAT(refusal([width](auto& r) { r.support = width; }),
                    ThrowsMessage<InvalidArgument>(HasSubstr("support")));
        EXPECT_THAT(refusal([width](auto& r) { r.theta_cut = width; }),
                    ThrowsMessage<InvalidArgument>(HasSubstr("theta_cut")));
    }
    EXPECT_THAT(refusal([](auto& r) { r.lmax = -2; }),
                ThrowsMessage<InvalidArgument>(HasSubstr("lmax = -2")));
    EXPECT_THAT(refusal([](auto& r) { r.n_maps = 0; }),
                ThrowsMessage<InvalidArgument>(HasSubstr("n_maps = 0")));
    for (const std::int64_t lmax : {0, 1})
        EXPECT_THAT(refusal([lmax](auto& r) {
                        r.lmax = lmax;
                        r.polarization = PolarizationKernel::gaussian(0.3);
                    }),
                    ThrowsMessage<InvalidArgument>(HasSubstr("must be 2 or more for Q and U")));
    const auto accepted = [](auto change) {
        auto request = request_of();
        change(request);
        planning::check(request);
    };
    for (const std::int64_t lmax : {-1, 0, 7}) EXPECT_NO_THROW(accepted([lmax](auto& r) { r.lmax = lmax; }));
    EXPECT_NO_THROW(accepted([](auto& r) { r.n_maps = 1; }));
    EXPECT_NO_THROW(accepted([](auto& r) { r.support = r.theta_cut = 3.1; }));
    EXPECT_NO_THROW(accepted([](auto& r) { r.error = 0.99; }));
    for (const std::int64_t lmax : {-1, 2})
        EXPECT_NO_THROW(accepted([lmax](auto& r) {
            r.lmax = lmax;
            r.polarization = PolarizationKernel::gaussian(0.3);
        }));
}

}  // namespace
}  // namespace zonal
