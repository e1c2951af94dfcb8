#pragma once

#include <cstdint>
#include <vector>

#include "gwrm/boundary.hpp"
#include "gwrm/operator.hpp"
#include "zonal/chebyshev/calculus.hpp"

namespace zonal::gwrm {

/// The algebraic equations of one box, F(a) = a - u_0 - int_{t0}^{t} (D[u] + f) dt' with boundary rows.
class System {
  public:
    System(const Problem& problem, const Shape& shape, HighestMode mode, Backend& backend);

    Backend& backend() { return backend_; }
    const Shape& shape() const { return operator_.shape(); }
    HighestMode mode() const { return mode_; }
    Interval time() const { return time_; }
    void set_time(Interval time);
    /// u_0: [field, subdomain, l, m]
    void set_initial(const double* u0) { backend_.copy(u0, u0_.size(), u0_.data()); }

    /// F(a); derivatives are then taken at a.
    void residual(const double* a, double* result);
    /// F'(a) v for n vectors. v, result: [field, vector, subdomain, k..]
    void apply_jacobian(const double* v, std::int64_t n, double* result);
    /// result = D[u] + f at a, without boundary rows.
    void right_hand_side(const double* a, double* result) { operator_.apply(a, result); }

    /// F as fixed-point equation a = phi(a) on every interior row, so the matrix of one time mode:
    /// constant: the rows' part without the integral; integrated: of what is under the integral, linearised
    /// at the mean over time of a. Both are columns, as units are the unit vectors: [field, vector,
    /// subdomain, l, m].
    void frozen_matrices(const double* a, const double* units, double* constant, double* integrated);

  private:
    void integrate_and_subtract(const double* a, std::int64_t n, const double* rate, double* result);

    Backend& backend_;
    Operator operator_, frozen_;
    Boundary boundary_, frozen_boundary_;
    HighestMode mode_;
    Interval time_;
    Vector u0_, rate_, frozen_point_;
};

/// Of every series in time of a. value: [field, subdomain, l, m]
void sum_over_time(Backend& backend, const Shape& shape, TimeSum::Kind kind, const double* a, double* value);
/// a, [shape], in another shape: cut off, or with zeros.
void resize(Backend& backend, const Shape& shape, const double* a, const Shape& other, double* result);

/// Interpolates the initial values of all fields at t0 on a box. u0: [field, subdomain, l, m]. Throws
/// InvalidArgument where one is not finite.
void upload_initial_value(const Problem& problem, const Shape& shape, double t0, Backend& backend,
                          Vector& u0);

}  // namespace zonal::gwrm
