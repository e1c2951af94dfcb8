#include "zonal/beams/cube.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "beams/beam_convolver.hpp"
#include "points/point_checks.hpp"
#include "points/point_plan.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace beams {
namespace {

BeamConvolver with_all_orders(std::int64_t lmax, const BeamOptions& options) {
    if (lmax < 0) throw InvalidArgument("lmax", lmax, "must be 0 or more");
    if (options.kmax < 0 || options.kmax > lmax)
        throw InvalidArgument("kmax", options.kmax, fmt::format("must be from 0 to lmax = {}", lmax));
    if (options.half_wave_plate)
        throw InvalidArgument("half_wave_plate", "is part of a BeamConvolver's beams, not of a cube");
    points::check_cpu(options.device, "BeamCube");
    BeamOptions on_cpu = options;
    on_cpu.device = Device::cpu();
    const AlmLayout layout(lmax, options.kmax);
    Array<Complex, 3> beam({1, 1, layout.size()});
    std::fill(beam.begin(), beam.end(), Complex(1, 1));
    return {layout, beam.view(), on_cpu};
}

const points::SampleTables& tables_of(const BeamConvolver& convolver) {
    return convolver.samples().implementation().tables;
}

const Plane& plane_of(const BeamConvolver& convolver, std::int64_t k) {
    if (k < 0 || k > convolver.options().kmax)
        throw InvalidArgument(
            "k", k, fmt::format("must be from 0 to the kmax of the cube, {}", convolver.options().kmax));
    return convolver.implementation()->planes[static_cast<std::size_t>(k)];
}

template <class T>
EffectiveBeam beam_of(const BeamConvolver& convolver, const AlmLayout& layout,
                      const View<const std::complex<T>, 2>& beam, std::int64_t k) {
    const std::int64_t lmax = convolver.sky_layout().lmax();
    if (layout.lmax() != lmax || layout.mmax() < k || !layout.has_all_orders())
        throw InvalidArgument(
            "layout", fmt::format("must have all orders up to k = {} or more, of lmax = {}", k, lmax));
    sht::check_extent("beam", beam, 1, "coefficient", layout.size());
    sht::check_host("beam", beam);
    Array<Complex, 2> alm(beam.extents());
    for (std::int64_t c = 0; c < beam.extent(0); ++c)
        for (std::int64_t l = k; l <= lmax; ++l) {
            const std::complex<T> b = beam(c, layout.index(l, k));
            alm(c, layout.index(l, k)) = Complex(b.real(), k == 0 ? T{0} : b.imag());
        }
    return {0, Modulation::none, layout, std::move(alm)};
}

/// components: of the beam.
template <class T, class Complex>
void check_planes_and_sky(const BeamCube& cube, const View<T, 3>& planes, std::int64_t k,
                          const View<Complex, 2>& sky, std::int64_t components, const AlmLayout& of_sky) {
    sht::check_extent("planes", planes, 0, "plane", k == 0 ? 1 : 2);
    sht::check_extent("planes", planes, 1, "row", cube.n_rows());
    sht::check_extent("planes", planes, 2, "column", cube.n_columns());
    sht::check_host("planes", planes);
    sht::check_extent("sky", sky, 0, "component", components);
    sht::check_extent("sky", sky, 1, "coefficient", of_sky.size());
    sht::check_host("sky", sky);
}

template <class T>
void check_part(const BeamCube& cube, const View<T, 3>& part, std::int64_t row, std::int64_t column) {
    sht::check_extent("cube", part, 0, "plane", cube.n_planes());
    sht::check_host("cube", part);
    const auto check = [](const char* name, std::int64_t first, std::int64_t count, std::int64_t all) {
        if (first < 0 || first + count > all)
            throw InvalidArgument(
                name, first,
                fmt::format("must be from 0 to {}, for {} of the {} of a cube", all - count, count, all));
    };
    check("row", row, part.extent(1), cube.n_rows());
    check("column", column, part.extent(2), cube.n_columns());
}

/// Throws for a pointing whose samples are not all in the part.
void check_reach(const Pointings& pointings, const CubePatch& part) {
    const auto& plan = pointings.implementation().sets.front().plan;
    const auto& points = plan.implementation();
    const std::int64_t width = plan.samples().width();
    for (std::int64_t i = 0; i < points.n_points; ++i) {
        const auto& point = points.placed[i];
        if (point.row < part.row || point.row + width > part.row_end || point.column < part.column ||
            point.column + width > part.column_end)
            throw InvalidArgument(fmt::format("pointing {}", point.caller),
                                  "must lie where the part of the cube reaches: see BeamCube::patch");
    }
}

View<const double, 2> row_of(const View<const double, 1>& angles) {
    return {angles.data(), {1, angles.extent(0)}, {0, angles.stride(0)}};
}

template <class T, class Each>
void for_common_rows(const BeamConvolver& convolver, const Fields& fields, const View<T, 3>& cube,
                     std::int64_t row, std::int64_t column, const Each& each) {
    const std::int64_t border = tables_of(convolver).border;
    for (std::int64_t f = 0; f < cube.extent(0); ++f) {
        const points::SampleView field = fields.field(f);
        for (std::int64_t j = field.rows.first; j < field.rows.end; ++j) {
            const std::int64_t there = j + border - row;
            if (there >= 0 && there < cube.extent(1)) each(field.row(j) + column, cube[f][there]);
        }
    }
}

}  // namespace
}  // namespace beams

BeamCube::BeamCube(std::int64_t lmax, const BeamOptions& options)
    : all_orders_(beams::with_all_orders(lmax, options)) {}

std::int64_t BeamCube::n_rows() const {
    const auto& t = beams::tables_of(all_orders_);
    return t.n / 2 + 1 + 2 * t.border;
}
std::int64_t BeamCube::n_columns() const {
    const auto& t = beams::tables_of(all_orders_);
    return t.n + 2 * t.border;
}

CubePatch BeamCube::patch(double theta_1, double theta_2, double phi_1, double phi_2) const {
    using std::numbers::pi;
    const auto check = [](const char* name, double first, double last, double most, const char* text) {
        if (!(first >= 0 && first <= last && last <= most))
            throw InvalidArgument(name, fmt::format("{} to {}", first, last),
                                  fmt::format("must ascend within 0 to {}", text));
    };
    check("theta", theta_1, theta_2, pi, "pi");
    check("phi", phi_1, phi_2, 2 * pi, "2 pi");
    // As many samples as the border has lie on either side of a point, and one more for rounding.
    const std::int64_t border = beams::tables_of(all_orders_).border;
    const auto first = [&](double x) {
        return std::max<std::int64_t>(
            0,
            static_cast<std::int64_t>(x * static_cast<double>(beams::tables_of(all_orders_).n) / (2 * pi)) -
                1);
    };
    const auto end = [&](double x, std::int64_t all) {
        return std::min(all, static_cast<std::int64_t>(
                                 x * static_cast<double>(beams::tables_of(all_orders_).n) / (2 * pi)) +
                                 2 * border + 3);
    };
    CubePatch made{first(theta_1), end(theta_2, n_rows()), first(phi_1), end(phi_2, n_columns())};
    // A whole turn, and what is rounded to it, is where phi = 0 is.
    if (made.column_end == n_columns()) made.column = 0;
    return made;
}

template <class T>
void BeamCube::make_planes(ConstView<std::complex<T>, 2> sky, const AlmLayout& layout,
                           ConstView<std::complex<T>, 2> beam, std::int64_t k, View<T, 3> planes) const {
    const auto& convolver = *all_orders_.implementation();
    const beams::Plane& plane = beams::plane_of(all_orders_, k);
    const beams::EffectiveBeam given = beams::beam_of<T>(all_orders_, layout, beam, k);
    beams::check_planes_and_sky(*this, planes, k, sky, beam.extent(0), convolver.sky_layout);
    Array<beams::Complex, 3> alm({1, plane.samples.components(), convolver.sky_layout.size()});
    beams::field_of_sky<T>(convolver.sky_layout, convolver.options.threads, given, k, sky, alm.view()[0]);
    SampleArray samples = plane.samples.make_array();
    plane.samples.synthesize<double>(alm.view(), samples);
    for (std::int64_t f = 0; f < planes.extent(0); ++f) {
        const points::SampleView field = samples.storage().field(f);
        for (std::int64_t r = 0; r < planes.extent(1); ++r)
            for (std::int64_t c = 0; c < planes.extent(2); ++c)
                planes(f, r, c) = static_cast<T>(field.row(field.rows.first + r)[c]);
    }
}

template <class T>
void BeamCube::add_sky(ConstView<T, 3> planes, const AlmLayout& layout, ConstView<std::complex<T>, 2> beam,
                       std::int64_t k, View<std::complex<T>, 2> sky) const {
    const auto& convolver = *all_orders_.implementation();
    const beams::Plane& plane = beams::plane_of(all_orders_, k);
    const beams::EffectiveBeam given = beams::beam_of<T>(all_orders_, layout, beam, k);
    beams::check_planes_and_sky(*this, planes, k, sky, beam.extent(0), convolver.sky_layout);
    SampleArray samples = plane.samples.make_array();
    for (std::int64_t f = 0; f < planes.extent(0); ++f) {
        const points::SampleView field = samples.storage().field(f);
        for (std::int64_t r = 0; r < planes.extent(1); ++r) {
            double* const row = field.row(field.rows.first + r);
            for (std::int64_t c = 0; c < planes.extent(2); ++c) row[c] = static_cast<double>(planes(f, r, c));
            std::fill(row + planes.extent(2), row + field.stride, 0.0);
        }
    }
    Array<beams::Complex, 3> alm({1, plane.samples.components(), convolver.sky_layout.size()});
    plane.samples.adjoint<double>(samples, alm.view());
    Array<beams::Complex, 2> sum(sky.extents());
    beams::add_sky_of_field(convolver.sky_layout, convolver.options.threads, given, k, alm.view()[0],
                            sum.view());
    for (std::int64_t c = 0; c < sky.extent(0); ++c)
        for (std::int64_t i = 0; i < sky.extent(1); ++i)
            sky(c, i) += std::complex<T>(static_cast<T>(sum(c, i).real()), static_cast<T>(sum(c, i).imag()));
}

template <class T>
void BeamCube::scan(ConstView<T, 3> cube, std::int64_t row, std::int64_t column, View<const double, 1> theta,
                    View<const double, 1> phi, View<const double, 1> psi, View<T, 1> signal) const {
    beams::check_part(*this, cube, row, column);
    sht::check_extent("signal", signal, 0, "pointing", theta.extent(0));
    sht::check_host("signal", signal);
    const Pointings pointings(all_orders_, beams::row_of(theta), beams::row_of(phi), beams::row_of(psi));
    beams::check_reach(pointings, {row, row + cube.extent(1), column, column + cube.extent(2)});
    const auto& convolver = *all_orders_.implementation();
    const beams::Fields fields(convolver, pointings.rows());
    std::fill_n(fields.data, n_planes() * fields.field_size, 0.0);
    beams::for_common_rows(all_orders_, fields, cube, row, column,
                           [](double* to, const View<const T, 1>& from) {
                               for (std::int64_t c = 0; c < from.extent(0); ++c)
                                   to[c] = static_cast<double>(from[c]);
                           });
    beams::scan_set<T>(convolver, fields, pointings.implementation().sets.front(),
                       View<T, 2>(signal.data(), {1, signal.extent(0)}, {0, signal.stride(0)}));
}

template <class T>
void BeamCube::spread(ConstView<T, 1> signal, std::int64_t row, std::int64_t column,
                      View<const double, 1> theta, View<const double, 1> phi, View<const double, 1> psi,
                      View<T, 3> cube) const {
    beams::check_part(*this, cube, row, column);
    sht::check_extent("signal", signal, 0, "pointing", theta.extent(0));
    sht::check_host("signal", signal);
    const Pointings pointings(all_orders_, beams::row_of(theta), beams::row_of(phi), beams::row_of(psi));
    beams::check_reach(pointings, {row, row + cube.extent(1), column, column + cube.extent(2)});
    const auto& convolver = *all_orders_.implementation();
    const beams::Fields fields(convolver, pointings.rows());
    beams::spread_set<T>(convolver, fields, pointings.implementation().sets.front(),
                         View<const T, 2>(signal.data(), {1, signal.extent(0)}, {0, signal.stride(0)}));
    beams::for_common_rows(all_orders_, fields, cube, row, column,
                           [](const double* from, const View<T, 1>& to) {
                               for (std::int64_t c = 0; c < to.extent(0); ++c)
                                   to[c] += static_cast<T>(from[c]);
                           });
}

#define ZONAL_INSTANTIATE(T)                                                                               \
    template void BeamCube::make_planes(View<const std::complex<T>, 2>, const AlmLayout&,                  \
                                        View<const std::complex<T>, 2>, std::int64_t, View<T, 3>) const;   \
    template void BeamCube::add_sky<T>(View<const T, 3>, const AlmLayout&, View<const std::complex<T>, 2>, \
                                       std::int64_t, View<std::complex<T>, 2>) const;                      \
    template void BeamCube::scan<T>(View<const T, 3>, std::int64_t, std::int64_t, View<const double, 1>,   \
                                    View<const double, 1>, View<const double, 1>, View<T, 1>) const;       \
    template void BeamCube::spread<T>(View<const T, 1>, std::int64_t, std::int64_t, View<const double, 1>, \
                                      View<const double, 1>, View<const double, 1>, View<T, 3>) const;
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal
