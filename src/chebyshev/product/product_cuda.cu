
#include "chebyshev/product/product.hpp"
#include "chebyshev/product/product_cuda.cuh"
#include "core/cuda.cuh"
#include "core/cuda_transfer.cuh"

namespace zonal::chebyshev::cuda {

/// Device memory of a call, and what fills it.
struct CudaStorage final : DeviceStorage {
    CudaStorage(int device, int threads) : device(device), transfer(device, threads) {}

    const int device;
    core::HostTransfer transfer;
    core::OwnStream own;
    core::DeviceArray<char> scratch;  ///< of the method
    core::DeviceArray<char> staging;  ///< host arrays while they are on the device
};

/// Host arrays of one call, row-major copies of them in the staging memory.
template <class T>
class StagedArrays {
  public:
    explicit StagedArrays(CudaStorage& storage) : storage_(storage) {}

    /// Bytes of the copy; 0 for arrays that lie on the device.
    template <class Element>
    static std::int64_t bytes(const SeriesArray<Element>& array) {
        if (array.space == MemorySpace::cuda) return 0;
        const std::int64_t size = n_elements(array) * static_cast<std::int64_t>(sizeof(T));
        return (size + 255) / 256 * 256;
    }

    /// The array itself, or its place on the device, contents unspecified.
    template <class Element>
    SeriesArray<Element> place(const SeriesArray<Element>& array) {
        if (array.space == MemorySpace::cuda) return array;
        auto* const data = reinterpret_cast<T*>(storage_.staging.data() + used_);
        used_ += bytes(array);
        return row_major(array, static_cast<Element*>(data), MemorySpace::cuda);
    }

    void fetch(const SeriesArray<const T>& from, const SeriesArray<const T>& to, cudaStream_t stream) {
        if (from.space == MemorySpace::cuda) return;
        auto* const target = const_cast<T*>(to.data);  // our own memory
        const auto size = n_elements(from) * static_cast<std::int64_t>(sizeof(T));
        if (is_row_major(from)) return storage_.transfer.to_device(from.data, target, size, stream);
        std::vector<T> packed(static_cast<std::size_t>(n_elements(from)));
        for_each_pair(from, row_major(from, packed.data(), MemorySpace::host),
                      [](const T& source, T& copy) { copy = source; });
        storage_.transfer.to_device(packed.data(), target, size, stream);
        core::check_cuda(cudaStreamSynchronize(stream), "copying to the device");
    }

    /// The array has been written on return.
    void deliver(const SeriesArray<T>& from, const SeriesArray<T>& to, cudaStream_t stream) {
        if (to.space == MemorySpace::cuda) return;
        const auto size = n_elements(to) * static_cast<std::int64_t>(sizeof(T));
        std::vector<T> packed(is_row_major(to) ? 0 : static_cast<std::size_t>(n_elements(to)));
        storage_.transfer.to_host(from.data, is_row_major(to) ? to.data : packed.data(), size, stream);
        core::check_cuda(cudaStreamSynchronize(stream), "copying to the host");
        if (is_row_major(to)) return;
        for_each_pair(to, row_major(to, packed.data(), MemorySpace::host),
                      [](T& target, const T& copy) { target = copy; });
    }

  private:
    template <class Element>
    static std::int64_t n_elements(const SeriesArray<Element>& array) {
        return array.extents[0] * array.extents[1] * array.extents[2] * array.extents[3];
    }
    template <class Element, class Like>
    static SeriesArray<Element> row_major(const SeriesArray<Like>& like, Element* data, MemorySpace space) {
        auto array = row_major_like(like, data, like.extents);
        array.space = space;
        return array;
    }
    template <class Element>
    static bool is_row_major(const SeriesArray<Element>& array) {
        std::int64_t stride = 1;
        for (int axis = array.dimensions; axis >= 0; --axis) {
            const auto at = static_cast<std::size_t>(axis);
            if (array.extents[at] > 1 && array.strides[at] != stride) return false;
            stride *= array.extents[at];
        }
        return true;
    }

    CudaStorage& storage_;
    std::int64_t used_ = 0;
};

}  // namespace zonal::chebyshev::cuda

namespace zonal::chebyshev {
namespace {

using namespace cuda;

/// A method on one device, of arrays wherever they are.
template <class T>
class CudaProduct final : public ProductPlan<T> {
  public:
    CudaProduct(const ProductShape& shape, const std::array<std::int64_t, 3>& extents_out,
                const ChebyshevProductOptions& options)
        : device_(options.device.index()), threads_(options.threads) {
        const core::CurrentDevice current(device_);
        method_ = options.method == ChebyshevMethod::direct
                      ? make_direct<T>(shape, extents_out)
                      : make_transform<T>(shape, extents_out, options.n_batch);
    }

    void prepare(ChebyshevWorkspace::Storage& workspace, std::int64_t n_batch) const override {
        const core::CurrentDevice current(device_);
        storage_of(workspace).scratch.reserve(method_->scratch_bytes(n_batch));
    }

    void execute(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
                 ChebyshevWorkspace::Storage& workspace) const override {
        const core::CurrentDevice current(device_);
        for (const auto& field : fields) require_place_of("fields", field);
        for (const auto& sum : sums) require_place_of("sums", sum);
        auto& storage = storage_of(workspace);
        storage.scratch.reserve(method_->scratch_bytes(sums.front().extents[0]));
        const auto stream =
            workspace.has_stream ? static_cast<cudaStream_t>(workspace.stream) : storage.own.get();
        const bool on_device = reserve_staging(fields, sums, storage) == 0;
        if (on_device)
            method_->run(fields, sums, storage.scratch.data(), stream);
        else
            run_staged(fields, sums, storage, stream);
        if (workspace.has_stream && on_device) return;
        core::check_cuda(cudaStreamSynchronize(stream), "Chebyshev products");
    }

  private:
    template <class Element>
    void require_place_of(const char* name, const SeriesArray<Element>& array) const {
        core::require_place(name, array.data, array.space, device_, sizeof(Real<T>));
    }

    CudaStorage& storage_of(ChebyshevWorkspace::Storage& workspace) const {
        auto* const storage = static_cast<CudaStorage*>(workspace.device.get());
        if (storage != nullptr && storage->device == device_) return *storage;
        workspace.device = std::make_unique<CudaStorage>(device_, threads_);
        return static_cast<CudaStorage&>(*workspace.device);
    }

    static std::int64_t reserve_staging(std::span<const SeriesArray<const T>> fields,
                                        std::span<const SeriesArray<T>> sums, CudaStorage& storage) {
        std::int64_t bytes = 0;
        for (const auto& field : fields) bytes += StagedArrays<T>::bytes(field);
        for (const auto& sum : sums) bytes += StagedArrays<T>::bytes(sum);
        storage.staging.reserve(bytes);
        return bytes;
    }

    void run_staged(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
                    CudaStorage& storage, cudaStream_t stream) const {
        StagedArrays<T> staged(storage);
        std::vector<SeriesArray<const T>> in;
        std::vector<SeriesArray<T>> out;
        for (const auto& field : fields) {
            in.push_back(staged.place(field));
            staged.fetch(field, in.back(), stream);
        }
        for (const auto& sum : sums) out.push_back(staged.place(sum));
        method_->run(in, out, storage.scratch.data(), stream);
        for (std::size_t k = 0; k < out.size(); ++k) staged.deliver(out[k], sums[k], stream);
    }

    int device_, threads_;
    std::unique_ptr<Method<T>> method_;
};

}  // namespace

bool has_cuda_products() {
    return true;
}

template <class T>
std::unique_ptr<ProductPlan<T>> make_cuda_product(const ProductShape& shape,
                                                  const std::array<std::int64_t, 3>& extents_out,
                                                  const ChebyshevProductOptions& options) {
    return std::make_unique<CudaProduct<T>>(shape, extents_out, options);
}

template std::unique_ptr<ProductPlan<float>> make_cuda_product(const ProductShape&,
                                                               const std::array<std::int64_t, 3>&,
                                                               const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<double>> make_cuda_product(const ProductShape&,
                                                                const std::array<std::int64_t, 3>&,
                                                                const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<std::complex<float>>> make_cuda_product(
    const ProductShape&, const std::array<std::int64_t, 3>&, const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<std::complex<double>>> make_cuda_product(
    const ProductShape&, const std::array<std::int64_t, 3>&, const ChebyshevProductOptions&);

}  // namespace zonal::chebyshev
