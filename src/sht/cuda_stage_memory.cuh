#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "sht/cuda_storage.cuh"
#include "sht/rings/wire_cuda.cuh"
#include "sht/stages.hpp"

namespace zonal::sht::cuda {

/// Device memory of the stages, and the bands, in page-locked memory or on the device.
struct CudaStageMemory final : StageMemory, StageScratch {
    CudaStageMemory(int device, int threads, BandMemory place)
        : StageMemory(threads), StageScratch(device, threads), place(place) {}

    double* reserve(std::size_t band, std::int64_t count) override {
        const core::CurrentDevice current(device);
        if (place == BandMemory::device) {
            on_device[band].reserve(std::max<std::int64_t>(1, count));
            return on_device[band].data();
        }
        if (bands[band] == nullptr || count > sizes[band]) {
            bands[band].reset();
            bands[band] = std::make_unique<core::PageLockedArray>(std::max<std::int64_t>(1, count) *
                                                                  static_cast<std::int64_t>(sizeof(double)));
            sizes[band] = count;
        }
        return reinterpret_cast<double*>(bands[band]->data());
    }
    void copy(const double* from, double* to, std::int64_t count) override {
        if (place == BandMemory::host) return StageMemory::copy(from, to, count);
        const core::CurrentDevice current(device);
        core::check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(double),
                                         cudaMemcpyDeviceToDevice, wire.get()),
                         "copying a rank's own coefficients");
    }
    void* stream() const override { return place == BandMemory::device ? wire.get() : nullptr; }
    void join() override { to_wire(); }

    /// Each stream goes on when the other has done what it has been given so far.
    void to_wire() { to_wire(work.get()); }
    void to_work() { to_work(work.get()); }
    void to_wire(cudaStream_t of_work) {
        const core::CurrentDevice current(device);
        worked.record(of_work);
        worked.hold(wire.get());
    }
    void to_work(cudaStream_t of_work) {
        wired.record(wire.get());
        wired.hold(of_work);
    }
    /// For the next orders of a synthesis. What was given to the one before it goes on to the wire, for which
    /// all other work waits.
    cudaStream_t turn() {
        is_other_turn = !is_other_turn;
        return is_other_turn ? other_work.get() : work.get();
    }

    /// The band's tables, copied to the device at the first call.
    const BandTables& tables_of(const FourierBand& band) {
        for (const auto& known : tables)
            if (&known->band.places() == &band.places()) return known->on_device;
        if (tables.size() > 64) tables.clear();  // of plans that are no longer used
        auto& added = *tables.emplace_back(std::make_unique<KnownBand>(KnownBand{band, {}}));
        added.on_device.fill(band, wire.get());
        return added.on_device;
    }

    /// It holds on to what the band shares with its copies, so that no other band has the same address.
    struct KnownBand {
        FourierBand band;
        BandTables on_device;
    };
    const BandMemory place;
    /// Orders are synthesized on both in turn: what comes next fills the device while the last blocks of the
    /// orders before run. All else is done on the first.
    core::OwnStream work, other_work;
    bool is_other_turn = false;
    /// Copies from and to bands, and resampling of what they hold, beside the Legendre stage of other orders:
    /// these take bandwidth, it takes arithmetic, and its last blocks leave room for them.
    core::OwnStream wire{core::OwnStream::Urgency::first};
    core::Event worked, wired;
    BatchCopies alm;                      ///< one of all that a call brings, in the first
    core::DeviceArray<char> map, pixels;  ///< a map's component each
    std::vector<std::unique_ptr<KnownBand>> tables;
    std::array<core::DeviceArray<double>, n_bands> on_device;
    std::array<std::unique_ptr<core::PageLockedArray>, n_bands> bands;
    std::array<std::int64_t, n_bands> sizes{};
};

}  // namespace zonal::sht::cuda
