#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "backend/cuda_helpers.cuh"
#include "zonal/planning/certificate.hpp"
#include "zonal/planning/convolution_plan.hpp"

// The certificates of what a CUDA device convolves, compared with the CPU's sums in double precision: their
// models of rounding must hold for the device's order of summation, too.
namespace zonal::test {
namespace {

class CertificatesOnCuda : public OnCuda {};

/// Maps on which sums round most, or of which kernels leave little: a constant, an offset with fluctuations,
/// white noise, a bright pixel, checkerboard, stripes along the rings and across them.
std::vector<std::vector<double>> hostile_maps(const Grid& grid) {
    constexpr int n_maps = 7;
    std::vector<std::vector<double>> maps(n_maps, std::vector<double>(grid.n_pixels()));
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
        const Ring& ring = grid.rings()[r];
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const auto pixel = ring.first_pixel + k;
            const double noise = normal(random);
            maps[0][pixel] = 1 / 3.0;
            maps[1][pixel] = 2.7255 + 1e-5 * noise;
            maps[2][pixel] = noise;
            maps[3][pixel] = pixel == grid.n_pixels() / 3 ? 1 : 0;
            maps[4][pixel] = (r + k) % 2 == 0 ? 1 : -1;
            maps[5][pixel] = r % 2 == 0 ? 1 : -1;
            maps[6][pixel] = k % 2 == 0 ? 1 : -1;
        }
    }
    return maps;
}

std::vector<double> convolved(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                              const std::vector<double>& map, ConvolutionResult& result) {
    std::vector<double> out(map.size());
    const std::int64_t rows = request.polarization ? 2 : 1;
    const std::int64_t n_pixels = std::ssize(map) / rows;
    result = ConvolutionPlan(request, choice)
                 .convolve<double>(ConstView<double, 2>(map.data(), {rows, n_pixels}),
                                   View<double, 2>(out.data(), {rows, n_pixels}));
    return out;
}

void expect_certified(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                      const std::vector<double>& map) {
    ConvolutionChoice exact{ConvolutionMethod::ring_fft};
    exact.accuracy = 1e-14;
    ConvolutionResult result, other;
    const auto found = convolved(request, choice, map, result), truth = convolved(request, exact, map, other);
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < map.size(); ++i) {
        error += (found[i] - truth[i]) * (found[i] - truth[i]);
        norm += truth[i] * truth[i];
    }
    ASSERT_EQ(result.certificates.size(), 1U);
    EXPECT_LE(std::sqrt(error), result.certificates[0].error * std::sqrt(norm))
        << to_string(choice.method) << " nside^2 " << request.grid.n_pixels() / 12;
}

TEST_F(CertificatesOnCuda, HoldForSumsOverPixels) {
    for (const std::int64_t nside : {32, 128}) {
        const auto grid = Grid::healpix(nside);
        const auto maps = hostile_maps(grid);
        for (const double pixels : {1.0, 5.0, 20.0}) {  // of the Gaussian's sigma
            ConvolutionRequest request;
            request.grid = grid;
            request.lmax = 3 * nside - 1;
            request.kernel = RadialKernel::gaussian(2.355 * pixels / static_cast<double>(nside));
            request.reference = ConvolutionReference::discrete;
            request.gain = 1;
            for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft})
                for (const auto precision : {Precision::float32, Precision::float64})
                    for (const double cut : {2.5, 5.5}) {
                        const ConvolutionChoice choice{
                            method, Device::cuda(0), precision,
                            std::min(3.0, cut * pixels / static_cast<double>(nside)),
                            precision == Precision::float32 ? 1e-7 : 1e-11};
                        for (const auto& map : maps) expect_certified(request, choice, map);
                    }
        }
    }
}

TEST_F(CertificatesOnCuda, HoldForQAndU) {
    const std::int64_t nside = 64;
    const auto grid = Grid::healpix(nside);
    const auto maps = hostile_maps(grid);
    ConvolutionRequest request;
    request.grid = grid;
    request.lmax = 3 * nside - 1;
    request.kernel = RadialKernel::gaussian(0.1);
    request.polarization = PolarizationKernel::gaussian(0.1);
    request.reference = ConvolutionReference::discrete;
    request.gain = 1;
    for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft})
        for (const auto precision : {Precision::float32, Precision::float64})
            for (std::size_t i = 0; i + 1 < maps.size(); ++i) {
                auto pair = maps[i];
                pair.insert(pair.end(), maps[i + 1].begin(), maps[i + 1].end());
                expect_certified(
                    request,
                    {method, Device::cuda(0), precision, 0.2, precision == Precision::float32 ? 1e-7 : 1e-11},
                    pair);
            }
}

TEST_F(CertificatesOnCuda, HoldForHarmonicSpaceAndItsIterations) {
    const std::int64_t nside = 64;
    const auto grid = Grid::healpix(nside);
    ConvolutionRequest request;
    request.grid = grid;
    request.lmax = 2 * nside;
    request.kernel = RadialKernel::gaussian(0.05);
    request.reference = ConvolutionReference::continuous;
    request.gain = 1;
    ConvolutionChoice rough{ConvolutionMethod::harmonic, Device::cuda(0)}, exact = rough;
    exact.device = Device::cpu();
    rough.tolerance = 1e-5;
    exact.tolerance = 1e-13;
    for (const auto& map : hostile_maps(grid)) {
        ConvolutionResult result, other;
        const auto found = convolved(request, rough, map, result),
                   truth = convolved(request, exact, map, other);
        double error = 0, norm = 0;
        for (std::size_t i = 0; i < map.size(); ++i) {
            error += (found[i] - truth[i]) * (found[i] - truth[i]);
            norm += truth[i] * truth[i];
        }
        EXPECT_LE(std::sqrt(error), result.certificates[0].error * std::sqrt(norm));
    }
}

}  // namespace
}  // namespace zonal::test
