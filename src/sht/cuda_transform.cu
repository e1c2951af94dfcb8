#include <string>

#include "sht/coefficients_cuda.cuh"
#include "sht/ring_stage_cuda.cuh"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

using namespace cuda;

/// Device memory of one call.
struct CudaStorage : ShtWorkspace::Storage {
    explicit CudaStorage(int device) : device(device) {}

    const int device;
    core::OwnStream stream;
    core::SideStream side;
    core::EventList stages;                       ///< begin, middle, end of every map
    core::DeviceArray<PairModes> fourier;         ///< [fields][n_fourier]
    core::DeviceArray<double> steps, rows, sums;  ///< of Ishioka's recurrence
    core::DeviceArray<double> polar, equatorial;  ///< adjoint_jacobi
    core::DeviceArray<double> buffer;             ///< of the Fourier stage
    core::DeviceArray<char> library;              ///< of the FFT library
    core::DeviceArray<char> alm, map, update;     ///< copies of host arrays
    core::DeviceArray<char> residual;             ///< of project_residual
};

/// Throws InvalidArgument for an array that is said to lie on the device and does not.
template <class T>
void require_on_device(const char* name, View<T, 3> view, int device) {
    if (view.space() != MemorySpace::cuda || view.size() == 0) return;
    cudaPointerAttributes found{};
    core::check_cuda(cudaPointerGetAttributes(&found, view.data()), "looking up a pointer");
    const bool usable =
        found.type == cudaMemoryTypeManaged || (found.type == cudaMemoryTypeDevice && found.device == device);
    if (!usable)
        throw InvalidArgument(std::string(name) + ": is not in device memory of " +
                              to_string(Device::cuda(device)));
    constexpr std::uintptr_t alignment = sizeof(std::remove_const_t<T>);
    if (reinterpret_cast<std::uintptr_t>(view.data()) % alignment != 0)
        throw InvalidArgument(std::string(name) + ": must be aligned to " + std::to_string(alignment) +
                              " bytes");
}

/// Array `index` of the first axis in device memory: itself, or a copy in `copy`.
template <class T>
T* on_device(View<T, 2> view, core::DeviceArray<char>& copy, bool fill, cudaStream_t stream) {
    if (view.space() == MemorySpace::cuda) return view.data();
    const std::int64_t row = view.extent(1) * static_cast<std::int64_t>(sizeof(T));
    copy.reserve(view.extent(0) * row);
    if (fill)
        core::check_cuda(cudaMemcpy2DAsync(copy.data(), row, view.data(),
                                           view.stride(0) * static_cast<std::int64_t>(sizeof(T)), row,
                                           view.extent(0), cudaMemcpyHostToDevice, stream),
                         "copying to the device");
    return reinterpret_cast<T*>(copy.data());
}

template <class T>
void copy_back(const T* from, View<T, 2> view, cudaStream_t stream) {
    if (view.space() == MemorySpace::cuda) return;
    const std::int64_t row = view.extent(1) * static_cast<std::int64_t>(sizeof(T));
    core::check_cuda(cudaMemcpy2DAsync(view.data(), view.stride(0) * static_cast<std::int64_t>(sizeof(T)),
                                       from, row, row, view.extent(0), cudaMemcpyDeviceToHost, stream),
                     "copying to the host");
}

template <class T>
__global__ void subtract_kernel(const T* from, std::int64_t count, T* out) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k < count) out[k] = from[k] - out[k];
}

/// out = from - out
template <class T>
void subtract_from(const T* from, std::int64_t count, T* out, cudaStream_t stream) {
    constexpr int threads = 256;
    if (count == 0) return;
    subtract_kernel<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(
        from, count, out);
    core::check_launch("subtracting a map");
}

/// Elements from one component to the next, where on_device left them.
template <class T>
std::int64_t component_stride(View<T, 2> view) {
    return view.space() == MemorySpace::cuda ? view.stride(0) : view.extent(1);
}

class CudaTransform final : public Transform {
  public:
    CudaTransform(const Grid& grid, const ShtOptions& options)
        : options_(options),
          device_(options.device.index()),
          table_(AlmLayout(options.lmax, options.mmax), options.spin),
          pairs_(grid, options.lmax, options.mmax, options.spin),
          legendre_(pairs_, table_),
          rings_(grid, pairs_, legendre_.view().fourier_origin) {}

    void synthesize(View<const std::complex<float>, 3> alm, View<float, 3> map,
                    ShtWorkspace::Storage& workspace, const Progress& progress) const override {
        synthesize_maps(alm, map, storage_of(workspace), progress);
    }
    void synthesize(View<const std::complex<double>, 3> alm, View<double, 3> map,
                    ShtWorkspace::Storage& workspace, const Progress& progress) const override {
        synthesize_maps(alm, map, storage_of(workspace), progress);
    }
    void adjoint(View<const float, 3> map, View<std::complex<float>, 3> alm, bool weighted,
                 ShtWorkspace::Storage& workspace, const Progress& progress) const override {
        adjoint_maps(map, alm, weighted, storage_of(workspace), progress);
    }
    void adjoint(View<const double, 3> map, View<std::complex<double>, 3> alm, bool weighted,
                 ShtWorkspace::Storage& workspace, const Progress& progress) const override {
        adjoint_maps(map, alm, weighted, storage_of(workspace), progress);
    }

    void project_residual(View<const std::complex<float>, 3> alm, View<const float, 3> map,
                          View<std::complex<float>, 3> update, ShtWorkspace::Storage& workspace,
                          const Progress& progress) const override {
        project_maps(alm, map, update, storage_of(workspace), progress);
    }
    void project_residual(View<const std::complex<double>, 3> alm, View<const double, 3> map,
                          View<std::complex<double>, 3> update, ShtWorkspace::Storage& workspace,
                          const Progress& progress) const override {
        project_maps(alm, map, update, storage_of(workspace), progress);
    }

    std::unique_ptr<ShtWorkspace::Storage> make_workspace() const override {
        const core::CurrentDevice current(device_);
        auto storage = std::make_unique<CudaStorage>(device_);
        fit(*storage);
        return storage;
    }

    std::int64_t workspace_bytes() const override {
        const std::int64_t fields = table_.components;
        std::int64_t doubles = fields * legendre_.n_fourier() * 4 + legendre_.polar().n_sums +
                               legendre_.equatorial().n_sums + rings_.buffer_size();
        if (has_ishioka())
            doubles += legendre_.n_steps() * (2 + 4 * fields) + 2 * fields * n_rows(legendre_.view()) +
                       fields * ishioka_adjoint().n_sums;
        return 8 * doubles + rings_.library_bytes();
    }

    double legendre_flops() const override { return pairs_.legendre_flops(options_.lmax, table_.components); }

  private:
    /// Makes room for this plan's arrays.
    void fit(CudaStorage& storage) const {
        const int fields = table_.components;
        storage.fourier.reserve(fields * legendre_.n_fourier());
        if (has_ishioka()) {
            storage.steps.reserve(legendre_.n_steps() * (2 + 4 * fields));
            storage.rows.reserve(2 * fields * n_rows(legendre_.view()));
            storage.sums.reserve(fields * ishioka_adjoint().n_sums);
        }
        storage.polar.reserve(legendre_.polar().n_sums);
        storage.equatorial.reserve(legendre_.equatorial().n_sums);
        storage.buffer.reserve(rings_.buffer_size());
        storage.library.reserve(rings_.library_bytes());
    }

    /// The workspace as this device's, with room for this plan, whichever plan made it.
    CudaStorage& storage_of(ShtWorkspace::Storage& workspace) const {
        auto* const storage = dynamic_cast<CudaStorage*>(&workspace);
        if (storage == nullptr || storage->device != device_)
            throw InvalidArgument("workspace: was made by a plan on another device");
        const core::CurrentDevice current(device_);
        fit(*storage);
        return *storage;
    }

    bool has_ishioka() const { return legendre_.view().alpha != nullptr; }
    const JobList& ishioka_adjoint() const {
        return table_.components == 1 ? legendre_.ishioka_adjoint() : legendre_.ishioka();
    }

    /// Pointers to the coefficients of E and B, or of the one scalar; null where the plan leaves one out.
    template <class Real, class Pointers, class Complex>
    Pointers alm_pointers(Complex* first, std::int64_t stride) const {
        Pointers pointers{};
        for (int c = 0; c < table_.components; ++c) {
            const std::int64_t k = alm_component(options_.parts, c);
            if (k >= 0) pointers.alm[c] = reinterpret_cast<Real*>(first + k * stride);
        }
        return pointers;
    }

    template <class T>
    void synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map, CudaStorage& storage,
                         const Progress& progress) const {
        const core::CurrentDevice current(device_);
        require_on_device("alm", alm, device_);
        require_on_device("map", map, device_);
        const cudaStream_t stream = storage.stream.get();
        storage.stages.clear();
        for (std::int64_t b = 0; b < alm.extent(0); ++b) {
            report(progress, b, alm.extent(0));
            const auto* a = on_device(alm[b], storage.alm, true, stream);
            T* const pixels = on_device(map[b], storage.map, true, stream);
            storage.stages.record(stream);
            synthesize_modes<T>(alm_pointers<const T, AlmPointers<T>>(a, component_stride(alm[b])), storage,
                                stream);
            storage.stages.record(stream);
            for (int c = 0; c < table_.components; ++c)
                rings_.synthesize<T>(storage.fourier.data() + c * legendre_.n_fourier(),
                                     pixels + c * component_stride(map[b]), storage.buffer.data(),
                                     storage.library.data(), stream);
            storage.stages.record(stream);
            copy_back(pixels, map[b], stream);
        }
        core::check_cuda(cudaStreamSynchronize(stream), "synthesis");
        storage.seconds = {};
        for (std::size_t k = 0; k + 2 < storage.stages.size(); k += 3) {
            storage.seconds.legendre += storage.stages.seconds(k);
            storage.seconds.rings += storage.stages.seconds(k + 1);
        }
        report(progress, 1, 1);
    }

    template <class T>
    void synthesize_modes(AlmPointers<T> alm, CudaStorage& storage, cudaStream_t stream) const {
        synthesize_jacobi<T>(legendre_, alm, storage.fourier.data(), storage.side.fork(stream));
        if (has_ishioka()) {
            if (table_.spin == 0) {
                write_steps<T>(legendre_, {{alm.alm[0]}}, 1, storage.steps.data(), stream);
            } else {
                spin_to_scalar<T>(legendre_, alm, storage.rows.data(), stream);
                const double* rows = storage.rows.data();
                write_steps<double>(legendre_, {{rows, rows + 2 * n_rows(legendre_.view())}}, 2,
                                    storage.steps.data(), stream);
            }
            synthesize_ishioka(legendre_, storage.steps.data(), table_.components, storage.fourier.data(),
                               stream);
        }
        storage.side.join(stream);
    }

    template <class T>
    void adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, bool weighted, CudaStorage& storage,
                      const Progress& progress) const {
        const core::CurrentDevice current(device_);
        require_on_device("map", map, device_);
        require_on_device("alm", alm, device_);
        const cudaStream_t stream = storage.stream.get();
        storage.stages.clear();
        for (std::int64_t b = 0; b < alm.extent(0); ++b) {
            report(progress, b, alm.extent(0));
            const T* pixels = on_device(map[b], storage.map, true, stream);
            auto* const a = on_device(alm[b], storage.alm, false, stream);
            storage.stages.record(stream);
            for (int c = 0; c < table_.components; ++c)
                rings_.adjoint<T>(pixels + c * component_stride(map[b]), weighted,
                                  storage.fourier.data() + c * legendre_.n_fourier(), storage.buffer.data(),
                                  storage.library.data(), stream);
            storage.stages.record(stream);
            adjoint_modes<T>(alm_pointers<T, AlmTargets<T>>(a, component_stride(alm[b])), storage, stream);
            storage.stages.record(stream);
            copy_back(a, alm[b], stream);
        }
        core::check_cuda(cudaStreamSynchronize(stream), "adjoint synthesis");
        storage.seconds = {};
        for (std::size_t k = 0; k + 2 < storage.stages.size(); k += 3) {
            storage.seconds.rings += storage.stages.seconds(k);
            storage.seconds.legendre += storage.stages.seconds(k + 1);
        }
        report(progress, 1, 1);
    }

    template <class T>
    void project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                      View<std::complex<T>, 3> update, CudaStorage& storage, const Progress& progress) const {
        const core::CurrentDevice current(device_);
        require_on_device("alm", alm, device_);
        require_on_device("map", map, device_);
        require_on_device("update", update, device_);
        const cudaStream_t stream = storage.stream.get();
        storage.stages.clear();
        const std::int64_t n_pixels = map.extent(2);
        storage.residual.reserve(table_.components * n_pixels * static_cast<std::int64_t>(sizeof(T)));
        T* const residual = reinterpret_cast<T*>(storage.residual.data());
        for (std::int64_t b = 0; b < alm.extent(0); ++b) {
            report(progress, b, alm.extent(0));
            const auto* a = on_device(alm[b], storage.alm, true, stream);
            const T* pixels = on_device(map[b], storage.map, true, stream);
            auto* const out = on_device(update[b], storage.update, false, stream);
            synthesize_modes<T>(alm_pointers<const T, AlmPointers<T>>(a, component_stride(alm[b])), storage,
                                stream);
            for (int c = 0; c < table_.components; ++c) {
                PairModes* const fourier = storage.fourier.data() + c * legendre_.n_fourier();
                T* const component = residual + c * n_pixels;
                rings_.synthesize<T>(fourier, component, storage.buffer.data(), storage.library.data(),
                                     stream);
                subtract_from(pixels + c * component_stride(map[b]), n_pixels, component, stream);
                rings_.adjoint<T>(component, true, fourier, storage.buffer.data(), storage.library.data(),
                                  stream);
            }
            adjoint_modes<T>(alm_pointers<T, AlmTargets<T>>(out, component_stride(update[b])), storage,
                             stream);
            copy_back(out, update[b], stream);
        }
        core::check_cuda(cudaStreamSynchronize(stream), "projection of a residual");
        report(progress, 1, 1);
    }

    template <class T>
    void adjoint_modes(AlmTargets<T> alm, CudaStorage& storage, cudaStream_t stream) const {
        adjoint_jacobi(legendre_, storage.fourier.data(), storage.polar.data(), storage.equatorial.data(),
                       storage.side.fork(stream));
        AdjointSums sums{{nullptr, nullptr}, storage.polar.data(), storage.equatorial.data()};
        if (has_ishioka()) {
            const int fields = table_.components;
            write_recurrence(legendre_, storage.steps.data(), stream);
            adjoint_ishioka(legendre_, storage.steps.data(), fields, storage.fourier.data(),
                            storage.sums.data(), stream);
            rows_from_sums(legendre_, ishioka_adjoint(), storage.sums.data(), fields, storage.rows.data(),
                           stream);
            sums.rows[0] = storage.rows.data();
            sums.rows[1] = storage.rows.data() + 2 * n_rows(legendre_.view());
        }
        storage.side.join(stream);
        store_alm<T>(legendre_, sums, alm, stream);
    }

    static void report(const Progress& progress, std::int64_t done, std::int64_t total) {
        if (progress && !progress(static_cast<double>(done) / static_cast<double>(total)))
            throw Cancelled("transform: cancelled");
    }

    const ShtOptions options_;
    const int device_;
    const LegendreTable table_;
    const RingPairs pairs_;
    const LegendreStage legendre_;
    const RingStage rings_;
};

}  // namespace

std::unique_ptr<const Transform> make_cuda_transform(const Grid& grid, const ShtOptions& options) {
    const core::CurrentDevice current(options.device.index());
    return std::make_unique<const CudaTransform>(grid, options);
}

}  // namespace zonal::sht
