#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cuda.cuh"
#include "zonal/view.hpp"

/// Calls that repeat the one before, as graphs.
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
    template <class Work>
    LaunchGraph(cudaStream_t stream, const Work& work) {
        core::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                         "capturing a call");
        cudaGraph_t graph = nullptr;
        try {
            work();
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

/// Runs work kernel by kernel the first time; as a graph where the next call has the same key, for then
/// launches and the streams' waits for each other cost less, which small transforms feel.
class CallReplay {
  public:
    template <class Work>
    void run(const CallKey& key, cudaStream_t stream, const Work& work) {
        if (key != key_) {
            graph_.reset();
            key_ = key;
            return work();
        }
        if (!graph_) graph_.emplace(stream, work);
        graph_->launch(stream);
    }
    /// After work that was done without it.
    void forget() {
        graph_.reset();
        key_ = {};
    }

  private:
    CallKey key_;
    std::optional<LaunchGraph> graph_;
};

}  // namespace zonal::sht::cuda
