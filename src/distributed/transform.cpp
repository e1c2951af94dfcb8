#include "distributed/transform.hpp"

#include <fmt/core.h>

#include <cstring>
#include <optional>

#include "distributed/agreement.hpp"
#include "sht/cpu_stages.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {

using sht::FourierBand;

/// What an analysis keeps in host memory, and what the stages do.
struct DistributedTransform::Storage : sht::CpuStorage {
    std::unique_ptr<sht::StageMemory> memory;
};

namespace {

/// Bands of StageMemory.
constexpr std::size_t of_rings = 0;
std::size_t of_chunk(std::int64_t chunk) {
    return 1 + static_cast<std::size_t>(chunk % 2);
}

std::vector<Ring> rings_here(const Grid& grid, const std::vector<std::int64_t>& numbers, const Grid& packed) {
    std::vector<Ring> rings = grid.rings();
    for (std::size_t i = 0; i < numbers.size(); ++i) rings[numbers[i]] = packed.rings()[i];
    return rings;
}

std::span<const std::byte> bytes_of(const double* data, std::int64_t count) {
    return std::as_bytes(std::span(data, static_cast<std::size_t>(count)));
}
std::span<std::byte> writable_bytes_of(double* data, std::int64_t count) {
    return std::as_writable_bytes(std::span(data, static_cast<std::size_t>(count)));
}

}  // namespace

DistributedTransform::DistributedTransform(std::shared_ptr<Transport> transport, const Grid& grid,
                                           const ShtOptions& options, const std::vector<double>& speeds)
    : transport_(std::move(transport)),
      rank_(static_cast<std::size_t>(transport_->rank())),
      grid_(grid),
      options_(options),
      pairs_(grid, options.lmax, options.mmax, options.spin),
      partition_(grid, pairs_, options, speeds),
      packed_(radial::pack_rings(grid, partition_.rings[rank_])),
      here_(rings_here(grid, partition_.rings[rank_], packed_.grid)),
      stages_(make_stages()) {}

std::unique_ptr<const sht::Stages> DistributedTransform::make_stages() const {
    const AlmLayout layout(options_.lmax, options_.mmax, partition_.orders[rank_]);
    if (options_.device.kind() == Device::Kind::cuda)
        return sht::make_cuda_stages(layout, options_, pairs_, packed_.grid, partition_.bounds[rank_],
                                     partition_.bounds[rank_ + 1]);
    return std::make_unique<const sht::CpuStages>(layout, options_, pairs_, here_);
}

FourierBand DistributedTransform::ring_side(std::int64_t n_fields) const {
    std::vector<std::vector<std::int64_t>> runs;
    for (const auto& chunks : partition_.chunks) runs.insert(runs.end(), chunks.begin(), chunks.end());
    return {pairs_, partition_.bounds[rank_], partition_.bounds[rank_ + 1], n_fields, runs};
}

FourierBand DistributedTransform::legendre_side(std::int64_t chunk, std::int64_t n_fields) const {
    return {
        pairs_, 0, pairs_.n_blocks(), n_fields, {partition_.chunks[rank_][static_cast<std::size_t>(chunk)]}};
}

std::int64_t DistributedTransform::bytes_sent(std::size_t rank) const {
    const FourierBand band(pairs_, 0, pairs_.n_blocks(), stages_->table().components,
                           {partition_.orders[rank]});
    const std::int64_t kept = band.size(0, partition_.bounds[rank], partition_.bounds[rank + 1]);
    return (band.size() - kept) * static_cast<std::int64_t>(sizeof(double));
}

std::vector<RankShare> DistributedTransform::shares() const {
    std::vector<RankShare> all;
    for (int i = 0; i < partition_.n_ranks(); ++i) {
        const auto rank = static_cast<std::size_t>(i);
        std::int64_t n_pixels = 0;
        for (const std::int64_t ring : partition_.rings[rank]) n_pixels += grid_.rings()[ring].n_pixels;
        all.push_back({n_pixels, AlmLayout(options_.lmax, options_.mmax, partition_.orders[rank]).size(),
                       partition_.legendre_flops[rank], partition_.ring_flops[rank], bytes_sent(rank)});
    }
    return all;
}

std::int64_t DistributedTransform::workspace_bytes() const {
    std::int64_t sent[2] = {}, chunk = 0;
    for (; chunk < n_chunks(); ++chunk)
        sent[chunk % 2] = std::max(sent[chunk % 2], legendre_side(chunk, stages_->table().components).size());
    return (ring_side(stages_->table().components).size() + sent[0] + sent[1]) *
               static_cast<std::int64_t>(sizeof(double)) +
           stages_->scratch_bytes();
}

std::unique_ptr<ShtWorkspace::Storage> DistributedTransform::make_workspace(std::int64_t) const {
    auto storage = std::make_unique<Storage>();
    storage->memory = stages_->make_memory();
    stages_->prepare(*storage->memory);
    return storage;
}

DistributedTransform::Storage& DistributedTransform::storage_of(ShtWorkspace::Storage& workspace) const {
    auto* const storage = dynamic_cast<Storage*>(&workspace);
    if (storage == nullptr) throw InvalidArgument("workspace: was not made by a distributed plan");
    stages_->prepare(*storage->memory);
    return *storage;
}

void DistributedTransform::agree(const char* call, std::int64_t n_maps, std::size_t value_bytes,
                                 std::exception_ptr error) const {
    distributed::agree(*transport_,
                       fmt::format("{} of {} maps of {} bytes a value", call, n_maps, value_bytes), error);
}

std::vector<double> DistributedTransform::sum_gathered(
    View<const double, 2> rows, const std::vector<std::vector<std::int64_t>>& numbers) const {
    const std::int64_t n = rows.extent(1);
    std::string mine(static_cast<std::size_t>(rows.size()) * sizeof(double), '\0');
    for (std::int64_t i = 0; i < rows.extent(0); ++i)
        for (std::int64_t j = 0; j < n; ++j)
            std::memcpy(mine.data() + (i * n + j) * static_cast<std::int64_t>(sizeof(double)), &rows(i, j),
                        sizeof(double));
    const auto all = transport_->gather(mine);
    std::int64_t end = 0;
    for (const auto& of_rank : numbers)
        if (!of_rank.empty()) end = std::max(end, of_rank.back() + 1);
    Array<double, 2> whole({end, n});
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        for (std::size_t i = 0; i < numbers[rank].size() && n > 0; ++i)
            std::memcpy(&whole(numbers[rank][i], 0),
                        all[rank].data() + i * static_cast<std::size_t>(n) * sizeof(double),
                        static_cast<std::size_t>(n) * sizeof(double));
    return sht::sum_rows(whole.view());
}

std::vector<double> DistributedTransform::sum_rings(View<const double, 2> partial) const {
    return sum_gathered(partial, partition_.rings);
}

std::vector<double> DistributedTransform::sum_orders(View<const double, 2> partial) const {
    return sum_gathered(partial, partition_.orders);
}

/// One call's way between alm and maps, pass by pass. What fails here is kept until the end, as the other
/// ranks wait for this one's coefficients, whatever is in them.
class DistributedTransform::Call {
  public:
    Call(const DistributedTransform& transform, ShtWorkspace::Storage& workspace, std::int64_t n_maps,
         const Progress& progress, int stages)
        : t_(transform), progress_(progress), total_(static_cast<double>(n_maps * stages)) {
        std::exception_ptr error;
        try {
            storage_ = &t_.storage_of(workspace);
            storage_->seconds = {};
            const std::int64_t fields = std::min(n_maps, t_.stages_->maps_per_pass()) * components();
            storage_->memory->reserve(of_rings, t_.ring_side(fields).size());
            for (std::int64_t chunk = 0; chunk < t_.n_chunks(); ++chunk)
                storage_->memory->reserve(of_chunk(chunk), t_.legendre_side(chunk, fields).size());
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
            rings_.emplace(t_.ring_side(maps * components()));
            rings_->data = storage_->memory->reserve(of_rings, rings_->size());
            bounds_ = t_.stages_->band_bounds(rings_->n_fields);
            pass(first, maps);
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
                t_.stages_->of<T>().synthesize_orders(alm, numbers_of(chunk), sent, *storage_->memory);
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
            keep_own(chunk, sent, [](double* of_chunk, double* of_rings, std::int64_t n) {
                std::copy_n(of_chunk, n, of_rings);
            });
            exchanges.push_back(t_.transport_->exchange(std::move(send), std::move(receive)));
            advance(alm.extent(0));
        }
        for (auto& exchange : exchanges)
            if (exchange != nullptr) end(std::move(exchange));
    }

    template <class T>
    void rings_to_orders(View<std::complex<T>, 3> alm) {
        std::unique_ptr<Exchange> under_way = begin_return(0);
        for (std::int64_t chunk = 0; chunk < t_.n_chunks(); ++chunk) {
            auto next = chunk + 1 < t_.n_chunks() ? begin_return(chunk + 1) : nullptr;
            end(std::move(under_way));
            under_way = std::move(next);
            const FourierBand received = chunk_band(chunk);
            // In the order in which one process adds, for its bits.
            std::vector<FourierBand> bands;
            bands.reserve(bounds_.size());
            for (std::size_t i = 0; i + 1 < bounds_.size(); ++i)
                bands.push_back(received.part(bounds_[i], bounds_[i + 1]));
            compute(storage_->seconds.legendre, [&] {
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
    std::int64_t components() const { return t_.stages_->table().components; }

    FourierBand chunk_band(std::int64_t chunk) const {
        FourierBand band = t_.legendre_side(chunk, rings_->n_fields);
        band.data = storage_->memory->reserve(of_chunk(chunk), band.size());
        return band;
    }
    sht::OrderNumbers numbers_of(std::int64_t chunk) const {
        std::int64_t first = 0;
        const auto& chunks = t_.partition_.chunks[t_.rank_];
        for (std::int64_t i = 0; i < chunk; ++i) first += static_cast<std::int64_t>(chunks[i].size());
        return {first, first + static_cast<std::int64_t>(chunks[chunk].size())};
    }

    /// Calls message(rank, ours in the chunk's band, theirs in the rings' band, doubles of ours and of
    /// theirs) for each other rank: what this rank has computed of that one's blocks, and what that one has
    /// of ours.
    template <class Each>
    void for_each_message(std::int64_t chunk, const FourierBand& of_chunk, const Each& message) const {
        for (std::size_t rank = 0; rank < t_.partition_.orders.size(); ++rank)
            if (rank != t_.rank_) meet(chunk, of_chunk, rank, message);
    }
    template <class Each>
    void meet(std::int64_t chunk, const FourierBand& of_chunk, std::size_t rank, const Each& message) const {
        const auto& bounds = t_.partition_.bounds;
        const auto run = static_cast<std::int64_t>(rank) * t_.n_chunks() + chunk;
        message(static_cast<int>(rank), of_chunk.begin(0, bounds[rank]), rings_->begin(run, rings_->first),
                of_chunk.size(0, bounds[rank], bounds[rank + 1]),
                rings_->size(run, rings_->first, rings_->end));
    }
    template <class Copy>
    void keep_own(std::int64_t chunk, const FourierBand& of_chunk, const Copy& copy) const {
        meet(chunk, of_chunk, t_.rank_,
             [&](int, double* a, double* b, std::int64_t n, std::int64_t) { copy(a, b, n); });
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
        auto exchange = t_.transport_->exchange(std::move(send), std::move(receive));
        keep_own(chunk, received, [](double* of_chunk, double* of_rings, std::int64_t n) {
            std::copy_n(of_rings, n, of_chunk);
        });
        return exchange;
    }

    /// Ends the exchange. An interruption counts as a failure of this rank's work; without communication
    /// there is no going on.
    void end(std::unique_ptr<Exchange> exchange) {
        try {
            sht::timed(storage_->seconds.waiting, [&] { exchange->wait(); });
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
            sht::timed(seconds, work);
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
    const Progress& progress_;
    const double total_;
    double done_ = 0;
    Storage* storage_ = nullptr;
    std::optional<FourierBand> rings_;  ///< of the pass
    std::vector<std::int64_t> bounds_;  ///< of the bands that one process would take
    std::exception_ptr error_;          ///< what failed here
};

template <class T>
void DistributedTransform::synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map,
                                           ShtWorkspace::Storage& workspace, const Progress& progress) const {
    Call call(*this, workspace, alm.extent(0), progress, static_cast<int>(n_chunks()) + 1);
    call.for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        call.orders_to_rings<T>(alm.slice(first, maps));
        call.on_rings(maps, [&](const FourierBand& band, sht::StageMemory& memory) {
            stages_->of<T>().synthesize_rings(band, map.slice(first, maps), memory);
        });
    });
}

template <class T>
void DistributedTransform::adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, bool weighted,
                                        ShtWorkspace::Storage& workspace, const Progress& progress) const {
    Call call(*this, workspace, alm.extent(0), progress, static_cast<int>(n_chunks()) + 1);
    call.for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        call.on_rings(maps, [&](const FourierBand& band, sht::StageMemory& memory) {
            stages_->of<T>().adjoint_rings(map.slice(first, maps), weighted, band, memory);
        });
        call.rings_to_orders<T>(alm.slice(first, maps));
    });
}

template <class T>
void DistributedTransform::project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                                        View<std::complex<T>, 3> update, ShtWorkspace::Storage& workspace,
                                        const Progress& progress) const {
    Call call(*this, workspace, alm.extent(0), progress, 2 * static_cast<int>(n_chunks()) + 1);
    call.for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        call.orders_to_rings<T>(alm.slice(first, maps));
        call.on_rings(maps, [&](const FourierBand& band, sht::StageMemory& memory) {
            stages_->of<T>().residual_rings(map.slice(first, maps), band, memory);
        });
        call.rings_to_orders<T>(update.slice(first, maps));
    });
}

}  // namespace zonal::distributed
