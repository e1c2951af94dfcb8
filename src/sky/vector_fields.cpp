#include "zonal/sky/vector_fields.hpp"

#include <cmath>
#include <utility>

#include "sht/array_checks.hpp"
#include "sky/radius.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

SpinParts other_of(SpinParts parts) {
    return parts == SpinParts::gradient ? SpinParts::curl
                                        : (parts == SpinParts::curl ? SpinParts::gradient : SpinParts::both);
}

// (u, v) = (v_phi, -v_theta) are the components theta, phi of -r x v = grad psi - r x grad chi: the same
// field with E = B of v and B = -E of v. So eastward and northward components need no pass over the map.
ShtOptions options_of_plan(ShtOptions transform, const VectorOptions& options) {
    if (transform.spin != 0 && transform.spin != 1)
        throw InvalidArgument("spin", transform.spin, "must be 1 for vectors, or 0, which stands for it");
    if (transform.lmax < 1)
        throw InvalidArgument("lmax", transform.lmax,
                              "must be 1 or more for vectors, whose degrees begin at 1");
    sky::check_radius(options.radius);
    if (options.scalars == VectorScalars::spheroidal_toroidal && options.radius != 1)
        throw InvalidArgument(
            "radius", options.radius,
            "must be 1 for spheroidal and toroidal parts, which are those of the unit sphere");
    transform.spin = 1;
    if (options.components == VectorComponents::east_north) transform.parts = other_of(transform.parts);
    return transform;
}

}  // namespace

VectorPlan::VectorPlan(const Grid& grid, const ShtOptions& transform, const VectorOptions& options)
    : options_(options), plan_(kept_plan(grid, options_of_plan(transform, options))) {}

VectorPlan::Place VectorPlan::place_of(std::int64_t scalar) const {
    const bool turned = options_.components == VectorComponents::east_north,
               alone = plan_->alm_components() == 1;
    const bool is_second = alone ? (plan_->options().parts == SpinParts::curl) != turned : scalar == 1;
    double sign = 1;
    if (options_.scalars == VectorScalars::divergence_vorticity) sign = -1;
    if (options_.scalars == VectorScalars::spheroidal_toroidal && is_second) sign = -1;
    if (turned && !is_second) sign = -sign;
    return {alone || is_second == turned ? 0 : 1, sign};
}

std::vector<double> VectorPlan::factors() const {
    std::vector<double> result(static_cast<std::size_t>(plan_->layout().lmax()) + 1);
    for (std::size_t l = 1; l < result.size(); ++l) {
        const double root = std::sqrt(static_cast<double>(l) * (static_cast<double>(l) + 1));
        switch (options_.scalars) {
            case VectorScalars::potentials:
                result[l] = root / options_.radius;
                break;
            case VectorScalars::divergence_vorticity:
                result[l] = options_.radius / root;
                break;
            case VectorScalars::spheroidal_toroidal:
                result[l] = root;
                break;
        }
    }
    return result;
}

template <class T>
void VectorPlan::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map,
                            const Progress& progress) const {
    sht::check_host("alm", alm);
    const View<const T, 3> const_map = map;
    sht::check_arrays<T>(*plan_, alm, const_map);
    const AlmLayout& layout = plan_->layout();
    const auto factor = factors();
    Array<std::complex<T>, 3> field(alm.extents());
    for (std::int64_t scalar = 0; scalar < alm.extent(1); ++scalar) {
        const auto [part, sign] = place_of(scalar);
        for (std::int64_t batch = 0; batch < alm.extent(0); ++batch)
            for (std::int64_t m = 0; m <= layout.mmax(); ++m)
                for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                    const auto i = layout.index(l, m);
                    field(batch, part, i) = std::complex<T>(sign * factor[static_cast<std::size_t>(l)] *
                                                            std::complex<double>(alm(batch, scalar, i)));
                }
    }
    plan_->synthesize<T>(std::as_const(field).view(), map, progress);
}

template <class T>
AnalysisReport VectorPlan::analyze(ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                                   const AnalysisOptions& options) const {
    sht::check_host("alm", alm);
    auto report = zonal::analyze<T>(*plan_, map, alm, options);
    const AlmLayout& layout = plan_->layout();
    const std::int64_t n_scalars = alm.extent(1);
    const auto factor = factors();
    const Place places[] = {place_of(0), place_of(n_scalars - 1)};
    for (std::int64_t batch = 0; batch < alm.extent(0); ++batch)
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                const auto i = layout.index(l, m);
                const std::complex<double> field[] = {std::complex<double>(alm(batch, 0, i)),
                                                      std::complex<double>(alm(batch, n_scalars - 1, i))};
                for (std::int64_t scalar = 0; scalar < n_scalars; ++scalar) {
                    const auto [part, sign] = places[scalar];
                    const double inverse = l == 0 ? 0 : sign / factor[static_cast<std::size_t>(l)];
                    alm(batch, scalar, i) = std::complex<T>(field[part] * inverse);
                }
            }
    return report;
}

template void VectorPlan::synthesize(View<const std::complex<float>, 3>, View<float, 3>,
                                     const Progress&) const;
template void VectorPlan::synthesize(View<const std::complex<double>, 3>, View<double, 3>,
                                     const Progress&) const;
template AnalysisReport VectorPlan::analyze(View<const float, 3>, View<std::complex<float>, 3>,
                                            const AnalysisOptions&) const;
template AnalysisReport VectorPlan::analyze(View<const double, 3>, View<std::complex<double>, 3>,
                                            const AnalysisOptions&) const;

}  // namespace zonal
