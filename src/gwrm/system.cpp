#include "gwrm/system.hpp"

#include <algorithm>
#include <cmath>

#include "core/interruption.hpp"
#include "zonal/error.hpp"

namespace zonal::gwrm {
namespace {

Shape frozen_shape(const Shape& shape) {
    return shape.with_extents({1, shape.extents[1], shape.extents[2]});
}

}  // namespace

System::System(const Problem& problem, const Shape& shape, HighestMode mode, Backend& backend)
    : backend_(backend),
      operator_(problem, shape, backend),
      frozen_(problem, frozen_shape(shape), backend),
      boundary_(problem, shape, backend),
      frozen_boundary_(problem, frozen_shape(shape), backend),
      mode_(mode),
      u0_(backend, shape.spatial()),
      frozen_point_(backend, shape.spatial()) {}

void System::set_time(Interval time) {
    time_ = time;
    operator_.set_time(time);
    frozen_.set_time(time);
    boundary_.set_time(time);
}

void System::integrate_and_subtract(const double* a, std::int64_t n, const double* rate, double* result) {
    const auto& s = shape();
    const auto n_blocks = n * s.n_blocks();
    backend_.integrate(s.blocks(rate, n_blocks, backend_.space()), 0, time_.half_width(), mode_,
                       s.blocks(result, n_blocks, backend_.space()));
    backend_.run(SubtractFrom{.n_inner = n * s.size(), .a = a, .x = result});
}

void System::residual(const double* a, double* result) {
    core::InterruptionPoll()();
    const auto& s = shape();
    rate_.resize(backend_, s.size());
    operator_.apply(a, rate_.data());
    integrate_and_subtract(a, 1, rate_.data(), result);
    backend_.run(SubtractFromFirstMode{.n_outer = s.n_blocks(),
                                       .n_inner = s.spatial_block(),
                                       .block = s.block(),
                                       .u0 = u0_.data(),
                                       .x = result});
    boundary_.replace(BoundaryRows::Kind::whole, a, 1, result);
}

void System::apply_jacobian(const double* v, std::int64_t n, double* result) {
    core::InterruptionPoll()();
    rate_.resize(backend_, n * shape().size());
    operator_.apply_derivative(v, n, rate_.data());
    integrate_and_subtract(v, n, rate_.data(), result);
    boundary_.replace(BoundaryRows::Kind::linear, v, n, result);
}

void System::frozen_matrices(const double* a, const double* units, double* constant, double* integrated) {
    const auto n = frozen_.shape().size();
    sum_over_time(backend_, shape(), TimeSum::Kind::mean, a, frozen_point_.data());
    frozen_.set_point(frozen_point_.data());
    frozen_.apply_derivative(units, n, integrated);
    frozen_boundary_.replace(BoundaryRows::Kind::zero, units, n, integrated);
    backend_.copy(units, n * n, constant);
    frozen_boundary_.replace(BoundaryRows::Kind::linear, units, n, constant);
}

void sum_over_time(Backend& backend, const Shape& shape, TimeSum::Kind kind, const double* a, double* value) {
    backend.run(TimeSum{.n_outer = shape.n_blocks(),
                        .n_inner = shape.spatial_block(),
                        .n_modes = shape.extents[0],
                        .kind = kind,
                        .a = a,
                        .to = value});
}

// What is written through a member of a structure is taken for read.
// NOLINTNEXTLINE(readability-non-const-parameter)
void resize(Backend& backend, const Shape& shape, const double* a, const Shape& other, double* result) {
    Resize task{.n_outer = other.n_blocks() * other.extents[0],
                .n_inner = other.spatial_block(),
                .from = a,
                .to = result};
    std::copy(shape.extents.begin(), shape.extents.end(), task.source);
    std::copy(other.extents.begin(), other.extents.end(), task.target);
    backend.run(task);
}

void upload_initial_value(const Problem& problem, const Shape& shape, double t0, Backend& backend,
                          Vector& u0) {
    const auto frozen = frozen_shape(shape);
    std::vector<double> values(static_cast<std::size_t>(frozen.size()));
    for (int field = 0; field < shape.n_fields; ++field)
        interpolate_function(problem, frozen, {t0, t0}, problem.initial()[static_cast<std::size_t>(field)],
                             values.data() + field * frozen.per_field());
    for (const double value : values)
        if (!std::isfinite(value)) throw InvalidArgument("initial", "must be finite on the whole box");
    backend.upload(values.data(), std::ssize(values), u0.data());
}

}  // namespace zonal::gwrm
