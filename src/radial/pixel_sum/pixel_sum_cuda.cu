#include "radial/call_storage.cuh"
#include "radial/pixel_sum/pixel_sum.hpp"
#include "radial/pixel_sum/pixel_sum_cuda.cuh"
#include "zonal/error.hpp"

namespace zonal::radial::cuda {
namespace {

/// Adds the sums over other pairs, evaluating the kernel for each pixel. For Q and U, which have no square
/// stage, it sets the rings that are alone.
template <class T, int components>
class DirectStage {
  public:
    DirectStage(const PixelSumSchedule& schedule, const DirectPairs& pairs);

    template <class Map>
    void run(const Fields<const Map>& in, const Fields<Map>& out, cudaStream_t stream) const;

  private:
    DirectStage(const SumKernel& kernel, const DirectTables& tables);

    core::DeviceArray<DirectRing> rings_;
    core::DeviceArray<DirectPair> pairs_;
    core::DeviceArray<CudaTask> tasks_;
    core::DeviceArray<T> coefficients_[components];
    KernelTables<T, components> tables_{};
};

template <class T, int components, class Map>
__global__ void __launch_bounds__(direct_threads)
    add_direct(DirectView<T, components> direct, const CudaTask* tasks, Fields<const Map> in,
               Fields<Map> out) {
    const CudaTask task = tasks[blockIdx.x];
    const DirectRing& ring = direct.rings[task.index];
    const std::int64_t k = task.first + threadIdx.x;
    if (k < ring.side[0].n_pixels / ring.n_turns) sum_pixel(direct, ring, k, in, out);
}

const SumKernel::Part& part_of(const SumKernel& kernel, int part) {
    return part == 0 ? kernel.plus() : kernel.minus();
}

template <class T, int components>
DirectStage<T, components>::DirectStage(const SumKernel& kernel, const DirectTables& tables)
    : rings_(tables.rings), pairs_(tables.pairs), tasks_(tables.tasks) {
    for (int part = 0; part < components; ++part) {
        const auto& table = part_of(kernel, part).table;
        if (!table) continue;
        coefficients_[part] = core::DeviceArray<T>(table->template coefficients<T>());
        tables_.part[part] = table->view(static_cast<const T*>(coefficients_[part].data()));
    }
}

template <class T, int components>
DirectStage<T, components>::DirectStage(const PixelSumSchedule& schedule, const DirectPairs& pairs)
    : DirectStage(schedule.kernel(), make_direct_tables(schedule, pairs, components == 2)) {}

template <class T, int components>
template <class Map>
void DirectStage<T, components>::run(const Fields<const Map>& in, const Fields<Map>& out,
                                     cudaStream_t stream) const {
    if (tasks_.size() == 0) return;
    const DirectView<T, components> view{rings_.data(), pairs_.data(), tables_};
    add_direct<T, components, Map>
        <<<static_cast<unsigned>(tasks_.size()), direct_threads, 0, stream>>>(view, tasks_.data(), in, out);
    core::check_launch("add_direct");
}

}  // namespace
}  // namespace zonal::radial::cuda

namespace zonal::radial {
namespace {

/// Device memory of one call, and what fills it.
template <int components>
struct PixelSumStorage : cuda::CallStorage {
    using CallStorage::CallStorage;

    core::DeviceArray<char> folded;
};

/// The stages on one device.
template <class T, int Rank>
class CudaPixelSum final : public ConvolverOf<CudaPixelSum<T, Rank>, PixelSumStorage<Rank - 1>, Rank> {
  public:
    using CudaPixelSum::ConvolverOf::components;
    using typename CudaPixelSum::ConvolverOf::Storage;

    CudaPixelSum(const Grid& grid, const SumKernel& kernel, const Grid& grid_out,
                 const PixelConvolutionOptions& options)
        : CudaPixelSum(PixelSumSchedule(grid, kernel, grid_out, options.accuracy),
                       cuda::elements_of(grid_out), options) {}

    CudaPixelSum(const PixelSumSchedule& schedule, std::vector<sht::cuda::ElementRange> in_rings,
                 const PixelConvolutionOptions& options, cuda::DirectPairs direct = {})
        : CudaPixelSum::ConvolverOf(cuda::owner_of(options.device.index())),
          device_(options.device.index()),
          threads_(options.threads),
          in_rings_(std::move(in_rings)),
          equal_(schedule, direct),
          square_(square_stage(schedule, options.threads, direct)),
          direct_(schedule, with_others(schedule, std::move(direct))) {
        // As on the CPU, from each component to each.
        for (int part = 0; part < components * components; ++part) add(schedule.work(), work_);
    }

    template <class Map>
    void convolve_maps(View<const Map, 3> maps, View<Map, 3> convolved, Storage& storage,
                       const Progress& progress) const {
        const core::CurrentDevice current(device_);
        storage.folded.reserve(folded_bytes());
        storage.run(maps, convolved, in_rings_, progress,
                    [&](std::int64_t, std::int64_t, const Fields<const Map>& map, const Fields<Map>& result,
                        cudaStream_t stream) { run(map, result, storage, stream); });
        for (std::size_t k = 0; k + 1 < storage.events.size(); k += 2)
            storage.seconds.sums += storage.events.seconds(k);
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        const core::CurrentDevice current(device_);
        auto storage = std::make_unique<Storage>(device_, threads_);
        storage->folded.reserve(folded_bytes());
        return storage;
    }
    std::int64_t workspace_bytes(std::int64_t) const override { return folded_bytes(); }
    void prepare(PixelConvolutionWorkspace::Storage& workspace) const override {
        const core::CurrentDevice current(device_);
        this->storage_of(workspace).folded.reserve(folded_bytes());
    }
    PixelConvolutionWork work() const override { return work_; }

  private:
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
    std::vector<sht::cuda::ElementRange> in_rings_;  ///< the output's pixels
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
    if (options.precision == Precision::float32)
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
