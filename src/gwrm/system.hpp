#pragma once

#include <cstdint>
#include <vector>

#include "gwrm/boundary.hpp"
#include "gwrm/operator.hpp"
#include "zonal/chebyshev_calculus.hpp"

namespace zonal::gwrm {

/// The algebraic equations of one box, F(a) = a - u_0 - int_{t0}^{t} (D[u] + f) dt' with boundary rows.
class System {
  public:
    System(const Problem& problem, const Shape& shape, HighestMode mode, int threads);

    const Shape& shape() const { return operator_.shape(); }
    HighestMode mode() const { return mode_; }
    Interval time() const { return time_; }
    void set_time(Interval time);
    /// u_0: [field, subdomain, l, m]
    void set_initial(const std::vector<double>& u0) { u0_ = u0; }
    const std::vector<double>& initial() const { return u0_; }

    /// F(a); derivatives are then taken at a.
    void residual(const double* a, double* result);
    /// F'(a) v for n vectors. v, result: [field, vector, subdomain, k..]
    void apply_jacobian(const double* v, std::int64_t n, double* result);
    /// result = D[u] + f at a, without boundary rows.
    void right_hand_side(const double* a, double* result) { operator_.apply(a, result); }

    /// F as fixed-point equation a = phi(a) on every interior row, so the matrix of one time mode:
    /// constant: [row][column] of the rows' part without the integral; integrated: of what is under the
    /// integral, linearised at the mean over time of a. Both [spatial, spatial], column-major.
    void frozen_matrices(const double* a, std::vector<double>& constant, std::vector<double>& integrated);

  private:
    void integrate_and_subtract(const double* a, std::int64_t n, const double* rate, double* result) const;

    Operator operator_, frozen_;
    Boundary boundary_, frozen_boundary_;
    HighestMode mode_;
    Interval time_;
    std::vector<double> u0_, rate_;
};

/// [k, k'], column-major: the coefficients of the integral from the lower end of an interval of half width 1.
std::vector<double> time_integral_matrix(std::int64_t n, HighestMode mode);
/// a's value at the upper end of the time interval, and its mean over modes T_0. [field, subdomain, l, m]
std::vector<double> end_value(const Shape& shape, const double* a);
/// a, [shape], in another shape: cut off, or with zeros.
std::vector<double> resized(const Shape& shape, const double* a, const Shape& other);

}  // namespace zonal::gwrm
