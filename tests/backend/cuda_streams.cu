#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "backend/cuda_helpers.cuh"

// Transforms on streams of the caller's: no call waits, graphs can be captured, threads do not meet.
namespace zonal::test {
namespace {

class CudaStreams : public OnCuda {};

/// A stream whose work waits until it is let go. Gives up after a while: then a call that waited fails its
/// test instead of hanging.
class BlockedStream {
  public:
    ~BlockedStream() {
        let_go();
        cudaStreamSynchronize(get());
    }
    cudaStream_t get() const { return stream_.get(); }
    void block() {
        free_ = false;
        core::check_cuda(cudaLaunchHostFunc(get(), &BlockedStream::wait, this), "blocking a stream");
    }
    void let_go() { free_ = true; }
    bool gave_up() const { return gave_up_; }

  private:
    static void wait(void* self) {
        auto& stream = *static_cast<BlockedStream*>(self);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!stream.free_ && !stream.gave_up_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            if (std::chrono::steady_clock::now() > end) stream.gave_up_ = true;
        }
    }
    core::OwnStream stream_;
    std::atomic<bool> free_{false}, gave_up_{false};
};

/// A plan with input and expected results, all of it on the device.
struct Problem {
    Problem(const Grid& grid, std::int64_t lmax, int spin, unsigned seed)
        : plan(grid, on(Device::cuda(), lmax, spin)),
          workspace(plan.make_workspace()),
          alm(random_spin_alm(plan.layout(), 2, plan.alm_components(), spin, seed)),
          map(synthesis(plan, alm)),
          back(adjoint(plan, map)),
          alm_there(alm),
          map_there{MapArray(map.extents())},
          back_there{AlmArray(alm.extents())} {}

    void synthesize() { plan.synthesize<double>(alm_there.view(), map_there.view(), workspace); }
    void adjoint_synthesis() {
        plan.adjoint_synthesis<double>(map_there.view(), back_there.view(), workspace);
    }
    void both() {
        synthesize();
        adjoint_synthesis();
    }
    void clear(cudaStream_t stream) const {
        core::check_cuda(cudaMemsetAsync(map_there.memory.data(), 0xff, map_there.memory.bytes(), stream),
                         "clearing");
        core::check_cuda(cudaMemsetAsync(back_there.memory.data(), 0xff, back_there.memory.bytes(), stream),
                         "clearing");
    }
    /// Of what lies on the device; its stream must have been waited for.
    void expect_right() const {
        EXPECT_EQ(largest_difference(map_there.host(), map), 0);
        EXPECT_EQ(largest_difference(back_there.host(), back), 0);
    }

    ShtPlan plan;
    ShtWorkspace workspace;
    AlmArray alm;
    MapArray map;
    AlmArray back;
    OnDevice<Complex> alm_there;
    OnDevice<double> map_there;
    OnDevice<Complex> back_there;
};

/// Resampled in theta, with and without a spin; plain; of a high spin, without Ishioka's recurrence.
std::vector<std::unique_ptr<Problem>> problems() {
    std::vector<std::unique_ptr<Problem>> all;
    all.push_back(std::make_unique<Problem>(Grid::healpix(scaled(512)), scaled(700), 0, 1));
    all.push_back(std::make_unique<Problem>(Grid::healpix(scaled(512)), scaled(700), 2, 2));
    all.push_back(std::make_unique<Problem>(Grid::gauss_legendre(129, 258), 128, 1, 3));
    all.push_back(std::make_unique<Problem>(Grid::healpix(32), 64, 3, 4));
    return all;
}

/// Calls it n_before times, and then on a stream that is blocked.
void expect_no_wait(Problem& problem, int n_before) {
    BlockedStream stream;
    problem.workspace.use_stream(stream.get());
    for (int run = 0; run < n_before; ++run) {
        problem.both();
        core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
    }
    problem.clear(stream.get());
    stream.block();
    problem.both();
    problem.both();
    EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
    EXPECT_FALSE(stream.gave_up()) << "the call waited for the stream";
    stream.let_go();
    core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
    problem.expect_right();
}

TEST_F(CudaStreams, CallsReturnWhileTheStreamIsBlocked) {
    for (const auto& problem : problems()) {
        expect_no_wait(*problem, 1);  // kernels are loaded then
        expect_no_wait(*problem, 4);  // there are graphs of the calls then
    }
}

TEST_F(CudaStreams, AResidualIsProjectedWithoutWaiting) {
    Problem problem(Grid::healpix(64), 128, 2, 5);
    AlmArray zero(problem.alm.extents());
    const OnDevice<Complex> none(zero), update(zero);
    problem.synthesize();
    const auto project = [&] {
        problem.plan.project_residual<double>(none.view(), problem.map_there.view(), update.view(),
                                              problem.workspace);
    };
    project();  // makes room for the residual
    const AlmArray expected = update.host();
    BlockedStream stream;
    problem.workspace.use_stream(stream.get());
    stream.block();
    project();
    EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
    EXPECT_FALSE(stream.gave_up()) << "the call waited for the stream";
    stream.let_go();
    core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
    EXPECT_EQ(largest_difference(update.host(), expected), 0);
}

/// What `work` puts on a stream, as a graph.
class CapturedGraph {
  public:
    CapturedGraph(cudaStream_t stream, const std::function<void()>& work) {
        core::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capturing");
        work();
        core::check_cuda(cudaStreamEndCapture(stream, &graph_), "capturing");
        core::check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), "instantiating");
    }
    ~CapturedGraph() {
        cudaGraphExecDestroy(executable_);
        cudaGraphDestroy(graph_);
    }
    CapturedGraph(const CapturedGraph&) = delete;
    CapturedGraph& operator=(const CapturedGraph&) = delete;
    void launch(cudaStream_t stream) const {
        core::check_cuda(cudaGraphLaunch(executable_, stream), "launching a graph");
    }

  private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
};

TEST_F(CudaStreams, CapturedGraphsGiveTheSameBits) {
    for (const auto& problem : problems()) {
        const core::OwnStream stream;
        problem->workspace.use_stream(stream.get());
        const CapturedGraph synthesis(stream.get(), [&] { problem->synthesize(); }),
            adjoint(stream.get(), [&] { problem->adjoint_synthesis(); });
        for (int run = 0; run < 3; ++run) {
            problem->clear(stream.get());
            synthesis.launch(stream.get());
            adjoint.launch(stream.get());
            core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
            problem->expect_right();
        }
    }
}

TEST_F(CudaStreams, TheDefaultStreamServesToo) {
    Problem problem(Grid::healpix(32), 64, 2, 6);
    problem.workspace.use_stream(nullptr);
    for (int run = 0; run < 3; ++run) {
        problem.clear(nullptr);
        problem.both();
        core::check_cuda(cudaStreamSynchronize(nullptr), "waiting");
        problem.expect_right();
    }
}

TEST_F(CudaStreams, CallsThatComeAgainReadAndWriteTheirOwnArrays) {
    // More different calls than are kept as graphs, then few, in turn; every map has alm of its own.
    for (const bool on_callers : {false, true}) {
        Problem problem(Grid::healpix(64), 128, 0, 11);
        const core::OwnStream stream;
        if (on_callers) problem.workspace.use_stream(stream.get());
        constexpr int n_most = 12;
        std::vector<OnDevice<Complex>> alm;
        std::vector<OnDevice<double>> maps;
        std::vector<MapArray> expected;
        for (int k = 0; k < n_most; ++k) {
            const AlmArray given =
                random_spin_alm(problem.plan.layout(), 2, problem.plan.alm_components(), 0, 20 + k);
            alm.emplace_back(given);
            maps.emplace_back(MapArray(problem.map.extents()));
            expected.push_back(synthesis(problem.plan, given));
        }
        for (const int n : {n_most, 2, 5}) {
            for (int call = 0; call < 4 * n; ++call) {
                OnDevice<double>& map = maps[static_cast<std::size_t>(call % n)];
                core::check_cuda(cudaMemsetAsync(map.memory.data(), 0xff, map.memory.bytes(), stream.get()),
                                 "clearing");
                if (!on_callers) core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
                problem.plan.synthesize<double>(alm[static_cast<std::size_t>(call % n)].view(), map.view(),
                                                problem.workspace);
                core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
                EXPECT_EQ(largest_difference(map.host(), expected[static_cast<std::size_t>(call % n)]), 0)
                    << n << " " << call;
            }
        }
    }
}

TEST_F(CudaStreams, CallsThatComeAgainMayBeCapturedInBetween) {
    Problem problem(Grid::healpix(64), 128, 2, 12);
    const core::OwnStream stream;
    problem.workspace.use_stream(stream.get());
    for (int run = 0; run < 2; ++run) {
        problem.both();
        problem.both();
        const CapturedGraph both(stream.get(), [&] { problem.both(); });
        problem.clear(stream.get());
        both.launch(stream.get());
        core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
        problem.expect_right();
    }
}

TEST_F(CudaStreams, TwoPlansWorkOnTwoStreamsOfTwoThreads) {
    Problem first(Grid::healpix(scaled(128)), scaled(256), 0, 7),
        second(Grid::gauss_legendre(scaled(257), scaled(514)), scaled(257) - 1, 2, 8);
    {
        std::vector<std::jthread> threads;
        for (Problem* problem : {&first, &second})
            threads.emplace_back([problem] {
                const core::OwnStream stream;
                problem->workspace.use_stream(stream.get());
                for (int run = 0; run < 20; ++run) {
                    problem->clear(stream.get());
                    problem->both();
                    core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
                    problem->expect_right();
                }
            });
    }
}

TEST_F(CudaStreams, OnePlanWorksOnTwoStreamsAtOnce) {
    // Two workspaces; the streams are held back until both have all their work, so that it runs side by side.
    Problem problem(Grid::healpix(scaled(256)), scaled(512), 2, 9);
    problem.both();
    ShtWorkspace workspaces[2] = {problem.plan.make_workspace(), problem.plan.make_workspace()};
    const OnDevice<double> maps[2] = {OnDevice<double>{MapArray(problem.map.extents())},
                                      OnDevice<double>{MapArray(problem.map.extents())}};
    BlockedStream streams[2];
    for (int k = 0; k < 2; ++k) {
        workspaces[k].use_stream(streams[k].get());
        streams[k].block();
        problem.plan.synthesize<double>(problem.alm_there.view(), maps[k].view(), workspaces[k]);
    }
    for (BlockedStream& stream : streams) stream.let_go();
    for (int k = 0; k < 2; ++k) {
        core::check_cuda(cudaStreamSynchronize(streams[k].get()), "waiting");
        EXPECT_FALSE(streams[k].gave_up());
        EXPECT_EQ(largest_difference(maps[k].host(), problem.map), 0);
    }
}

TEST_F(CudaStreams, TheCallersDeviceStaysCurrent) {
    int count = 0;
    core::check_cuda(cudaGetDeviceCount(&count), "counting devices");
    const int others = count - 1;  // where there are two, the caller's is not the plan's
    core::check_cuda(cudaSetDevice(others), "choosing a device");
    const auto expect_same = [&](const char* after) {
        int current = -1;
        core::check_cuda(cudaGetDevice(&current), "asking for the device");
        EXPECT_EQ(current, others) << after;
    };
    {
        const ShtPlan plan(Grid::healpix(16), on(Device::cuda(0), 32, 0));
        expect_same("making a plan");
        ShtWorkspace workspace = plan.make_workspace();
        expect_same("making a workspace");
        const AlmArray alm = random_alm(plan.layout(), 1, 1, 10);
        MapArray map({1, 1, plan.grid().n_pixels()});
        plan.synthesize<double>(alm.view(), map.view(), workspace);
        expect_same("a transform");
        EXPECT_EQ(largest_difference(map, synthesis(plan, alm)), 0);
    }
    expect_same("destroying them");
    core::check_cuda(cudaSetDevice(0), "choosing a device");
}

}  // namespace
}  // namespace zonal::test
