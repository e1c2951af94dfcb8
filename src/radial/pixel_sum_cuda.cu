#include "radial/pixel_sum.hpp"
#include "radial/pixel_sum_cuda.cuh"
#include "radial/pixel_sum_storage.cuh"
#include "sht/cuda_storage.cuh"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

using cuda::PixelSumStorage;

/// The stages on one device.
template <class T>
class CudaPixelSum final : public Convolver {
  public:
    CudaPixelSum(const PixelSumSchedule& schedule, bool has_other_pixels,
                 const PixelConvolutionOptions& options, cuda::DirectPairs direct = {})
        : device_(options.device.index()),
          threads_(options.threads),
          has_other_pixels_(has_other_pixels),
          work_(schedule.work()),
          equal_(schedule, direct),
          square_(schedule, options.threads, direct),
          direct_(schedule, with_general(schedule, std::move(direct))) {}

    void convolve(View<const float, 2> maps, View<float, 2> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(maps, convolved, storage_of(workspace), progress);
    }
    void convolve(View<const double, 2> maps, View<double, 2> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(maps, convolved, storage_of(workspace), progress);
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        const core::CurrentDevice current(device_);
        auto storage = std::make_unique<PixelSumStorage>(device_, threads_);
        storage->folded.reserve(folded_bytes());
        return storage;
    }
    std::int64_t workspace_bytes(std::int64_t) const override { return folded_bytes(); }
    void prepare(PixelConvolutionWorkspace::Storage& workspace) const override { storage_of(workspace); }
    PixelConvolutionWork work() const override { return work_; }

  private:
    static cuda::DirectPairs with_general(const PixelSumSchedule& schedule, cuda::DirectPairs direct) {
        for (const std::int64_t output : schedule.general_rings())
            for (const std::int64_t input : schedule.near(output, PairKind::general))
                direct.emplace_back(output, input);
        return direct;
    }

    std::int64_t folded_bytes() const { return square_.folded_size() * static_cast<std::int64_t>(sizeof(T)); }

    PixelSumStorage& storage_of(PixelConvolutionWorkspace::Storage& workspace) const {
        auto* const storage = dynamic_cast<PixelSumStorage*>(&workspace);
        if (storage == nullptr || storage->device != device_)
            throw InvalidArgument("workspace: was made by a plan of another method or device");
        const core::CurrentDevice current(device_);
        storage->folded.reserve(folded_bytes());
        return *storage;
    }

    /// [map, pixel] as [map, 1, pixel].
    template <class Map>
    static View<Map, 3> as_batch(View<Map, 2> maps) {
        return {maps.data(),
                {maps.extent(0), 1, maps.extent(1)},
                {maps.stride(0), maps.extent(1), maps.stride(1)},
                maps.space()};
    }

    template <class Map>
    void convolve_maps(View<const Map, 2> maps, View<Map, 2> convolved, PixelSumStorage& storage,
                       const Progress& progress) const {
        const core::CurrentDevice current(device_);
        sht::cuda::require_place("maps", as_batch(maps), device_);
        sht::cuda::require_place("convolved", as_batch(convolved), device_);
        const sht::cuda::Batch in(as_batch(maps), storage.maps);
        const sht::cuda::Batch out(as_batch(convolved), storage.convolved);
        const bool on_device = !in.is_copied() && !out.is_copied();
        const std::int64_t n_maps = maps.extent(0);
        const auto fetch = [&](std::int64_t b, cudaStream_t stream) {
            in.fetch(b, storage.transfer, stream);
            if (has_other_pixels_) out.fetch(b, storage.transfer, stream);
        };
        const auto work = [&](std::int64_t b, cudaStream_t stream) {
            if (progress && !progress(static_cast<double>(b) / static_cast<double>(n_maps)))
                throw Cancelled("pixel sum: cancelled");
            run(in[b], out[b], storage, stream);
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t stream) {
            out.deliver(b, storage.transfer, stream);
        };
        const cudaStream_t stream = storage.stream();
        storage.events.clear();
        storage.seconds = {};
        if (on_device)
            for (std::int64_t b = 0; b < n_maps; ++b) work(b, stream);
        else
            storage.batches.run(n_maps, stream, fetch, work, deliver);
        if (storage.has_caller && on_device) return;
        core::check_cuda(cudaStreamSynchronize(stream), "pixel sum");
        for (std::size_t k = 0; k + 1 < storage.events.size(); k += 2)
            storage.seconds.sums += storage.events.seconds(k);
        if (progress && !progress(1)) throw Cancelled("pixel sum: cancelled");
    }

    template <class Map>
    void run(const Map* in, Map* out, PixelSumStorage& storage, cudaStream_t stream) const {
        const bool is_timed = !storage.has_caller;
        if (is_timed) storage.events.record(stream);
        equal_.run(in, out, stream);
        square_.run(in, reinterpret_cast<T*>(storage.folded.data()), out, stream);
        direct_.run(in, out, stream);
        if (is_timed) storage.events.record(stream);
    }

    int device_, threads_;
    bool has_other_pixels_;  ///< the output has pixels in no ring, which stay as they are
    PixelConvolutionWork work_;
    cuda::EqualStage<T> equal_;
    cuda::SquareStage<T> square_;
    cuda::DirectStage<T> direct_;
};

}  // namespace

std::unique_ptr<const Convolver> make_cuda_pixel_sum(const Grid& grid, const RadialKernel& kernel,
                                                     const Grid& grid_out,
                                                     const PixelConvolutionOptions& options) {
    const core::CurrentDevice current(options.device.index());
    const PixelSumSchedule schedule(grid, SumKernel(kernel, options.accuracy), grid_out, options.accuracy);
    if (options.precision == Precision::single_)
        return std::make_unique<CudaPixelSum<float>>(schedule, grid_out.has_other_pixels(), options);
    return std::make_unique<CudaPixelSum<double>>(schedule, grid_out.has_other_pixels(), options);
}

}  // namespace zonal::radial
