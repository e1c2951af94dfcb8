#include "chebyshev/calculus.hpp"
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

namespace cuda {
namespace {

[[noreturn]] void refuse() {
    throw BackendUnavailable("f: is said to be on a CUDA device: this build of Zonal has no CUDA code");
}

}  // namespace

template <class T>
void differentiate(const SeriesArray<const T>&, int, double, const SeriesArray<T>&, void*) {
    refuse();
}
template <class T>
void integrate(const SeriesArray<const T>&, int, double, HighestMode, const SeriesArray<T>&, void*) {
    refuse();
}
template <class T>
void integrate_out(const SeriesArray<const T>&, int, double, const SeriesArray<T>&, void*) {
    refuse();
}

template void differentiate(const SeriesArray<const float>&, int, double, const SeriesArray<float>&, void*);
template void differentiate(const SeriesArray<const double>&, int, double, const SeriesArray<double>&, void*);
template void differentiate(const SeriesArray<const std::complex<float>>&, int, double,
                            const SeriesArray<std::complex<float>>&, void*);
template void differentiate(const SeriesArray<const std::complex<double>>&, int, double,
                            const SeriesArray<std::complex<double>>&, void*);
template void integrate(const SeriesArray<const float>&, int, double, HighestMode, const SeriesArray<float>&,
                        void*);
template void integrate(const SeriesArray<const double>&, int, double, HighestMode,
                        const SeriesArray<double>&, void*);
template void integrate(const SeriesArray<const std::complex<float>>&, int, double, HighestMode,
                        const SeriesArray<std::complex<float>>&, void*);
template void integrate(const SeriesArray<const std::complex<double>>&, int, double, HighestMode,
                        const SeriesArray<std::complex<double>>&, void*);
template void integrate_out(const SeriesArray<const float>&, int, double, const SeriesArray<float>&, void*);
template void integrate_out(const SeriesArray<const double>&, int, double, const SeriesArray<double>&, void*);
template void integrate_out(const SeriesArray<const std::complex<float>>&, int, double,
                            const SeriesArray<std::complex<float>>&, void*);
template void integrate_out(const SeriesArray<const std::complex<double>>&, int, double,
                            const SeriesArray<std::complex<double>>&, void*);

}  // namespace cuda
}  // namespace zonal::chebyshev
