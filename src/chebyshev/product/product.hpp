#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "chebyshev/series_lines.hpp"
#include "chebyshev/transform/cosine_transform.hpp"
#include "core/aligned.hpp"
#include "zonal/chebyshev/product.hpp"

namespace zonal {

namespace chebyshev {

/// What a device's methods keep in a workspace.
struct DeviceStorage {
    virtual ~DeviceStorage() = default;
};

}  // namespace chebyshev

/// Scratch memory of the CPU's methods, and of a device's.
struct ChebyshevWorkspace::Storage {
    core::Scratch memory;
    std::vector<chebyshev::FftState> ffts;  ///< [thread]
    std::unique_ptr<chebyshev::DeviceStorage> device;
    void* stream = nullptr;  ///< the caller's, a cudaStream_t
    bool has_stream = false;
};

namespace chebyshev {

/// Sums of products by one method on one device: what a ProductPlanHandle holds.
template <class T>
class ProductPlan {
  public:
    virtual ~ProductPlan() = default;
    /// Makes the workspace large enough for n_batch series at once.
    virtual void prepare(ChebyshevWorkspace::Storage& workspace, std::int64_t n_batch) const = 0;
    /// As ProductPlanHandle::execute, of arrays that have been checked; n_batch >= 1.
    virtual void execute(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
                         ChebyshevWorkspace::Storage& workspace) const = 0;

    ProductShape shape;
    ChebyshevProductOptions options;  ///< resolved
    std::array<std::int64_t, 3> extents_out{1, 1, 1};
};

/// Highest number of factors of a term.
inline std::size_t most_factors(const ProductShape& shape) {
    std::size_t most = 1;
    for (const auto& term : shape.terms) most = std::max(most, term.factors.size());
    return most;
}

/// Each makes a plan without shape, options and extents_out, which the caller sets. extents_out: of the
/// outputs.
template <class T>
std::unique_ptr<ProductPlan<T>> make_direct_product(const ProductShape& shape,
                                                    const std::array<std::int64_t, 3>& extents_out,
                                                    const ChebyshevProductOptions& options);
template <class T>
std::unique_ptr<ProductPlan<T>> make_transform_product(const ProductShape& shape,
                                                       const std::array<std::int64_t, 3>& extents_out,
                                                       const ChebyshevProductOptions& options);
template <class T>
std::unique_ptr<ProductPlan<T>> make_cuda_product(const ProductShape& shape,
                                                  const std::array<std::int64_t, 3>& extents_out,
                                                  const ChebyshevProductOptions& options);
/// Whether this build has products on CUDA at all.
bool has_cuda_products();

}  // namespace chebyshev
}  // namespace zonal
