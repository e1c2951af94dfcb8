#include <fmt/core.h>

#include <memory>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "sht/plan_implementation.hpp"
#include "sht/transform.hpp"
#include "sht/transform_cache.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"
#include "zonal/sht.hpp"

namespace zonal {

ShtWorkspace::ShtWorkspace(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
ShtWorkspace::~ShtWorkspace() = default;
ShtWorkspace::ShtWorkspace(ShtWorkspace&&) noexcept = default;
ShtWorkspace& ShtWorkspace::operator=(ShtWorkspace&&) noexcept = default;

ShtStageSeconds ShtWorkspace::stage_seconds() const {
    storage_->read_clock();
    return storage_->seconds;
}

void ShtWorkspace::measure_stages(bool on) {
    storage_->measure_stages(on);
}

void ShtWorkspace::use_stream(void* cuda_stream) {
    storage_->use_stream(cuda_stream);
}

namespace {

/// For each order the start values of its recurrences: 31 bytes were measured on a CPU, for spin 2 40.
void require_tables(std::int64_t mmax) {
    constexpr double bytes_per_order = 40;
    constexpr std::int64_t few = 1 << 20;  // which any machine holds
    if (mmax > few)
        require_memory(bytes_per_order * static_cast<double>(mmax),
                       fmt::format("mmax = {}: the tables of a transform", mmax));
}

std::unique_ptr<const ShtPlan::Implementation> make_plan(const Grid& grid, const ShtOptions& requested) {
    const ShtOptions options = sht::resolve_options(requested);
    require_tables(options.mmax);
    const bool on_gpu = options.device.kind() == Device::Kind::cuda;
    return std::make_unique<const ShtPlan::Implementation>(
        grid, options, AlmLayout(options.lmax, options.mmax),
        on_gpu ? sht::make_cuda_transform(grid, options) : sht::make_cpu_transform(grid, options));
}

}  // namespace

ShtPlan::ShtPlan(const Grid& grid, const ShtOptions& options) : ShtPlan(make_plan(grid, options)) {}
ShtPlan::ShtPlan(std::unique_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}
ShtPlan::~ShtPlan() = default;
ShtPlan::ShtPlan(ShtPlan&&) noexcept = default;
ShtPlan& ShtPlan::operator=(ShtPlan&&) noexcept = default;

const sht::Transform& ShtPlan::transform() const {
    return *implementation_->transform;
}
const Grid& ShtPlan::grid() const {
    return implementation_->grid;
}
const AlmLayout& ShtPlan::layout() const {
    return implementation_->layout;
}
const ShtOptions& ShtPlan::options() const {
    return implementation_->options;
}
std::int64_t ShtPlan::map_components() const {
    return options().spin == 0 ? 1 : 2;
}
std::int64_t ShtPlan::alm_components() const {
    return options().parts == SpinParts::both ? map_components() : 1;
}
std::int64_t ShtPlan::workspace_bytes() const {
    return implementation_->transform->workspace_bytes(1);
}
double ShtPlan::legendre_flops() const {
    return implementation_->transform->legendre_flops();
}

ShtWorkspace ShtPlan::make_workspace(std::int64_t n_maps) const {
    if (n_maps < 1) throw InvalidArgument("n_maps", n_maps, "must be at least 1");
    return ShtWorkspace(implementation_->transform->make_workspace(n_maps));
}

template <class T>
void ShtPlan::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map, ShtWorkspace& workspace,
                         const Progress& progress) const {
    sht::check_together<T>(transform(), "synthesis", map.extent(0),
                           [&] { sht::check_arrays<T>(*this, alm, map); });
    implementation_->transform->synthesize(alm, {}, map, workspace.storage(), progress);
}

template <class T>
void ShtPlan::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map, const Progress& progress) const {
    sht::with_kept_workspace(*this,
                             [&](ShtWorkspace& workspace) { synthesize<T>(alm, map, workspace, progress); });
}

template <class T>
void ShtPlan::adjoint_synthesis(ConstView<T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                                const Progress& progress) const {
    sht::check_together<T>(transform(), "adjoint synthesis", map.extent(0),
                           [&] { sht::check_arrays<T>(*this, alm, map); });
    implementation_->transform->adjoint(map, {}, alm, sht::Quadrature::none, workspace.storage(), progress);
}

template <class T>
void ShtPlan::adjoint_synthesis(ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                                const Progress& progress) const {
    sht::with_kept_workspace(
        *this, [&](ShtWorkspace& workspace) { adjoint_synthesis<T>(map, alm, workspace, progress); });
}

template <class T>
void ShtPlan::quadrature(ConstView<T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                         const Progress& progress) const {
    sht::check_together<T>(transform(), "quadrature", map.extent(0),
                           [&] { sht::check_arrays<T>(*this, alm, map); });
    implementation_->transform->adjoint(map, {}, alm, sht::Quadrature::ring_weights, workspace.storage(),
                                        progress);
}

template <class T>
void ShtPlan::quadrature(ConstView<T, 3> map, View<std::complex<T>, 3> alm, const Progress& progress) const {
    sht::with_kept_workspace(*this,
                             [&](ShtWorkspace& workspace) { quadrature<T>(map, alm, workspace, progress); });
}

template <class T>
void ShtPlan::project_residual(ConstView<std::complex<T>, 3> alm, ConstView<T, 3> map,
                               View<std::complex<T>, 3> update, ShtWorkspace& workspace,
                               const Progress& progress) const {
    sht::check_together<T>(transform(), "projection of the residual", map.extent(0), [&] {
        sht::check_arrays<T>(*this, alm, map);
        sht::check_arrays<T>(*this, update, map);
    });
    implementation_->transform->project_residual(alm, map, update, workspace.storage(), progress);
}

template void ShtPlan::project_residual(View<const std::complex<float>, 3>, View<const float, 3>,
                                        View<std::complex<float>, 3>, ShtWorkspace&, const Progress&) const;
template void ShtPlan::project_residual(View<const std::complex<double>, 3>, View<const double, 3>,
                                        View<std::complex<double>, 3>, ShtWorkspace&, const Progress&) const;
template void ShtPlan::synthesize(View<const std::complex<float>, 3>, View<float, 3>, const Progress&) const;
template void ShtPlan::synthesize(View<const std::complex<double>, 3>, View<double, 3>,
                                  const Progress&) const;
template void ShtPlan::synthesize(View<const std::complex<float>, 3>, View<float, 3>, ShtWorkspace&,
                                  const Progress&) const;
template void ShtPlan::synthesize(View<const std::complex<double>, 3>, View<double, 3>, ShtWorkspace&,
                                  const Progress&) const;
template void ShtPlan::adjoint_synthesis(View<const float, 3>, View<std::complex<float>, 3>,
                                         const Progress&) const;
template void ShtPlan::adjoint_synthesis(View<const double, 3>, View<std::complex<double>, 3>,
                                         const Progress&) const;
template void ShtPlan::adjoint_synthesis(View<const float, 3>, View<std::complex<float>, 3>, ShtWorkspace&,
                                         const Progress&) const;
template void ShtPlan::adjoint_synthesis(View<const double, 3>, View<std::complex<double>, 3>, ShtWorkspace&,
                                         const Progress&) const;
template void ShtPlan::quadrature(View<const float, 3>, View<std::complex<float>, 3>, const Progress&) const;
template void ShtPlan::quadrature(View<const double, 3>, View<std::complex<double>, 3>,
                                  const Progress&) const;
template void ShtPlan::quadrature(View<const float, 3>, View<std::complex<float>, 3>, ShtWorkspace&,
                                  const Progress&) const;
template void ShtPlan::quadrature(View<const double, 3>, View<std::complex<double>, 3>, ShtWorkspace&,
                                  const Progress&) const;

}  // namespace zonal

namespace zonal::sht {

std::int64_t host_workspace_bytes(const ShtPlan& plan, std::int64_t n_maps) {
    return plan.options().device.kind() == Device::Kind::cuda ? 0 : plan.transform().workspace_bytes(n_maps);
}

void Transform::agree(const char*, std::int64_t, std::size_t, std::exception_ptr error) const {
    if (error) std::rethrow_exception(error);
}

std::vector<double> Transform::sum_rings(View<const double, 2> partial) const {
    return sum_rows(partial);
}
std::vector<double> Transform::sum_orders(View<const double, 2> partial) const {
    return sum_rows(partial);
}

std::vector<double> sum_rows(View<const double, 2> rows) {
    std::vector<double> sums(rows.extent(1));
    for (std::int64_t i = 0; i < rows.extent(0); ++i)
        for (std::int64_t j = 0; j < rows.extent(1); ++j) sums[j] += rows(i, j);
    return sums;
}

namespace {

template <class View>
void check_array(const char* name, const View& view, const std::array<const char*, 3>& axes,
                 std::int64_t components, std::int64_t length, bool takes_device) {
    auto expect = [&](int axis, std::int64_t extent) {
        if (view.extent(axis) != extent)
            throw InvalidArgument(name, fmt::format("axis {} ({}) has length {}: must be {}", axis,
                                                    axes[axis], view.extent(axis), extent));
    };
    expect(1, components);
    expect(2, length);
    if (view.extent(2) > 1 && view.stride(2) != 1)
        throw InvalidArgument(
            name, fmt::format("stride of the last axis = {}: must be 1 (contiguous)", view.stride(2)));
    if (view.space() != MemorySpace::host && !takes_device)
        throw InvalidArgument(name, "is in device memory: a CPU plan needs host memory");
    if (view.size() > 0 && view.data() == nullptr) throw InvalidArgument(name, "null pointer");
}

}  // namespace

ShtOptions resolve_options(const ShtOptions& options) {
    if (options.lmax < 0) throw InvalidArgument("lmax", options.lmax, "must be given, 0 or more");
    ShtOptions resolved = options;
    if (resolved.mmax == -1) resolved.mmax = resolved.lmax;
    const AlmLayout checked(resolved.lmax, resolved.mmax);
    if (options.spin < 0 || options.spin > checked.lmax())
        throw InvalidArgument("spin", options.spin,
                              fmt::format("must be from 0 to lmax = {}", checked.lmax()));
    if (options.spin == 0 && options.parts != SpinParts::both)
        throw InvalidArgument("parts", "gradient or curl", "needs spin >= 1");
    if (options.accuracy != 0 && !(options.accuracy >= 1e-14 && options.accuracy < 1))
        throw InvalidArgument("accuracy", options.accuracy, "must be 0 (exact) or from 1e-14 to below 1");
    if (options.max_workspace_bytes < 0)
        throw InvalidArgument("max_workspace_bytes", options.max_workspace_bytes,
                              "must be 0 (what is free) or positive");
    resolved.threads = core::resolve_threads(options.threads);
    resolved.device = resolve_device(options.device);
    if (resolved.device.kind() != Device::Kind::cuda && options.max_workspace_bytes > 0)
        throw InvalidArgument("max_workspace_bytes", options.max_workspace_bytes, "must be 0 on the CPU");
    return resolved;
}

template <class T>
void check_arrays(const ShtPlan& plan, View<const std::complex<T>, 3> alm, View<const T, 3> map) {
    if (alm.extent(0) != map.extent(0))
        throw InvalidArgument("alm and map",
                              fmt::format("batch lengths {} and {} differ", alm.extent(0), map.extent(0)));
    const bool takes_device =
        plan.options().device.kind() == Device::Kind::cuda || plan.transform().takes_device_arrays();
    check_array("alm", alm, {"batch", "component", "coefficient"}, plan.alm_components(),
                plan.layout().size(), takes_device);
    check_array("map", map, {"batch", "component", "pixel"}, plan.map_components(), plan.grid().n_pixels(),
                takes_device);
}

template void check_arrays(const ShtPlan&, View<const std::complex<float>, 3>, View<const float, 3>);
template void check_arrays(const ShtPlan&, View<const std::complex<double>, 3>, View<const double, 3>);

}  // namespace zonal::sht
