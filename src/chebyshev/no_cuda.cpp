#include "chebyshev/calculus.hpp"
#include "chebyshev/evaluation/evaluation.hpp"
#include "chebyshev/host_copy.hpp"
#include "chebyshev/product/product.hpp"
#include "chebyshev/roots/roots.hpp"
#include "zonal/error.hpp"

namespace zonal::chebyshev {

bool has_cuda_products() {
    return false;
}

template <class T>
std::unique_ptr<ProductPlan<T>> make_cuda_product(const ProductShape&, const std::array<std::int64_t, 3>&,
                                                  const ChebyshevProductOptions& options) {
    throw BackendUnavailable("device", to_string(options.device),
                             "this build of Zonal has no CUDA code for Chebyshev series");
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
    throw BackendUnavailable("f", "is said to be on a CUDA device: this build of Zonal has no CUDA code");
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

std::int64_t most_rows(const void*) {
    refuse();
}
template <class T>
std::vector<std::vector<std::complex<double>>> find_roots(const SeriesArray<const T>&, void*) {
    refuse();
}
template <class Scalar>
std::vector<std::complex<double>> eigenvalues(const Scalar*, std::int64_t, const void*, void*) {
    refuse();
}

template <class T>
void evaluate(const SeriesArray<const T>&, View<const double, 2>, View<T, 2>, void*) {
    refuse();
}
template <class T>
void evaluate_on_grid(const SeriesArray<const T>&, const GridPoints&, const SeriesArray<T>&, void*) {
    refuse();
}
template <class T>
void interpolate(const SeriesArray<const T>&, ChebyshevNodes, const SeriesArray<T>&, void*) {
    refuse();
}
template <class T>
void resample(const SeriesArray<const T>&, const GridPoints&, const SeriesArray<T>&, void*) {
    refuse();
}

template <class T>
std::vector<T> download(const SeriesArray<const T>&, void*) {
    refuse();
}

#include "chebyshev/calculus_instances-inl.hpp"
#include "chebyshev/evaluation/evaluation_instances-inl.hpp"
template std::vector<float> download(const SeriesArray<const float>&, void*);
template std::vector<double> download(const SeriesArray<const double>&, void*);
template std::vector<std::complex<float>> download(const SeriesArray<const std::complex<float>>&, void*);
template std::vector<std::complex<double>> download(const SeriesArray<const std::complex<double>>&, void*);
using Roots = std::vector<std::vector<std::complex<double>>>;
template Roots find_roots(const SeriesArray<const float>&, void*);
template Roots find_roots(const SeriesArray<const double>&, void*);
template Roots find_roots(const SeriesArray<const std::complex<float>>&, void*);
template Roots find_roots(const SeriesArray<const std::complex<double>>&, void*);
template std::vector<std::complex<double>> eigenvalues(const double*, std::int64_t, const void*, void*);
template std::vector<std::complex<double>> eigenvalues(const std::complex<double>*, std::int64_t, const void*,
                                                       void*);

}  // namespace cuda
}  // namespace zonal::chebyshev
