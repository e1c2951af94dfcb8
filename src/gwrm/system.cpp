#include "gwrm/system.hpp"

#include <algorithm>

namespace zonal::gwrm {
namespace {

Shape frozen_shape(const Shape& shape) {
    return shape.with_extents({1, shape.extents[1], shape.extents[2]});
}

}  // namespace

System::System(const Problem& problem, const Shape& shape, HighestMode mode, int threads)
    : operator_(problem, shape, threads),
      frozen_(problem, frozen_shape(shape), threads),
      boundary_(problem, shape),
      frozen_boundary_(problem, frozen_shape(shape)),
      mode_(mode) {}

void System::set_time(Interval time) {
    time_ = time;
    operator_.set_time(time);
    frozen_.set_time(time);
    boundary_.set_time(time);
}

void System::integrate_and_subtract(const double* a, std::int64_t n, const double* rate,
                                    double* result) const {
    const auto& s = shape();
    const auto n_blocks = n * s.n_fields * s.n_subdomains;
    chebyshev::integrate<double>(s.blocks(rate, n_blocks), 0, time_.half_width(), mode_,
                                 s.blocks(result, n_blocks));
    for (std::int64_t i = 0; i < n * s.size(); ++i) result[i] = a[i] - result[i];
}

void System::residual(const double* a, double* result) {
    const auto& s = shape();
    rate_.resize(static_cast<std::size_t>(s.size()));
    operator_.apply(a, rate_.data());
    integrate_and_subtract(a, 1, rate_.data(), result);
    const auto per_mode = s.spatial_block();
    for (std::int64_t b = 0; b < s.n_fields * s.n_subdomains; ++b)
        for (std::int64_t i = 0; i < per_mode; ++i)
            result[b * s.block() + i] -= u0_[static_cast<std::size_t>(b * per_mode + i)];
    boundary_.apply(a, 1, result);
}

void System::apply_jacobian(const double* v, std::int64_t n, double* result) {
    rate_.resize(static_cast<std::size_t>(n * shape().size()));
    operator_.apply_derivative(v, n, rate_.data());
    integrate_and_subtract(v, n, rate_.data(), result);
    boundary_.apply_linear(v, n, result);
}

void System::frozen_matrices(const double* a, std::vector<double>& constant,
                             std::vector<double>& integrated) {
    const auto& s = shape();
    const auto& frozen = frozen_.shape();
    const auto n = frozen.size(), per_field = frozen.per_field();
    std::vector<double> point(static_cast<std::size_t>(n));
    // int T_k / 2 = 1 / (1 - k^2) for even k.
    for (std::int64_t b = 0; b < s.n_fields * s.n_subdomains; ++b)
        for (std::int64_t k = 0; k < s.extents[0]; k += 2)
            for (std::int64_t i = 0; i < s.spatial_block(); ++i)
                point[static_cast<std::size_t>(b * s.spatial_block() + i)] +=
                    a[b * s.block() + k * s.spatial_block() + i] / static_cast<double>(1 - k * k);
    frozen_.set_point(point.data());
    // Unit vectors: [field, vector, place]
    std::vector<double> units(static_cast<std::size_t>(n * n)), images(units.size());
    const auto place = [&](std::int64_t vector, std::int64_t i) {
        return static_cast<std::size_t>((i / per_field * n + vector) * per_field + i % per_field);
    };
    for (std::int64_t i = 0; i < n; ++i) units[place(i, i)] = 1;
    frozen_.apply_derivative(units.data(), n, images.data());
    frozen_boundary_.clear(n, images.data());
    frozen_boundary_.apply_linear(std::vector(units).data(), n, units.data());
    constant.resize(units.size());
    integrated.resize(units.size());
    for (std::int64_t vector = 0; vector < n; ++vector)
        for (std::int64_t i = 0; i < n; ++i) {
            const auto entry = static_cast<std::size_t>(vector * n + i);
            constant[entry] = units[place(vector, i)];
            integrated[entry] = images[place(vector, i)];
        }
}

std::vector<double> time_integral_matrix(std::int64_t n, HighestMode mode) {
    std::vector<double> units(static_cast<std::size_t>(n * n)), matrix(units.size());
    for (std::int64_t k = 0; k < n; ++k) units[static_cast<std::size_t>(k * n + k)] = 1;
    Shape shape;
    shape.extents = {n, 1, 1};
    chebyshev::integrate<double>(shape.blocks(std::as_const(units).data(), n), 0, 1.0, mode,
                                 shape.blocks(matrix.data(), n));
    return matrix;
}

std::vector<double> end_value(const Shape& shape, const double* a) {
    const auto per_mode = shape.spatial_block();
    std::vector<double> value(static_cast<std::size_t>(shape.spatial()));
    for (std::int64_t b = 0; b < shape.n_fields * shape.n_subdomains; ++b)
        for (std::int64_t k = shape.extents[0] - 1; k >= 0; --k)
            for (std::int64_t i = 0; i < per_mode; ++i)
                value[static_cast<std::size_t>(b * per_mode + i)] += a[b * shape.block() + k * per_mode + i];
    return value;
}

std::vector<double> resized(const Shape& shape, const double* a, const Shape& other) {
    std::vector<double> result(static_cast<std::size_t>(other.size()));
    std::array<std::int64_t, 3> n{};
    for (std::size_t axis = 0; axis < n.size(); ++axis)
        n.at(axis) = std::min(shape.extents.at(axis), other.extents.at(axis));
    const auto index = [](const Shape& s, std::int64_t b, std::int64_t k, std::int64_t l) {
        return ((b * s.extents[0] + k) * s.extents[1] + l) * s.extents[2];
    };
    for (std::int64_t b = 0; b < shape.n_fields * shape.n_subdomains; ++b)
        for (std::int64_t k = 0; k < n[0]; ++k)
            for (std::int64_t l = 0; l < n[1]; ++l)
                std::copy_n(a + index(shape, b, k, l), n[2], result.data() + index(other, b, k, l));
    return result;
}

}  // namespace zonal::gwrm
