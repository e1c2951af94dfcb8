#include "zonal/spectra/pseudo_spectra.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/mask.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/view.hpp"

namespace zonal {
namespace {

using Complex = std::complex<double>;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Array<double, 2> values(std::int64_t rows, std::int64_t n) {
    Array<double, 2> found({rows, n});
    for (std::int64_t i = 0; i < found.size(); ++i)
        found.data()[i] = std::sin(1.3 * static_cast<double>(i * i % 977));
    return found;
}

/// The mask is 0 in a third of the pixels, where the map is not a number.
TEST(MaskedHarmonics, AreSumsOverPixelsThatAreSeen) {
    const auto grid = Grid::healpix(4);
    constexpr std::int64_t lmax = 11;
    for (const std::int64_t components : {1, 2}) {
        auto maps = values(components, grid.n_pixels());
        auto mask = values(1, grid.n_pixels());
        Array<double, 3> products({1, components, grid.n_pixels()});
        for (std::int64_t p = 0; p < grid.n_pixels(); ++p) {
            if (p % 3 == 0) mask(0, p) = 0;
            for (std::int64_t c = 0; c < components; ++c) {
                products(0, c, p) =
                    4 * std::numbers::pi / static_cast<double>(grid.n_pixels()) * mask(0, p) * maps(c, p);
                if (p % 3 == 0) maps(c, p) = p % 2 == 0 ? nan : unseen_value;
            }
        }
        const ShtPlan plan(grid, {.lmax = lmax, .spin = components == 2 ? 2 : 0, .threads = 1});
        Array<Complex, 3> expected({1, components, plan.layout().size()});
        plan.adjoint_synthesis<double>(products.view(), expected.view());
        Array<Complex, 2> found({components, plan.layout().size()});
        masked_harmonics(grid, maps.view(), mask.view()[0], lmax, found.view(), 1);
        // Sums of 4 pi values of up to 1 over 128 pixels.
        for (std::int64_t i = 0; i < found.size(); ++i)
            EXPECT_LE(std::abs(found.data()[i] - expected.data()[i]), 64 * eps) << i;
    }
}

TEST(MaskedHarmonics, OfMapsThatAreMaskedAlreadyAreTheSame) {
    const auto grid = Grid::gauss_legendre(8, 15);
    const auto mask = values(1, grid.n_pixels());
    auto maps = values(1, grid.n_pixels()), products = maps;
    for (std::int64_t p = 0; p < grid.n_pixels(); ++p) products(0, p) *= mask(0, p);
    Array<Complex, 2> one({1, AlmLayout(7).size()}), other = one;
    masked_harmonics(grid, maps.view(), mask.view()[0], 7, one.view(), 1);
    masked_harmonics(grid, products.view(), {}, 7, other.view(), 1);
    for (std::int64_t i = 0; i < one.size(); ++i) EXPECT_EQ(one.data()[i], other.data()[i]);
}

TEST(MaskedHarmonics, RejectPixelsWithoutValuesThatAreSeen) {
    const auto grid = Grid::healpix(2);
    auto maps = values(3, 48), mask = values(1, 48);
    Array<Complex, 2> alm({1, AlmLayout(5).size()});
    const auto call = [&](std::int64_t rows, bool with_mask) {
        masked_harmonics(grid, maps.view().slice(0, rows),
                         with_mask ? mask.view()[0] : View<const double, 1>(), 5, alm.view(), 1);
    };
    EXPECT_THAT([&] { call(3, true); },
                ThrowsMessage<InvalidArgument>(HasSubstr("axis 0 (component) has length 3")));
    EXPECT_THAT([&] { call(2, true); }, ThrowsMessage<InvalidArgument>(HasSubstr("alm: axis 0 (component)")));
    mask(0, 7) = 1;
    maps(0, 7) = unseen_value;
    EXPECT_THAT([&] { call(1, true); },
                ThrowsMessage<InvalidArgument>(
                    HasSubstr("maps[0, 7] = -1.6375e+30: must be a finite number where the mask")));
    EXPECT_THAT([&] { call(1, false); },
                ThrowsMessage<InvalidArgument>(HasSubstr("give a mask that is 0 there")));
    mask(0, 9) = nan;
    EXPECT_THAT([&] { call(1, true); }, ThrowsMessage<InvalidArgument>(HasSubstr("mask[9] = nan")));
}

TEST(CrossSpectra, AreThoseOfEachPair) {
    const AlmLayout layout(9);
    for (const std::int64_t n : {1, 2, 5}) {
        Array<Complex, 2> alm({n, layout.size()});
        const auto parts = values(1, 2 * alm.size());
        for (std::int64_t i = 0; i < alm.size(); ++i) alm.data()[i] = {parts(0, 2 * i), parts(0, 2 * i + 1)};
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t l = 0; l <= 9; ++l) alm(i, layout.index(l, 0)).imag(0);
        const auto found = cross_spectra(layout, alm.view(), 2);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                const auto expected = cross_spectrum<double>(layout, alm.view()[i], alm.view()[j]);
                for (std::int64_t l = 0; l <= 9; ++l)
                    EXPECT_NEAR(found(i, j, l), expected[static_cast<std::size_t>(l)], 16 * eps)
                        << i << j << l;
            }
    }
}

TEST(WhiteNoiseSpectrum, IsTheSumOfTheWeightsSquared) {
    const auto grid = Grid::healpix(2);
    auto mask = values(1, 48), variance = values(1, 48);
    double sum = 0;
    for (std::int64_t p = 0; p < 48; ++p) {
        variance(0, p) = p == 5 ? nan : 1 + 0.1 * static_cast<double>(p);
        if (p == 5) mask(0, p) = 0;
        if (p != 5) sum += mask(0, p) * mask(0, p) * variance(0, p);
    }
    const double area = 4 * std::numbers::pi / 48, expected = area * area * sum / (4 * std::numbers::pi);
    EXPECT_NEAR(white_noise_spectrum(grid, mask.view()[0], variance.view()[0]), expected,
                48 * eps * expected);
    mask(0, 5) = 1;
    EXPECT_THAT([&] { white_noise_spectrum(grid, mask.view()[0], variance.view()[0]); },
                ThrowsMessage<InvalidArgument>(HasSubstr("variance[5] = nan")));
    variance(0, 5) = -1;
    EXPECT_THAT([&] { white_noise_spectrum(grid, mask.view()[0], variance.view()[0]); },
                ThrowsMessage<InvalidArgument>(HasSubstr("variance[5] = -1")));
}

}  // namespace
}  // namespace zonal
