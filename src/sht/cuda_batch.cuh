#pragma once

#include <algorithm>
#include <type_traits>

#include "core/cuda_transfer.cuh"
#include "zonal/view.hpp"

/// Batches of maps and alm, on the device or on the host. Host arrays pass through two device copies in turn:
/// while one is worked on, the next comes and the one before goes, on streams of their own.
namespace zonal::sht::cuda {

/// Device copies of an array's even and odd elements.
struct BatchCopies {
    core::DeviceArray<char> memory[2];
};

/// One array of a call. View: [batch, component, contiguous].
template <class T>
class Batch {
  public:
    Batch(View<T, 3> view, BatchCopies& copies) : view_(view), copies_(copies) {
        if (is_copied())
            for (std::int64_t k = 0; k < std::min<std::int64_t>(2, view.extent(0)); ++k)
                copies.memory[k].reserve(view.extent(1) * row_bytes());
    }

    bool is_copied() const { return view_.space() != MemorySpace::cuda; }
    /// Element b on the device.
    T* operator[](std::int64_t b) const {
        if (!is_copied()) return view_.data() + b * view_.stride(0);
        return reinterpret_cast<T*>(copies_.memory[b % 2].data());
    }
    /// Elements from one component to the next there.
    std::int64_t component_stride() const { return is_copied() ? view_.extent(2) : view_.stride(1); }

    void fetch(std::int64_t b, core::HostTransfer& transfer, cudaStream_t stream) const {
        if (!is_copied()) return;
        for (std::int64_t c = 0; c < view_.extent(1); ++c)
            transfer.to_device(&view_(b, c, 0), copies_.memory[b % 2].data() + c * row_bytes(), row_bytes(),
                               stream);
    }
    void deliver(std::int64_t b, core::HostTransfer& transfer, cudaStream_t stream) const {
        if (!is_copied()) return;
        for (std::int64_t c = 0; c < view_.extent(1); ++c)
            transfer.to_host(copies_.memory[b % 2].data() + c * row_bytes(), &view_(b, c, 0), row_bytes(),
                             stream);
    }

  private:
    std::int64_t row_bytes() const { return view_.extent(2) * static_cast<std::int64_t>(sizeof(T)); }

    View<T, 3> view_;
    BatchCopies& copies_;
};

/// The streams that copy beside the one that works.
class BatchStreams {
  public:
    /// fetch(b, stream), work(b, stream), deliver(b, stream) for every element; has waited for all of it in
    /// the end, also where one of them throws.
    template <class Fetch, class Work, class Deliver>
    void run(std::int64_t n, cudaStream_t stream, const Fetch& fetch, const Work& work,
             const Deliver& deliver) {
        const Wait wait{*this, stream};
        started_.record(stream);
        started_.hold(fetching_.get());
        const auto go = [&](std::int64_t b) {
            worked_[b % 2].hold(delivering_.get());
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
    core::Event started_, fetched_[2], worked_[2], delivered_[2];
};

}  // namespace zonal::sht::cuda
