// The sum over pixels on CUDA with all stages, without the filters of equal rings, without the tables of
// square ones, and with the direct evaluation alone: pixel_sum_cuda [--runs N] NSIDE:FWHM_PIXELS ... prints
// JSON, in float and double. What each stage gains decides whether it stays (docs/decisions/pixel-sum.md).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>

#include "cuda/device_timing.cuh"
// The convolver itself, whose stages' pairs are chosen here; it is in no header.
#include "radial/pixel_sum/pixel_sum_cuda.cu"
#include "zonal/kernel.hpp"

namespace {

using namespace zonal;

template <class T>
void measure(std::int64_t nside, double fwhm_pixels, int runs, const char* precision, bool is_last) {
    const Grid grid = Grid::healpix(nside);
    const double pixel = std::sqrt(4 * std::numbers::pi / static_cast<double>(grid.n_pixels()));
    const double fwhm = fwhm_pixels * pixel;
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.precision = sizeof(T) == 4 ? Precision::float32 : Precision::float64;
    options.accuracy = sizeof(T) == 4 ? 3e-8 : 1e-12;
    options.device = Device::cuda(0);
    options.threads = 8;
    const radial::SumKernel kernel(RadialKernel::gaussian(fwhm).truncated(1.5 * fwhm), options.accuracy);
    std::mt19937_64 engine(1);
    std::vector<T> host(static_cast<std::size_t>(grid.n_pixels()));
    for (T& value : host) value = static_cast<T>(static_cast<double>(engine() >> 11) * 0x1p-53 - 0.5);
    const core::DeviceArray<T> map(host);
    const core::DeviceArray<T> out(grid.n_pixels());
    const View<const T, 2> in_view(map.data(), {1, grid.n_pixels()}, MemorySpace::cuda);
    const View<T, 2> out_view(out.data(), {1, grid.n_pixels()}, MemorySpace::cuda);
    std::printf(R"(  {"nside": %lld, "fwhm_pixels": %g, "precision": "%s")", static_cast<long long>(nside),
                fwhm_pixels, precision);
    const char* const names[] = {"all", "no_equal", "no_square", "direct"};
    int k = 0;
    for (const auto& used : {radial::UsedKinds{true, true}, {false, true}, {true, false}, {false, false}}) {
        const radial::CudaPixelSum<T, 2> sum(
            radial::PixelSumSchedule(grid, kernel, grid, options.accuracy, used), false, options);
        const auto workspace = sum.make_workspace(1);
        const double seconds =
            bench::wall_seconds(runs, [&] { sum.convolve(in_view, out_view, *workspace, {}); });
        std::printf(R"(, "%s_seconds": %.4g)", names[k++], seconds);
    }
    std::printf("}%s\n", is_last ? "" : ",");
}

}  // namespace

int main(int argc, char** argv) try {
    int runs = 20, first = 1;
    if (argc > 2 && std::string(argv[1]) == "--runs") runs = std::atoi(argv[2]), first = 3;
    std::printf("{\"runs\": %d, \"results\": [\n", runs);
    for (int k = first; k < argc; ++k) {
        const std::string text = argv[k];
        const auto colon = text.find(':');
        const auto nside = std::atoll(text.c_str());
        const double fwhm = std::atof(text.substr(colon + 1).c_str());
        measure<float>(nside, fwhm, runs, "float", false);
        measure<double>(nside, fwhm, runs, "double", k + 1 == argc);
    }
    std::printf("]}\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
