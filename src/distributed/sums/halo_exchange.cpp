#include "distributed/sums/halo_exchange.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/cuda_host.hpp"
#include "distributed/transport.hpp"

namespace zonal::distributed {
namespace {

/// Makes room for these bytes; what was there is lost.
template <class Make>
void reserve(Buffer& buffer, MemorySpace space, std::int64_t bytes, const Make& make) {
    if (buffer.space() == space && buffer.bytes() >= bytes) return;
    buffer = Buffer();
    buffer = make();
}

/// The rows of maps, and of what is reached from them.
template <class T>
class HaloRows {
  public:
    /// Makes room for what is reached.
    HaloRows(const HaloCall& call, View<const T, 3> maps, HaloMemory& memory)
        : copies_(call.copies), maps_(maps), rank_(static_cast<std::size_t>(call.ranks.rank())) {
        const typename View<T, 3>::Extents extents{maps.extent(0), maps.extent(1), call.n_pixels};
        const auto bytes = extents[0] * extents[1] * extents[2] * size;
        const Device place = is_on_gpu() ? call.device : Device::cpu();
        reserve(memory.reached, maps.space(), bytes, [&] { return Buffer(place, bytes); });
        if (is_on_gpu() && memory.stream == nullptr) memory.stream = core::make_cuda_stream(place.index());
        reached_ = View<T, 3>(static_cast<T*>(memory.reached.data()), extents, maps.space());
    }

    static constexpr std::int64_t size = sizeof(T);

    bool is_on_gpu() const { return maps_.space() == MemorySpace::cuda; }
    std::int64_t n_rows() const { return maps_.extent(0) * maps_.extent(1); }
    std::size_t n_ranks() const { return copies_.sent.size(); }
    std::size_t rank() const { return rank_; }
    View<const T, 3> reached() const { return reached_; }
    /// As HaloCopies has them.
    const std::vector<PixelCopy>& sent(std::size_t rank) const { return copies_.sent[rank]; }
    const std::vector<PixelCopy>& received(std::size_t rank) const { return copies_.received[rank]; }
    const T* from(std::int64_t row, std::int64_t pixel) const { return place(maps_, row, pixel); }
    T* to(std::int64_t row, std::int64_t pixel) const { return place(reached_, row, pixel); }

    /// Copies the rank's own pixels of all rows: on a GPU in the order of the stream, once the default
    /// stream, which may be writing the maps, has done what it was given.
    void copy_own(const HaloMemory& memory, Device device) const {
        if (is_on_gpu()) core::wait_for_cuda(device.index(), nullptr);
        for (std::int64_t row = 0; row < n_rows(); ++row)
            for (const auto& copy : sent(rank_))
                if (is_on_gpu())
                    core::copy_on_cuda(to(row, copy.to), from(row, copy.from), copy.n_pixels * size,
                                       memory.stream.get());
                else
                    std::copy_n(from(row, copy.from), copy.n_pixels, to(row, copy.to));
    }

  private:
    template <class Element>
    static Element* place(View<Element, 3> view, std::int64_t row, std::int64_t pixel) {
        return view.data() + row / view.extent(1) * view.stride(0) + row % view.extent(1) * view.stride(1) +
               pixel;
    }

    const HaloCopies& copies_;
    View<const T, 3> maps_;
    View<T, 3> reached_;
    std::size_t rank_;
};

/// From the memories of GPUs to those of others, all rows at once. A rank's runs of pixels go from where the
/// maps have them to where they belong: both ranks have the same runs, in the order of the map.
template <class T>
class LinkExchange final : public HaloExchange<T> {
  public:
    LinkExchange(const HaloCall& call, std::shared_ptr<DeviceLink> link, View<const T, 3> maps,
                 HaloMemory& memory)
        : ranks_(call.ranks), link_(std::move(link)), memory_(memory) {
        ranks_.together("the memory of a halo", [&] {
            rows_.emplace(call, maps, memory);
            rows_->copy_own(memory, call.device);
        });
        std::vector<Message<const std::byte>> send;
        std::vector<Message<std::byte>> receive;
        for (std::size_t rank = 0; rank < rows_->n_ranks(); ++rank) {
            if (rank == rows_->rank()) continue;
            const int other = static_cast<int>(rank);
            for (std::int64_t row = 0; row < rows_->n_rows(); ++row) {
                for (const auto& [from, to, n] : rows_->sent(rank))
                    send.push_back({other, std::as_bytes(std::span(rows_->from(row, from), size_of(n)))});
                for (const auto& [from, to, n] : rows_->received(rank))
                    receive.push_back(
                        {other, std::as_writable_bytes(std::span(rows_->to(row, to), size_of(n)))});
            }
        }
        // Nothing that waits for the whole device, as making memory does, comes before all ranks have begun.
        ranks_.together("a halo", [&] { exchange_ = link_->exchange(send, receive, memory.stream.get()); });
    }

    View<const T, 3> wait() override {
        ranks_.together("a halo", [&] {
            exchange_->wait();
            link_->wait(memory_.stream.get(), [] {});
        });
        return rows_->reached();
    }

  private:
    static std::size_t size_of(std::int64_t n_pixels) { return static_cast<std::size_t>(n_pixels); }

    const Communicator& ranks_;
    const std::shared_ptr<DeviceLink> link_;
    HaloMemory& memory_;
    std::optional<HaloRows<T>> rows_;
    std::unique_ptr<Exchange> exchange_;
};

/// Through messages in host memory.
template <class T>
class MessageExchange final : public HaloExchange<T> {
  public:
    MessageExchange(const HaloCall& call, View<const T, 3> maps, std::int64_t at_once, HaloMemory& memory)
        : ranks_(call.ranks), device_(call.device), at_once_(at_once), memory_(memory) {
        ranks_.together("the memory of a halo", [&] {
            rows_.emplace(call, maps, memory);
            make_room();
            rows_->copy_own(memory, device_);
            pack();
            if (rows_->is_on_gpu()) core::wait_for_cuda(device_.index(), memory.stream.get());
        });
        begin();
    }

    View<const T, 3> wait() override {
        while (first_ < rows_->n_rows()) {
            ranks_.together("a halo", [&] {
                exchange_->wait();
                unpack();
                first_ += count();
                pack();
            });
            begin();
        }
        return rows_->reached();
    }

  private:
    static constexpr std::int64_t size = sizeof(T);

    /// Rows that travel now.
    std::int64_t count() const { return std::min(at_once_, rows_->n_rows() - first_); }
    template <class Visit>
    void for_each_other(const Visit& visit) const {
        for (std::size_t rank = 0; rank < rows_->n_ranks(); ++rank)
            if (rank != rows_->rank()) visit(rank);
    }

    void make_room() {
        std::int64_t sent = 0, received = 0;
        for_each_other([&](std::size_t rank) {
            sent += pixels_of(rows_->sent(rank)) * count() * size;
            received += pixels_of(rows_->received(rank)) * count() * size;
        });
        const auto make = [&](std::int64_t bytes) {
            return rows_->is_on_gpu() ? Buffer::page_locked(device_, bytes) : Buffer(Device::cpu(), bytes);
        };
        reserve(memory_.sent, MemorySpace::host, sent, [&] { return make(sent); });
        reserve(memory_.received, MemorySpace::host, received, [&] { return make(received); });
    }

    /// Between the maps' memory and the host's.
    void fetch(const T* from, T* to, std::int64_t n_pixels) const {
        if (rows_->is_on_gpu())
            core::copy_from_cuda(to, from, n_pixels * size);
        else
            std::copy_n(from, n_pixels, to);
    }
    void deliver(const T* from, T* to, std::int64_t n_pixels) const {
        if (rows_->is_on_gpu())
            core::copy_to_cuda(to, from, n_pixels * size);
        else
            std::copy_n(from, n_pixels, to);
    }

    void pack() const {
        T* next = static_cast<T*>(memory_.sent.data());
        for_each_other([&](std::size_t rank) {
            for (std::int64_t row = first_; row < first_ + count(); ++row)
                for (const auto& copy : rows_->sent(rank)) {
                    fetch(rows_->from(row, copy.from), next, copy.n_pixels);
                    next += copy.n_pixels;
                }
        });
    }
    void unpack() const {
        const T* next = static_cast<const T*>(memory_.received.data());
        for_each_other([&](std::size_t rank) {
            for (std::int64_t row = first_; row < first_ + count(); ++row)
                for (const auto& copy : rows_->received(rank)) {
                    deliver(next, rows_->to(row, copy.to), copy.n_pixels);
                    next += copy.n_pixels;
                }
        });
    }

    void begin() {
        if (count() == 0) return;
        std::vector<Message<const std::byte>> send;
        std::vector<Message<std::byte>> receive;
        const std::byte* from = static_cast<const std::byte*>(memory_.sent.data());
        std::byte* to = static_cast<std::byte*>(memory_.received.data());
        for_each_other([&](std::size_t rank) {
            const int other = static_cast<int>(rank);
            const auto sent = static_cast<std::size_t>(pixels_of(rows_->sent(rank)) * count() * size),
                       received = static_cast<std::size_t>(pixels_of(rows_->received(rank)) * count() * size);
            if (sent > 0) send.push_back({other, std::span(from, sent)});
            if (received > 0) receive.push_back({other, std::span(to, received)});
            from += sent;
            to += received;
        });
        exchange_ = ranks_.transport()->exchange(std::move(send), std::move(receive));
    }

    const Communicator& ranks_;
    const Device device_;
    const std::int64_t at_once_;
    HaloMemory& memory_;
    std::optional<HaloRows<T>> rows_;
    std::int64_t first_ = 0;  ///< of the rows that travel now
    std::unique_ptr<Exchange> exchange_;
};

}  // namespace

template <class T>
std::unique_ptr<HaloExchange<T>> exchange_by_link(const HaloCall& call, std::shared_ptr<DeviceLink> link,
                                                  View<const T, 3> maps, HaloMemory& memory) {
    return std::make_unique<LinkExchange<T>>(call, std::move(link), maps, memory);
}

template <class T>
std::unique_ptr<HaloExchange<T>> exchange_by_messages(const HaloCall& call, View<const T, 3> maps,
                                                      std::int64_t at_once, HaloMemory& memory) {
    return std::make_unique<MessageExchange<T>>(call, maps, at_once, memory);
}

template std::unique_ptr<HaloExchange<float>> exchange_by_link(const HaloCall&, std::shared_ptr<DeviceLink>,
                                                               View<const float, 3>, HaloMemory&);
template std::unique_ptr<HaloExchange<double>> exchange_by_link(const HaloCall&, std::shared_ptr<DeviceLink>,
                                                                View<const double, 3>, HaloMemory&);
template std::unique_ptr<HaloExchange<float>> exchange_by_messages(const HaloCall&, View<const float, 3>,
                                                                   std::int64_t, HaloMemory&);
template std::unique_ptr<HaloExchange<double>> exchange_by_messages(const HaloCall&, View<const double, 3>,
                                                                    std::int64_t, HaloMemory&);

}  // namespace zonal::distributed
