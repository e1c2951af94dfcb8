#include "backend/cuda_helpers.cuh"
#include "zonal/analysis.hpp"

// Transforms in bands of rings, where memory is short, are those of all rings at once.
namespace zonal::test {
namespace {

class CudaBands : public OnCuda {};

void expect_same_transforms(const ShtPlan& whole, const ShtPlan& banded) {
    const Grid& grid = whole.grid();
    const ShtOptions options = whole.options();
    const std::int64_t lmax = options.lmax;
    const int spin = options.spin;
    const AlmArray alm = random_spin_alm(whole.layout(), 2, whole.alm_components(), spin, 1);
    MapArray map({2, whole.map_components(), grid.n_pixels()});
    for (double& value : map) value = 5;
    MapArray expected = map;
    whole.synthesize<double>(alm.view(), expected.view());
    banded.synthesize<double>(alm.view(), map.view());
    // The whole may be resampled in theta: twice what that may add, beside rounding.
    const double bound = 2 * transform_rounding(lmax, spin) + 16 * options.accuracy;
    EXPECT_LE(scaled_difference(map, expected), bound);
    const AlmArray back = quadrature(whole, expected);
    EXPECT_LE(scaled_difference(quadrature(banded, expected), back), bound);

    // All on the device, and the residual of an analysis.
    const OnDevice<Complex> alm_there(alm), update(alm);
    const OnDevice<double> map_there{MapArray(map.extents())};
    banded.synthesize<double>(alm_there.view(), map_there.view());
    ShtWorkspace workspace = banded.make_workspace();
    const OnDevice<Complex> zero{AlmArray(alm.extents())};
    banded.project_residual<double>(zero.view(), map_there.view(), update.view(), workspace);
    EXPECT_LE(scaled_difference(update.host(), back), bound);
    AlmArray from_host(alm.extents());
    const AlmArray none(alm.extents());
    banded.project_residual<double>(none.view(), map.view(), from_host.view(), workspace);
    EXPECT_EQ(largest_difference(from_host, update.host()), 0);
}

void expect_same_transforms(const Grid& grid, std::int64_t lmax, int spin, SpinParts parts) {
    SCOPED_TRACE(grid.name() + ", spin " + std::to_string(spin));
    ShtOptions options = on(Device::cuda(), lmax, spin);
    options.parts = parts;
    const ShtPlan whole(grid, options);
    options.max_workspace_bytes = whole.workspace_bytes() - 1;
    int n_plans = 0;
    try {
        for (;; ++n_plans) {  // with ever more bands, until there may be no more
            const ShtPlan banded(grid, options);
            ASSERT_LE(banded.workspace_bytes(), options.max_workspace_bytes);
            expect_same_transforms(whole, banded);
            options.max_workspace_bytes = banded.workspace_bytes() - 1;
        }
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("max_workspace_bytes"), std::string::npos) << error.what();
    }
    EXPECT_GE(n_plans, 2);
}

/// One test each, as sanitizers take minutes for all of them.
class CudaBandsOfSpin : public CudaBands, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Bands, CudaBandsOfSpin, ::testing::Values(0, 1, 2, 3));

TEST_P(CudaBandsOfSpin, GiveTheTransformsOfAllHealpixRings) {
    expect_same_transforms(Grid::healpix(scaled(128)), scaled(256), GetParam(), SpinParts::both);
}

TEST_P(CudaBandsOfSpin, GiveTheTransformsOfAllGaussRings) {
    expect_same_transforms(Grid::gauss_legendre(scaled(257), scaled(515)), scaled(256), GetParam(),
                           SpinParts::both);
}

TEST_F(CudaBands, GiveTheTransformsOfManyRings) {
    expect_same_transforms(Grid::healpix(scaled(512)), scaled(700), 0, SpinParts::both);
}

TEST_F(CudaBands, GiveTheTransformsOfAGradient) {
    expect_same_transforms(Grid::healpix(scaled(128)), scaled(200), 2, SpinParts::gradient);
}

TEST_F(CudaBands, GiveTheTransformsOfSomeRings) {
    std::vector<std::int64_t> rings;
    for (std::int64_t ring = scaled(40); ring < scaled(300); ++ring) rings.push_back(ring);
    expect_same_transforms(Grid::healpix(scaled(128)).subset(rings), scaled(200), 2, SpinParts::both);
}

TEST_F(CudaBands, FitIntoWhatIsFree) {
    const Grid grid = Grid::healpix(512);
    const ShtOptions options = on(Device::cuda(), 1024, 0);
    const ShtPlan whole(grid, options);
    const AlmArray alm = random_alm(whole.layout(), 1, 1, 2);
    const MapArray expected = synthesis(whole, alm);
    std::size_t free = 0, total = 0;
    core::check_cuda(cudaMemGetInfo(&free, &total), "memory");
    // Half of the workspace, two copies of map and alm, and the plan's own tables.
    const std::int64_t copies = 2 * (8 * grid.n_pixels() + 16 * whole.layout().size());
    const core::DeviceArray<char> hoard(static_cast<std::int64_t>(free) - whole.workspace_bytes() / 2 -
                                        copies - (std::int64_t{64} << 20));
    const ShtPlan banded(grid, options);
    ASSERT_LT(banded.workspace_bytes(), whole.workspace_bytes());
    EXPECT_LE(scaled_difference(synthesis(banded, alm), expected), 2 * transform_rounding(1024) + 1e-12);
}

TEST_F(CudaBands, ServeACallersStream) {
    ShtOptions options = on(Device::cuda(), 256, 2);
    options.max_workspace_bytes = std::int64_t{8} << 20;
    const ShtPlan plan(Grid::healpix(128), options);
    const AlmArray alm = random_spin_alm(plan.layout(), 1, 2, 2, 3);
    const MapArray map = synthesis(plan, alm);
    const OnDevice<double> map_there(map);
    const OnDevice<Complex> back_there{AlmArray(alm.extents())};
    ShtWorkspace workspace = plan.make_workspace();
    const core::OwnStream stream;
    workspace.use_stream(stream.get());
    plan.adjoint_synthesis<double>(map_there.view(), back_there.view(), workspace);
    core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
    EXPECT_EQ(largest_difference(back_there.host(), adjoint(plan, map)), 0);
}

TEST_F(CudaBands, AllocateNothingWhileTheyWork) {
    ShtOptions options = on(Device::cuda(), 256, 2);
    options.max_workspace_bytes = std::int64_t{8} << 20;
    const ShtPlan plan(Grid::healpix(128), options);
    const AlmArray alm = random_spin_alm(plan.layout(), 1, 2, 2, 4);
    const MapArray map = synthesis(plan, alm);
    adjoint(plan, map);  // kernels are loaded now
    const OnDevice<double> map_there(map);
    const OnDevice<Complex> back_there{AlmArray(alm.extents())};
    ShtWorkspace workspace = plan.make_workspace();
    const auto free_bytes = [] {
        std::size_t free = 0, total = 0;
        core::check_cuda(cudaMemGetInfo(&free, &total), "memory");
        return free;
    };
    const std::size_t before = free_bytes();
    plan.adjoint_synthesis<double>(map_there.view(), back_there.view(), workspace);
    EXPECT_EQ(free_bytes(), before);
}

TEST_F(CudaBands, RefuseLimitsThatMeanNothing) {
    ShtOptions options = on(Device::cuda(), 8, 0);
    options.max_workspace_bytes = -1;
    EXPECT_THROW(ShtPlan(Grid::healpix(4), options), InvalidArgument);
    options.max_workspace_bytes = 1;
    options.device = Device::cpu();
    EXPECT_THROW(ShtPlan(Grid::healpix(4), options), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
