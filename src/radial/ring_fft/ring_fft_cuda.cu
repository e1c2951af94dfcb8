#include <algorithm>

#include "core/cuda_host.hpp"
#include "radial/call_storage.cuh"
#include "radial/ring_fft/ring_fft.hpp"
#include "radial/ring_fft/stage_cuda.cuh"
#include "radial/ring_fft/sum_kernels.cuh"

namespace zonal::radial {
namespace {

using namespace cuda;

/// Values of the kernel's rows that are made at once.
constexpr std::int64_t most_values = std::int64_t{1} << 28;
/// This many blocks keep a processor busy while each waits for memory.
constexpr std::int64_t blocks_per_processor = 8;

/// Device memory of one call, and what fills it.
template <class R, int components>
struct CudaRingFftStorage : CallStorage {
    using CallStorage::CallStorage;

    core::DeviceArray<R> values;
    core::DeviceArray<Complex<R>> input, output, scratch;
    core::DeviceArray<char> library;
    std::int64_t n_maps = 1;  ///< that calls bring at once
};

/// Groups, such as those whose rows are in memory at the same time.
struct GroupBand {
    std::int64_t first, end;
};

/// The modes of Q and those of U lie behind each other.
template <class R, int Rank>
class CudaRingFft final : public ConvolverOf<CudaRingFft<R, Rank>, CudaRingFftStorage<R, Rank - 1>, Rank> {
  public:
    using CudaRingFft::ConvolverOf::components;
    using typename CudaRingFft::ConvolverOf::Storage;

    CudaRingFft(RingFftGeometry geometry, const PixelConvolutionOptions& options)
        : CudaRingFft::ConvolverOf(owner_of(options.device.index())),
          device_(options.device.index()),
          threads_(options.threads),
          max_bytes_(options.max_workspace_bytes),
          in_rings_(elements_of(geometry.grid_out())),
          geometry_(std::move(geometry)),
          schedule_(geometry_, {blocks_per_processor * core::device_limits().processors,
                                sum_threads * modes_per_thread<R, components>}),
          to_modes_(geometry_, schedule_, RingTransforms<R>::Direction::to_modes),
          to_pixels_(geometry_, schedule_, RingTransforms<R>::Direction::to_pixels),
          coefficients_{coefficients_of(geometry_, false), coefficients_of(geometry_, true)} {
        place_values();
        groups_ = core::DeviceArray<SumGroup>(schedule_.groups);
        classes_ = core::DeviceArray<SumClass>(schedule_.classes);
        entries_ = core::DeviceArray<SumEntry>(schedule_.entries);
        turns_ = core::DeviceArray<EntryTurns>(schedule_.turns);
        class_of_ = core::DeviceArray<std::int32_t>(schedule_.class_of);
        sliced_rows_ = core::DeviceArray<SlicedRow>(schedule_.sliced_rows);
    }

    template <class T>
    void convolve_maps(View<const T, 3> maps, View<T, 3> convolved, Storage& storage,
                       const Progress& progress) const {
        const core::CurrentDevice current(device_);
        const bool on_device = maps.space() == MemorySpace::cuda && convolved.space() == MemorySpace::cuda;
        const std::int64_t at_once = on_device ? maps_at_once(maps.extent(0), storage) : 1;
        reserve(storage, at_once);
        storage.run(
            maps, convolved, in_rings_, progress,
            [&](std::int64_t b, std::int64_t count, const Fields<const T>& some, const Fields<T>& results,
                cudaStream_t stream) { convolve_some(count, some, results, b > 0, storage, stream); },
            at_once);
        read_times(storage);
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t n_maps) const override {
        const core::CurrentDevice current(device_);
        auto storage = std::make_unique<Storage>(device_, threads_);
        storage->n_maps = n_maps;
        reserve(*storage, 1);
        return storage;
    }
    std::int64_t workspace_bytes(std::int64_t) const override {
        std::int64_t sum = 0;
        for (const std::int64_t bytes : workspace_parts()) sum += bytes;
        return sum;
    }
    std::vector<std::int64_t> workspace_parts() const override {
        constexpr auto mode = static_cast<std::int64_t>(sizeof(Complex<R>));
        return {n_values_ * static_cast<std::int64_t>(sizeof(R)), components * schedule_.n_input_modes * mode,
                components * schedule_.n_output_modes * mode, scratch_size() * mode, library_bytes()};
    }
    void prepare(PixelConvolutionWorkspace::Storage& workspace) const override {
        const core::CurrentDevice current(device_);
        reserve(this->storage_of(workspace), 1);
    }
    PixelConvolutionWork work() const override { return geometry_.work(); }

  private:
    std::int64_t scratch_size() const {
        return std::max(to_modes_.scratch_size(), to_pixels_.scratch_size());
    }
    std::int64_t library_bytes() const {
        return std::max(to_modes_.library_bytes(), to_pixels_.library_bytes());
    }

    /// How many of the maps of a batch are convolved together: where the workspace was made for several and
    /// the memory is there.
    std::int64_t maps_at_once(std::int64_t n_maps, const Storage& storage) const {
        constexpr std::int64_t most = most_maps<R, components>;
        std::int64_t count = std::min({most, n_maps, storage.n_maps});
        if (max_bytes_ > 0 || count < 2) return 1;
        const std::int64_t bytes_of_map =
            ((schedule_.n_input_modes + schedule_.n_output_modes) * components + scratch_size()) *
            static_cast<std::int64_t>(sizeof(Complex<R>));
        const std::int64_t there = storage.input.bytes() + storage.output.bytes() + storage.scratch.bytes() +
                                   core::free_on_cuda(storage.device);
        return std::clamp<std::int64_t>(there / bytes_of_map - 1, 1, count);
    }

    void reserve(Storage& storage, std::int64_t n_maps) const {
        storage.values.reserve(n_values_);
        storage.input.reserve(n_maps * components * schedule_.n_input_modes);
        storage.output.reserve(n_maps * components * schedule_.n_output_modes);
        storage.scratch.reserve(n_maps * scratch_size());
        storage.library.reserve(library_bytes());
    }

    /// Takes the groups in bands and gives every entry its place within its band.
    void place_values() {
        std::int64_t values = 0;
        GroupBand band{0, 0};
        const auto n_groups = static_cast<std::int64_t>(schedule_.groups.size());
        for (std::int64_t g = 0; g < n_groups; ++g) {
            const SumGroup& group = schedule_.groups[g];
            std::int64_t more = 0;
            for (std::int64_t e = group.first_entry; e < group.end_entry; ++e)
                more += values_of(schedule_.entries[e], group);
            if (g > band.first && values + more > most_values) {
                bands_.push_back({band.first, g});
                band.first = g;
                values = 0;
            }
            for (std::int64_t e = group.first_entry; e < group.end_entry; ++e) {
                schedule_.entries[e].values = values;
                values += values_of(schedule_.entries[e], group);
            }
            n_values_ = std::max(n_values_, values);
        }
        if (n_groups > band.first) bands_.push_back({band.first, n_groups});
    }
    static std::int64_t values_of(const SumEntry& entry, const SumGroup& group) {
        return static_cast<std::int64_t>((entry.n_values + group.width - 1) / group.width) * group.width *
               group_size * components;
    }

    static core::DeviceArray<double> coefficients_of(const RingFftGeometry& geometry, bool is_minus) {
        const auto& table = geometry.part(is_minus).table;
        if (!table) return {};
        return core::DeviceArray<double>(table->template coefficients<double>());
    }

    RowTables tables() const {
        RowTables tables{};
        for (const int k : {0, 1}) {
            const SumKernel::Part& part = geometry_.part(k == 1);
            tables.limit[k] = part.limit;
            if (part.table) tables.table[k] = part.table->view(coefficients_[k].data());
        }
        return tables;
    }

    void make_rows(const GroupBand& band, Storage& storage, cudaStream_t stream) const {
        constexpr int threads = 256;
        row_values_kernel<R, components>
            <<<static_cast<unsigned>(band.end - band.first), threads, 0, stream>>>(
                groups_.data() + band.first, classes_.data(), entries_.data(), turns_.data(),
                class_of_.data(), tables(), storage.values.data());
        core::check_launch("kernel rows");
    }

    void sum(const GroupBand& band, std::int64_t n_maps, Storage& storage, cudaStream_t stream) const {
        constexpr int most = most_maps<R, components>;
        if (n_maps == most) return sum_maps<most>(band, storage, stream);
        if constexpr (most > 2)
            if (n_maps == 2) return sum_maps<2>(band, storage, stream);
        sum_maps<1>(band, storage, stream);
    }

    template <int Maps>
    void sum_maps(const GroupBand& band, Storage& storage, cudaStream_t stream) const {
        const std::int64_t middle = std::clamp(schedule_.n_narrow, band.first, band.end);
        sum_with<Maps>(&sum_kernel<R, SumSchedule::narrow, components, Maps>, {band.first, middle}, storage,
                       stream);
        sum_with<Maps>(&sum_kernel<R, SumSchedule::wide, components, Maps>, {middle, band.end}, storage,
                       stream);
    }

    template <int Maps, class Kernel>
    void sum_with(Kernel* kernel, const GroupBand& band, Storage& storage, cudaStream_t stream) const {
        if (band.first == band.end) return;
        std::int64_t most_modes = 0;
        for (std::int64_t g = band.first; g < band.end; ++g)
            most_modes = std::max<std::int64_t>(most_modes, schedule_.groups[g].most_modes);
        constexpr std::int64_t tile = sum_threads * modes_per_thread<R, components, Maps>;
        const dim3 blocks(static_cast<unsigned>(band.end - band.first),
                          static_cast<unsigned>((most_modes + tile - 1) / tile));
        kernel<<<blocks, sum_threads, 0, stream>>>(
            groups_.data() + band.first, classes_.data(), entries_.data(), storage.values.data(),
            storage.input.data(), storage.output.data(),
            make_longlong2(schedule_.n_input_modes, schedule_.n_output_modes));
        core::check_launch("sum over rings");
    }

    void add_slices(std::int64_t n_maps, Storage& storage, cudaStream_t stream) const {
        if (sliced_rows_.size() == 0) return;
        const dim3 blocks(static_cast<unsigned>(sliced_rows_.size()),
                          static_cast<unsigned>(components * n_maps));
        add_slices_kernel<R><<<blocks, sum_threads, 0, stream>>>(
            sliced_rows_.data(), schedule_.n_output_modes, storage.output.data());
        core::check_launch("sum over rings");
    }

    /// n_maps: 1, 2 or 4. Marks: start, rows, input, sums, output.
    template <class T>
    void convolve_some(std::int64_t n_maps, const Fields<const T>& maps, const Fields<T>& convolved,
                       bool rows_are_there, Storage& storage, cudaStream_t stream) const {
        const bool timed = !storage.has_caller;
        const auto mark = [&] {
            if (timed) storage.events.record(stream);
        };
        mark();
        if (bands_.size() == 1 && !rows_are_there) make_rows(bands_[0], storage, stream);
        mark();
        for (std::int64_t c = 0; c < components; ++c)
            to_modes_.template transform<T>(
                maps.pixels + c * maps.stride, maps.map_stride, n_maps,
                {storage.input.data() + c * schedule_.n_input_modes, components * schedule_.n_input_modes},
                storage.scratch.data(), storage.library.data(), stream);
        mark();
        for (const GroupBand& band : bands_) {
            if (bands_.size() > 1) make_rows(band, storage, stream);
            sum(band, n_maps, storage, stream);
        }
        add_slices(n_maps, storage, stream);
        mark();
        for (std::int64_t c = 0; c < components; ++c)
            to_pixels_.template transform_back<T>(
                {storage.output.data() + c * schedule_.n_output_modes, components * schedule_.n_output_modes},
                convolved.pixels + c * convolved.stride, convolved.map_stride, n_maps, storage.scratch.data(),
                storage.library.data(), stream);
        mark();
    }

    static void read_times(Storage& storage) {
        if (storage.has_caller) return;
        constexpr std::size_t marks = 5;
        for (std::size_t k = 0; k + marks <= storage.events.size(); k += marks) {
            storage.seconds.kernel_rows += storage.events.seconds(k);
            storage.seconds.ffts += storage.events.seconds(k + 1) + storage.events.seconds(k + 3);
            storage.seconds.sums += storage.events.seconds(k + 2);
        }
    }

    const int device_, threads_;
    const std::int64_t max_bytes_;
    const std::vector<sht::cuda::ElementRange> in_rings_;  ///< the output's pixels
    const RingFftGeometry geometry_;
    SumSchedule schedule_;
    const RingTransforms<R> to_modes_, to_pixels_;
    const core::DeviceArray<double> coefficients_[2];  ///< of the kernel's parts
    std::vector<GroupBand> bands_;
    std::int64_t n_values_ = 0;
    core::DeviceArray<SumGroup> groups_;
    core::DeviceArray<SumClass> classes_;
    core::DeviceArray<SumEntry> entries_;
    core::DeviceArray<EntryTurns> turns_;
    core::DeviceArray<std::int32_t> class_of_;
    core::DeviceArray<SlicedRow> sliced_rows_;
};

}  // namespace

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_cuda_ring_fft(RingFftGeometry geometry,
                                                               const PixelConvolutionOptions& options) {
    const core::CurrentDevice current(options.device.index());
    if (options.precision == Precision::float32)
        return std::make_unique<const CudaRingFft<float, Rank>>(std::move(geometry), options);
    return std::make_unique<const CudaRingFft<double, Rank>>(std::move(geometry), options);
}

template std::unique_ptr<const BasicConvolver<2>> make_cuda_ring_fft<2>(RingFftGeometry,
                                                                        const PixelConvolutionOptions&);
template std::unique_ptr<const BasicConvolver<3>> make_cuda_ring_fft<3>(RingFftGeometry,
                                                                        const PixelConvolutionOptions&);

}  // namespace zonal::radial
