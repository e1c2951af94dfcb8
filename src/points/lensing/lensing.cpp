#include "points/lensing/lensing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "points/map_passes.hpp"
#include "points/point_checks.hpp"
#include "points/sphere_samples.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace points {

PointOptions field_options(std::int64_t lmax, std::int64_t mmax, int spin, double error,
                           std::int64_t n_points, int threads, Device device) {
    return {.lmax = lmax,
            .mmax = mmax,
            .spin = spin,
            .error = error,
            .n_points = std::max<std::int64_t>(n_points, 1),
            .threads = threads,
            .device = device};
}

namespace {

/// The share of the error that interpolated deflections may take.
constexpr double deflection_share = 0.1;

LensingOptions resolved(LensingOptions options) {
    options.threads = core::resolve_threads(options.threads);
    options.device = resolve_device(options.device);
    if (options.lmax < 0) throw InvalidArgument("lmax", options.lmax, "must be given, and 0 or more");
    if (options.mmax < 0) options.mmax = options.lmax;
    sht::check_components(options.components);
    if (options.components > 1 && options.lmax < 2)
        throw InvalidArgument("lmax", options.lmax, "must be 2 or more with E and B, which begin there");
    check_named_error(options.error);
    return options;
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

/// (Q, U) turned by spin gamma (sign 1) or -spin gamma, in the device's memory.
template <class T>
void turn_values(const Lensing::Implementation& lensing, const View<T, 3>& values, int spin, double sign) {
    const View<const double, 2> rotation = lensing.rotation.view();
    if (values.space() == MemorySpace::cuda)
        return cuda::turn_values<T>(lensing.targets.device(), rotation, spin, sign, values);
    core::for_pieces(values.extent(2), lensing.options.threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t map = 0; map < values.extent(0); ++map)
            for (std::int64_t i = begin; i < end; ++i)
                turn_value({rotation(0, i), rotation(1, i)}, spin, sign, values(map, 0, i),
                           values(map, 1, i));
    });
}

/// Calls work(part, first map, maps) for what is transformed at once.
template <class Work>
void for_passes(const Lensing::Implementation& lensing, std::int64_t n_maps, const Work& work) {
    for (const auto& part : lensing.parts)
        for_map_passes(part.components, n_maps,
                       [&](std::int64_t first, std::int64_t maps) { work(part, first, maps); });
}

/// Whether what is made at points can be made among the caller's values.
template <class T>
bool are_points(const Lensing::Implementation& lensing, const View<T, 3>& values) {
    return lensing.targets.has_all_values() && values.space() == space_on(lensing.targets.device());
}

template <class T>
void lens(const Lensing::Implementation& lensing, const View<const std::complex<T>, 3>& alm,
          const View<T, 3>& values, LensingReport* report) {
    check_arrays(lensing, alm, values);
    if (report != nullptr) *report = {.bound = lensing.bound};
    std::vector<PointErrors> errors;
    const bool direct = are_points(lensing, values);
    for_passes(lensing, alm.extent(0), [&](const auto& part, std::int64_t map, std::int64_t n) {
        auto samples = part.field.samples.make_array(n, part.field.points->rows());
        part.field.samples.template synthesize<T>(part_of(alm, map, n, part.first, part.components), samples,
                                                  report == nullptr ? nullptr : &errors);
        if (report != nullptr)
            report->mean_error = std::max(report->mean_error, largest_share(errors, part.components));
        const auto wanted = part_of(values, map, n, part.first, part.components);
        WorkArray<T, 3> apart;
        if (!direct) apart = {lensing.targets.device(), {n, part.components, lensing.targets.n_points()}};
        const auto made = direct ? wanted : apart.view();
        part.field.points->template interpolate<T>(samples, made);
        if (part.spin > 0) turn_values(lensing, made, part.spin, 1);
        if (direct) return;
        for (std::int64_t k = 0; k < n; ++k)
            for (std::int64_t c = 0; c < part.components; ++c)
                lensing.targets.scatter<T>(made[k][c], wanted[k][c]);
    });
}

template <class T>
void adjoint(const Lensing::Implementation& lensing, const View<const T, 3>& values,
             const View<std::complex<T>, 3>& alm) {
    check_arrays(lensing, alm, values);
    for_passes(lensing, alm.extent(0), [&](const auto& part, std::int64_t map, std::int64_t n) {
        const auto given = part_of(values, map, n, part.first, part.components);
        const bool direct = are_points(lensing, values) && part.spin == 0;
        WorkArray<T, 3> turned;
        if (!direct) {
            turned = {lensing.targets.device(), {n, part.components, lensing.targets.n_points()}};
            for (std::int64_t k = 0; k < n; ++k)
                for (std::int64_t c = 0; c < part.components; ++c)
                    lensing.targets.gather<T, T>(given[k][c], turned.view()[k][c]);
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

Lengths lengths_of(const View<const double, 2>& deflection) {
    const std::int64_t n = deflection.extent(1);
    double squares = 0, largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double square = deflection(0, i) * deflection(0, i) + deflection(1, i) * deflection(1, i);
        squares += square;
        largest = std::max(largest, square);
    }
    return {std::sqrt(largest), n == 0 ? 0 : std::sqrt(squares / static_cast<double>(n))};
}

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
    using points::field_options;
    using points::least_named_error;
    const auto alm = deflection_alm(potentials, options.threads);
    const std::int64_t n = targets.n_points();
    if (!targets.grid()) {
        const points::DeflectionError error(options, points::largest_deflection_of(potential_layout, alm));
        deflection_error = error.named;
        bound = error.of_values;
    }
    const double left = options.error - bound;
    for (auto* const pair : {&deflection, &rotation, &displaced}) *pair = {options.device, {2, n}};
    deflecting.emplace(targets, potential_layout, n_potentials, deflection_error, options.threads);
    deflecting->synthesize(alm, deflection.view());
    lengths = displace_targets();
    if (!options.derivatives || targets.grid()) targets.forget_angles();
    if (!options.derivatives) {
        deflecting.reset();
        deflection = {};
        if (options.components == 1) rotation = {};
    }
    double of_fields = 0;
    for (const int spin : {0, 2}) {
        if (options.components == (spin == 0 ? 2 : 1)) continue;
        const auto how = field_options(options.lmax, options.mmax, spin, std::max(left, least_named_error), n,
                                       options.threads, options.device);
        const auto there = std::as_const(displaced).view();
        parts.push_back({spin == 0 ? 0 : options.components - 2, spin == 0 ? 1 : 2, spin,
                         parts.empty() ? points::SpinField(how, there[0], there[1])
                                       : points::SpinField(how, parts[0].field.points)});
        of_fields = std::max(of_fields, parts.back().field.samples.bound());
    }
    bound += of_fields;
    if (!options.derivatives) displaced = {};
}

points::Lengths Lensing::Implementation::displace_targets() {
    const auto by = std::as_const(deflection).view();
    const auto to = displaced.view();
    if (options.device.kind() == Device::Kind::cuda)
        return points::cuda::displace(options.device, targets.theta(), targets.phi(), by, to,
                                      rotation.view());
    displace(targets.theta(), targets.phi(), by, to[0], to[1], rotation.view(), options.threads);
    return points::lengths_of(by);
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
    const double kept = (scattered ? 8 : 0) + (full.derivatives ? 32 : 0);  // for each point
    const double values = 8.0 * full.components * static_cast<double>(grid.n_pixels());
    // A GPU's memory has the rest.
    if (full.device.kind() == Device::Kind::cuda) return values + (scattered ? 16 * n : 0);
    const auto deflecting = deflection_plan(grid, potentials, n_potentials, full.threads, full.device);
    // While deflections are made, when points have been displaced, while they are sorted, and in lens().
    const double while_deflected = static_cast<double>(deflecting->workspace_bytes()) +
                                   (scattered ? 16.0 * static_cast<double>(grid.n_pixels()) : 0);
    double most = std::max(32 * n + while_deflected, 64 * n) + (scattered ? 8 * n : 0);
    constexpr double plan = 32, while_planned = 4;  // of the points, which T and P share
    double samples = 0;
    for (const int spin : {0, 2}) {
        if (full.components == (spin == 0 ? 2 : 1)) continue;
        const SphereSamples fields(field_options(full.lmax, full.mmax, spin, full.error,
                                                 static_cast<std::int64_t>(n), full.threads, full.device));
        const auto rows = fields.all_rows();
        samples = std::max(samples, 8.0 * static_cast<double>((rows.end - rows.first) * fields.components() *
                                                              fields.implementation().tables.stride));
    }
    const double turns = full.components > 1 || full.derivatives ? 16 : 0;
    most = std::max(most, (kept + plan + while_planned + turns + (full.derivatives ? 0 : 16)) * n);
    return std::max(most, (kept + plan + turns + (scattered ? 16 : 0)) * n + samples + values);
}

Lensing::Lensing(const Grid& grid, const DeflectionPotentials& potentials, const LensingOptions& options)
    : implementation_(std::make_unique<const Implementation>(
          points::Targets(grid, options.threads, options.device), potentials, options)) {}
Lensing::Lensing(View<const double, 1> theta, View<const double, 1> phi,
                 const DeflectionPotentials& potentials, const LensingOptions& options)
    : implementation_(std::make_unique<const Implementation>(
          points::Targets(theta, phi, options.threads, options.device), potentials, options)) {}
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
    return implementation_->lengths.largest;
}
double Lensing::rms() const {
    return implementation_->lengths.rms;
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
