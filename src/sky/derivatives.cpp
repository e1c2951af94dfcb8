#include "zonal/sky/derivatives.hpp"

#include <cmath>
#include <utility>

#include "core/interruption.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "sky/radius.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

ShtOptions scalar_options(const ShtOptions& transform, double radius) {
    if (transform.spin != 0)
        throw InvalidArgument("spin", transform.spin, "must be 0: second derivatives are those of scalars");
    sky::check_radius(radius);
    return transform;
}

ShtOptions traceless_options(ShtOptions transform) {
    transform.spin = 2;
    transform.parts = SpinParts::gradient;
    return transform;
}

/// alm times a factor of the degree.
template <class T, class Factor>
Array<std::complex<T>, 3> times(const AlmLayout& layout, View<const std::complex<T>, 3> alm,
                                const Factor& factor) {
    Array<std::complex<T>, 3> product(alm.extents());
    for (std::int64_t batch = 0; batch < alm.extent(0); ++batch)
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                const auto i = layout.index(l, m);
                product(batch, 0, i) =
                    std::complex<T>(factor(static_cast<double>(l)) * std::complex<double>(alm(batch, 0, i)));
            }
    return product;
}

/// Rows [first, first + count) of the components of maps.
template <class T>
View<T, 3> components_of(View<T, 3> map, std::int64_t first, std::int64_t count) {
    return {map.data() + first * map.stride(1),
            {map.extent(0), count, map.extent(2)},
            map.strides(),
            map.space()};
}

template <class T>
void check_map(View<const T, 3> map, std::int64_t n_batch, std::int64_t n_pixels) {
    sht::check_host("map", map);
    sht::check_extent("map", map, 0, "batch", n_batch);
    sht::check_extent("map", map, 1, "component", 3);
    sht::check_extent("map", map, 2, "pixel", n_pixels);
    sht::check_contiguous("map", map);
}

}  // namespace

HessianPlan::HessianPlan(const Grid& grid, const ShtOptions& transform, VectorComponents components,
                         double radius)
    : components_(components), radius_(radius), scalar_(kept_plan(grid, scalar_options(transform, radius))) {
    if (scalar_->options().lmax >= 2) traceless_ = kept_plan(grid, traceless_options(transform));
}

template <class T>
void HessianPlan::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map,
                             const Progress& progress) const {
    sht::check_host("alm", alm);
    sht::check_extent("alm", alm, 1, "component", 1);
    check_map<T>(map, alm.extent(0), scalar_->grid().n_pixels());
    const auto half_trace = components_of(map, 0, 1), traceless = components_of(map, 1, 2);
    sht::check_arrays<T>(*scalar_, alm, View<const T, 3>(half_trace));
    const AlmLayout& layout = scalar_->layout();
    const double scale = 1 / (2 * radius_ * radius_);
    const auto laplacian = times<T>(layout, alm, [&](double l) { return -l * (l + 1) * scale; });
    scalar_->synthesize<T>(laplacian.view(), half_trace, sht::part_of(progress, 0, traceless_ ? 0.4 : 1));
    if (traceless_) {
        const auto shear = times<T>(layout, alm, [&](double l) {
            return -std::sqrt((l + 2) * (l + 1) * l * std::max(0.0, l - 1)) * scale;
        });
        traceless_->synthesize<T>(shear.view(), traceless, sht::part_of(progress, 0.4, 1));
    }
    const bool turned = components_ == VectorComponents::east_north;
    const core::InterruptionPoll poll;
    for (std::int64_t batch = 0; batch < map.extent(0); ++batch)
        for (const Ring& ring : scalar_->grid().rings()) {
            poll();
            for (auto p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p) {
                const T trace = map(batch, 0, p), q = traceless_ ? map(batch, 1, p) : T(0),
                        u = traceless_ ? map(batch, 2, p) : T(0);
                map(batch, 0, p) = turned ? trace - q : trace + q;
                map(batch, 1, p) = turned ? -u : u;
                map(batch, 2, p) = turned ? trace + q : trace - q;
            }
        }
}

template void HessianPlan::synthesize(View<const std::complex<float>, 3>, View<float, 3>,
                                      const Progress&) const;
template void HessianPlan::synthesize(View<const std::complex<double>, 3>, View<double, 3>,
                                      const Progress&) const;

}  // namespace zonal
