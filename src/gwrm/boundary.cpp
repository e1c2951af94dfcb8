#include "gwrm/system.hpp"

#include <algorithm>
#include <cmath>

namespace zonal::gwrm {

Boundary::Boundary(const Problem& problem, const Shape& shape, Backend& backend)
    : problem_(problem), shape_(shape), backend_(backend) {
    for (int axis = 1; axis < shape.dimensions; ++axis)
        for (int field = 0; field < shape.n_fields; ++field) add_field(field, axis);
    for (auto& row : rows_) {
        row.scale = 0;
        for (const auto& entry : row.entries)
            for (const double weight : entry.weights) row.scale = std::max(row.scale, std::abs(weight));
        for (auto& entry : row.entries)
            for (double& weight : entry.weights) weight /= row.scale;
    }
    upload_rows();
}

/// Modes of the other axis beside time that a row stands for.
std::int64_t Boundary::n_other(const Row& row) const {
    return row.axis == 1 ? shape_.extents[2] : shape_.extents[1] - problem_.n_conditions(row.field, 1);
}

void Boundary::upload_rows() {
    std::vector<BoundaryRow> table;
    std::vector<double> weights;
    std::int64_t n_g = 0;
    for (const auto& row : rows_) {
        const auto axis = static_cast<std::size_t>(row.axis);
        const bool has_g =
            row.condition >= 0 && problem_.conditions()[static_cast<std::size_t>(row.condition)].g != nullptr;
        BoundaryRow packed{.field = row.field,
                           .axis = row.axis,
                           .subdomain = row.subdomain,
                           .mode = row.mode,
                           .n_modes = shape_.extents.at(axis),
                           .n_other = n_other(row),
                           .n_entries = std::ssize(row.entries),
                           .weights = std::ssize(weights),
                           .g = has_g ? n_g : -1};
        for (std::size_t i = 0; i < row.entries.size(); ++i) {
            packed.sources[i] = row.entries[i].subdomain;
            weights.insert(weights.end(), row.entries[i].weights.begin(), row.entries[i].weights.end());
        }
        if (has_g) n_g += shape_.block() / shape_.extents.at(axis);
        most_other_ = std::max(most_other_, packed.n_other);
        places_of_g_.push_back(packed.g);
        table.push_back(packed);
    }
    table_ = BackendArray<BoundaryRow>(backend_, std::ssize(table));
    backend_.upload(table.data(), std::ssize(table), table_.data());
    weights_ = Vector(backend_, std::ssize(weights));
    backend_.upload(weights.data(), std::ssize(weights), weights_.data());
    g_ = Vector(backend_, n_g);
}

/// d^order T_l / dx^order at an end: prod_{i < order} (l^2 - i^2) / (2i + 1), times (-1)^(l + order) at the
/// lower one (Mason & Handscomb 2003, section 2.4).
std::vector<double> Boundary::end_weights(const Axis& axis, std::int64_t n, End end, int order) const {
    std::vector<double> weights(static_cast<std::size_t>(n));
    const double scale = axis.subdomains / axis.interval.half_width();
    for (std::int64_t l = 0; l < n; ++l) {
        double value = 1;
        for (int i = 0; i < order; ++i) value *= scale * static_cast<double>(l * l - i * i) / (2 * i + 1);
        if (end == End::lower && (l + order) % 2 != 0) value = -value;
        weights[static_cast<std::size_t>(l)] = value;
    }
    return weights;
}

std::vector<Boundary::Row> Boundary::rows_of_ends(int field, int axis, End end) const {
    const auto& shape_of_axis = problem_.axes()[static_cast<std::size_t>(axis - 1)];
    const auto n = shape_.extents.at(static_cast<std::size_t>(axis));
    const int subdomain = end == End::lower ? 0 : shape_of_axis.subdomains - 1;
    std::vector<Row> rows;
    const auto& conditions = problem_.conditions();
    for (std::size_t c = 0; c < conditions.size(); ++c) {
        const auto& condition = conditions[c];
        if (condition.kind != BoundaryCondition::Kind::one_end || condition.field != field ||
            condition.axis != axis || condition.end != end)
            continue;
        auto weights = end_weights(shape_of_axis, n, end, 0);
        const auto slopes = end_weights(shape_of_axis, n, end, 1);
        for (std::size_t l = 0; l < weights.size(); ++l)
            weights[l] = condition.value_weight * weights[l] + condition.derivative_weight * slopes[l];
        rows.push_back({field, axis, 0, 0, {{subdomain, weights}}, static_cast<int>(c)});
    }
    return rows;
}

/// Values and derivatives below `order` agree at the upper end of `left` and the lower end of `right`.
std::vector<Boundary::Row> Boundary::joint(int field, int axis, int left, int right, int order) const {
    const auto& shape_of_axis = problem_.axes()[static_cast<std::size_t>(axis - 1)];
    const auto n = shape_.extents.at(static_cast<std::size_t>(axis));
    std::vector<Row> rows;
    for (int derivative = 0; derivative < order; ++derivative) {
        auto lower = end_weights(shape_of_axis, n, End::lower, derivative);
        for (double& weight : lower) weight = -weight;
        rows.push_back({field,
                        axis,
                        0,
                        0,
                        {{left, end_weights(shape_of_axis, n, End::upper, derivative)}, {right, lower}}});
    }
    return rows;
}

/// Conditions at the lower end, joints and those at the upper end, in this order: every subdomain takes as
/// many of them as the field has conditions.
void Boundary::add_field(int field, int axis) {
    const int n_conditions = problem_.n_conditions(field, axis);
    if (n_conditions == 0) return;
    const int n_subdomains = problem_.axes()[static_cast<std::size_t>(axis - 1)].subdomains;
    auto rows = rows_of_ends(field, axis, End::lower);
    const auto append = [&rows](std::vector<Row> more) {
        rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    for (int right = 1; right < n_subdomains; ++right)
        append(joint(field, axis, right - 1, right, n_conditions));
    append(rows_of_ends(field, axis, End::upper));
    for (const auto& condition : problem_.conditions())
        if (condition.kind == BoundaryCondition::Kind::periodic && condition.field == field &&
            condition.axis == axis)
            append(joint(field, axis, n_subdomains - 1, 0, condition.order));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto index = static_cast<int>(i);
        rows[i].subdomain = index / n_conditions;
        rows[i].mode =
            shape_.extents.at(static_cast<std::size_t>(axis)) - n_conditions + index % n_conditions;
        if (axis == 1) rows_.push_back(std::move(rows[i]));
    }
    if (axis == 1) return;
    // Subdomains divide axis 1, so that ends of axis 2 belong to all of them.
    for (int subdomain = 0; subdomain < shape_.n_subdomains; ++subdomain)
        for (auto row : rows) {
            row.subdomain = subdomain;
            for (auto& entry : row.entries) entry.subdomain = subdomain;
            rows_.push_back(std::move(row));
        }
}

/// Coefficients [k..] of a condition's function, with one along the row's axis, divided as the weights are.
std::vector<double> Boundary::values_of_g(const Row& row, Interval time) const {
    const auto& condition = problem_.conditions()[static_cast<std::size_t>(row.condition)];
    const auto& axis = problem_.axes()[static_cast<std::size_t>(row.axis - 1)];
    const double end = condition.end == End::lower ? axis.interval.lower : axis.interval.upper;
    auto extents = shape_.extents;
    extents.at(static_cast<std::size_t>(row.axis)) = 1;
    const auto face = shape_.with_extents(extents);
    std::vector<double> g(static_cast<std::size_t>(face.per_field()));
    interpolate_function(
        problem_, face, time,
        [&](Point point) {
            point.at(static_cast<std::size_t>(row.axis)) = end;
            return condition.g(point) / row.scale;
        },
        g.data());
    const auto first = g.begin() + (row.axis == 1 ? 0 : row.subdomain * face.block());
    return {first, first + face.block()};
}

void Boundary::set_time(Interval time) {
    std::vector<double> all;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (places_of_g_[i] < 0) continue;
        const auto g = values_of_g(rows_[i], time);
        all.insert(all.end(), g.begin(), g.end());
    }
    backend_.upload(all.data(), std::ssize(all), g_.data());
}

// What is written through a member of a structure is taken for read.
// NOLINTNEXTLINE(readability-non-const-parameter)
void Boundary::replace(BoundaryRows::Kind kind, const double* a, std::int64_t n, double* result) {
    if (rows_.empty()) return;
    BoundaryRows rows{.n_segments = std::ssize(rows_) * n * shape_.extents[0] * most_other_,
                      .n_vectors = n,
                      .most_other = most_other_,
                      .per_field = shape_.per_field(),
                      .kind = kind,
                      .rows = table_.data(),
                      .weights = weights_.data(),
                      .g = g_.data(),
                      .a = a,
                      .result = result};
    std::copy(shape_.extents.begin(), shape_.extents.end(), rows.extents);
    backend_.reduce(rows);
}

}  // namespace zonal::gwrm
