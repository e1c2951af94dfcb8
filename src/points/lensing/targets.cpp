#include "points/lensing/targets.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/points/transform.hpp"

namespace zonal::points {

Targets::Targets(const Grid& grid, int threads)
    : n_values_(grid.n_pixels()), n_points_(0), threads_(core::resolve_threads(threads)), grid_(grid) {
    const auto& rings = grid.rings();
    const bool all = !grid.has_other_pixels();
    std::vector<std::int64_t> first(rings.size());
    std::int64_t& n = n_points_;
    for (std::size_t r = 0; r < rings.size(); ++r) {
        first[r] = all ? rings[r].first_pixel : n;
        n += rings[r].n_pixels;
    }
    theta_.resize(static_cast<std::size_t>(n));
    phi_.resize(theta_.size());
    if (!all) values_.resize(theta_.size());
    core::parallel_for(std::ssize(rings), threads_, [&](std::int64_t r, int) {
        const Ring& ring = rings[static_cast<std::size_t>(r)];
        const double step = 2 * std::numbers::pi / static_cast<double>(ring.n_pixels);
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const auto i = static_cast<std::size_t>(first[static_cast<std::size_t>(r)] + k);
            theta_[i] = ring.theta;
            phi_[i] = ring.phi_0 + step * static_cast<double>(k);
            if (!all) values_[i] = ring.first_pixel + k;
        }
    });
}

Targets::Targets(View<const double, 1> theta, View<const double, 1> phi, int threads)
    : n_values_(theta.extent(0)), n_points_(n_values_), threads_(core::resolve_threads(threads)) {
    sht::check_extent("phi", phi, 0, "points", n_values_);
    sht::check_host("theta", theta);
    sht::check_host("phi", phi);
    theta_.resize(static_cast<std::size_t>(n_values_));
    phi_.resize(theta_.size());
    for (std::int64_t i = 0; i < n_values_; ++i) {
        theta_[static_cast<std::size_t>(i)] = theta[i];
        phi_[static_cast<std::size_t>(i)] = phi[i];
    }
}

namespace {

double factor(std::int64_t l) {
    return std::sqrt(static_cast<double>(l) * (static_cast<double>(l) + 1));
}

}  // namespace

Array<std::complex<double>, 3> deflection_alm(const DeflectionPotentials& potentials) {
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
    for (std::int64_t row = 0; row < given.extent(0); ++row)
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (std::int64_t l = std::max<std::int64_t>(m, 1); l <= layout.lmax(); ++l) {
                const auto value = given(row, layout.index(l, m));
                if (!std::isfinite(value.real()) || !std::isfinite(value.imag()))
                    throw InvalidArgument("potentials", fmt::format("must be finite (l = {}, m = {})", l, m));
                alm(0, row, layout.index(l, m)) = factor(l) * value;
            }
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
                                               std::int64_t n_potentials, int threads) {
    return kept_plan(grid, {.lmax = layout.lmax(),
                            .mmax = layout.mmax(),
                            .spin = 1,
                            .parts = n_potentials == 1 ? SpinParts::gradient : SpinParts::both,
                            .threads = threads,
                            .device = Device::cpu()});
}

DeflectionField::DeflectionField(const Targets& targets, const AlmLayout& layout, std::int64_t n_potentials,
                                 double error, int threads)
    : targets_(targets), layout_(layout), n_potentials_(n_potentials), error_(error), threads_(threads) {
    if (targets.grid()) plan_ = deflection_plan(*targets.grid(), layout, n_potentials, threads);
}

namespace {

PointTransform transform_of(const Targets& targets, const AlmLayout& layout, double error, int threads) {
    return {targets.theta(),
            targets.phi(),
            {.lmax = layout.lmax(), .mmax = layout.mmax(), .spin = 1, .error = error, .threads = threads}};
}

}  // namespace

void DeflectionField::synthesize(const Array<std::complex<double>, 3>& alm,
                                 View<double, 2> deflection) const {
    const std::int64_t n = targets_.n_points();
    // Scratch memory of their own, which is gone when the sky's begins to be taken.
    if (plan_ && targets_.values().empty()) {
        auto workspace = plan_->make_workspace();
        plan_->synthesize<double>(alm.view(), View<double, 3>(deflection.data(), {1, 2, n}), workspace);
    } else if (plan_) {
        Array<double, 3> map({1, 2, targets_.n_values()});
        auto workspace = plan_->make_workspace();
        plan_->synthesize<double>(alm.view(), map.view(), workspace);
        for (int c = 0; c < 2; ++c) targets_.gather(map.view()[0][c], deflection[c]);
    } else {
        Array<std::complex<double>, 3> both({1, 2, layout_.size()});
        std::copy(alm.begin(), alm.end(), both.begin());
        const auto transform = transform_of(targets_, layout_, error_, threads_);
        auto workspace = transform.make_workspace();
        transform.synthesize<double>(std::as_const(both).view(),
                                     View<double, 3>(deflection.data(), {1, 2, n}), workspace);
    }
}

void DeflectionField::adjoint(View<const double, 2> by_deflection,
                              View<std::complex<double>, 2> gradient) const {
    const std::int64_t n = targets_.n_points();
    const View<const double, 3> given(by_deflection.data(), {1, 2, n});
    Array<std::complex<double>, 3> alm({1, plan_ ? n_potentials_ : 2, layout_.size()});
    if (plan_ && targets_.values().empty()) {
        plan_->adjoint_synthesis<double>(given, alm.view());
    } else if (plan_) {
        Array<double, 3> map({1, 2, targets_.n_values()});
        for (int c = 0; c < 2; ++c) targets_.scatter(by_deflection[c], map.view()[0][c]);
        plan_->adjoint_synthesis<double>(std::as_const(map).view(), alm.view());
    } else {
        const auto transform = transform_of(targets_, layout_, error_, threads_);
        auto workspace = transform.make_workspace();
        transform.adjoint<double>(given, alm.view(), workspace);
    }
    for (std::int64_t row = 0; row < n_potentials_; ++row)
        for (std::int64_t m = 0; m <= layout_.mmax(); ++m)
            for (std::int64_t l = m; l <= layout_.lmax(); ++l) {
                const auto i = layout_.index(l, m);
                gradient(row, i) = l == 0 ? 0 : factor(l) * alm(0, row, i);
            }
}

}  // namespace zonal::points
