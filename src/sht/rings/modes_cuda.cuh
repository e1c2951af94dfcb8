#pragma once

#include <cstdint>
#include <optional>
#include <vector>
#include "core/cuda.cuh"
#include "zonal/view.hpp"

#include "sht/legendre/coefficients_cuda.cuh"

/// The whole Legendre stage, from a_lm to the Fourier coefficients F_m of ring pairs and back.
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

/// Device memory of the stage, and streams beside the caller's.
class ModesScratch {
  public:
    /// Makes room for n_maps maps at once, and for calls of alm_from_modes with as many orders as these.
    void fit(const LegendreStage& stage, std::int64_t n_maps, Orders adjoint);
    static std::int64_t bytes(const LegendreStage& stage, std::int64_t n_maps);
    void add_addresses(CallKey& key) const { key.add(steps).add(rows).add(sums).add(polar).add(equatorial); }

    /// Streams beside `stream`, after what it has been given so far; it goes on when their work is done.
    JacobiStreams fork_sides(cudaStream_t stream) { return {side_.fork(stream), other_side_.fork(stream)}; }
    void join_sides(cudaStream_t stream) {
        side_.join(stream);
        other_side_.join(stream);
    }

    /// Begins, beside what `stream` is given next, what alm_from_modes needs of the orders that no F_m is
    /// needed for.
    void begin_adjoint(const LegendreStage& stage, Orders orders, cudaStream_t stream);
    /// `stream` goes on when that is done.
    void join_adjoint(cudaStream_t stream) { early_.join(stream); }

    core::DeviceArray<double> steps, rows, sums;  ///< of Ishioka's recurrence
    core::DeviceArray<double> polar, equatorial;  ///< adjoint_jacobi

  private:
    core::SideStream side_, other_side_, early_;
};

/// How many of n_maps maps share the recurrences.
std::int64_t maps_at_once(const LegendreStage& stage, std::int64_t n_maps);

/// All orders in parts of about as many coefficients, so that the copies of one map's alm overlap with the
/// work on them: one for little, four for much.
std::vector<Orders> orders_in_parts(const AlmLayout& layout);
/// Past the orders' last coefficient.
std::int64_t end_of(const AlmLayout& layout, Orders orders);

/// fourier: [map][component] of stage.layout().size() each, the part of the orders overwritten.
template <class T>
void modes_from_alm(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                    ModesScratch& scratch, PairModes* fourier, cudaStream_t stream);

/// The transpose: the orders' a_lm. After ModesScratch::begin_adjoint.
template <class T>
void alm_from_modes(const LegendreStage& stage, Orders orders, const PairModes* fourier,
                    ModesScratch& scratch, const std::vector<AlmTargets<T>>& maps, cudaStream_t stream);

}  // namespace zonal::sht::cuda
