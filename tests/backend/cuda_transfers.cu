#include <functional>

#include "backend/cuda_helpers.cuh"
#include "core/cuda_transfer.cuh"

// Host memory of every kind as input and output of transforms.
namespace zonal::test {
namespace {

class CudaTransfers : public OnCuda {};

/// Memory that is freed in its own way.
struct HostMemory {
    std::string name;
    std::function<void*(std::size_t)> allocate;
    std::function<void(void*)> release;
};

std::vector<HostMemory> kinds_of_memory() {
    return {{"pageable", [](std::size_t bytes) { return std::malloc(bytes); }, std::free},
            {"page-locked",
             [](std::size_t bytes) {
                 void* memory = nullptr;
                 core::check_cuda(cudaMallocHost(&memory, bytes), "page-locked memory");
                 return memory;
             },
             [](void* memory) { cudaFreeHost(memory); }},
            {"registered",
             [](std::size_t bytes) {
                 void* const memory = std::malloc(bytes);
                 core::check_cuda(cudaHostRegister(memory, bytes, cudaHostRegisterDefault), "registering");
                 return memory;
             },
             [](void* memory) {
                 cudaHostUnregister(memory);
                 std::free(memory);
             }},
            {"managed",
             [](std::size_t bytes) {
                 void* memory = nullptr;
                 core::check_cuda(cudaMallocManaged(&memory, bytes), "managed memory");
                 return memory;
             },
             [](void* memory) { cudaFree(memory); }}};
}

template <class T>
class HostArray {
  public:
    HostArray(const HostMemory& kind, const std::array<std::int64_t, 3>& extents)
        : kind_(kind), extents_(extents) {
        data_ = static_cast<T*>(kind.allocate(static_cast<std::size_t>(view().size()) * sizeof(T)));
    }
    ~HostArray() { kind_.release(data_); }
    HostArray(const HostArray&) = delete;
    View<T, 3> view() const { return {data_, extents_}; }
    T* begin() const { return data_; }
    T* end() const { return data_ + view().size(); }

  private:
    HostMemory kind_;
    std::array<std::int64_t, 3> extents_;
    T* data_ = nullptr;
};

TEST_F(CudaTransfers, PageLockedMemoryIsRecognised) {
    for (const HostMemory& kind : kinds_of_memory()) {
        const HostArray<double> array(kind, {1, 1, 1000});
        EXPECT_EQ(core::is_page_locked(array.begin(), 8000), kind.name != "pageable") << kind.name;
    }
}

// Every number of threads and pieces, ends within a piece, and addresses of any alignment.
TEST_F(CudaTransfers, ArraysOfAnySizeComeBackAsTheyWent) {
    constexpr std::int64_t mib = 1 << 20, most = 40 * mib;
    std::vector<char> from(most + 1), back(most + 2);
    for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<char>(k % 251);
    const core::DeviceArray<char> there(most);
    const core::OwnStream stream;
    for (const int threads : {1, 3, 16}) {
        core::HostTransfer transfer(0, threads);
        for (const std::int64_t bytes :
             {std::int64_t{1}, 2 * mib, 2 * mib + 1, 3 * mib + 5, 17 * mib - 1, most}) {
            std::fill(back.begin(), back.end(), 'x');
            transfer.to_device(from.data() + 1, there.data(), bytes, stream.get());
            transfer.to_host(there.data(), back.data() + 1, bytes, stream.get());
            core::check_cuda(cudaStreamSynchronize(stream.get()), "copying");
            EXPECT_TRUE(std::equal(back.begin() + 1, back.begin() + 1 + bytes, from.begin() + 1))
                << bytes << " bytes, " << threads << " threads";
            EXPECT_EQ(back[0], 'x');
            EXPECT_EQ(back[static_cast<std::size_t>(bytes) + 1], 'x');
        }
    }
}

TEST_F(CudaTransfers, AllKindsOfHostMemoryGiveTheSameBits) {
    // 25 MB a map: many pieces for every thread; batches of one and of more than there are copies of.
    for (const int spin : {0, 2}) {
        const ShtPlan plan(Grid::healpix(scaled(512)), on(Device::cuda(), scaled(256), spin));
        for (const std::int64_t n_maps : {1, 3}) {
            const AlmArray alm = random_spin_alm(plan.layout(), n_maps, plan.alm_components(), spin, 1);
            const OnDevice<Complex> alm_there(alm);
            const OnDevice<double> map_there{
                MapArray({n_maps, plan.map_components(), plan.grid().n_pixels()})};
            plan.synthesize<double>(alm_there.view(), map_there.view());
            const MapArray map = map_there.host();
            const OnDevice<Complex> back_there{AlmArray(alm.extents())};
            plan.adjoint_synthesis<double>(map_there.view(), back_there.view());
            const AlmArray back = back_there.host();
            for (const HostMemory& kind : kinds_of_memory()) {
                const HostArray<Complex> alm_here(kind, alm.extents()), back_here(kind, alm.extents());
                const HostArray<double> map_here(kind, map.extents());
                std::copy(alm.begin(), alm.end(), alm_here.begin());
                plan.synthesize<double>(alm_here.view(), map_here.view());
                EXPECT_EQ(largest_difference(map_here, map), 0) << kind.name << spin << n_maps;
                plan.adjoint_synthesis<double>(map_here.view(), back_here.view());
                EXPECT_EQ(largest_difference(back_here, back), 0) << kind.name << spin << n_maps;
            }
        }
    }
}

TEST_F(CudaTransfers, AWorkspaceServesManyCallsAndSizes) {
    const ShtPlan small(Grid::healpix(64), on(Device::cuda(), 128, 2)),
        large(Grid::healpix(512), on(Device::cuda(), 300, 0));
    ShtWorkspace workspace = small.make_workspace();
    for (const ShtPlan* plan : {&small, &large, &small}) {
        const AlmArray alm =
            random_spin_alm(plan->layout(), 4, plan->alm_components(), plan->options().spin, 2);
        MapArray map({4, plan->map_components(), plan->grid().n_pixels()});
        plan->synthesize<double>(alm.view(), map.view(), workspace);
        EXPECT_EQ(largest_difference(map, synthesis(*plan, alm)), 0);
    }
}

TEST_F(CudaTransfers, PixelsInNoRingStayAsTheyAre) {
    const Grid grid = Grid::healpix(256).subset({100, 101, 102, 600, 900});
    const ShtPlan plan(grid, on(Device::cuda(), 64, 0)), cpu(grid, on(Device::cpu(), 64, 0));
    const AlmArray alm = random_alm(plan.layout(), 3, 1, 3);
    MapArray map({3, 1, grid.n_pixels()}), expected(map.extents());
    for (double& value : map) value = 5;
    for (double& value : expected) value = 5;
    plan.synthesize<double>(alm.view(), map.view());
    cpu.synthesize<double>(alm.view(), expected.view());
    EXPECT_LE(largest_difference(map, expected), transform_rounding(64) * largest(expected));
}

TEST_F(CudaTransfers, StoppedCallsLeaveNothingBehind) {
    const ShtPlan plan(Grid::healpix(256), on(Device::cuda(), 256, 0));
    const AlmArray alm = random_alm(plan.layout(), 4, 1, 4);
    ShtWorkspace workspace = plan.make_workspace();
    {
        MapArray map({4, 1, plan.grid().n_pixels()});
        EXPECT_THROW(plan.synthesize<double>(alm.view(), map.view(), workspace,
                                             [](double done) { return done < 0.4; }),
                     Cancelled);
    }
    MapArray map({4, 1, plan.grid().n_pixels()});
    plan.synthesize<double>(alm.view(), map.view(), workspace);
    EXPECT_EQ(largest_difference(map, synthesis(plan, alm)), 0);
}

}  // namespace
}  // namespace zonal::test
