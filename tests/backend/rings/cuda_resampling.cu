#include "backend/cuda_helpers.cuh"

// Where the stages of rings have more, or less, than usual sizes to go through.
namespace zonal::test {
namespace {

class CudaResampling : public OnCuda {};

/// Rings at equal steps of theta, of few pixels each: high degrees at low cost.
Grid many_rings(std::int64_t n) {
    return Grid::fejer1(n, 20);
}

TEST_F(CudaResampling, AgreesWithTheCpuWhereTablesAreLong) {
    // More than 4,096 equidistant pairs, as from lmax 7,447 on: their table is longer than what a copy of
    // tables carries at once.
    ShtOptions options = on(Device::cuda(), 7600, 0);
    options.mmax = 9;
    const Grid grid = many_rings(16000);
    const ShtPlan cuda(grid, options);
    options.device = Device::cpu();
    options.accuracy = 0;
    const ShtPlan cpu(grid, options);
    ASSERT_LT(cuda.legendre_flops(), 0.9 * cpu.legendre_flops()) << "not resampled";
    const AlmArray alm = random_alm(cpu.layout(), 1, 1, 1);
    const MapArray map = synthesis(cpu, alm);
    EXPECT_LE(largest_difference(synthesis(cuda, alm), map) / largest(map), 2 * transform_rounding(7600));
    const AlmArray back = adjoint(cpu, map);
    EXPECT_LE(largest_difference(adjoint(cuda, map), back) / largest(back), 2 * transform_rounding(7600));
}

TEST_F(CudaResampling, RingsTooLongForSharedMemoryAgreeWithTheCpu) {
    // Parts of more than 2,048 pixels go through the FFT library: an odd length, a prime and a multiple of
    // four.
    std::vector<Ring> rings;
    std::int64_t next = 0;
    for (const std::int64_t n : {4099, 6001, 2 * 4099, 12288, 8192, 2048, 2047}) {
        rings.push_back(make_ring(0.3 + 0.1 * static_cast<double>(rings.size()), 0.7, 0.01, n, next));
        next += n;
    }
    const Grid grid(rings);
    for (const int spin : {0, 2}) {
        const ShtPlan cpu(grid, on(Device::cpu(), 900, spin)), cuda(grid, on(Device::cuda(), 900, spin));
        const AlmArray alm = random_spin_alm(cpu.layout(), 1, cpu.alm_components(), spin, 2);
        const MapArray map = synthesis(cpu, alm);
        EXPECT_LE(largest_difference(synthesis(cuda, alm), map) / largest(map),
                  2 * transform_rounding(900, spin));
        const AlmArray back = adjoint(cpu, map);
        EXPECT_LE(largest_difference(adjoint(cuda, map), back) / largest(back),
                  2 * transform_rounding(900, spin));
    }
}

TEST_F(CudaResampling, RingsOfOnePixelDoNotReadWhatIsNotWritten) {
    // Enough of each length for the FFT library, in memory that the two lengths share. What the long rings
    // leave there, the short ones must not read.
    std::vector<Ring> rings;
    std::int64_t next = 0;
    for (const std::int64_t n : {1, 64})
        for (int k = 0; k < 20; ++k) {
            rings.push_back(make_ring(0.2 + 0.1 * k + 0.001 * static_cast<double>(n), 0.7, 0.01, n, next));
            next += n;
        }
    const Grid grid(rings);
    for (const int spin : {0, 2}) {
        const ShtPlan cpu(grid, on(Device::cpu(), 30, spin)), cuda(grid, on(Device::cuda(), 30, spin));
        MapArray map = synthesis(cpu, random_spin_alm(cpu.layout(), 1, cpu.alm_components(), spin, 3)),
                 wrong = map;
        std::fill(wrong.begin(), wrong.end(), std::nan(""));
        adjoint(cuda, wrong);
        const AlmArray back = adjoint(cpu, map);
        EXPECT_LE(largest_difference(adjoint(cuda, map), back) / largest(back),
                  2 * transform_rounding(30, spin));
    }
}

}  // namespace
}  // namespace zonal::test
