#include "zonal/gwrm/problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"
#include "zonal/gwrm/expression.hpp"

namespace zonal::gwrm {
namespace {

constexpr int most_derivatives = 4;

void check_axis_shape(const Axis& axis, std::size_t index) {
    const auto name = fmt::format("axes[{}]", index);
    if (!(axis.interval.lower < axis.interval.upper) || !std::isfinite(axis.interval.lower) ||
        !std::isfinite(axis.interval.upper))
        throw InvalidArgument(fmt::format("{}.interval", name),
                              fmt::format("[{}, {}]", axis.interval.lower, axis.interval.upper),
                              "must be finite and not empty");
    if (axis.modes < 0 || axis.modes > 4096)
        throw InvalidArgument(fmt::format("{}.modes", name), axis.modes, "must be 0 to 4096");
    const bool divisible = index == 0 && axis.kind == Axis::Kind::space;
    if (axis.subdomains < 1 || axis.subdomains > (divisible ? 1024 : 1))
        throw InvalidArgument(
            fmt::format("{}.subdomains", name), axis.subdomains,
            fmt::format("must be {}", divisible ? "1 to 1024" : "1 but on the first axis of space"));
}

/// Highest derivative of a field along an axis in any equation.
int highest_order(const std::vector<Expression>& right_hand_sides, int field, int axis) {
    int highest = 0;
    for (const auto& right_hand_side : right_hand_sides)
        for (const auto& term : right_hand_side.terms())
            for (const auto& factor : term.factors)
                if (factor.source == field)
                    highest = std::max(highest, factor.orders.at(static_cast<std::size_t>(axis - 1)));
    return highest;
}

void check_factor(const Problem& problem, const Factor& factor) {
    const int n_axes = static_cast<int>(problem.axes().size());
    for (int axis = 1; axis <= 2; ++axis) {
        const int order = factor.orders.at(static_cast<std::size_t>(axis - 1));
        if (order == 0) continue;
        if (axis > n_axes || problem.axes()[static_cast<std::size_t>(axis - 1)].kind != Axis::Kind::space)
            throw InvalidArgument("right_hand_side",
                                  fmt::format("derivative along axis {}, which is no axis of space", axis));
        if (order > most_derivatives)
            throw InvalidArgument("right_hand_side", fmt::format("derivative of order {}: must be at most {}",
                                                                 order, most_derivatives));
    }
    const auto n_functions = static_cast<int>(problem.functions().size());
    if (factor.source >= problem.n_fields() || -1 - factor.source >= n_functions)
        throw InvalidArgument("right_hand_side", "holds a field or a function of another problem");
}

}  // namespace

Problem::Problem(std::vector<Axis> axes) : axes_(std::move(axes)) {
    if (axes_.size() > 2)
        throw InvalidArgument("axes", fmt::format("{}: must be 0 to 2 beside time", axes_.size()));
    for (std::size_t i = 0; i < axes_.size(); ++i) check_axis_shape(axes_[i], i);
    if (axes_.size() == 2 && axes_[0].kind == Axis::Kind::parameter && axes_[1].kind == Axis::Kind::space)
        throw InvalidArgument("axes", "parameters must come behind space");
}

Expression Problem::unknown(const std::string& name, Function initial) {
    if (!initial) throw InvalidArgument("initial", fmt::format("of {}: must be a function", name));
    names_.push_back(name);
    initial_.push_back(std::move(initial));
    right_hand_sides_.emplace_back(0.0);
    return Expression(Factor{n_fields() - 1});
}

Expression Problem::known(Function function) {
    if (!function) throw InvalidArgument("function", "must not be empty");
    functions_.push_back(std::move(function));
    return Expression(Factor{-static_cast<int>(functions_.size())});
}

Expression Problem::coordinate(int axis) {
    if (axis != 0) check_axis(axis);
    return known([axis](const Point& point) { return point[static_cast<std::size_t>(axis)]; });
}

int Problem::index_of(const Expression& field) const {
    const auto& terms = field.terms();
    if (terms.size() == 1 && terms[0].weight == 1 && terms[0].factors.size() == 1) {
        const auto& factor = terms[0].factors[0];
        if (factor.is_field() && factor.orders == std::array{0, 0} && factor.source < n_fields())
            return factor.source;
    }
    throw InvalidArgument("field", "must be what Problem::unknown has returned");
}

void Problem::evolve(const Expression& field, const Expression& right_hand_side) {
    const auto index = static_cast<std::size_t>(index_of(field));
    for (const auto& term : right_hand_side.terms())
        for (const auto& factor : term.factors) check_factor(*this, factor);
    right_hand_sides_[index] = right_hand_side;
}

void Problem::check_axis(int axis) const {
    if (axis < 1 || axis > static_cast<int>(axes_.size()))
        throw InvalidArgument("axis", axis, fmt::format("must be 1 to {}", axes_.size()));
}

void Problem::add(BoundaryCondition condition) {
    check_axis(condition.axis);
    const auto& axis = axes_[static_cast<std::size_t>(condition.axis - 1)];
    if (axis.kind != Axis::Kind::space)
        throw InvalidArgument("axis", condition.axis, "is a parameter, which has no boundary conditions");
    conditions_.push_back(std::move(condition));
    const auto& added = conditions_.back();
    const int n = n_conditions(added.field, added.axis);
    if (n > axis.modes)
        throw InvalidArgument(fmt::format("axes[{}].modes", added.axis - 1), axis.modes,
                              fmt::format("must be at least {}, the number of boundary conditions of {}", n,
                                          names_[static_cast<std::size_t>(added.field)]));
}

void Problem::dirichlet(const Expression& field, int axis, End end, Function g) {
    robin(field, axis, end, 1, 0, std::move(g));
}

void Problem::neumann(const Expression& field, int axis, End end, Function g) {
    robin(field, axis, end, 0, 1, std::move(g));
}

void Problem::robin(const Expression& field, int axis, End end, double value_weight, double derivative_weight,
                    Function g) {
    if (!std::isfinite(value_weight) || !std::isfinite(derivative_weight) ||
        (value_weight == 0 && derivative_weight == 0))
        throw InvalidArgument("value_weight, derivative_weight",
                              fmt::format("{}, {}", value_weight, derivative_weight),
                              "must be finite and not both 0");
    add({BoundaryCondition::Kind::one_end, index_of(field), axis, end, value_weight, derivative_weight,
         std::move(g)});
}

void Problem::periodic(const Expression& field, int axis, int order) {
    if (order < 1 || order > most_derivatives)
        throw InvalidArgument("order", order, fmt::format("must be 1 to {}", most_derivatives));
    add({.kind = BoundaryCondition::Kind::periodic, .field = index_of(field), .axis = axis, .order = order});
}

int Problem::n_conditions(int field, int axis) const {
    int n = 0;
    for (const auto& condition : conditions_)
        if (condition.field == field && condition.axis == axis)
            n += condition.kind == BoundaryCondition::Kind::periodic ? condition.order : 1;
    return n;
}

void Problem::check() const {
    if (n_fields() == 0) throw InvalidArgument("problem", "has no unknown field");
    for (int axis = 1; axis <= static_cast<int>(axes_.size()); ++axis) {
        int needed = 0, given = 0;
        for (int field = 0; field < n_fields(); ++field) {
            needed += highest_order(right_hand_sides_, field, axis);
            given += n_conditions(field, axis);
        }
        if (given < needed)
            throw InvalidArgument(
                fmt::format("boundary conditions along axis {}: {}: must be at least {}, as the "
                            "highest derivatives of the fields",
                            axis, given, needed));
    }
}

Expression::Expression(double constant) {
    if (constant != 0) terms_.push_back({constant, {}});
}

void Expression::add(Monomial term) {
    std::sort(term.factors.begin(), term.factors.end());
    const auto same = std::find_if(terms_.begin(), terms_.end(),
                                   [&](const Monomial& known) { return known.factors == term.factors; });
    if (same == terms_.end())
        terms_.push_back(std::move(term));
    else if ((same->weight += term.weight) == 0)
        terms_.erase(same);
}

Expression& Expression::operator+=(const Expression& other) {
    for (const auto& term : std::vector(other.terms_)) add(term);
    return *this;
}

Expression operator*(const Expression& a, const Expression& b) {
    Expression product;
    for (const auto& left : a.terms_)
        for (const auto& right : b.terms_) {
            Monomial term{left.weight * right.weight, left.factors};
            term.factors.insert(term.factors.end(), right.factors.begin(), right.factors.end());
            product.add(std::move(term));
        }
    return product;
}

Expression Expression::derivative(int axis) const {
    if (axis < 1 || axis > 2) throw InvalidArgument("axis", axis, "must be 1 or 2");
    Expression result;
    for (const auto& term : terms_)
        for (std::size_t i = 0; i < term.factors.size(); ++i) {
            auto part = term;
            ++part.factors[i].orders[static_cast<std::size_t>(axis - 1)];
            result.add(std::move(part));
        }
    return result;
}

Expression pow(const Expression& a, int n) {
    constexpr int most_factors = 8;  // of a term of ChebyshevProductPlan
    if (n < 0 || n > most_factors)
        throw InvalidArgument("n", n, fmt::format("must be 0 to {}", most_factors));
    Expression result = 1.0;
    for (int i = 0; i < n; ++i) result = result * a;
    return result;
}

}  // namespace zonal::gwrm
