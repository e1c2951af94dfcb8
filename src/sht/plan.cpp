#include <fmt/core.h>

#include <memory>

#include "sht/plan_checks.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"
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

class ShtPlan::Implementation {
  public:
    Implementation(const Grid& grid, const ShtOptions& requested)
        : grid(grid),
          options(sht::resolve_options(requested)),
          layout(options.lmax, options.mmax),
          transform(options.device.kind() == Device::Kind::cuda ? sht::make_cuda_transform(grid, options)
                                                                : sht::make_cpu_transform(grid, options)) {}

    const Grid grid;
    const ShtOptions options;
    const AlmLayout layout;
    const std::unique_ptr<const sht::Transform> transform;
};

ShtPlan::ShtPlan(const Grid& grid, const ShtOptions& options)
    : implementation_(std::make_unique<Implementation>(grid, options)) {}
ShtPlan::~ShtPlan() = default;
ShtPlan::ShtPlan(ShtPlan&&) noexcept = default;
ShtPlan& ShtPlan::operator=(ShtPlan&&) noexcept = default;

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
    return implementation_->transform->workspace_bytes();
}
double ShtPlan::legendre_flops() const {
    return implementation_->transform->legendre_flops();
}

ShtWorkspace ShtPlan::make_workspace(std::int64_t n_maps) const {
    if (n_maps < 1) throw InvalidArgument(fmt::format("n_maps = {}: must be at least 1", n_maps));
    return ShtWorkspace(implementation_->transform->make_workspace(n_maps));
}

template <class T>
void ShtPlan::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map, ShtWorkspace& workspace,
                         const Progress& progress) const {
    sht::check_arrays<T>(*this, alm, map);
    implementation_->transform->synthesize(alm, map, workspace.storage(), progress);
}

template <class T>
void ShtPlan::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map, const Progress& progress) const {
    ShtWorkspace workspace = make_workspace();
    synthesize<T>(alm, map, workspace, progress);
}

template <class T>
void ShtPlan::adjoint_synthesis(ConstView<T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                                const Progress& progress) const {
    sht::check_arrays<T>(*this, alm, map);
    implementation_->transform->adjoint(map, alm, false, workspace.storage(), progress);
}

template <class T>
void ShtPlan::adjoint_synthesis(ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                                const Progress& progress) const {
    ShtWorkspace workspace = make_workspace();
    adjoint_synthesis<T>(map, alm, workspace, progress);
}

template <class T>
void ShtPlan::quadrature(ConstView<T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                         const Progress& progress) const {
    sht::check_arrays<T>(*this, alm, map);
    implementation_->transform->adjoint(map, alm, true, workspace.storage(), progress);
}

template <class T>
void ShtPlan::quadrature(ConstView<T, 3> map, View<std::complex<T>, 3> alm, const Progress& progress) const {
    ShtWorkspace workspace = make_workspace();
    quadrature<T>(map, alm, workspace, progress);
}

template <class T>
void ShtPlan::project_residual(ConstView<std::complex<T>, 3> alm, ConstView<T, 3> map,
                               View<std::complex<T>, 3> update, ShtWorkspace& workspace,
                               const Progress& progress) const {
    sht::check_arrays<T>(*this, alm, map);
    sht::check_arrays<T>(*this, update, map);
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
