#include "planning/aliased_spectrum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <utility>

#include "zonal/planning/planner.hpp"
#include "zonal/sht.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/spectrum.hpp"

// The spectrum of what pixels alias, against that of maps of a few degrees.
namespace zonal::test {
namespace {

using Complex = std::complex<double>;

/// Spectrum of the quadrature alm, l = 0 .. 3 nside - 1, of a random map of c_l.
std::vector<double> spectrum_on_pixels(std::int64_t nside, const std::vector<double>& c_l, int seed) {
    ShtOptions options;
    options.lmax = 3 * nside - 1;
    options.threads = 1;
    const ShtPlan plan(Grid::healpix(nside), options);
    SkySpectra sky;
    sky.tt = c_l;
    sky.tt.resize(static_cast<std::size_t>(options.lmax + 1));
    Array<Complex, 2> alm({1, plan.layout().size()});
    realize<double>(sky, static_cast<std::uint64_t>(seed), plan.layout(), alm.view(), 1);
    Array<double, 3> map({1, 1, plan.grid().n_pixels()});
    plan.synthesize<double>({std::as_const(alm).view().data(), {1, 1, plan.layout().size()}}, map.view());
    Array<Complex, 3> seen({1, 1, plan.layout().size()});
    plan.quadrature<double>(std::as_const(map).view(), seen.view());
    const auto first = std::as_const(seen).view()[0][0];
    return cross_spectrum<double>(plan.layout(), first, first);
}

double mean(const std::vector<double>& values, std::int64_t first, std::int64_t end) {
    double sum = 0;
    for (std::int64_t l = first; l < end; ++l) sum += values[static_cast<std::size_t>(l)];
    return sum / static_cast<double>(end - first);
}

TEST(AliasedSpectrum, IsAboveWhatPixelsAliasAndNotFarAbove) {
    for (const std::int64_t nside : {16, 64})
        for (const double place : {0.2, 0.5, 1.0, 1.5, 2.0, 2.5}) {
            const auto l_0 = static_cast<std::int64_t>(place * static_cast<double>(nside));
            std::vector<double> c_l(static_cast<std::size_t>(l_0 + 3));
            for (std::int64_t l = l_0; l < l_0 + 3; ++l) c_l[static_cast<std::size_t>(l)] = 1;
            c_l.push_back(0);  // with which the map goes on
            const auto bound = split::aliased_spectrum(c_l, static_cast<double>(nside));
            std::vector<double> seen;
            for (int seed = 0; seed < 4; ++seed) {
                const auto one = spectrum_on_pixels(nside, c_l, seed);
                seen.resize(one.size());
                for (std::size_t l = 0; l < one.size(); ++l) seen[l] += one[l] / 4;
            }
            for (std::int64_t first = 2; first + nside / 4 <= std::ssize(seen); first += nside / 4) {
                const std::int64_t end = first + nside / 4;
                if (first <= l_0 + 3 && end >= l_0 - 1) continue;  // the map itself
                EXPECT_LT(mean(seen, first, end), mean(bound, first, end))
                    << "nside " << nside << ", l " << l_0 << " to " << first;
                EXPECT_GT(mean(seen, first, end), 0.002 * mean(bound, first, end))
                    << "nside " << nside << ", l " << l_0 << " to " << first;
            }
        }
}

TEST(AliasedSpectrum, GoesOnWithTheMapsLast) {
    const std::vector<double> c_l(11, 2.0);
    const auto seen = split::aliased_spectrum(c_l, 32);
    ASSERT_EQ(seen.size(), 6 * 32 + 1);
    for (const double value : seen) EXPECT_GE(value, 2);
    EXPECT_EQ(split::aliased_spectrum(std::vector<double>(401, 1.0), 32).size(), 401);
}

TEST(SpectraOnPixels, OfWhiteMapsAreEmptyAndPixelsMixEAndB) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(16);
    request.lmax = 10;
    EXPECT_TRUE(spectra_on_pixels(request).at(0).empty());
    request.polarization = PolarizationKernel::gaussian(0.2);
    request.c_l.assign(11, 1.0);
    request.c_bb.assign(11, 0.0);
    const auto spectra = spectra_on_pixels(request);
    ASSERT_EQ(spectra.size(), 2);
    for (std::size_t l = 0; l <= 10; ++l) {
        EXPECT_GT(spectra[1][l], 0);
        EXPECT_NEAR(spectra[0][l] - spectra[1][l], 1, 1e-12);
    }
}

}  // namespace
}  // namespace zonal::test
