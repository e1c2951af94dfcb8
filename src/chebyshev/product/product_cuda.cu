#include "chebyshev/product/product_cuda.cuh"
#include "chebyshev/storage_cuda.cuh"
#include "core/cuda_place.cuh"

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
