#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "zonal/chebyshev.hpp"
#include "zonal/gwrm/expression.hpp"

namespace zonal::gwrm {

/// Coordinates: t, then one for each axis of the problem; what is beyond is 0.
using Point = std::array<double, 3>;
using Function = std::function<double(const Point&)>;

/// An axis beside time.
struct Axis {
    enum class Kind {
        space,     ///< has derivatives and boundary conditions
        parameter  ///< the problem is solved for all values of it at once
    };
    std::string name = "x";
    Interval interval{0, 1};
    std::int64_t modes = 16;  ///< the highest Chebyshev mode, L
    Kind kind = Kind::space;
    /// Only on axis 1: equal parts, each with its own series, joined by continuity of value and derivatives.
    int subdomains = 1;
};

/// An end of an interval.
enum class End { lower, upper };

/// What takes the places of the highest spatial modes of a field's equation.
struct BoundaryCondition {
    enum class Kind { one_end, periodic };
    Kind kind = Kind::one_end;
    int field = 0;
    int axis = 1;
    End end = End::lower;
    double value_weight = 1, derivative_weight = 0;
    Function g;     ///< value_weight u + derivative_weight du/dx = g; empty: 0
    int order = 1;  ///< of periodic: so many derivatives, from the 0th on, are equal at both ends
};

/// An initial-value problem du/dt = D[u] + f for one or several fields u(t, ..) on a box of 0 to 2 axes
/// beside time.
class Problem {
  public:
    /// Throws InvalidArgument.
    explicit Problem(std::vector<Axis> axes = {});

    /// A field and its value at the first time, where t is that time; the expression that stands for it.
    Expression unknown(const std::string& name, Function initial);
    /// A known function of time, space and parameters, such as a force.
    Expression known(Function function);
    /// The coordinate itself: 0 is t.
    Expression coordinate(int axis);

    /// d field / dt = right_hand_side. Fields without an equation stay what they are. Throws InvalidArgument.
    void evolve(const Expression& field, const Expression& right_hand_side);

    void dirichlet(const Expression& field, int axis, End end, Function g = {});
    void neumann(const Expression& field, int axis, End end, Function g = {});
    /// value_weight u + derivative_weight du/dx = g.
    void robin(const Expression& field, int axis, End end, double value_weight, double derivative_weight,
               Function g = {});
    /// Value and derivatives below `order` agree at both ends; order: of the highest derivative, 1 to 4.
    void periodic(const Expression& field, int axis, int order);

    const std::vector<Axis>& axes() const { return axes_; }
    int n_fields() const { return static_cast<int>(names_.size()); }
    const std::vector<std::string>& names() const { return names_; }
    const std::vector<Function>& initial() const { return initial_; }
    const std::vector<Function>& functions() const { return functions_; }
    /// [field]
    const std::vector<Expression>& right_hand_sides() const { return right_hand_sides_; }
    const std::vector<BoundaryCondition>& conditions() const { return conditions_; }
    /// Conditions of a field along an axis.
    int n_conditions(int field, int axis) const;

    /// Throws InvalidArgument where the problem is not complete: no fields, too few boundary conditions.
    void check() const;

  private:
    int index_of(const Expression& field) const;
    void add(BoundaryCondition condition);
    void check_axis(int axis) const;

    std::vector<Axis> axes_;
    std::vector<std::string> names_;
    std::vector<Function> initial_, functions_;
    std::vector<Expression> right_hand_sides_;
    std::vector<BoundaryCondition> conditions_;
};

}  // namespace zonal::gwrm
