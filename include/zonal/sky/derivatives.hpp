#pragma once

#include <complex>
#include <memory>

#include "zonal/progress.hpp"
#include "zonal/sht.hpp"
#include "zonal/sky/vector_fields.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Second derivatives of scalar fields on a sphere of radius R, those of VectorPlan being the first ones: the
/// covariant ones, grad grad f, whose trace is the Laplacian. With d_t = d/dtheta, d_p = d/dphi, s = sin
/// theta:
///   theta theta: d_t d_t f / R^2
///   theta phi:   (d_t d_p f - cot theta d_p f) / (s R^2)
///   phi phi:     (d_p d_p f / s^2 + cot theta d_t f) / R^2
/// They are those of the Laplacian, of spin 0, and of a transform of spin 2 with
/// E = -sqrt((l+2)! / (l-2)!) a / 2: Q = (theta theta - phi phi) / 2, U = theta phi.
class HessianPlan {
  public:
    /// transform: as for ShtPlan, of spin 0. Throws as ShtPlan does, and InvalidArgument for a radius that is
    /// not finite or not above 0.
    HessianPlan(const Grid& grid, const ShtOptions& transform,
                VectorComponents components = VectorComponents::theta_phi, double radius = 1);

    const ShtPlan& transform() const { return *scalar_; }

    /// alm: [batch, 1, layout.size()]; map: [batch, 3, n_pixels] = theta theta, theta phi, phi phi, or east
    /// east, east north, north north (= phi phi, -theta phi, theta theta). Both in host memory; a copy of the
    /// alm is made. Pixels in no ring are left as they are.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map, const Progress& progress = {}) const;

  private:
    VectorComponents components_;
    double radius_;
    std::shared_ptr<const ShtPlan> scalar_;
    std::shared_ptr<const ShtPlan> traceless_;  ///< none for lmax < 2, where it is 0
};

}  // namespace zonal
