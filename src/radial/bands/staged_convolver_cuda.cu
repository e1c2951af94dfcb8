#include "radial/call_storage.cuh"
#include "radial/ring_fft/ring_fft.hpp"
#include "sht/cuda_batch.cuh"
#include "sht/progress_part.hpp"

namespace zonal::radial {
namespace {

/// Copies of host arrays on the device, and the streams that fill and empty them.
struct StagedStorage : PixelConvolutionWorkspace::Storage {
    StagedStorage(int device, int threads) : transfer(device, threads) {}
    ~StagedStorage() override { wait(); }

    void use_stream(void* stream) override {
        inner->use_stream(stream);
        caller = static_cast<cudaStream_t>(stream);
        has_caller = true;
    }
    /// For all copies that are under way.
    void wait() const {
        cudaStreamSynchronize(fetching.get());
        cudaStreamSynchronize(delivering.get());
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> inner;
    core::HostTransfer transfer;
    core::OwnStream fetching, delivering;
    cudaStream_t caller = nullptr;
    bool has_caller = false;
    sht::cuda::BatchCopies maps, convolved;
};

/// See make_staged. While one map is worked on, the next comes and the one before goes.
template <int Rank>
class StagedConvolver final : public ConvolverOf<StagedConvolver<Rank>, StagedStorage, Rank> {
  public:
    using Inner = std::unique_ptr<const BasicConvolver<Rank>>;

    StagedConvolver(Inner inner, const Grid& grid_out, const PixelConvolutionOptions& options)
        : inner_(std::move(inner)),
          device_(options.device.index()),
          threads_(options.threads),
          in_rings_(cuda::elements_of(grid_out)) {}

    template <class T>
    void convolve_maps(View<const T, 3> inputs, View<T, 3> outputs, StagedStorage& storage,
                       const Progress& progress) const {
        const core::CurrentDevice current(device_);
        const sht::cuda::Batch<const T> in(inputs, storage.maps);
        const sht::cuda::Batch<T> out(outputs, storage.convolved);
        if (!in.is_copied() && !out.is_copied()) {
            inner_->convolve(of_rank<Rank>(inputs), of_rank<Rank>(outputs), *storage.inner, progress);
            storage.seconds = storage.inner->seconds;
            return;
        }
        storage.seconds = {};
        const std::int64_t n_maps = inputs.extent(0);
        const auto n = static_cast<double>(n_maps);
        const auto fetch = [&](std::int64_t b) { in.fetch(b, storage.transfer, storage.fetching.get()); };
        const Wait wait{storage};
        if (n_maps > 0) fetch(0);
        for (std::int64_t b = 0; b < n_maps; ++b) {
            synchronize(storage.fetching.get());
            if (b + 1 < n_maps) fetch(b + 1);
            convolve_one(on_device(in, b, inputs), on_device(out, b, outputs), storage,
                         sht::part_of(progress, static_cast<double>(b) / n, static_cast<double>(b + 1) / n));
            synchronize(storage.delivering.get());
            out.deliver(b, in_rings_, storage.transfer, storage.delivering.get());
        }
        synchronize(storage.delivering.get());
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t n_maps) const override {
        const core::CurrentDevice current(device_);
        auto storage = std::make_unique<StagedStorage>(device_, threads_);
        storage->inner = inner_->make_workspace(n_maps);
        return storage;
    }
    std::int64_t workspace_bytes(std::int64_t n_maps) const override {
        return inner_->workspace_bytes(n_maps);
    }
    std::vector<std::int64_t> workspace_parts() const override { return inner_->workspace_parts(); }
    void prepare(PixelConvolutionWorkspace::Storage& workspace) const override {
        inner_->prepare(*this->storage_of(workspace).inner);
    }
    PixelConvolutionWork work() const override { return inner_->work(); }

  private:
    /// Map b as the inner convolver sees it.
    template <class T>
    static View<T, Rank> on_device(const sht::cuda::Batch<T>& batch, std::int64_t b, View<T, 3> maps) {
        const std::int64_t stride = batch.component_stride();
        return of_rank<Rank>(View<T, 3>(batch[b], {1, maps.extent(1), maps.extent(2)},
                                        {maps.extent(1) * stride, stride, 1}, MemorySpace::cuda));
    }

    /// Done on return.
    template <class T>
    void convolve_one(View<const T, Rank> map, View<T, Rank> convolved, StagedStorage& storage,
                      const Progress& progress) const {
        if (storage.has_caller) synchronize(storage.caller);
        inner_->convolve(map, convolved, *storage.inner, progress);
        if (storage.has_caller) synchronize(storage.caller);
        add(storage.inner->seconds, storage.seconds);
    }

    static void synchronize(cudaStream_t stream) {
        core::check_cuda(cudaStreamSynchronize(stream), "convolution");
    }

    /// Host arrays are left alone when a call ends, however it ends.
    struct Wait {
        const StagedStorage& storage;
        ~Wait() { storage.wait(); }
    };

    const Inner inner_;
    const int device_, threads_;
    const std::vector<sht::cuda::ElementRange> in_rings_;  ///< the output's pixels
};

}  // namespace

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_staged(std::unique_ptr<const BasicConvolver<Rank>> convolver,
                                                        const Grid& grid_out,
                                                        const PixelConvolutionOptions& options) {
    return std::make_unique<const StagedConvolver<Rank>>(std::move(convolver), grid_out, options);
}

template std::unique_ptr<const Convolver> make_staged<2>(std::unique_ptr<const Convolver>, const Grid&,
                                                         const PixelConvolutionOptions&);
template std::unique_ptr<const PolarizationConvolver> make_staged<3>(
    std::unique_ptr<const PolarizationConvolver>, const Grid&, const PixelConvolutionOptions&);

}  // namespace zonal::radial
