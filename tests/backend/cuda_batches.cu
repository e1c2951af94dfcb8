#include "backend/cuda_helpers.cuh"

// Several maps at once on CUDA.
namespace zonal::test {
namespace {

class CudaBatches : public OnCuda {};

/// Maps that share the recurrences, beside the same one by one.
TEST_F(CudaBatches, AgreeWithMapsOneByOne) {
    for (const int spin : {0, 1, 2, 3, 5})
        for (const std::int64_t n_maps : {2, 3, 5, 8, 11}) {
            const ShtPlan plan(Grid::healpix(scaled(64)), on(Device::cuda(), scaled(150), spin));
            const AlmArray alm = random_spin_alm(plan.layout(), n_maps, plan.alm_components(), spin, 4);
            const MapArray map = synthesis(plan, alm);
            const AlmArray back = adjoint(plan, map);
            const OnDevice<Complex> alm_there(alm), back_there{AlmArray(alm.extents())};
            const OnDevice<double> map_there{MapArray(map.extents())};
            ShtWorkspace workspace = plan.make_workspace(n_maps);
            plan.synthesize<double>(alm_there.view(), map_there.view(), workspace);
            EXPECT_LE(largest_difference(map_there.host(), map) / largest(map), transform_rounding(150, spin))
                << "spin " << spin << ", " << n_maps << " maps";
            const OnDevice<double> same(map);
            plan.adjoint_synthesis<double>(same.view(), back_there.view(), workspace);
            EXPECT_LE(largest_difference(back_there.host(), back) / largest(back),
                      transform_rounding(150, spin))
                << "spin " << spin << ", " << n_maps << " maps";
        }
}

/// From lmax 2,048 on adjoints make the sums of odd steps from those of the even ones, of one, two or four
/// fields at a time. Few orders, as a test needs no more.
TEST_F(CudaBatches, AdjointsOfHighDegreesAgreeWithTheCpu) {
    constexpr std::int64_t lmax = 2100;
    const Grid grid = Grid::fejer1(2400, 24);
    for (const int spin : {0, 1, 2, 3, 8, 32, 33})
        for (const std::int64_t n_maps : {1, 2, 3, 4, 6, 7}) {
            ShtOptions options = on(Device::cuda(), lmax, spin);
            options.mmax = scaled(11);
            const ShtPlan cuda(grid, options);
            options.device = Device::cpu();
            const ShtPlan cpu(grid, options);
            const AlmArray alm = random_spin_alm(cpu.layout(), n_maps, cpu.alm_components(), spin, 7);
            const MapArray map = synthesis(cpu, alm);
            const AlmArray back = adjoint(cpu, map);
            const OnDevice<double> map_there(map);
            const OnDevice<Complex> back_there{AlmArray(alm.extents())};
            ShtWorkspace workspace = cuda.make_workspace(n_maps);
            cuda.adjoint_synthesis<double>(map_there.view(), back_there.view(), workspace);
            EXPECT_LE(largest_difference(back_there.host(), back) / largest(back),
                      transform_rounding(lmax, spin))
                << "spin " << spin << ", " << n_maps << " maps";
        }
}

/// A workspace that held a batch of a small plan serves a larger one.
TEST_F(CudaBatches, ShareAWorkspaceBetweenPlans) {
    const ShtPlan small(Grid::healpix(16), on(Device::cuda(), 32, 0));
    const ShtPlan large(Grid::gauss_legendre(257, 514), on(Device::cuda(), 256, 2));
    ShtWorkspace workspace = small.make_workspace(4);
    for (const ShtPlan* plan : {&small, &large, &small}) {
        const AlmArray alm =
            random_spin_alm(plan->layout(), 4, plan->alm_components(), plan->options().spin, 5);
        const MapArray map = synthesis(*plan, alm);
        const OnDevice<Complex> alm_there(alm);
        const OnDevice<double> map_there{MapArray(map.extents())};
        plan->synthesize<double>(alm_there.view(), map_there.view(), workspace);
        EXPECT_LE(largest_difference(map_there.host(), map) / largest(map), transform_rounding(256, 2));
    }
}

}  // namespace
}  // namespace zonal::test
