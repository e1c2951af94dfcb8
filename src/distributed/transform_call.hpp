#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/cuda_host.hpp"
#include "core/interruption.hpp"
#include "distributed/agreement.hpp"
#include "distributed/transform.hpp"
#include "sht/cpu_stages.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {

using sht::FourierBand;

/// What an analysis keeps in host memory, and what the stages do.
struct DistributedTransform::Storage : sht::CpuStorage {
    void copy(sht::MemoryRows<const void*> from, sht::MemoryRows<void*> to, std::int64_t row_bytes,
              std::int64_t n_rows) override {
        if (from.space == MemorySpace::host && to.space == MemorySpace::host)
            return CpuStorage::copy(from, to, row_bytes, n_rows);
        for (std::int64_t row = 0; row < n_rows; ++row) {
            const char* const source = static_cast<const char*>(from.data) + row * from.stride;
            char* const target = static_cast<char*>(to.data) + row * to.stride;
            if (to.space == MemorySpace::host)
                core::copy_from_cuda(target, source, row_bytes);
            else
                core::copy_to_cuda(target, source, row_bytes);
        }
    }
    void measure_stages(bool on) override { measures_stages = on; }

    std::unique_ptr<sht::StageMemory> memory;
    bool measures_stages = false;
};

/// One call's way between alm and maps, pass by pass. What fails here is kept until the end, as the other
/// ranks wait for this one's coefficients, whatever is in them.
class DistributedTransform::Call {
  public:
    /// bands: the transform's, of which exact_bands_ stand for exact integrals. on_device: whether all arrays
    /// lie there.
    Call(const DistributedTransform& transform, const Bands& bands, ShtWorkspace::Storage& workspace,
         std::int64_t n_maps, bool on_device, const Progress& progress, int stages)
        : t_(transform),
          layout_(bands),
          is_exact_(t_.exact_bands_ && &bands == &*t_.exact_bands_),
          on_device_(on_device),
          progress_(progress),
          total_(static_cast<double>(n_maps * stages)) {
        std::exception_ptr error;
        try {
            storage_ = &t_.storage_of(workspace);
            storage_->seconds = {};
            const std::int64_t fields = std::min(n_maps, t_.stages_->maps_per_pass()) * components();
            storage_->memory->reserve(of_rings, layout_.rings.size() * fields);
            for (std::int64_t chunk = 0; chunk < t_.n_chunks(); ++chunk)
                storage_->memory->reserve(of_chunk(chunk), layout_.chunks[chunk].size() * fields);
            report(0);
        } catch (...) {
            error = std::current_exception();
        }
        distributed::agree(*t_.transport_, "the memory of a transform", error);
    }

    /// Calls pass(first map, maps) for the maps that share recurrences, and throws what failed on any rank.
    template <class Pass>
    void for_each_pass(std::int64_t n_maps, const Pass& pass) {
        for (std::int64_t first = 0; first < n_maps; first += t_.stages_->maps_per_pass()) {
            const std::int64_t maps = std::min(t_.stages_->maps_per_pass(), n_maps - first);
            rings_.emplace(in_memory(of_rings, layout_.rings, maps * components()));
            bounds_ = is_exact_ ? std::vector<std::int64_t>{0, t_.pairs_.n_blocks()}
                                : t_.stages_->band_bounds(rings_->n_fields);
            pass(first, maps);
            finish();
            distributed::agree(*t_.transport_, "the end of a transform", error_);
        }
    }

    template <class T>
    void orders_to_rings(View<const std::complex<T>, 3> alm) {
        std::vector<std::unique_ptr<Exchange>> exchanges;
        for (std::int64_t chunk = 0; chunk < t_.n_chunks(); ++chunk) {
            if (chunk >= 2)
                end(std::move(exchanges[chunk - 2]));  // its coefficients are where this chunk's will be
            const FourierBand sent = chunk_band(chunk);
            compute(storage_->seconds.legendre, [&] {
                if (is_exact_) t_.stages_->clear_unreached(sent, numbers_of(chunk), *storage_->memory);
                t_.stages_->of<T>().synthesize_orders(alm, numbers_of(chunk), sent, *storage_->memory);
                integrate(chunk, sent);
            });
            std::vector<Message<const std::byte>> send;
            std::vector<Message<std::byte>> receive;
            for_each_message(chunk, sent,
                             [&](int rank, double* of_chunk, double* of_rings, std::int64_t to_there,
                                 std::int64_t from_there) {
                                 if (to_there > 0) send.push_back({rank, bytes_of(of_chunk, to_there)});
                                 if (from_there > 0)
                                     receive.push_back({rank, writable_bytes_of(of_rings, from_there)});
                             });
            exchanges.push_back(exchange(std::move(send), std::move(receive)));
            keep_own(chunk, sent, [&](double* of_chunk, double* of_rings, std::int64_t n) {
                storage_->memory->copy(of_chunk, of_rings, n);
            });
            advance(alm.extent(0));
        }
        for (auto& exchange : exchanges)
            if (exchange != nullptr) end(std::move(exchange));
    }

    template <class T>
    void rings_to_orders(View<std::complex<T>, 3> alm) {
        // The smallest chunk first, as nothing is worked on before it has come.
        std::unique_ptr<Exchange> under_way = begin_return(t_.n_chunks() - 1);
        for (std::int64_t chunk = t_.n_chunks() - 1; chunk >= 0; --chunk) {
            auto next = chunk > 0 ? begin_return(chunk - 1) : nullptr;
            end(std::move(under_way));
            under_way = std::move(next);
            const FourierBand received = chunk_band(chunk);
            // In the order in which one process adds, for its bits.
            std::vector<FourierBand> bands;
            bands.reserve(bounds_.size());
            for (std::size_t i = 0; i + 1 < bounds_.size(); ++i)
                bands.push_back(received.part(bounds_[i], bounds_[i + 1]));
            compute(storage_->seconds.legendre, [&] {
                integrate(chunk, received);
                t_.stages_->of<T>().adjoint_orders(bands, alm, numbers_of(chunk), *storage_->memory);
            });
            advance(alm.extent(0));
        }
    }

    /// Runs work(F_m of this rank's rings, memory).
    template <class Work>
    void on_rings(std::int64_t n_maps, const Work& work) {
        compute(storage_->seconds.rings, [&] { work(*rings_, *storage_->memory); });
        advance(n_maps);
    }

  private:
    /// Bands of StageMemory.
    static constexpr std::size_t of_rings = 0;
    static std::size_t of_chunk(std::int64_t chunk) { return 1 + static_cast<std::size_t>(chunk % 2); }

    static std::span<const std::byte> bytes_of(const double* data, std::int64_t count) {
        return std::as_bytes(std::span(data, static_cast<std::size_t>(count)));
    }
    static std::span<std::byte> writable_bytes_of(double* data, std::int64_t count) {
        return std::as_writable_bytes(std::span(data, static_cast<std::size_t>(count)));
    }

    std::int64_t components() const { return t_.stages_->table().components; }

    FourierBand in_memory(std::size_t place, FourierBand band, std::int64_t n_fields) const {
        band.n_fields = n_fields;
        band.data = storage_->memory->reserve(place, band.size());
        return band;
    }
    void integrate(std::int64_t chunk, const FourierBand& band) const {
        if (is_exact_)
            t_.stages_->integrate_orders(band, numbers_of(chunk), t_.exact_->scale(t_.grid_),
                                         *storage_->memory);
    }
    FourierBand chunk_band(std::int64_t chunk) const {
        return in_memory(of_chunk(chunk), layout_.chunks[chunk], rings_->n_fields);
    }
    sht::OrderNumbers numbers_of(std::int64_t chunk) const {
        std::int64_t first = 0;
        const auto& chunks = t_.partition_.chunks[t_.rank_];
        for (std::int64_t i = 0; i < chunk; ++i) first += static_cast<std::int64_t>(chunks[i].size());
        return {first, first + static_cast<std::int64_t>(chunks[chunk].size())};
    }

    /// Calls message(rank, ours in the chunk's band, theirs in the rings' band, doubles of ours and of
    /// theirs) for each piece and each other rank: what this rank has computed of that one's blocks, and what
    /// that one has of ours.
    template <class Each>
    void for_each_message(std::int64_t chunk, const FourierBand& of_chunk, const Each& message) const {
        for (std::size_t rank = 0; rank < t_.partition_.orders.size(); ++rank)
            if (rank != t_.rank_) meet(chunk, of_chunk, rank, message);
    }
    template <class Each>
    void meet(std::int64_t chunk, const FourierBand& of_chunk, std::size_t rank, const Each& message) const {
        const auto& bounds = t_.partition_.bounds;
        const auto run = static_cast<std::int64_t>(rank) * t_.n_chunks() + chunk;
        for (std::int64_t piece = 0; piece < of_chunk.n_pieces(); ++piece)
            message(static_cast<int>(rank), of_chunk.begin(0, bounds[rank], piece),
                    rings_->begin(run, rings_->first, piece),
                    of_chunk.size(0, bounds[rank], bounds[rank + 1]),
                    rings_->size(run, rings_->first, rings_->end));
    }
    template <class Copy>
    void keep_own(std::int64_t chunk, const FourierBand& of_chunk, const Copy& copy) {
        double unused = 0;
        meet(chunk, of_chunk, t_.rank_, [&](int, double* a, double* b, std::int64_t n, std::int64_t) {
            compute(unused, [&] { copy(a, b, n); });
        });
    }

    std::unique_ptr<Exchange> exchange(std::vector<Message<const std::byte>> send,
                                       std::vector<Message<std::byte>> receive) {
        if (t_.link_) return t_.link_->exchange(send, receive, storage_->memory->stream());
        return t_.transport_->exchange(std::move(send), std::move(receive));
    }
    /// Waits for what a device has been given.
    void finish() {
        if (!t_.link_) return;
        storage_->memory->join();
        const core::InterruptionPoll poll;
        t_.link_->wait(storage_->memory->stream(), [&] {
            if (error_) return;
            try {
                poll();
            } catch (...) {
                error_ = std::current_exception();
            }
        });
    }

    std::unique_ptr<Exchange> begin_return(std::int64_t chunk) {
        const FourierBand received = chunk_band(chunk);
        std::vector<Message<const std::byte>> send;
        std::vector<Message<std::byte>> receive;
        for_each_message(chunk, received,
                         [&](int rank, double* of_chunk, double* of_rings, std::int64_t from_there,
                             std::int64_t to_there) {
                             if (to_there > 0) send.push_back({rank, bytes_of(of_rings, to_there)});
                             if (from_there > 0)
                                 receive.push_back({rank, writable_bytes_of(of_chunk, from_there)});
                         });
        auto under_way = exchange(std::move(send), std::move(receive));
        keep_own(chunk, received, [&](double* of_chunk, double* of_rings, std::int64_t n) {
            storage_->memory->copy(of_rings, of_chunk, n);
        });
        return under_way;
    }

    /// Ends the exchange. An interruption counts as a failure of this rank's work; without communication
    /// there is no going on.
    void end(std::unique_ptr<Exchange> exchange) {
        try {
            sht::timed(storage_->seconds.waiting, [&] {
                exchange->wait();
                // Copies to the host wait for a device without an eye on the other ranks.
                if (!on_device_ || storage_->measures_stages) finish();
            });
        } catch (const CommunicationError&) {
            throw;
        } catch (...) {
            if (!error_) error_ = std::current_exception();
        }
    }
    template <class Work>
    void compute(double& seconds, const Work& work) {
        if (error_) return;
        try {
            sht::timed(seconds, [&] {
                work();
                if (storage_->measures_stages) finish();
            });
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    void report(double work) {
        done_ += work;
        if (progress_ && !progress_(std::min(1.0, done_ / total_))) throw Cancelled("transform: cancelled");
    }
    void advance(std::int64_t maps) {
        double unused = 0;
        compute(unused, [&] { report(static_cast<double>(maps)); });
    }

    const DistributedTransform& t_;
    const Bands& layout_;
    const bool is_exact_, on_device_;
    const Progress& progress_;
    const double total_;
    double done_ = 0;
    Storage* storage_ = nullptr;
    std::optional<FourierBand> rings_;  ///< of the pass
    std::vector<std::int64_t> bounds_;  ///< of the bands that one process would take
    std::exception_ptr error_;          ///< what failed here
};

}  // namespace zonal::distributed
