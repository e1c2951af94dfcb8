#pragma once

#include <vector>

#include "split/spline_basis.hpp"
#include "zonal/view.hpp"

namespace zonal::split {

/// Coordinates of splines in which their inner product on the sphere, 2 pi int f g sin theta d theta, is the
/// plain one: the Cholesky factor M = L L^T of the basis's products, y = L^T c. Singular values are then
/// shares of the profile's own norm and do not depend on how the knots lie or the B-splines are scaled.
class SplineNorm {
  public:
    explicit SplineNorm(const SplineBasis& basis);

    /// Windows of the basis, [l, function], into those of orthonormal functions, in place.
    void orthonormalize(View<double, 2> windows) const;
    /// c = L^-T y.
    std::vector<double> coefficients(const std::vector<double>& y) const;

  private:
    Array<double, 2> factor_;  ///< L in bands: [c, d - c] holds L(d, c)
};

}  // namespace zonal::split
