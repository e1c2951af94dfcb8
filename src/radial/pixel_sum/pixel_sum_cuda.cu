#include "radial/pixel_sum/pixel_sum.hpp"
#include "radial/pixel_sum/pixel_sum_cuda.cuh"
#include "radial/pixel_sum/storage.cuh"
#include "sht/cuda_storage.cuh"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

/// The stages on one device.
template <class T, int Rank>
class CudaPixelSum final : public BasicConvolver<Rank> {
  public:
    static constexpr int components = Rank - 1;
    using Storage = cuda::PixelSumStorage<components>;

    CudaPixelSum(const Grid& grid, const SumKernel& kernel, const Grid& grid_out,
                 const PixelConvolutionOptions& options)
        : CudaPixelSum(PixelSumSchedule(grid, kernel, grid_out, options.accuracy),
                       grid_out.has_other_pixels(), options) {}

    void convolve(View<const float, Rank> maps, View<float, Rank> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(with_component(maps), with_component(convolved), storage_of(workspace), progress);
    }
    void convolve(View<const double, Rank> maps, View<double, Rank> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(with_component(maps), with_component(convolved), storage_of(workspace), progress);
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        const core::CurrentDevice current(device_);
        auto storage = std::make_unique<Storage>(device_, threads_);
        storage->folded.reserve(folded_bytes());
        return storage;
    }
    std::int64_t workspace_bytes(std::int64_t) const override { return folded_bytes(); }
    void prepare(PixelConvolutionWorkspace::Storage& workspace) const override { storage_of(workspace); }
    PixelConvolutionWork work() const override { return work_; }

  private:
    CudaPixelSum(const PixelSumSchedule& schedule, bool has_other_pixels,
                 const PixelConvolutionOptions& options, cuda::DirectPairs direct = {})
        : device_(options.device.index()),
          threads_(options.threads),
          has_other_pixels_(has_other_pixels),
          equal_(schedule, direct),
          square_(square_stage(schedule, options.threads, direct)),
          direct_(schedule, with_others(schedule, std::move(direct))) {
        // As on the CPU, from each component to each.
        for (int part = 0; part < components * components; ++part) add(schedule.work(), work_);
    }

    /// Q and U have none: the direct stage takes its pairs.
    static cuda::SquareStage<T> square_stage(const PixelSumSchedule& schedule, int threads,
                                             cuda::DirectPairs& direct) {
        if constexpr (components == 1)
            return cuda::SquareStage<T>(schedule, threads, direct);
        else
            return {};
    }

    /// `direct` and the pairs that are of no other stage.
    static cuda::DirectPairs with_others(const PixelSumSchedule& schedule, cuda::DirectPairs direct) {
        const auto add = [&](std::int64_t output, PairKind kind) {
            for (const std::int64_t input : schedule.near(output, kind)) direct.emplace_back(output, input);
        };
        for (const std::int64_t output : schedule.general_rings()) add(output, PairKind::general);
        if constexpr (components == 2)
            for (std::int64_t output = 0; output < schedule.outputs().size(); ++output)
                add(output, PairKind::square);
        return direct;
    }

    std::int64_t folded_bytes() const { return square_.folded_size() * static_cast<std::int64_t>(sizeof(T)); }

    Storage& storage_of(PixelConvolutionWorkspace::Storage& workspace) const {
        auto* const storage = dynamic_cast<Storage*>(&workspace);
        if (storage == nullptr || storage->device != device_)
            throw InvalidArgument("workspace: was made by a plan of another method or device");
        const core::CurrentDevice current(device_);
        storage->folded.reserve(folded_bytes());
        return *storage;
    }

    template <class Map>
    void convolve_maps(View<const Map, 3> maps, View<Map, 3> convolved, Storage& storage,
                       const Progress& progress) const {
        const core::CurrentDevice current(device_);
        sht::cuda::require_place("maps", maps, device_);
        sht::cuda::require_place("convolved", convolved, device_);
        const sht::cuda::Batch in(maps, storage.maps);
        const sht::cuda::Batch out(convolved, storage.convolved);
        const bool on_device = !in.is_copied() && !out.is_copied();
        const std::int64_t n_maps = maps.extent(0);
        const auto fetch = [&](std::int64_t b, cudaStream_t stream) {
            in.fetch(b, storage.transfer, stream);
            if (has_other_pixels_) out.fetch(b, storage.transfer, stream);
        };
        const auto work = [&](std::int64_t b, cudaStream_t stream) {
            if (progress && !progress(static_cast<double>(b) / static_cast<double>(n_maps)))
                throw Cancelled("pixel sum: cancelled");
            run<Map>({in[b], in.component_stride()}, {out[b], out.component_stride()}, storage, stream);
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
    void run(const Fields<const Map>& in, const Fields<Map>& out, Storage& storage,
             cudaStream_t stream) const {
        const bool is_timed = !storage.has_caller;
        if (is_timed) storage.events.record(stream);
        equal_.run(in, out, stream);
        square_.run(in.pixels, reinterpret_cast<T*>(storage.folded.data()), out.pixels, stream);
        direct_.run(in, out, stream);
        if (is_timed) storage.events.record(stream);
    }

    int device_, threads_;
    bool has_other_pixels_;  ///< the output has pixels in no ring, which stay as they are
    PixelConvolutionWork work_;
    cuda::EqualStage<T, components> equal_;
    cuda::SquareStage<T> square_;
    cuda::DirectStage<T, components> direct_;
};

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_sum(const Grid& grid, const SumKernel& kernel,
                                                     const Grid& grid_out,
                                                     const PixelConvolutionOptions& options) {
    const core::CurrentDevice current(options.device.index());
    if (options.precision == Precision::single_)
        return std::make_unique<CudaPixelSum<float, Rank>>(grid, kernel, grid_out, options);
    return std::make_unique<CudaPixelSum<double, Rank>>(grid, kernel, grid_out, options);
}

}  // namespace

std::unique_ptr<const Convolver> make_cuda_pixel_sum(const Grid& grid, const RadialKernel& kernel,
                                                     const Grid& grid_out,
                                                     const PixelConvolutionOptions& options) {
    return make_sum<2>(grid, SumKernel(kernel, options.accuracy), grid_out, options);
}

std::unique_ptr<const PolarizationConvolver> make_cuda_pixel_sum(const Grid& grid,
                                                                 const PolarizationKernel& kernel,
                                                                 const Grid& grid_out,
                                                                 const PixelConvolutionOptions& options) {
    return make_sum<3>(grid, SumKernel(kernel.plus(), kernel.minus(), options.accuracy), grid_out, options);
}

}  // namespace zonal::radial
