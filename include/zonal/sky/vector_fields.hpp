#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/analysis.hpp"
#include "zonal/progress.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Which two scalars describe a vector field v that is tangent to a sphere of radius R. r is the outward unit
/// vector, grad the gradient along the sphere, (1/R) (d/dtheta, (1/sin theta) d/dphi).
enum class VectorScalars {
    /// Velocity potential chi and stream function psi: v = grad chi + r x grad psi.
    potentials,
    /// div v = laplacian chi, and the vorticity r . curl v = laplacian psi, which is positive for a
    /// counter-clockwise turn as seen from outside. Both have mean 0, so that their a_00 count for nothing.
    divergence_vorticity,
    /// S and T of SHTns: v = grad S - r x grad T on the unit sphere; the radius must be 1.
    spheroidal_toroidal
};

/// The components in which vectors are given.
enum class VectorComponents {
    theta_phi,  ///< v_theta (southwards), v_phi (eastwards)
    east_north  ///< u = v_phi (eastwards), v = -v_theta (northwards), as in meteorology
};

/// What the scalars and the components of a VectorPlan are.
struct VectorOptions {
    VectorScalars scalars = VectorScalars::potentials;
    VectorComponents components = VectorComponents::theta_phi;
    double radius = 1;  ///< R, finite and above 0
};

/// Turns scalars into the vector field that they describe, and back: a transform of spin 1 whose coefficients
/// are E = sqrt(l (l+1)) chi / R and B = sqrt(l (l+1)) psi / R (docs: conventions).
class VectorPlan {
  public:
    /// transform: as for ShtPlan, with lmax >= 1; its spin must be 0, which stands for 1 here, or 1. Its
    /// parts say which scalars there are: both, the first alone (gradient) or the second alone (curl), in
    /// half the time. Throws as ShtPlan does, and InvalidArgument for a radius that is not finite or not
    /// above 0.
    VectorPlan(const Grid& grid, const ShtOptions& transform, const VectorOptions& options);

    const ShtPlan& transform() const { return *plan_; }
    const VectorOptions& options() const { return options_; }

    /// alm: [batch, 2 (1 for one part), layout.size()], the scalars, in host memory, where a copy of them is
    /// made; a_00 counts for nothing. map: [batch, 2, n_pixels], where ShtPlan::synthesize takes it.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map, const Progress& progress = {}) const;

    /// The scalars of vectors, by zonal::analyze on the spin-1 field, with a_00 = 0. Shapes and memory as for
    /// synthesize; with one part alone the other is left out of the vectors.
    template <class T>
    AnalysisReport analyze(ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                           const AnalysisOptions& options = {}) const;

  private:
    /// Where a scalar goes among the coefficients of the plan, and with which sign.
    struct Place {
        std::int64_t part;
        double sign;
    };
    Place place_of(std::int64_t scalar) const;
    /// [lmax + 1]: what scalars of degree l are multiplied with, but for the sign; 0 for l = 0.
    std::vector<double> factors() const;

    VectorOptions options_;
    std::shared_ptr<const ShtPlan> plan_;
};

}  // namespace zonal
