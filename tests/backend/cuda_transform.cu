#include <gtest/gtest.h>

#include <thread>

#include "backend/cuda_helpers.cuh"
#include "zonal/analysis.hpp"

// The transforms on a CUDA device: beside the CPU's at sizes that the plain reference cannot reach, with the
// data on the device, and where something is amiss. Every other test of the transforms runs there with
// ZONAL_TEST_DEVICE=cuda.
namespace zonal::test {
namespace {

class CudaTransform : public OnCuda {};

/// Both backends err by transform_rounding of the largest value at most, and typically by the random walk's
/// sqrt(l) eps of the rms: 1e-12 of it at lmax 4096 is what the recurrences near the poles are for.
void expect_agreement(const Grid& grid, std::int64_t lmax, int spin, double tolerance) {
    const ShtPlan cpu(grid, on(Device::cpu(), lmax, spin)), cuda(grid, on(Device::cuda(), lmax, spin));
    const AlmArray alm = random_spin_alm(cpu.layout(), 1, cpu.alm_components(), spin, 1);
    const MapArray expected = synthesis(cpu, alm), map = synthesis(cuda, alm);
    EXPECT_LE(relative_rms(map, expected), tolerance) << "synthesis, spin " << spin;
    const AlmArray back = adjoint(cpu, expected), found = adjoint(cuda, expected);
    EXPECT_LE(relative_rms(found, back), tolerance) << "adjoint, spin " << spin;
}

TEST_F(CudaTransform, AgreesWithTheCpuAtHighDegrees) {
    for (const int spin : {0, 2}) expect_agreement(Grid::healpix(scaled(2048)), scaled(4096), spin, 1e-12);
    expect_agreement(Grid::healpix(scaled(1024)), scaled(2048), 4, 1e-12);
    expect_agreement(Grid::gauss_legendre(scaled(2048), scaled(4096)), scaled(2048) - 1, 1, 1e-12);
    // Up to 32 spins are taken for scalars where rings are far enough from the poles, as many of 1,000 are;
    // of those above, all pairs have recurrences of their own.
    for (const int spin : {7, 32, 33})
        expect_agreement(Grid::gauss_legendre(scaled(1000), scaled(1999)), scaled(1000) - 1, spin, 1e-12);
}

/// Each order then has several blocks, as those of one rank of many have.
TEST_F(CudaTransform, AgreesWithTheCpuWhereOrdersAreFew) {
    const Grid grid = Grid::fejer1(2600, 90);
    for (const int spin : {0, 1, 2, 5})
        for (const std::int64_t maps : {1, 2, 3, 4}) {
            const auto plan_on = [&](Device device) {
                ShtOptions options = on(device, 2300, spin);
                options.mmax = 41;
                return ShtPlan(grid, options);
            };
            const ShtPlan cpu = plan_on(Device::cpu()), cuda = plan_on(Device::cuda());
            const MapArray map = random_map(grid, maps, cpu.map_components(), 3);
            const AlmArray expected = adjoint(cpu, map);
            // What lies on the device is transformed together.
            const OnDevice<double> given(map);
            const OnDevice<Complex> found{AlmArray(expected.extents())};
            ShtWorkspace workspace = cuda.make_workspace(maps);
            cuda.adjoint_synthesis<double>(given.view(), found.view(), workspace);
            // As at high degrees.
            EXPECT_LE(relative_rms(found.host(), expected), 1e-12) << maps << " maps, spin " << spin;
        }
}

TEST_F(CudaTransform, ResamplesInThetaWithinTheAccuracy) {
    // HEALPix with lmax = 2 nside has twice the rings that it needs, its last rings reach over pole and
    // equator; one with half its rings missing has no mirror images.
    const Grid whole = Grid::healpix(scaled(512));
    const std::int64_t lmax = scaled(700);
    std::vector<std::int64_t> north;
    for (std::int64_t ring = 0; ring < whole.n_rings() * 3 / 4; ++ring) north.push_back(ring);
    for (const Grid& grid : {whole, whole.subset(north)})
        for (const int spin : {0, 1, 2, 3}) {
            ShtOptions options = on(Device::cuda(), lmax, spin);
            options.accuracy = 0;
            const ShtPlan plain(grid, options);
            const AlmArray alm = random_spin_alm(plain.layout(), 1, plain.alm_components(), spin, 1);
            const MapArray expected = synthesis(plain, alm);
            const AlmArray expected_back = adjoint(plain, expected);
            for (const double accuracy : {1e-4, 1e-8, 1e-13}) {
                options.accuracy = accuracy;
                const ShtPlan plan(grid, options);
                ASSERT_LT(plan.legendre_flops(), 0.9 * plain.legendre_flops()) << "not resampled";
                const MapArray map = synthesis(plan, alm);
                const AlmArray back = adjoint(plan, expected);
                // The sum of a ring's or a degree's modes, each off by the accuracy at most; white
                // coefficients give all orders about the same size. The last term is two transforms'
                // rounding.
                const double bound = 8 * accuracy + transform_rounding(lmax);
                EXPECT_LE(relative_difference(map, expected), bound)
                    << grid.name() << ", spin " << spin << ", accuracy " << accuracy;
                EXPECT_LE(relative_difference(back, expected_back), bound)
                    << grid.name() << ", spin " << spin << ", accuracy " << accuracy;
            }
        }
}

/// Noise is no synthesis: it has orders that rings near the poles do not need, and values at poles without
/// rings.
TEST_F(CudaTransform, IntegratesExactlyOverThetaAsTheCpuDoes) {
    const std::int64_t n = 80;
    for (const Grid& grid : {Grid::clenshaw_curtis(n, 2 * n), Grid::fejer1(n, 2 * n, 0.3),
                             Grid::fejer2(n + 1, 2 * n), Grid::driscoll_healy(n, 2 * n - 3),
                             Grid::mcewen_wiaux(n, 2 * n - 3), Grid::mcewen_wiaux(n + 1, 2 * n - 3, 0, true)})
        for (const int spin : {0, 1, 2, 3})
            for (const std::int64_t lmax : {n / 2 + 2, n - 2}) {
                const ShtPlan cpu(grid, on(Device::cpu(), lmax, spin)),
                    cuda(grid, on(Device::cuda(), lmax, spin));
                const MapArray map = random_map(grid, 2, cpu.map_components(), 3);
                const AlmArray alm = random_spin_alm(cpu.layout(), 2, cpu.alm_components(), spin, 4);
                AlmArray expected(alm.extents()), found(alm.extents());
                MapArray back(map.extents()), expected_back(map.extents());
                analyze<double>(cpu, map.view(), expected.view());
                EXPECT_TRUE(analyze<double>(cuda, map.view(), found.view()).exact);
                EXPECT_LE(relative_rms(found, expected), 1e-13) << grid.name() << " spin " << spin;
                adjoint_analysis<double>(cpu, alm.view(), expected_back.view());
                adjoint_analysis<double>(cuda, alm.view(), back.view());
                EXPECT_LE(relative_rms(back, expected_back), 1e-13) << grid.name() << " spin " << spin;
                // With all data there, twice: the second call is a graph.
                const OnDevice<double> map_there(map);
                const OnDevice<Complex> alm_there{AlmArray(alm.extents())};
                ShtWorkspace workspace = cuda.make_workspace();
                for (int call = 0; call < 2; ++call) {
                    analyze<double>(cuda, map_there.view(), alm_there.view(), workspace, {});
                    EXPECT_EQ(largest_difference(alm_there.host(), found), 0)
                        << grid.name() << " spin " << spin;
                }
                const OnDevice<Complex> given(alm);
                const OnDevice<double> back_there{MapArray(map.extents())};
                for (int call = 0; call < 2; ++call) {
                    adjoint_analysis<double>(cuda, given.view(), back_there.view(), workspace);
                    EXPECT_EQ(largest_difference(back_there.host(), back), 0)
                        << grid.name() << " spin " << spin;
                }
            }
}

TEST_F(CudaTransform, TakesHostAndDeviceMemoryAlike) {
    for (const int spin : {0, 1, 2, 3}) {
        const Grid grid = Grid::healpix(64);
        const ShtPlan plan(grid, on(Device::cuda(), 100, spin));
        const AlmArray alm = random_spin_alm(plan.layout(), 2, plan.alm_components(), spin, 2);
        const MapArray map = synthesis(plan, alm);
        const OnDevice<Complex> alm_there(alm);
        const OnDevice<double> map_there{MapArray(map.extents())};
        plan.synthesize<double>(alm_there.view(), map_there.view());
        EXPECT_EQ(largest_difference(map_there.host(), map), 0);
        plan.adjoint_synthesis<double>(map_there.view(), alm_there.view());
        EXPECT_EQ(largest_difference(alm_there.host(), adjoint(plan, map)), 0);
        // And one on each side.
        MapArray mixed(map.extents());
        const OnDevice<Complex> again(alm);
        plan.synthesize<double>(again.view(), mixed.view());
        EXPECT_EQ(largest_difference(mixed, map), 0);
    }
}

TEST_F(CudaTransform, GivesTheSameBitsInEveryRun) {
    const ShtPlan plan(Grid::healpix(256), on(Device::cuda(), 512, 2));
    const AlmArray alm = random_spin_alm(plan.layout(), 1, 2, 2, 3);
    const MapArray map = synthesis(plan, alm);
    const AlmArray back = adjoint(plan, map);
    for (int run = 0; run < 5; ++run) {
        EXPECT_EQ(largest_difference(synthesis(plan, alm), map), 0);
        EXPECT_EQ(largest_difference(adjoint(plan, map), back), 0);
    }
}

TEST_F(CudaTransform, ServesThreadsAtTheSameTime) {
    const ShtPlan plan(Grid::healpix(scaled(128)), on(Device::cuda(), scaled(256), 0));
    const ShtPlan other(Grid::gauss_legendre(scaled(257), scaled(514)),
                        on(Device::cuda(), scaled(257) - 1, 2));
    const AlmArray alm = random_alm(plan.layout(), 1, 1, 4),
                   spin_alm = random_spin_alm(other.layout(), 1, 2, 2, 5);
    const MapArray map = synthesis(plan, alm), spin_map = synthesis(other, spin_alm);
    std::vector<double> differences(4);
    {
        std::vector<std::jthread> threads;
        for (std::size_t k = 0; k < differences.size(); ++k)
            threads.emplace_back([&, k] {
                for (int run = 0; run < 20; ++run)
                    differences[k] =
                        larger(differences[k],
                               k % 2 == 0 ? largest_difference(synthesis(plan, alm), map)
                                          : largest_difference(synthesis(other, spin_alm), spin_map));
            });
    }
    EXPECT_EQ(differences, std::vector<double>(4, 0.0));
}

TEST_F(CudaTransform, RefusesMemoryThatIsNotWhereItIsSaidToBe) {
    const ShtPlan plan(Grid::healpix(4), on(Device::cuda(), 8, 0));
    AlmArray alm = random_alm(plan.layout(), 1, 1, 6);
    MapArray map({1, 1, plan.grid().n_pixels()});
    const View<Complex, 3> wrong(alm.data(), alm.extents(), MemorySpace::cuda);
    EXPECT_THROW(plan.synthesize<double>(wrong, map.view()), InvalidArgument);
    const OnDevice<Complex> there(alm);
    const View<Complex, 3> other_way(there.memory.data(), alm.extents(), MemorySpace::host);
    EXPECT_THROW(plan.synthesize<double>(other_way, map.view()), InvalidArgument);
    plan.synthesize<double>(alm.view(), map.view());  // nothing is broken
}

TEST_F(CudaTransform, RefusesTheWorkspaceOfAnotherDevice) {
    const Grid grid = Grid::healpix(4);
    const ShtPlan cpu(grid, on(Device::cpu(), 8, 0)), cuda(grid, on(Device::cuda(), 8, 0));
    const AlmArray alm = random_alm(cpu.layout(), 1, 1, 7);
    MapArray map({1, 1, grid.n_pixels()});
    ShtWorkspace of_cpu = cpu.make_workspace(), of_cuda = cuda.make_workspace();
    EXPECT_THROW(cuda.synthesize<double>(alm.view(), map.view(), of_cpu), InvalidArgument);
    EXPECT_THROW(cpu.synthesize<double>(alm.view(), map.view(), of_cuda), InvalidArgument);
}

TEST_F(CudaTransform, OutOfMemoryLeavesThePlanUsable) {
    const ShtPlan plan(Grid::healpix(512), on(Device::cuda(), 1024, 0));
    const AlmArray alm = random_alm(plan.layout(), 1, 1, 8);
    const MapArray map = synthesis(plan, alm);
    {
        std::size_t free = 0, total = 0;
        core::check_cuda(cudaMemGetInfo(&free, &total), "memory");
        const core::DeviceArray<char> hoard(static_cast<std::int64_t>(free) - plan.workspace_bytes() / 2);
        try {
            synthesis(plan, alm);
            FAIL() << "there was memory for it";
        } catch (const OutOfDeviceMemory& error) {
            EXPECT_NE(std::string(error.what()).find("free"), std::string::npos) << error.what();
        }
    }
    EXPECT_EQ(largest_difference(synthesis(plan, alm), map), 0);
}

}  // namespace
}  // namespace zonal::test
