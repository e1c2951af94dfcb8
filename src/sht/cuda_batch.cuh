#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/cuda_transfer.cuh"
#include "zonal/view.hpp"

/// Batches of maps and alm, on the device or on the host. Host arrays pass through two device copies in turn:
/// while one is worked on, the next comes and the one before goes, on streams of their own.
namespace zonal::sht::cuda {

/// Device copies of an array's even and odd elements.
struct BatchCopies {
    core::DeviceArray<char> memory[2];
};

/// Elements [first, end).
struct ElementRange {
    std::int64_t first, end;
};

/// One array of a call. View: [batch, component, contiguous].
template <class T>
class Batch {
  public:
    /// there: room for copies of all elements on the device, which then keep what a call leaves in them;
    /// empty where the two serve that take turns.
    Batch(View<T, 3> view, BatchCopies& copies, View<std::remove_const_t<T>, 3> there = {})
        : view_(view), copies_(copies), there_(there) {
        if (is_copied() && there.size() == 0)
            for (std::int64_t k = 0; k < std::min<std::int64_t>(2, view.extent(0)); ++k)
                copies.memory[k].reserve(view.extent(1) * row_bytes());
    }

    bool is_copied() const { return view_.space() != MemorySpace::cuda; }
    /// Element b on the device.
    T* operator[](std::int64_t b) const {
        return is_copied() ? copy_of(b, 0, 0) : view_.data() + b * view_.stride(0);
    }
    /// Elements from one component to the next there.
    std::int64_t component_stride() const {
        return !is_copied() ? view_.stride(1) : there_.size() > 0 ? there_.stride(1) : view_.extent(2);
    }

    void fetch(std::int64_t b, core::HostTransfer& transfer, cudaStream_t stream) const {
        fetch(b, {0, view_.extent(2)}, transfer, stream);
    }
    void deliver(std::int64_t b, core::HostTransfer& transfer, cudaStream_t stream) const {
        deliver(b, {0, view_.extent(2)}, transfer, stream);
    }
    void deliver(std::int64_t b, const std::vector<ElementRange>& ranges, core::HostTransfer& transfer,
                 cudaStream_t stream) const {
        for (const auto& range : ranges) deliver(b, range, transfer, stream);
    }
    /// Only some elements of each component.
    void fetch(std::int64_t b, ElementRange range, core::HostTransfer& transfer, cudaStream_t stream) const {
        if (!is_copied()) return;
        for (std::int64_t c = 0; c < view_.extent(1); ++c)
            transfer.to_device(&view_(b, c, range.first), copy_of(b, c, range.first), bytes(range), stream);
    }
    void deliver(std::int64_t b, ElementRange range, core::HostTransfer& transfer,
                 cudaStream_t stream) const {
        if (!is_copied()) return;
        for (std::int64_t c = 0; c < view_.extent(1); ++c)
            transfer.to_host(copy_of(b, c, range.first), &view_(b, c, range.first), bytes(range), stream);
    }

  private:
    static std::int64_t bytes(ElementRange range) {
        return (range.end - range.first) * static_cast<std::int64_t>(sizeof(T));
    }
    std::int64_t row_bytes() const { return bytes({0, view_.extent(2)}); }
    std::remove_const_t<T>* copy_of(std::int64_t b, std::int64_t c, std::int64_t element) const {
        if (there_.size() > 0) return &there_(b, c, element);
        return reinterpret_cast<std::remove_const_t<T>*>(copies_.memory[b % 2].data()) + c * view_.extent(2) +
               element;
    }

    View<T, 3> view_;
    BatchCopies& copies_;
    View<std::remove_const_t<T>, 3> there_;
};

/// The streams that copy beside the one that works.
class BatchStreams {
  public:
    /// fetch(b, stream), work(b, stream), deliver(b, stream) for every element; has waited for all of it in
    /// the end, also where one of them throws.
    template <class Fetch, class Work, class Deliver>
    void run(std::int64_t n, cudaStream_t stream, const Fetch& fetch, const Work& work,
             const Deliver& deliver) {
        run_parts(n, stream, fetch, work, [&](std::int64_t b, cudaStream_t delivering) {
            after_work(b);
            deliver(b, delivering);
        });
    }
    /// The same where deliver itself says what it waits for, by after_work or take.
    template <class Fetch, class Work, class Deliver>
    void run_parts(std::int64_t n, cudaStream_t stream, const Fetch& fetch, const Work& work,
                   const Deliver& deliver) {
        const Wait wait{*this, stream};
        started_.record(stream);
        started_.hold(fetching_.get());
        const auto go = [&](std::int64_t b) {
            deliver(b, delivering_.get());
            delivered_[b % 2].record(delivering_.get());
        };
        for (std::int64_t b = 0; b < n; ++b) {
            const int k = static_cast<int>(b % 2);
            worked_[k].hold(fetching_.get());
            delivered_[k].hold(fetching_.get());
            fetch(b, fetching_.get());
            fetched_[k].record(fetching_.get());
            fetched_[k].hold(stream);
            delivered_[k].hold(stream);
            work(b, stream);
            worked_[k].record(stream);
            if (b > 0) go(b - 1);
        }
        if (n > 0) go(n - 1);
        for (const cudaStream_t each : {stream, delivering_.get()})
            core::check_cuda(cudaStreamSynchronize(each), "transform");
    }

    /// Within work: copy(stream of its own); what `stream` is given from now on waits for it.
    template <class Copy>
    void bring(cudaStream_t stream, const Copy& copy) {
        copy(fetching_.get());
        brought_.record(fetching_.get());
        brought_.hold(stream);
    }
    /// Within deliver: what it is given from now on comes after the work on element b.
    void after_work(std::int64_t b) { worked_[b % 2].hold(delivering_.get()); }
    /// Within work: part k of element b is done with what `stream` has been given so far.
    void finish(std::int64_t b, std::size_t k, cudaStream_t stream) { finished_[b % 2][k].record(stream); }
    /// Within work or deliver: copy(stream of its own) after that part.
    template <class Copy>
    void take(std::int64_t b, std::size_t k, const Copy& copy) {
        finished_[b % 2][k].hold(delivering_.get());
        copy(delivering_.get());
    }
    static constexpr std::size_t most_parts = 8;

  private:
    struct Wait {
        BatchStreams& streams;
        cudaStream_t stream;
        ~Wait() {
            for (const cudaStream_t each : {streams.fetching_.get(), stream, streams.delivering_.get()})
                cudaStreamSynchronize(each);
        }
    };
    core::OwnStream fetching_, delivering_;
    core::Event started_, fetched_[2], worked_[2], delivered_[2], brought_, finished_[2][most_parts];
};

}  // namespace zonal::sht::cuda
