#include "points/lensing/targets.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <utility>

#include "core/parallel.hpp"
#include "points/point_checks.hpp"
#include "sht/analysis/field_math.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/points/transform.hpp"

namespace zonal::points {
namespace {

template <class T>
std::int64_t bytes_of(const View<T, 1>& numbers) {
    return numbers.extent(0) * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

Targets::Targets(const Grid& grid, int threads, Device device)
    : device_(resolve_device(device)),
      n_values_(grid.n_pixels()),
      n_points_(0),
      threads_(core::resolve_threads(threads)),
      grid_(grid) {
    const auto& rings = grid.rings();
    const bool all = !grid.has_other_pixels();
    const bool on_cuda = device_.kind() == Device::Kind::cuda;
    std::vector<std::int64_t> first(rings.size());
    std::int64_t& n = n_points_;
    for (std::size_t r = 0; r < rings.size(); ++r) {
        first[r] = all ? rings[r].first_pixel : n;
        n += rings[r].n_pixels;
    }
    angles_ = WorkArray<double, 2>(device_, {2, n});
    if (!all) values_.resize(static_cast<std::size_t>(n));
    const View<double, 1> theta = angles_.view()[0], phi = angles_.view()[1];
    core::parallel_for(std::ssize(rings), threads_, [&](std::int64_t r, int) {
        const Ring& ring = rings[static_cast<std::size_t>(r)];
        const std::int64_t begin = first[static_cast<std::size_t>(r)];
        for (std::int64_t k = 0; k < ring.n_pixels && !all; ++k)
            values_[static_cast<std::size_t>(begin + k)] = ring.first_pixel + k;
        for (std::int64_t k = 0; k < ring.n_pixels && !on_cuda; ++k) {
            theta[begin + k] = ring.theta;
            phi[begin + k] = sht::longitude(ring.phi_0, k, ring.n_pixels);
        }
    });
    if (!on_cuda) return;
    cuda::ring_angles(rings, first, device_, theta, phi);
    make_transfer();
}

Targets::Targets(View<const double, 1> theta, View<const double, 1> phi, int threads, Device device)
    : device_(resolve_device(device)),
      n_values_(theta.extent(0)),
      n_points_(n_values_),
      threads_(core::resolve_threads(threads)) {
    check_arrays(theta, phi, space_on(device_));
    angles_ = WorkArray<double, 2>(device_, {2, n_points_});
    if (device_.kind() == Device::Kind::cuda) make_transfer();
    gather(theta, angles_.view()[0], "theta");
    gather(phi, angles_.view()[1], "phi");
}

void Targets::make_transfer() {
    transfer_ = cuda::make_transfer(device_, threads_);
    if (values_.empty()) return;
    values_there_ = WorkArray<std::int64_t, 1>(device_, {n_points_});
    values_there_.copy_from(values_.data());
}

template <class In, class Out>
void Targets::gather(View<const In, 1> values, View<Out, 1> points, const char* name) const {
    if (device_.kind() == Device::Kind::cuda && values.space() == MemorySpace::cuda)
        return cuda::gather<In, Out>(name, device_, values_there_.data(), values, points);
    const auto fill = [&](const View<Out, 1>& to) {
        core::for_pieces(n_points_, threads_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<Out>(values[value_of(i)]);
        });
    };
    if (device_.kind() == Device::Kind::cpu) return fill(points);
    if constexpr (std::is_same_v<In, Out>)
        if (values_.empty() && values.stride(0) == 1)
            return cuda::to_device(*transfer_, values.data(), points.data(), bytes_of(points));
    WorkArray<Out, 1> here(Device::cpu(), {n_points_});
    fill(here.view());
    cuda::to_device(*transfer_, here.data(), points.data(), bytes_of(points));
}

template <class T>
void Targets::scatter(View<const T, 1> points, View<T, 1> values) const {
    if (device_.kind() == Device::Kind::cuda && values.space() == MemorySpace::cuda)
        return cuda::scatter<T>(device_, values_there_.data(), points, values);
    const auto fill = [&](const View<const T, 1>& from) {
        core::for_pieces(n_points_, threads_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) values[value_of(i)] = from[i];
        });
    };
    if (device_.kind() == Device::Kind::cpu) return fill(points);
    if (values_.empty()) return cuda::to_host(*transfer_, points.data(), values.data(), bytes_of(points));
    WorkArray<T, 1> here(Device::cpu(), {n_points_});
    cuda::to_host(*transfer_, points.data(), here.data(), bytes_of(points));
    fill(std::as_const(here).view());
}

template void Targets::gather(View<const double, 1>, View<double, 1>, const char*) const;
template void Targets::gather(View<const float, 1>, View<float, 1>, const char*) const;
template void Targets::gather(View<const float, 1>, View<double, 1>, const char*) const;
template void Targets::scatter(View<const double, 1>, View<double, 1>) const;
template void Targets::scatter(View<const float, 1>, View<float, 1>) const;

namespace {

double factor(std::int64_t l) {
    return std::sqrt(static_cast<double>(l) * (static_cast<double>(l) + 1));
}

}  // namespace

Array<std::complex<double>, 3> deflection_alm(const DeflectionPotentials& potentials, int threads) {
    const AlmLayout& layout = potentials.layout;
    const auto& given = potentials.alm;
    if (const auto n = given.extent(0); n != 1 && n != 2)
        throw InvalidArgument("potentials", n,
                              "must be phi, or phi and the curl potential: 1 or 2 rows of alm");
    sht::check_extent("potentials", given, 1, "coefficients", layout.size());
    sht::check_host("potentials", given);
    if (layout.lmax() < 1)
        throw InvalidArgument("potentials", "end at l = 0: must have l = 1 at least, which deflects");
    Array<std::complex<double>, 3> alm({1, given.extent(0), layout.size()});
    core::parallel_for(layout.mmax() + 1, core::resolve_threads(threads), [&](std::int64_t m, int) {
        for (std::int64_t row = 0; row < given.extent(0); ++row)
            for (std::int64_t l = std::max<std::int64_t>(m, 1); l <= layout.lmax(); ++l) {
                const auto value = given(row, layout.index(l, m));
                if (!std::isfinite(value.real()) || !std::isfinite(value.imag()))
                    throw InvalidArgument("potentials", fmt::format("must be finite (l = {}, m = {})", l, m));
                alm(0, row, layout.index(l, m)) = factor(l) * value;
            }
    });
    return alm;
}

double largest_deflection_of(const AlmLayout& layout, const Array<std::complex<double>, 3>& alm) {
    // Degree l has at most sqrt((2 l + 1) / 4 pi) times the root of its sum over m of |E|^2 + |B|^2.
    std::vector<double> power(static_cast<std::size_t>(layout.lmax()) + 1);
    for (std::int64_t row = 0; row < alm.extent(1); ++row)
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (std::int64_t l = m; l <= layout.lmax(); ++l)
                power[static_cast<std::size_t>(l)] +=
                    (m == 0 ? 1 : 2) * std::norm(alm(0, row, layout.index(l, m)));
    double largest = 0;
    for (std::size_t l = 1; l < power.size(); ++l)
        largest += std::sqrt((2 * static_cast<double>(l) + 1) / (4 * std::numbers::pi) * power[l]);
    return largest;
}

std::shared_ptr<const ShtPlan> deflection_plan(const Grid& grid, const AlmLayout& layout,
                                               std::int64_t n_potentials, int threads, Device device) {
    return kept_plan(grid, {.lmax = layout.lmax(),
                            .mmax = layout.mmax(),
                            .spin = 1,
                            .parts = n_potentials == 1 ? SpinParts::gradient : SpinParts::both,
                            .threads = threads,
                            .device = device});
}

DeflectionField::DeflectionField(const Targets& targets, const AlmLayout& layout, std::int64_t n_potentials,
                                 double error, int threads)
    : targets_(targets), layout_(layout), n_potentials_(n_potentials), error_(error), threads_(threads) {
    if (targets.grid())
        plan_ = deflection_plan(*targets.grid(), layout, n_potentials, threads, targets.device());
}

namespace {

PointTransform transform_of(const Targets& targets, const AlmLayout& layout, double error, int threads) {
    return {targets.theta(),
            targets.phi(),
            {.lmax = layout.lmax(),
             .mmax = layout.mmax(),
             .spin = 1,
             .error = error,
             .threads = threads,
             .device = targets.device()}};
}

/// [2, point] as one map's.
template <class T>
View<T, 3> as_map(const View<T, 2>& pair) {
    return {pair.data(), {1, 2, pair.extent(1)}, {0, pair.stride(0), pair.stride(1)}, pair.space()};
}

}  // namespace

void DeflectionField::synthesize(const Array<std::complex<double>, 3>& alm,
                                 View<double, 2> deflection) const {
    // Scratch memory of their own, which is gone when the sky's begins to be taken.
    if (plan_ && targets_.has_all_values()) {
        auto workspace = plan_->make_workspace();
        plan_->synthesize<double>(alm.view(), as_map(deflection), workspace);
    } else if (plan_) {
        WorkArray<double, 3> map(targets_.device(), {1, 2, targets_.n_values()});
        auto workspace = plan_->make_workspace();
        plan_->synthesize<double>(alm.view(), map.view(), workspace);
        for (int c = 0; c < 2; ++c)
            targets_.gather<double, double>(std::as_const(map).view()[0][c], deflection[c]);
    } else {
        Array<std::complex<double>, 3> both({1, 2, layout_.size()});
        std::copy(alm.begin(), alm.end(), both.begin());
        const auto transform = transform_of(targets_, layout_, error_, threads_);
        auto workspace = transform.make_workspace();
        transform.synthesize<double>(std::as_const(both).view(), as_map(deflection), workspace);
    }
}

void DeflectionField::adjoint(View<const double, 2> by_deflection,
                              View<std::complex<double>, 2> gradient) const {
    Array<std::complex<double>, 3> alm({1, plan_ ? n_potentials_ : 2, layout_.size()});
    if (plan_ && targets_.has_all_values()) {
        plan_->adjoint_synthesis<double>(as_map(by_deflection), alm.view());
    } else if (plan_) {
        WorkArray<double, 3> map(targets_.device(), {1, 2, targets_.n_values()});
        map.clear();
        for (int c = 0; c < 2; ++c) targets_.scatter<double>(by_deflection[c], map.view()[0][c]);
        plan_->adjoint_synthesis<double>(std::as_const(map).view(), alm.view());
    } else {
        const auto transform = transform_of(targets_, layout_, error_, threads_);
        auto workspace = transform.make_workspace();
        transform.adjoint<double>(as_map(by_deflection), alm.view(), workspace);
    }
    core::parallel_for(layout_.mmax() + 1, threads_, [&](std::int64_t m, int) {
        for (std::int64_t row = 0; row < n_potentials_; ++row)
            for (std::int64_t l = m; l <= layout_.lmax(); ++l) {
                const auto i = layout_.index(l, m);
                gradient(row, i) = l == 0 ? 0 : factor(l) * alm(0, row, i);
            }
    });
}

}  // namespace zonal::points
