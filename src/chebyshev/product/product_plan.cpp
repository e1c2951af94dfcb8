#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "chebyshev/product/product.hpp"
#include "chebyshev/product/product_cost.hpp"
#include "core/parallel.hpp"
#include "zonal/error.hpp"

namespace zonal {

ChebyshevWorkspace::ChebyshevWorkspace() : storage_(std::make_unique<Storage>()) {}
ChebyshevWorkspace::~ChebyshevWorkspace() = default;
ChebyshevWorkspace::ChebyshevWorkspace(ChebyshevWorkspace&&) noexcept = default;
ChebyshevWorkspace& ChebyshevWorkspace::operator=(ChebyshevWorkspace&&) noexcept = default;

void ChebyshevWorkspace::use_stream(void* cuda_stream) {
    storage_->stream = cuda_stream;
    storage_->has_stream = true;
}

namespace chebyshev {
namespace {

constexpr int most_fields = 1024;  // and outputs: a bound that catches mistakes
/// Keeps every product of extents far from the end of the integers.
constexpr std::int64_t largest_extent = 1 << 24;
constexpr std::size_t largest_power = 8;

void require_between(const std::string& name, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
    if (value < lowest || value > highest)
        throw InvalidArgument(name, value, fmt::format("must be {} to {}", lowest, highest));
}

void check_term(const ProductShape& shape, std::size_t index) {
    const auto& term = shape.terms[index];
    const auto name = fmt::format("terms[{}]", index);
    require_between(name + ".output", term.output, 0, shape.n_outputs - 1);
    require_between(name + ".factors: their number", static_cast<std::int64_t>(term.factors.size()), 1,
                    largest_power);
    for (const int field : term.factors)
        require_between(name + ".factors: a field", field, 0, shape.n_fields - 1);
    if (!std::isfinite(term.weight))
        throw InvalidArgument(fmt::format("{}.weight", name), term.weight, "must be finite");
}

void check(const ProductShape& shape) {
    for (int axis = 0; axis < shape.dimensions; ++axis)
        require_between(fmt::format("extents[{}]", axis), shape.extents[static_cast<std::size_t>(axis)], 1,
                        largest_extent);
    require_between("n_fields", shape.n_fields, 1, most_fields);
    require_between("n_outputs", shape.n_outputs, 1, most_fields);
    for (std::size_t term = 0; term < shape.terms.size(); ++term) check_term(shape, term);
}

/// device, threads and method; where this build has no products on CUDA, automatic is the CPU.
ChebyshevProductOptions resolve(const ProductShape& shape, ChebyshevProductOptions options) {
    const bool automatic = options.device.kind() == Device::Kind::automatic;
    options.device = automatic && !has_cuda_products() ? Device::cpu() : resolve_device(options.device);
    options.threads = core::resolve_threads(options.threads);
    require_between("n_batch", options.n_batch, 1, INT64_MAX);
    if (options.method == ChebyshevMethod::automatic) {
        const auto& n = shape.extents;
        const ProductWork work{
            shape.dimensions,
            static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]),
            static_cast<std::int64_t>(shape.terms.size()), options.n_batch,
            options.device.kind() == Device::Kind::cuda};
        const bool direct = options.accuracy == ChebyshevAccuracy::componentwise ||
                            (most_factors(shape) == 2 && direct_is_faster(work));
        options.method = direct ? ChebyshevMethod::direct : ChebyshevMethod::transform;
    }
    if (options.method == ChebyshevMethod::transform && options.accuracy == ChebyshevAccuracy::componentwise)
        throw InvalidArgument("method", "transform",
                              "has no componentwise accuracy; must be direct or automatic");
    return options;
}

std::array<std::int64_t, 3> output_extents(const ProductShape& shape, bool full) {
    auto extents = shape.extents;
    if (full)
        for (int axis = 0; axis < shape.dimensions; ++axis) {
            auto& extent = extents[static_cast<std::size_t>(axis)];
            extent = static_cast<std::int64_t>(most_factors(shape)) * (extent - 1) + 1;
        }
    return extents;
}

template <class T>
std::unique_ptr<ProductPlan<T>> make_plan(const ProductShape& shape,
                                          const ChebyshevProductOptions& requested) {
    check(shape);
    const auto options = resolve(shape, requested);
    const auto extents_out = output_extents(shape, options.full);
    const auto make = options.device.kind() == Device::Kind::cuda ? make_cuda_product<T>
                      : options.method == ChebyshevMethod::direct ? make_direct_product<T>
                                                                  : make_transform_product<T>;
    auto plan = make(shape, extents_out, options);
    plan->shape = shape;
    plan->options = options;
    plan->extents_out = extents_out;
    return plan;
}

template <class T>
void check_arrays(const char* name, std::span<const SeriesArray<T>> arrays, int n_arrays,
                  const std::array<std::int64_t, 3>& extents, std::int64_t n_batch, const Device& device) {
    if (static_cast<int>(arrays.size()) != n_arrays)
        throw InvalidArgument(name, fmt::format("their number = {}: must be {}", arrays.size(), n_arrays));
    for (const auto& array : arrays) {
        if (device.kind() == Device::Kind::cpu) require_host(array, name);
        require_extent(name, 0, array.extents[0], n_batch);
        for (int axis = 1; axis <= array.dimensions; ++axis)
            require_extent(name, axis, array.extents[axis], extents[static_cast<std::size_t>(axis - 1)]);
    }
}

}  // namespace

template <class T>
ProductPlanHandle<T>::ProductPlanHandle(const ProductShape& shape, const ChebyshevProductOptions& options)
    : plan_(make_plan<T>(shape, options)) {}
template <class T>
ProductPlanHandle<T>::~ProductPlanHandle() = default;
template <class T>
ProductPlanHandle<T>::ProductPlanHandle(ProductPlanHandle&&) noexcept = default;
template <class T>
ProductPlanHandle<T>& ProductPlanHandle<T>::operator=(ProductPlanHandle&&) noexcept = default;

template <class T>
const ProductShape& ProductPlanHandle<T>::shape() const {
    return plan_->shape;
}
template <class T>
const ChebyshevProductOptions& ProductPlanHandle<T>::options() const {
    return plan_->options;
}
template <class T>
std::array<std::int64_t, 3> ProductPlanHandle<T>::extents_out() const {
    return plan_->extents_out;
}
template <class T>
void ProductPlanHandle<T>::prepare(ChebyshevWorkspace& workspace, std::int64_t n_batch) const {
    require_between("n_batch", n_batch, 1, INT64_MAX);
    plan_->prepare(workspace.storage(), n_batch);
}
template <class T>
void ProductPlanHandle<T>::execute(std::span<const SeriesArray<const T>> fields,
                                   std::span<const SeriesArray<T>> sums,
                                   ChebyshevWorkspace& workspace) const {
    const auto n_batch = sums.empty() ? 0 : sums.front().extents[0];
    const auto device = plan_->options.device;
    check_arrays("fields", fields, plan_->shape.n_fields, plan_->shape.extents, n_batch, device);
    check_arrays("sums", sums, plan_->shape.n_outputs, plan_->extents_out, n_batch, device);
    if (n_batch == 0) return;
    plan_->execute(fields, sums, workspace.storage());
}

template class ProductPlanHandle<float>;
template class ProductPlanHandle<double>;
template class ProductPlanHandle<std::complex<float>>;
template class ProductPlanHandle<std::complex<double>>;

}  // namespace chebyshev
}  // namespace zonal
