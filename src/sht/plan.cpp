#include <memory>
#include <utility>

#include "sht/plan_checks.hpp"
#include "sht/reference.hpp"
#include "zonal/sht.hpp"

namespace zonal {

struct ShtWorkspace::Storage {};
ShtWorkspace::ShtWorkspace() : storage_(std::make_unique<Storage>()) {}
ShtWorkspace::~ShtWorkspace() = default;
ShtWorkspace::ShtWorkspace(ShtWorkspace&&) noexcept = default;
ShtWorkspace& ShtWorkspace::operator=(ShtWorkspace&&) noexcept = default;

class ShtPlan::Implementation {
  public:
    Implementation(const Grid& grid, const ShtOptions& options)
        : grid(grid), options(sht::resolve_options(options)), layout(this->options.lmax, this->options.mmax) {}

    Grid grid;
    ShtOptions options;
    AlmLayout layout;
};

ShtPlan::ShtPlan(const Grid& grid, const ShtOptions& options)
    : implementation_(std::make_unique<Implementation>(grid, options)) {}
ShtPlan::~ShtPlan() = default;
ShtPlan::ShtPlan(ShtPlan&&) noexcept = default;
ShtPlan& ShtPlan::operator=(ShtPlan&&) noexcept = default;

const Grid& ShtPlan::grid() const { return implementation_->grid; }
const AlmLayout& ShtPlan::layout() const { return implementation_->layout; }
const ShtOptions& ShtPlan::options() const { return implementation_->options; }
std::int64_t ShtPlan::map_components() const { return options().spin == 0 ? 1 : 2; }
std::int64_t ShtPlan::alm_components() const {
    return options().parts == SpinParts::both ? map_components() : 1;
}
std::int64_t ShtPlan::workspace_bytes() const { return 0; }
double ShtPlan::legendre_flops() const { return 0; }
ShtWorkspace ShtPlan::make_workspace() const { return {}; }

namespace {

/// [component, AlmLayout size] in double with both parts of a spin field.
template <class T>
Array<std::complex<double>, 2> widened(const ShtPlan& plan, View<const std::complex<T>, 2> alm) {
    Array<std::complex<double>, 2> wide({plan.map_components(), plan.layout().size()});
    const std::int64_t first = plan.options().parts == SpinParts::curl ? 1 : 0;
    for (std::int64_t c = 0; c < alm.extent(0); ++c)
        for (std::int64_t i = 0; i < alm.extent(1); ++i) wide(c + first, i) = std::complex<double>(alm(c, i));
    return wide;
}

}  // namespace

template <class T>
void ShtPlan::synthesize(View<const std::complex<T>, 3> alm, View<T, 3> map, const Progress&) const {
    sht::check_arrays<T>(*this, alm, map);
    for (std::int64_t batch = 0; batch < alm.extent(0); ++batch) {
        const auto wide = widened<T>(*this, alm[batch]);
        Array<double, 2> result({map.extent(1), map.extent(2)});
        reference::synthesize(grid(), layout(), options().spin, wide.view(), result.view());
        for (const Ring& ring : grid().rings())
            for (std::int64_t c = 0; c < map.extent(1); ++c)
                for (auto p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p)
                    map(batch, c, p) = static_cast<T>(result(c, p));
    }
}

template <class T>
void ShtPlan::adjoint_synthesize(View<const T, 3> map, View<std::complex<T>, 3> alm, const Progress&) const {
    sht::check_arrays<T>(*this, alm, map);
    const std::int64_t first = options().parts == SpinParts::curl ? 1 : 0;
    for (std::int64_t batch = 0; batch < alm.extent(0); ++batch) {
        Array<double, 2> wide({map.extent(1), map.extent(2)});
        for (std::int64_t c = 0; c < map.extent(1); ++c)
            for (std::int64_t p = 0; p < map.extent(2); ++p) wide(c, p) = map(batch, c, p);
        Array<std::complex<double>, 2> result({map_components(), layout().size()});
        reference::adjoint_synthesize(grid(), layout(), options().spin, std::as_const(wide).view(), result.view());
        for (std::int64_t c = 0; c < alm.extent(1); ++c)
            for (std::int64_t i = 0; i < alm.extent(2); ++i)
                alm(batch, c, i) = std::complex<T>(result(c + first, i));
    }
}

template <class T>
void ShtPlan::quadrature(View<const T, 3> map, View<std::complex<T>, 3> alm, const Progress& progress) const {
    Array<T, 3> weighted(map.extents());
    for (std::int64_t batch = 0; batch < map.extent(0); ++batch)
        for (std::int64_t c = 0; c < map.extent(1); ++c)
            for (const Ring& ring : grid().rings())
                for (auto p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p)
                    weighted(batch, c, p) = static_cast<T>(map(batch, c, p) * ring.weight);
    adjoint_synthesize<T>(std::as_const(weighted).view(), alm, progress);
}

template <class T>
void ShtPlan::synthesize(View<const std::complex<T>, 3> alm, View<T, 3> map, ShtWorkspace&,
                         const Progress& progress) const {
    synthesize<T>(alm, map, progress);
}
template <class T>
void ShtPlan::adjoint_synthesize(View<const T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace&,
                                 const Progress& progress) const {
    adjoint_synthesize<T>(map, alm, progress);
}
template <class T>
void ShtPlan::quadrature(View<const T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace&,
                         const Progress& progress) const {
    quadrature<T>(map, alm, progress);
}

#define ZONAL_INSTANTIATE(T)                                                                                       \
    template void ShtPlan::synthesize<T>(View<const std::complex<T>, 3>, View<T, 3>, const Progress&) const;        \
    template void ShtPlan::synthesize<T>(View<const std::complex<T>, 3>, View<T, 3>, ShtWorkspace&,                 \
                                         const Progress&) const;                                                   \
    template void ShtPlan::adjoint_synthesize<T>(View<const T, 3>, View<std::complex<T>, 3>, const Progress&)       \
        const;                                                                                                     \
    template void ShtPlan::adjoint_synthesize<T>(View<const T, 3>, View<std::complex<T>, 3>, ShtWorkspace&,         \
                                                 const Progress&) const;                                           \
    template void ShtPlan::quadrature<T>(View<const T, 3>, View<std::complex<T>, 3>, const Progress&) const;        \
    template void ShtPlan::quadrature<T>(View<const T, 3>, View<std::complex<T>, 3>, ShtWorkspace&,                 \
                                         const Progress&) const;
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal
