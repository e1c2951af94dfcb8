#include "zonal/split_convolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

#include "compare.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/window.hpp"

// Maps of spin 0, and of Q and U, convolved with a kernel in two parts.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t lmax = 96;

/// Steep at low l and a beam, as the sky's; it fades away by lmax.
std::vector<double> kernel_window() {
    auto window = gaussian_window(0.09, lmax);
    for (std::int64_t l = 0; l <= lmax; ++l) window[l] /= static_cast<double>(l + 1);
    return window;
}

/// White noise of unit variance has C_l = 4 pi / n_pixels.
double rms_of_convolved_noise(int spin, std::int64_t n_pixels) {
    const auto window = kernel_window();
    double power = 0;
    for (std::int64_t l = spin; l <= lmax; ++l)
        power += static_cast<double>(2 * l + 1) * window[l] * window[l] / static_cast<double>(n_pixels);
    return std::sqrt(power);
}

KernelSplit make_split(int spin, std::int64_t l_cut) {
    KernelSplitOptions options;
    options.spin = spin;
    options.theta_cut = 0.5;
    options.threads = 1;
    return KernelSplitter(kernel_window(), options).split(l_cut);
}

/// [map, component, pixel]
template <class T>
Array<T, 3> noise(int spin, std::int64_t n_maps, std::int64_t n_pixels) {
    std::mt19937 generator(3);
    std::normal_distribution<double> normal;
    Array<T, 3> maps({n_maps, spin == 0 ? 1 : 2, n_pixels});
    for (T& value : maps) value = static_cast<T>(normal(generator));
    return maps;
}

/// The sum over the pixels with the whole kernel: its window on the quadrature alm.
Array<double, 3> whole(int spin, const Grid& grid, const Array<double, 3>& maps) {
    const ShtPlan plan(grid, {.lmax = lmax, .spin = spin, .threads = 1, .device = Device::cpu()});
    Array<double, 3> result(maps.extents());
    Array<std::complex<double>, 3> alm({maps.extent(0), maps.extent(1), plan.layout().size()});
    plan.quadrature<double>(maps.view(), alm.view());
    for (std::int64_t map = 0; map < maps.extent(0); ++map)
        for (std::int64_t c = 0; c < maps.extent(1); ++c)
            multiply_alm<double>(plan.layout(), kernel_window(), alm.view()[map][c]);
    plan.synthesize<double>(std::as_const(alm).view(), result.view());
    return result;
}

SplitConvolutionOptions on_the_cpu(double accuracy = 1e-9) {
    SplitConvolutionOptions options;
    options.accuracy = accuracy;
    options.pixel_device = options.harmonic_device = Device::cpu();
    options.threads = 2;
    return options;
}

template <class Spin>
class SplitConvolution : public ::testing::Test {
  protected:
    static constexpr int spin = Spin::value;
    using Plan = std::conditional_t<spin == 0, SplitConvolutionPlan, PolarizationSplitConvolutionPlan>;

    template <class T>
    static SplitConvolutionSeconds convolve(const Plan& plan, const Array<T, 3>& maps, Array<T, 3>& result) {
        if constexpr (spin == 0) {
            const std::array<std::int64_t, 2> extents{maps.extent(0), maps.extent(2)};
            return plan.template convolve<T>({maps.data(), extents}, {result.data(), extents});
        } else {
            return plan.template convolve<T>(maps.view(), result.view());
        }
    }
};
using Spins = ::testing::Types<std::integral_constant<int, 0>, std::integral_constant<int, 2>>;
TYPED_TEST_SUITE(SplitConvolution, Spins);

TYPED_TEST(SplitConvolution, IsTheSumOverPixelsWithinItsEstimate) {
    const auto grid = Grid::healpix(48);
    const auto maps = noise<double>(this->spin, 1, grid.n_pixels());
    const auto expected = whole(this->spin, grid, maps);
    // Of all skies: that of this one scatters by 8 %, as a few low degrees have most of it.
    const double expected_rms = rms_of_convolved_noise(this->spin, grid.n_pixels());
    for (const std::int64_t l_cut : {0, 6, 20, 50}) {
        const auto split = make_split(this->spin, l_cut);
        Array<double, 3> convolved(maps.extents());
        const auto seconds =
            this->convolve(typename TestFixture::Plan(grid, split, on_the_cpu()), maps, convolved);
        EXPECT_GT(seconds.pixels, 0);
        EXPECT_GT(seconds.harmonic, 0);
        // Window and leakage make the error. It is spread over at least the 169 modes of l <= 12, so its rms
        // scatters by 1 / sqrt(2 * 169) from sky to sky, of which three are allowed; the profile's table adds
        // 1e-8.
        const double estimate = std::hypot(split.actual_error, split.quality.leakage);
        const double scatter = 1 / std::sqrt(2 * 169.0);
        EXPECT_LE(rms_difference(convolved, expected), ((1 + 3 * scatter) * estimate + 1e-8) * expected_rms)
            << l_cut;
    }
}

TYPED_TEST(SplitConvolution, InSinglePrecisionAddsRounding) {
    const auto grid = Grid::healpix(32);
    const auto maps = noise<double>(this->spin, 1, grid.n_pixels());
    const auto single = noise<float>(this->spin, 1, grid.n_pixels());
    const auto split = make_split(this->spin, 20);
    auto options = on_the_cpu();
    Array<double, 3> expected(maps.extents());
    this->convolve(typename TestFixture::Plan(grid, split, options), maps, expected);
    options.precision = Precision::float32;
    Array<float, 3> convolved(maps.extents());
    this->convolve(typename TestFixture::Plan(grid, split, options), single, convolved);
    EXPECT_LE(relative_rms(convolved, expected), 1e-6);
}

TYPED_TEST(SplitConvolution, SumsOverPixelsAreOfTheAccuracyAsked) {
    const auto grid = Grid::healpix(32);
    const auto maps = noise<double>(this->spin, 1, grid.n_pixels());
    const auto split = make_split(this->spin, 20);
    Array<double, 3> fine(maps.extents()), coarse(maps.extents());
    this->convolve(typename TestFixture::Plan(grid, split, on_the_cpu()), maps, fine);
    this->convolve(typename TestFixture::Plan(grid, split, on_the_cpu(1e-3)), maps, coarse);
    const double difference = relative_rms(coarse, fine);
    EXPECT_LE(difference, 1e-3);
    EXPECT_GT(difference, 1e-9);
}

TYPED_TEST(SplitConvolution, BatchesAreAsOneByOne) {
    const auto grid = Grid::healpix(16);
    const auto maps = noise<double>(this->spin, 3, grid.n_pixels());
    const typename TestFixture::Plan plan(grid, make_split(this->spin, 30), on_the_cpu());
    Array<double, 3> together(maps.extents()), alone({1, maps.extent(1), maps.extent(2)}),
        one(alone.extents());
    this->convolve(plan, maps, together);
    for (std::int64_t map = 0; map < 3; ++map) {
        std::copy_n(maps.data() + map * one.size(), one.size(), one.data());
        this->convolve(plan, one, alone);
        for (std::int64_t k = 0; k < alone.size(); k += 37)
            // Values below 1; batches add up in another order.
            EXPECT_NEAR(together.data()[map * alone.size() + k], alone.data()[k],
                        4 * std::numeric_limits<double>::epsilon())
                << map << ' ' << k;
    }
}

TEST(SplitConvolutionPlan, RejectsOtherSpins) {
    EXPECT_THAT([] { make_split(1, 20); },
                ThrowsMessage<InvalidArgument>(HasSubstr("spin = 1: must be 0 or 2")));
    EXPECT_THAT([] { SplitConvolutionPlan(Grid::healpix(8), make_split(2, 20), on_the_cpu()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("split: is of spin 2, must be of spin 0")));
    EXPECT_THAT([] { PolarizationSplitConvolutionPlan(Grid::healpix(8), make_split(0, 20), on_the_cpu()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("split: is of spin 0, must be of spin 2")));
}

TEST(SplitConvolutionPlan, RejectsMapsOfAnotherLength) {
    const SplitConvolutionPlan plan(Grid::healpix(8), make_split(0, 30), on_the_cpu());
    const Array<double, 2> maps({1, 100});
    Array<double, 2> convolved({1, 100});
    EXPECT_THROW(plan.convolve<double>(maps.view(), convolved.view()), InvalidArgument);
    EXPECT_EQ(plan.options().threads, 2);
    EXPECT_EQ(plan.grid().n_pixels(), 768);
}

}  // namespace
}  // namespace zonal::test
