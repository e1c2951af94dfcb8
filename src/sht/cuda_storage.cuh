#pragma once

#include <map>
#include <type_traits>

#include "core/cuda.cuh"
#include "sht/cuda_batch.cuh"
#include "sht/cuda_replay.cuh"
#include "sht/rings/meridian_integral_cuda.cuh"
#include "sht/rings/modes_cuda.cuh"
#include "sht/rings/ring_stage_cuda.cuh"
#include "sht/transform.hpp"

namespace zonal::sht::cuda {

/// What a call's stages took, by events between them.
class StageClock {
  public:
    /// Not where a caller's stream is used: nobody waits there to read the events.
    void start(cudaStream_t stream, bool enabled) {
        enabled_ = enabled;
        events_.clear();
        stages_.clear();
        if (enabled_) events_.record(stream);
    }
    /// What came since the last mark was this stage; null: what is not counted.
    void mark(cudaStream_t stream, double ShtStageSeconds::*stage) {
        if (!enabled_) return;
        events_.record(stream);
        stages_.push_back(stage);
    }
    /// Once the stream has passed all marks.
    ShtStageSeconds seconds() const {
        ShtStageSeconds sum;
        for (std::size_t k = 0; k < stages_.size(); ++k)
            if (stages_[k] != nullptr) sum.*stages_[k] += events_.seconds(k);
        return sum;
    }

  private:
    bool enabled_ = false;
    core::EventList events_;
    std::vector<double ShtStageSeconds::*> stages_;
};

/// Device memory of the stages of one call, and what fills it from the host.
struct StageScratch {
    StageScratch(int device, int threads) : device(device), transfer(device, threads) {}

    /// A graph of a call holds where its scratch memory lies.
    void add_addresses(CallKey& key) const {
        key.add(fourier).add(coarse).add(rings.buffer).add(rings.library);
        key.add(meridian.circles).add(meridian.fine).add(meridian.library).add(meridian.modes);
        modes.add_addresses(key);
    }

    const int device;
    core::HostTransfer transfer;
    core::DeviceArray<PairModes> fourier;  ///< [field][entry], of the grid's rings
    core::DeviceArray<PairModes> coarse;   ///< the same of the Legendre stage's, where they differ
    ModesScratch modes;
    RingBuffers rings;
    MeridianScratch meridian;
};

/// What a workspace keeps, as that of calls on this device; throws InvalidArgument where it is not.
template <class Memory, class Any>
Memory& memory_on(int device, Any& memory) {
    auto* const found = dynamic_cast<Memory*>(&memory);
    if (found == nullptr || found->device != device)
        throw InvalidArgument("workspace", "was made by a plan on another device");
    return *found;
}

/// What one process' transforms keep between calls.
struct CudaStorage : ShtWorkspace::Storage, StageScratch {
    using StageScratch::StageScratch;

    void use_stream(void* stream) override {
        caller = static_cast<cudaStream_t>(stream);
        has_caller = true;
        replay.forget();  // graphs of its own stream may measure stages
    }
    cudaStream_t stream() const { return has_caller ? caller : own.get(); }

    MemorySpace space() const override { return MemorySpace::cuda; }
    void* reserve(const ScratchArray& array, std::int64_t bytes) override {
        const core::CurrentDevice current(device);
        auto& memory = arrays[&array];
        memory.reserve(bytes);
        return memory.data();
    }
    void copy(MemoryRows<const void*> from, MemoryRows<void*> to, std::int64_t row_bytes,
              std::int64_t n_rows) override {
        const core::CurrentDevice current(device);
        for (std::int64_t row = 0; row < n_rows; ++row) {
            const char* const source = static_cast<const char*>(from.data) + row * from.stride;
            char* const target = static_cast<char*>(to.data) + row * to.stride;
            if (to.space == MemorySpace::host)
                transfer.to_host(source, target, row_bytes, stream());
            else
                transfer.to_device(source, target, row_bytes, stream());
        }
        if (to.space == MemorySpace::host)
            core::check_cuda(cudaStreamSynchronize(stream()), "copying to the host");
    }

    void measure_stages(bool on) override { measures_stages = on; }
    void read_clock() override {
        if (!clock_is_news) return;
        const core::CurrentDevice current(device);
        seconds = clock.seconds();
        clock_is_news = false;
    }

    std::int64_t n_maps = 1;  ///< that make room for what they share
    core::OwnStream own;
    cudaStream_t caller = nullptr;
    bool has_caller = false;
    StageClock clock;
    bool measures_stages = false;
    bool clock_is_news = false;  ///< since read_clock
    CallReplay replay;
    BatchCopies alm, map, update;  ///< of host arrays
    BatchStreams batches;
    core::DeviceArray<char> residual;  ///< of project_residual
    core::DeviceArray<char> part;      ///< of the alm, that a zone of rings gives
    std::map<const ScratchArray*, core::DeviceArray<char>> arrays;
};

}  // namespace zonal::sht::cuda
