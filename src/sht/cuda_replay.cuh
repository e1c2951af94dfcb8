#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "core/cuda.cuh"
#include "zonal/view.hpp"

/// Calls that come again as graphs: launches and the streams' waits for each other then cost less, which
/// small transforms feel.
namespace zonal::sht::cuda {

/// Numbers that tell calls apart: what is called, with which arrays.
class CallKey {
  public:
    CallKey& add(std::uint64_t number) {
        numbers_.push_back(number);
        return *this;
    }
    template <class T, int N>
    CallKey& add(View<T, N> view) {
        add(reinterpret_cast<std::uint64_t>(view.data())).add(sizeof(T));
        for (int axis = 0; axis < N; ++axis)
            add(static_cast<std::uint64_t>(view.extent(axis)))
                .add(static_cast<std::uint64_t>(view.stride(axis)));
        return *this;
    }
    template <class T>
    CallKey& add(const core::DeviceArray<T>& array) {
        return add(reinterpret_cast<std::uint64_t>(array.data()));
    }
    bool operator==(const CallKey&) const = default;

  private:
    std::vector<std::uint64_t> numbers_;
};

/// A stream's work as a graph that can be launched again.
class LaunchGraph {
  public:
    /// work(stream): puts it there.
    template <class Work>
    LaunchGraph(cudaStream_t stream, const Work& work) {
        core::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                         "capturing a call");
        cudaGraph_t graph = nullptr;
        try {
            work(stream);
        } catch (...) {
            cudaStreamEndCapture(stream, &graph);
            cudaGraphDestroy(graph);
            throw;
        }
        core::check_cuda(cudaStreamEndCapture(stream, &graph), "capturing a call");
        const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
        cudaGraphDestroy(graph);
        core::check_cuda(status, "making a graph");
    }
    ~LaunchGraph() { cudaGraphExecDestroy(executable_); }
    LaunchGraph(const LaunchGraph&) = delete;
    LaunchGraph& operator=(const LaunchGraph&) = delete;

    void launch(cudaStream_t stream) const {
        core::check_cuda(cudaGraphLaunch(executable_, stream), "launching a graph");
    }

  private:
    cudaGraphExec_t executable_ = nullptr;
};

/// While it lives, this thread may ask and capture streams although another thread captures one of its own.
class RelaxedCapture {
  public:
    RelaxedCapture() { exchange(); }
    ~RelaxedCapture() { exchange(); }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    void exchange() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Runs a call's work kernel by kernel the first time, and as a graph when the call comes again and its
/// stream has nothing to do. Behind other work launches take no time, and to make and to launch a graph may
/// wait for what is there.
class CallReplay {
  public:
    /// work(stream): puts the call's work on a stream, which may be captured by the caller. capturing: a
    /// stream that is there for that alone, since the default stream cannot be captured.
    template <class Work>
    void run(const CallKey& key, cudaStream_t stream, cudaStream_t capturing, const Work& work) {
        const auto found =
            std::find_if(calls_.begin(), calls_.end(), [&](const Call& call) { return call.key == key; });
        if (found == calls_.end()) {
            work(stream);
            calls_.emplace_front();
            calls_.front().key = key;
            if (calls_.size() > most_calls) calls_.pop_back();
            return;
        }
        calls_.splice(calls_.begin(), calls_, found);
        if (!is_idle(stream)) return work(stream);
        std::optional<LaunchGraph>& graph = calls_.front().graph;
        if (!graph) {
            const RelaxedCapture relaxed;
            graph.emplace(capturing, work);
        }
        graph->launch(stream);
    }

    void forget() { calls_.clear(); }
    /// Where a graph's own traces are read, the last call's: those of the one that was captured last.
    void forget_unless_last(const CallKey& key) {
        if (calls_.empty() || calls_.front().key != key) forget();
    }

  private:
    static bool is_idle(cudaStream_t stream) {
        const RelaxedCapture relaxed;
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        const bool idle = cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
                          status == cudaStreamCaptureStatusNone && cudaStreamQuery(stream) == cudaSuccess;
        cudaGetLastError();  // it is busy, or failed as the work on it will
        return idle;
    }

    struct Call {
        CallKey key;
        std::optional<LaunchGraph> graph;
    };
    /// An iteration's few transforms, each between two pairs of arrays that take turns.
    static constexpr std::size_t most_calls = 8;

    std::list<Call> calls_;  ///< the last one that was made is the first
};

}  // namespace zonal::sht::cuda
