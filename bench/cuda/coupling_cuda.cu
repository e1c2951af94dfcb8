// Times of the coupling matrices 00, 02, ++ and -- of one mask, in device memory and in the host's, as JSON:
// medians of --runs after two uncounted runs, and the share of the peak of multiply-adds in double precision
// that the first take.
//
//   coupling_cuda [--runs 5] LMAX...
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/cuda.cuh"
#include "cuda/device_timing.cuh"
#include "zonal/spectra/coupling.hpp"

namespace {

using zonal::CouplingKind;
using zonal::Device;
using zonal::View;

constexpr double instructions_per_term = 22;  // with double precision, of all four kinds

/// Terms of one kind of spin 0: l + 1 of each pair l <= l'.
double terms(std::int64_t lmax) {
    double sum = 0;
    for (std::int64_t l = 0; l <= lmax; ++l)
        sum += static_cast<double>(l + 1) * static_cast<double>(lmax - l + 1);
    return sum;
}

void measure(std::int64_t lmax, int runs, double peak) {
    const std::vector<CouplingKind> kinds = {CouplingKind::spin00, CouplingKind::spin02, CouplingKind::plus,
                                             CouplingKind::minus};
    std::vector<double> spectrum;
    for (std::int64_t l = 0; l <= 2 * lmax; ++l)
        spectrum.push_back(1 / ((1.0 + static_cast<double>(l)) * (1.0 + static_cast<double>(l))));
    const View<const double, 2> mask(spectrum.data(), {1, 2 * lmax + 1});
    const View<double, 4>::Extents extents = {1, 4, lmax + 1, lmax + 1};
    double device = 0, host = 0;
    {
        const zonal::core::DeviceArray<double> there(4 * (lmax + 1) * (lmax + 1));
        const View<double, 4> matrices(there.data(), extents, zonal::MemorySpace::cuda);
        device = zonal::bench::wall_seconds(
            runs, [&] { zonal::coupling_matrices(mask, kinds, matrices, 0, Device::cuda()); });
    }
    zonal::Array<double, 4> here(extents);
    host = zonal::bench::wall_seconds(
        runs, [&] { zonal::coupling_matrices(mask, kinds, here.view(), 0, Device::cuda()); });
    std::printf(
        "  {\"lmax\": %lld, \"device_seconds\": %.5f, \"host_seconds\": %.5f, \"share_of_peak\": %.3f}",
        static_cast<long long>(lmax), device, host,
        instructions_per_term * terms(lmax) / (peak / 2) / device);
}

}  // namespace

int main(int argc, char** argv) {
    int runs = 5;
    std::vector<std::int64_t> degrees;
    for (int i = 1; i < argc; ++i)
        if (std::string(argv[i]) == "--runs" && i + 1 < argc)
            runs = std::atoi(argv[++i]);
        else
            degrees.push_back(std::atoll(argv[i]));
    const zonal::core::OwnStream stream;
    const double peak = zonal::bench::fma_peak(stream.get());
    std::printf(" {\"fma_peak_flops\": %.4g, \"results\": [\n", peak);
    for (std::size_t i = 0; i < degrees.size(); ++i) {
        if (i > 0) std::printf(",\n");
        measure(degrees[i], runs, peak);
    }
    std::printf("\n ]}\n");
}
