#include "points/lensing/lensing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "points/point_checks.hpp"
#include "points/sphere_samples.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace points {

PointOptions field_options(std::int64_t lmax, std::int64_t mmax, int spin, double error,
                           std::int64_t n_points, int threads) {
    return {.lmax = lmax,
            .mmax = mmax,
            .spin = spin,
            .error = error,
            .n_points = std::max<std::int64_t>(n_points, 1),
            .threads = threads};
}

namespace {

/// The share of the error that interpolated deflections may take.
constexpr double deflection_share = 0.1;

LensingOptions resolved(LensingOptions options) {
    options.threads = core::resolve_threads(options.threads);
    if (options.lmax < 0) throw InvalidArgument("lmax", options.lmax, "must be given, and 0 or more");
    if (options.mmax < 0) options.mmax = options.lmax;
    sht::check_components(options.components);
    if (options.components > 1 && options.lmax < 2)
        throw InvalidArgument("lmax", options.lmax, "must be 2 or more with E and B, which begin there");
    check_named_error(options.error);
    return options;
}

/// Maps whose fields share the recurrences, as in PointTransform.
std::int64_t lensed_at_once(std::int64_t components) {
    return 4 / components;
}

/// Components [first, first + count) of maps [map, map + n).
template <class T>
View<T, 3> part_of(const View<T, 3>& all, std::int64_t map, std::int64_t n, std::int64_t first,
                   std::int64_t count) {
    return {all.data() + map * all.stride(0) + first * all.stride(1),
            {n, count, all.extent(2)},
            all.strides(),
            all.space()};
}

/// (Q, U) turned by spin gamma (sign 1) or -spin gamma, at points [i, end).
template <class T>
void turn_values(const Lensing::Implementation& lensing, const View<T, 3>& values, int spin, double sign) {
    core::for_pieces(values.extent(2), lensing.options.threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t map = 0; map < values.extent(0); ++map) {
            const View<T, 1> q = values[map][0], u = values[map][1];
            for (std::int64_t i = begin; i < end; ++i) {
                const std::complex<double> once = lensing.turn(i);
                std::complex<double> turn = once;
                for (int k = 1; k < spin; ++k) turn *= once;
                const double c = turn.real(), s = sign * turn.imag(), x = static_cast<double>(q[i]),
                             y = static_cast<double>(u[i]);
                q[i] = static_cast<T>(c * x - s * y);
                u[i] = static_cast<T>(s * x + c * y);
            }
        }
    });
}

void merge(const std::vector<PointErrors>& errors, std::int64_t components, LensingReport& report) {
    for (std::size_t first = 0; first < errors.size(); first += static_cast<std::size_t>(components)) {
        double error = 0, power = 0;
        for (std::size_t f = first; f < first + static_cast<std::size_t>(components); ++f) {
            error += errors[f].rms_error * errors[f].rms_error;
            power += errors[f].rms * errors[f].rms;
        }
        if (power > 0) report.mean_error = std::max(report.mean_error, std::sqrt(error / power));
    }
}

template <class A, class B>
void check_arrays(const Lensing::Implementation& lensing, const View<A, 3>& alm, const View<B, 3>& values) {
    check_shapes(lensing, alm, values);
    sht::check_contiguous("alm", alm);
    sht::check_contiguous("values", values);
}

/// Calls work(part, first map, maps) for what is transformed at once.
template <class Work>
void for_passes(const Lensing::Implementation& lensing, std::int64_t n_maps, const Work& work) {
    for (const auto& part : lensing.parts) {
        const std::int64_t most = lensed_at_once(part.components);
        for (std::int64_t map = 0; map < n_maps; map += most) work(part, map, std::min(most, n_maps - map));
    }
}

template <class T>
void lens(const Lensing::Implementation& lensing, const View<const std::complex<T>, 3>& alm,
          const View<T, 3>& values, LensingReport* report) {
    check_arrays(lensing, alm, values);
    if (report != nullptr) *report = {.bound = lensing.bound};
    std::vector<PointErrors> errors;
    const bool direct = lensing.targets.values().empty();
    for_passes(lensing, alm.extent(0), [&](const auto& part, std::int64_t map, std::int64_t n) {
        auto samples = part.field.samples.make_array(n, part.field.points->rows());
        part.field.samples.template synthesize<T>(part_of(alm, map, n, part.first, part.components), samples,
                                                  report == nullptr ? nullptr : &errors);
        if (report != nullptr) merge(errors, part.components, *report);
        const auto wanted = part_of(values, map, n, part.first, part.components);
        Array<T, 3> apart(direct ? std::array<std::int64_t, 3>{}
                                 : std::array{n, part.components, lensing.targets.n_points()});
        const auto made = direct ? wanted : apart.view();
        part.field.points->template interpolate<T>(samples, made);
        if (part.spin > 0) turn_values(lensing, made, part.spin, 1);
        if (!direct)
            for (std::int64_t k = 0; k < n; ++k)
                for (std::int64_t c = 0; c < part.components; ++c)
                    lensing.targets.scatter(made[k][c], wanted[k][c]);
    });
}

template <class T>
void adjoint(const Lensing::Implementation& lensing, const View<const T, 3>& values,
             const View<std::complex<T>, 3>& alm) {
    check_arrays(lensing, alm, values);
    for_passes(lensing, alm.extent(0), [&](const auto& part, std::int64_t map, std::int64_t n) {
        const auto given = part_of(values, map, n, part.first, part.components);
        const bool direct = lensing.targets.values().empty() && part.spin == 0;
        Array<T, 3> turned(direct ? std::array<std::int64_t, 3>{}
                                  : std::array{n, part.components, lensing.targets.n_points()});
        if (!direct) {
            for (std::int64_t k = 0; k < n; ++k)
                for (std::int64_t c = 0; c < part.components; ++c)
                    lensing.targets.gather(given[k][c], turned.view()[k][c]);
            if (part.spin > 0) turn_values(lensing, turned.view(), part.spin, -1);
        }
        auto samples = part.field.samples.make_array(n, part.field.points->rows());
        part.field.points->template spread<T>(direct ? given : std::as_const(turned).view(), samples);
        part.field.samples.template adjoint<T>(samples, part_of(alm, map, n, part.first, part.components));
    });
}

/// What deflections that are interpolated may err by, relative to the largest, and how much lensed values err
/// by it. largest: a bound of |d|. Throws InvalidArgument where it leaves nothing for the rest.
struct DeflectionError {
    double named, of_values;

    DeflectionError(const LensingOptions& options, double largest) {
        // A sky changes by at most lmax max |f| for each radian, also along a geodesic with its axes carried
        // along (Bernstein: it is a trigonometric polynomial of degree lmax there).
        const double per_error = static_cast<double>(std::max<std::int64_t>(options.lmax, 1)) * largest;
        named = per_error > 0 ? std::clamp(deflection_share * options.error / per_error, least_named_error,
                                           largest_named_error)
                              : largest_named_error;
        of_values = named * per_error;
        if (of_values > options.error / 2)
            throw InvalidArgument(
                "error", options.error,
                fmt::format("must be {:.1e} or more: deflections at points, of at most {:.3g} rad, have "
                            "errors of {} of that",
                            2 * of_values, per_error / static_cast<double>(options.lmax), least_named_error));
    }
};

/// |d|: the largest, and the root of the mean square.
struct Lengths {
    double largest = 0, rms = 0;

    explicit Lengths(const Array<double, 2>& deflection) {
        const std::int64_t n = deflection.extent(1);
        double squares = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double square = deflection(0, i) * deflection(0, i) + deflection(1, i) * deflection(1, i);
            squares += square;
            largest = std::max(largest, square);
        }
        largest = std::sqrt(largest);
        rms = n == 0 ? 0 : std::sqrt(squares / static_cast<double>(n));
    }
};

}  // namespace
}  // namespace points

Lensing::Implementation::Implementation(points::Targets where, const DeflectionPotentials& potentials,
                                        const LensingOptions& given)
    : options(points::resolved(given)),
      layout(options.lmax, options.mmax),
      potential_layout(potentials.layout),
      n_potentials(potentials.alm.extent(0)),
      targets(std::move(where)) {
    using points::deflection_alm;
    using points::DeflectionField;
    using points::field_options;
    using points::least_named_error;
    const auto alm = deflection_alm(potentials);
    const std::int64_t n = targets.n_points();
    if (!targets.grid()) {
        const points::DeflectionError error(options, points::largest_deflection_of(potential_layout, alm));
        deflection_error = error.named;
        bound = error.of_values;
    }
    const double left = options.error - bound;
    deflection = Array<double, 2>({2, n});
    rotation = Array<double, 2>({2, n});
    DeflectionField(targets, potential_layout, n_potentials, deflection_error, options.threads)
        .synthesize(alm, deflection.view());
    theta.resize(static_cast<std::size_t>(n));
    phi.resize(theta.size());
    displace(targets.theta(), targets.phi(), std::as_const(deflection).view(), {theta.data(), {n}},
             {phi.data(), {n}}, rotation.view(), options.threads);
    const points::Lengths lengths(deflection);
    largest = lengths.largest;
    rms = lengths.rms;
    if (!options.derivatives) {
        deflection = Array<double, 2>();
        targets.forget_angles();
        if (options.components == 1) rotation = Array<double, 2>();
    }
    double of_fields = 0;
    for (const int spin : {0, 2}) {
        if (options.components == (spin == 0 ? 2 : 1)) continue;
        const auto how = field_options(options.lmax, options.mmax, spin, std::max(left, least_named_error), n,
                                       options.threads);
        const View<const double, 1> theta_there(theta.data(), {n}), phi_there(phi.data(), {n});
        parts.push_back({spin == 0 ? 0 : options.components - 2, spin == 0 ? 1 : 2, spin,
                         parts.empty() ? points::SpinField(how, theta_there, phi_there)
                                       : points::SpinField(how, parts[0].field.points)});
        of_fields = std::max(of_fields, parts.back().field.samples.bound());
    }
    bound += of_fields;
    if (options.derivatives) return;
    theta = core::AlignedVector<double>();
    phi = core::AlignedVector<double>();
}

double bytes_of_lensing(const Grid& grid, const AlmLayout& potentials, std::int64_t n_potentials,
                        const LensingOptions& options) {
    using points::deflection_plan;
    using points::field_options;
    using points::resolved;
    const auto full = resolved(options);
    double n = 0;
    for (const Ring& ring : grid.rings()) n += static_cast<double>(ring.n_pixels);
    const bool scattered = grid.has_other_pixels();
    const double kept = (scattered ? 8 : 0) + (full.derivatives ? 48 : 0);  // for each point
    const auto deflecting = deflection_plan(grid, potentials, n_potentials, full.threads);
    // While deflections are made, when points have been displaced, while they are sorted, and in lens().
    const double while_deflected = static_cast<double>(deflecting->workspace_bytes()) +
                                   (scattered ? 16.0 * static_cast<double>(grid.n_pixels()) : 0);
    double most = std::max(32 * n + while_deflected, 64 * n) + (scattered ? 8 * n : 0);
    constexpr double plan = 32, while_planned = 4;  // of the points, which T and P share
    double samples = 0;
    for (const int spin : {0, 2}) {
        if (full.components == (spin == 0 ? 2 : 1)) continue;
        const SphereSamples fields(field_options(full.lmax, full.mmax, spin, full.error,
                                                 static_cast<std::int64_t>(n), full.threads));
        const auto rows = fields.all_rows();
        samples = std::max(samples, 8.0 * static_cast<double>((rows.end - rows.first) * fields.components() *
                                                              fields.implementation().tables.stride));
    }
    const double turns = full.components > 1 || full.derivatives ? 16 : 0;
    const double values = 8.0 * full.components * static_cast<double>(grid.n_pixels());
    most = std::max(most, (kept + plan + while_planned + turns + (full.derivatives ? 0 : 16)) * n);
    return std::max(most, (kept + plan + turns + (scattered ? 16 : 0)) * n + samples + values);
}

namespace {

LensingOptions on_cpu(const LensingOptions& options) {
    points::check_cpu(options.device, "lensing");
    return options;
}

}  // namespace

Lensing::Lensing(const Grid& grid, const DeflectionPotentials& potentials, const LensingOptions& options)
    : implementation_(std::make_unique<const Implementation>(points::Targets(grid, options.threads),
                                                             potentials, on_cpu(options))) {}
Lensing::Lensing(View<const double, 1> theta, View<const double, 1> phi,
                 const DeflectionPotentials& potentials, const LensingOptions& options)
    : implementation_(std::make_unique<const Implementation>(points::Targets(theta, phi, options.threads),
                                                             potentials, on_cpu(options))) {}
Lensing::~Lensing() = default;
Lensing::Lensing(Lensing&&) noexcept = default;
Lensing& Lensing::operator=(Lensing&&) noexcept = default;

const LensingOptions& Lensing::options() const {
    return implementation_->options;
}
const AlmLayout& Lensing::layout() const {
    return implementation_->layout;
}
std::int64_t Lensing::n_values() const {
    return implementation_->targets.n_values();
}
double Lensing::bound() const {
    return implementation_->bound;
}
double Lensing::largest() const {
    return implementation_->largest;
}
double Lensing::rms() const {
    return implementation_->rms;
}

template <class T>
void Lensing::lens(ConstView<std::complex<T>, 3> alm, View<T, 3> values, LensingReport* report) const {
    points::lens<T>(*implementation_, alm, values, report);
}

template <class T>
void Lensing::adjoint(ConstView<T, 3> values, View<std::complex<T>, 3> alm) const {
    points::adjoint<T>(*implementation_, values, alm);
}

template void Lensing::lens<float>(View<const std::complex<float>, 3>, View<float, 3>, LensingReport*) const;
template void Lensing::lens<double>(View<const std::complex<double>, 3>, View<double, 3>,
                                    LensingReport*) const;
template void Lensing::adjoint<float>(View<const float, 3>, View<std::complex<float>, 3>) const;
template void Lensing::adjoint<double>(View<const double, 3>, View<std::complex<double>, 3>) const;

}  // namespace zonal
