#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <typeindex>

#include "core/cuda_host.hpp"
#include "core/parallel.hpp"
#include "radial/bands/banded_convolver.hpp"
#include "radial/bands/latitude_bands.hpp"
#include "sht/cuda_storage.cuh"
#include "sht/progress_part.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

constexpr std::int64_t most_bands = 64;

/// The bands of one device, which it works through.
template <int Rank>
struct DeviceBands {
    explicit DeviceBands(int index) : device(index) {}

    int device;
    std::vector<LatitudeBand> bands;
    std::vector<std::unique_ptr<const BasicConvolver<Rank>>> convolvers;
    std::vector<std::type_index> types;  ///< of convolvers: each has a workspace
    std::vector<std::size_t> kinds;      ///< of each band, an index of types
    BandMemory memory{Rank - 1};

    void add(LatitudeBand band, std::unique_ptr<const BasicConvolver<Rank>> convolver) {
        const BasicConvolver<Rank>& made = *convolver;
        const std::type_index type(typeid(made));
        const auto found = std::find(types.begin(), types.end(), type);
        kinds.push_back(static_cast<std::size_t>(found - types.begin()));
        if (found == types.end()) types.push_back(type);
        memory.add(band, kinds.back(), convolver->workspace_parts());
        bands.push_back(std::move(band));
        convolvers.push_back(std::move(convolver));
    }
};

/// Scratch memory of one device's bands, and what fills it. Two of the bands' parts of maps: while one is
/// worked on, the next comes and the one before goes.
struct DeviceStorage {
    template <int Rank>
    DeviceStorage(const DeviceBands<Rank>& work, int threads) : transfer(work.device, threads) {
        for (int k = 0; k < 2; ++k) {
            input[k].reserve(work.memory.input_pixels());
            output[k].reserve(work.memory.output_pixels());
        }
        for (std::size_t b = 0; b < work.bands.size(); ++b)
            if (work.kinds[b] == workspaces.size())
                workspaces.push_back(work.convolvers[b]->make_workspace(1));
            else
                work.convolvers[b]->prepare(*workspaces[work.kinds[b]]);
    }
    cudaStream_t stream() const { return has_caller ? caller : own.get(); }

    core::HostTransfer transfer;
    core::OwnStream own;
    cudaStream_t caller = nullptr;
    bool has_caller = false;
    sht::cuda::BatchStreams batches;
    core::DeviceArray<double> input[2], output[2];
    std::vector<std::unique_ptr<PixelConvolutionWorkspace::Storage>> workspaces;  ///< of each kind
};

struct BandedStorage : PixelConvolutionWorkspace::Storage {
    using Storage::Storage;

    void use_stream(void* stream) override {
        if (devices.size() > 1)
            throw InvalidArgument("workspace", "is of several devices, which work on streams of their own");
        devices[0]->caller = static_cast<cudaStream_t>(stream);
        devices[0]->has_caller = true;
    }

    std::vector<std::unique_ptr<DeviceStorage>> devices;
};

/// All bands of all maps on one device: step i is band i / n_maps of map i % n_maps.
template <class T, int Rank>
class BandSteps {
  public:
    BandSteps(const DeviceBands<Rank>& work, View<const T, 3> maps, View<T, 3> convolved,
              DeviceStorage& storage)
        : work_(work), maps_(maps), convolved_(convolved), storage_(storage) {}

    std::int64_t size() const { return static_cast<std::int64_t>(work_.bands.size()) * maps_.extent(0); }

    /// The band's part of the map.
    void fetch(std::int64_t i, cudaStream_t stream) const {
        const PackedRings& rings = work_.bands[band(i)].input;
        for (std::int64_t c = 0; c < maps_.extent(1); ++c) {
            const T* const map = &maps_(i % maps_.extent(0), c, 0);
            T* const packed = input(i) + c * rings.grid.n_pixels();
            for (const PixelRun& run : rings.runs)
                if (maps_.space() == MemorySpace::cuda)
                    copy_on_device(map + run.first, packed + run.place, bytes(run), stream);
                else
                    storage_.transfer.to_device(map + run.first, packed + run.place, bytes(run), stream);
        }
    }
    void convolve(std::int64_t i, cudaStream_t stream) const {
        const std::size_t b = band(i);
        const LatitudeBand& rings = work_.bands[b];
        auto& workspace = *storage_.workspaces[work_.kinds[b]];
        workspace.use_stream(stream);
        const View<const T, 3> in(input(i), {1, maps_.extent(1), rings.input.grid.n_pixels()},
                                  MemorySpace::cuda);
        const View<T, 3> out(output(i), {1, maps_.extent(1), rings.output.grid.n_pixels()},
                             MemorySpace::cuda);
        work_.convolvers[b]->convolve(of_rank<Rank>(in), of_rank<Rank>(out), workspace, {});
    }
    /// The band's pixels of the result.
    void deliver(std::int64_t i, cudaStream_t stream) const {
        const PackedRings& rings = work_.bands[band(i)].output;
        for (std::int64_t c = 0; c < convolved_.extent(1); ++c) {
            T* const map = &convolved_(i % maps_.extent(0), c, 0);
            const T* const packed = output(i) + c * rings.grid.n_pixels();
            for (const PixelRun& run : rings.runs)
                if (convolved_.space() == MemorySpace::cuda)
                    copy_on_device(packed + run.place, map + run.first, bytes(run), stream);
                else
                    storage_.transfer.to_host(packed + run.place, map + run.first, bytes(run), stream);
        }
    }

  private:
    std::size_t band(std::int64_t i) const { return static_cast<std::size_t>(i / maps_.extent(0)); }
    T* input(std::int64_t i) const { return reinterpret_cast<T*>(storage_.input[i % 2].data()); }
    T* output(std::int64_t i) const { return reinterpret_cast<T*>(storage_.output[i % 2].data()); }
    static std::int64_t bytes(const PixelRun& run) {
        return run.n_pixels * static_cast<std::int64_t>(sizeof(T));
    }
    static void copy_on_device(const T* from, T* to, std::int64_t bytes, cudaStream_t stream) {
        core::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream),
                         "copying a band");
    }

    const DeviceBands<Rank>& work_;
    View<const T, 3> maps_;
    View<T, 3> convolved_;
    DeviceStorage& storage_;
};

template <int Rank>
class BandedConvolver final : public ConvolverOf<BandedConvolver<Rank>, BandedStorage, Rank> {
  public:
    /// bands: the first ones are the first device's, and so on.
    BandedConvolver(std::vector<LatitudeBand> bands, const PixelConvolutionOptions& options,
                    const MakeConvolver<Rank>& make)
        : BandedConvolver::ConvolverOf(next_id()) {
        const std::vector<Device> devices =
            options.devices.empty() ? std::vector{options.device} : options.devices;
        threads_ = std::max(1, options.threads / static_cast<int>(devices.size()));
        for (const Device device : devices) devices_.emplace_back(device.index());
        for (std::size_t b = 0; b < bands.size(); ++b) {
            const std::size_t d = b * devices.size() / bands.size();
            PixelConvolutionOptions on_device = options;
            on_device.device = devices[d];
            auto convolver = make(bands[b].input.grid, bands[b].output.grid, on_device);
            devices_[d].add(std::move(bands[b]), std::move(convolver));
        }
    }

    template <class T>
    void convolve_maps(View<const T, 3> maps, View<T, 3> convolved, BandedStorage& storage,
                       const Progress& progress) const {
        check_places(maps, convolved);
        const bool on_device = maps.space() == MemorySpace::cuda && convolved.space() == MemorySpace::cuda;
        std::int64_t n_steps = 0;
        for (const DeviceBands<Rank>& work : devices_)
            n_steps += static_cast<std::int64_t>(work.bands.size()) * maps.extent(0);
        sht::SharedProgress shared(progress, static_cast<double>(n_steps), "convolution");
        const auto n_devices = static_cast<std::int64_t>(devices_.size());
        core::parallel_for(n_devices, static_cast<int>(n_devices), [&](std::int64_t index, int thread) {
            const auto d = static_cast<std::size_t>(index);
            const core::CurrentDevice current(devices_[d].device);
            DeviceStorage& own = *storage.devices[d];
            const BandSteps<T, Rank> steps(devices_[d], maps, convolved, own);
            run(steps, own, on_device, [&] { shared.advance(1, thread); });
        });
        shared.finish();
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        auto storage = std::make_unique<BandedStorage>(this->owner());
        for (const DeviceBands<Rank>& work : devices_) {
            const core::CurrentDevice current(work.device);
            storage->devices.push_back(std::make_unique<DeviceStorage>(work, threads_));
        }
        return storage;
    }
    std::int64_t workspace_bytes(std::int64_t) const override {
        std::int64_t sum = 0;
        for (const DeviceBands<Rank>& work : devices_) sum += work.memory.bytes();
        return sum;
    }
    PixelConvolutionWork work() const override {
        PixelConvolutionWork sum;
        for (const DeviceBands<Rank>& device : devices_)
            for (const auto& convolver : device.convolvers) add(convolver->work(), sum);
        return sum;
    }
    std::vector<PixelConvolutionShare> shares() const override {
        std::vector<PixelConvolutionShare> shares;
        for (const DeviceBands<Rank>& work : devices_)
            shares.push_back({Device::cuda(work.device), static_cast<std::int64_t>(work.bands.size()),
                              work.memory.bytes()});
        return shares;
    }

  private:
    template <class T>
    void check_places(View<const T, 3> maps, View<T, 3> convolved) const {
        const bool on_device = maps.space() == MemorySpace::cuda || convolved.space() == MemorySpace::cuda;
        if (on_device && devices_.size() > 1)
            throw InvalidArgument(maps.space() == MemorySpace::cuda ? "maps" : "convolved",
                                  "is in device memory: several devices need host memory, from which each "
                                  "takes its bands");
        core::require_place("maps", maps, devices_[0].device);
        core::require_place("convolved", convolved, devices_[0].device);
    }

    template <class T>
    static void run(const BandSteps<T, Rank>& steps, DeviceStorage& storage, bool on_device,
                    const std::function<void()>& report) {
        const auto fetch = [&](std::int64_t i, cudaStream_t stream) { steps.fetch(i, stream); };
        const auto convolve = [&](std::int64_t i, cudaStream_t stream) {
            steps.convolve(i, stream);
            report();
        };
        const auto deliver = [&](std::int64_t i, cudaStream_t stream) { steps.deliver(i, stream); };
        const cudaStream_t stream = storage.stream();
        if (!on_device || !storage.has_caller)
            return storage.batches.run(steps.size(), stream, fetch, convolve, deliver);
        // Nobody waits, and the caller may be capturing the stream.
        for (std::int64_t i = 0; i < steps.size(); ++i) {
            fetch(i, stream);
            convolve(i, stream);
            deliver(i, stream);
        }
    }

    static std::uint64_t next_id() {
        static std::atomic<std::uint64_t> id{0};
        return ++id;
    }

    int threads_ = 1;  ///< that copy for each device
    std::vector<DeviceBands<Rank>> devices_;
};

/// The driver hands out pieces of 2 MiB, to a dozen arrays: more than they ask for by up to this.
constexpr std::int64_t rounding_of_pieces = 12 * (std::int64_t{2} << 20);

/// Bytes that each device may take: what the caller allows or, of what is free, as much as the device's
/// other entries get.
std::int64_t memory_limit(Device device, const PixelConvolutionOptions& options) {
    if (options.max_workspace_bytes > 0) return options.max_workspace_bytes;
    const auto entries = std::count(options.devices.begin(), options.devices.end(), device);
    return core::free_on_cuda(device.index()) / std::max<std::int64_t>(1, entries) - rounding_of_pieces;
}

bool keeps_within_memory(const std::vector<PixelConvolutionShare>& shares,
                         const PixelConvolutionOptions& options) {
    return std::all_of(shares.begin(), shares.end(), [&](const PixelConvolutionShare& share) {
        return share.memory_bytes <= memory_limit(share.device, options);
    });
}

/// Bands that have no room even for their parts of the maps are not worth making.
bool may_fit(const std::vector<LatitudeBand>& bands, int components, const PixelConvolutionOptions& options) {
    BandMemory memory(components);
    for (const LatitudeBand& band : bands) memory.add(band, 0, {});
    return memory.bytes() <= memory_limit(options.device, options);
}

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_banded(const Grid& grid, double support,
                                                        const Grid& grid_out,
                                                        const PixelConvolutionOptions& options,
                                                        const MakeConvolver<Rank>& make) {
    const auto n_devices = static_cast<std::int64_t>(options.devices.size());
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t n_bands = std::max<std::int64_t>(n_devices, 2);; n_bands *= 2) {
        auto bands = latitude_bands(grid, support, grid_out, n_bands);
        const bool is_last =
            n_bands >= grid_out.n_rings() || 2 * n_bands > most_bands * std::max<std::int64_t>(n_devices, 1);
        if (!is_last && !may_fit(bands, Rank - 1, options)) continue;
        auto banded = std::make_unique<const BandedConvolver<Rank>>(std::move(bands), options, make);
        const auto shares = banded->shares();
        if (keeps_within_memory(shares, options)) return banded;
        std::int64_t most = 0;
        for (const auto& share : shares) most = std::max(most, share.memory_bytes);
        least = std::min(least, most);
        if (!is_last) continue;
        if (options.max_workspace_bytes == 0) return banded;
        throw InvalidArgument("max_workspace_bytes", options.max_workspace_bytes,
                              "must be at least " + std::to_string(least) + " for this convolution");
    }
}

}  // namespace

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_cuda_convolver(const Grid& grid, double support,
                                                                const Grid& grid_out,
                                                                const PixelConvolutionOptions& options,
                                                                const MakeConvolver<Rank>& make) {
    constexpr int components = Rank - 1;
    const std::int64_t copies =
        bytes_of_copies(components * grid.n_pixels(), components * grid_out.n_pixels());
    if (options.devices.size() <= 1 && copies <= memory_limit(options.device, options)) {
        auto whole = make(grid, grid_out, options);
        if (whole->workspace_bytes(1) + copies <= memory_limit(options.device, options)) return whole;
    }
    return make_banded<Rank>(grid, support, grid_out, options, make);
}

template std::unique_ptr<const Convolver> make_cuda_convolver<2>(const Grid&, double, const Grid&,
                                                                 const PixelConvolutionOptions&,
                                                                 const MakeConvolver<2>&);
template std::unique_ptr<const PolarizationConvolver> make_cuda_convolver<3>(const Grid&, double, const Grid&,
                                                                             const PixelConvolutionOptions&,
                                                                             const MakeConvolver<3>&);

}  // namespace zonal::radial
