// A plain C face of products of Chebyshev series, for bench/chebyshev.py.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "shim_guard.hpp"
#include "zonal/chebyshev/product.hpp"
#include "zonal/error.hpp"

namespace {

template <int D>
struct Products {
    zonal::ChebyshevProductPlan<double, D> plan;
    zonal::ChebyshevWorkspace workspace;
};

using AnyProducts = std::variant<Products<1>, Products<2>, Products<3>>;

template <int D>
AnyProducts make(const std::int64_t* extents, const zonal::ChebyshevProductOptions& options) {
    std::array<std::int64_t, D> n{};
    std::copy_n(extents, D, n.begin());
    zonal::ChebyshevProductPlan<double, D> plan(n, options);
    auto workspace = plan.make_workspace();
    return Products<D>{std::move(plan), std::move(workspace)};
}

template <int D>
void multiply(Products<D>& products, const double* a, const double* b, double* product, std::int64_t times) {
    const auto in = products.plan.extents(), out = products.plan.extents_out();
    using In = zonal::ChebyshevView<const double, D>;
    for (std::int64_t i = 0; i < times; ++i)
        products.plan.multiply(
            In(zonal::View<const double, D>(a, in)), In(zonal::View<const double, D>(b, in)),
            zonal::ChebyshevView<double, D>(zonal::View<double, D>(product, out)), products.workspace);
}

}  // namespace

extern "C" {

/// method: 0 auto, 1 direct, 2 transform.
AnyProducts* zonal_chebyshev_plan(int dimensions, const std::int64_t* extents, int method, int threads) {
    std::unique_ptr<AnyProducts> products;
    guarded([&] {
        zonal::ChebyshevProductOptions options;
        options.method = static_cast<zonal::ChebyshevMethod>(method);
        options.threads = threads;
        const auto maker = dimensions == 1 ? make<1> : dimensions == 2 ? make<2> : make<3>;
        products = std::make_unique<AnyProducts>(maker(extents, options));
    });
    return products.release();
}

/// So many times the same product.
int zonal_chebyshev_multiply(AnyProducts* products, const double* a, const double* b, double* product,
                             std::int64_t times) {
    return guarded([&] { std::visit([&](auto& any) { multiply(any, a, b, product, times); }, *products); });
}

void zonal_chebyshev_free(AnyProducts* products) {
    const std::unique_ptr<AnyProducts> owned(products);
}
}
