#include "chebyshev/product.hpp"
#include "zonal/error.hpp"

namespace zonal::chebyshev {

bool has_cuda_products() {
    return false;
}

template <class T>
std::unique_ptr<ProductPlan<T>> make_cuda_product(const ProductShape&, const std::array<std::int64_t, 3>&,
                                                  const ChebyshevProductOptions& options) {
    throw BackendUnavailable("device = " + to_string(options.device) +
                             ": this build of Zonal has no CUDA code for Chebyshev series");
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
