#pragma once

#include <cstdint>
#include <memory>

#include "zonal/points/samples.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Points among the samples, sorted by where they lie. One serves the samples of every spin, where lmax,
/// mmax, error and n_points are the same. Immutable; any number of threads may use one at the same time. 32
/// bytes a point and, of the host, for a GPU's, n_samples()^2 / 32.
///
/// Values are [map, components, n_points()] in the caller's order of the points; their last axis is
/// contiguous. T is float or double. Results are the same for any number of threads; sums of `spread` are
/// rounded otherwise for another order of the same points.
class PointPlan {
  public:
    /// theta, phi: [point], in radians; phi of any number of turns. With a GPU they may be in its memory:
    /// they must be ready, or be written by work on the default stream. The call returns when it has read
    /// them. Throws InvalidArgument, naming the point, unless 0 <= theta <= pi and phi is finite. n_fields:
    /// the functions of a call, components of all maps. Points are sorted by samples for many, which takes 10
    /// ns more for each and makes calls on the CPU faster.
    PointPlan(const SphereSamples& samples, View<const double, 1> theta, View<const double, 1> phi,
              std::int64_t n_fields = 1);
    ~PointPlan();
    PointPlan(PointPlan&&) noexcept;
    PointPlan& operator=(PointPlan&&) noexcept;

    std::int64_t n_points() const;
    /// What an array of samples must have: the rows that the points reach. Without points, those of the north
    /// pole.
    SampleRows rows() const;
    const SphereSamples& samples() const;

    /// values = those of the functions at the points, Q and U along e_theta and e_phi of each point. Throws
    /// InvalidArgument for samples of a SphereSamples that differs in more than its spin, or without the
    /// points' rows.
    template <class T>
    void interpolate(const SampleArray& samples, View<T, 3> values) const;
    /// And their derivatives d/dtheta and d/dphi, of each component.
    template <class T>
    void interpolate(const SampleArray& samples, View<T, 3> values, View<T, 3> by_theta,
                     View<T, 3> by_phi) const;
    /// samples = the transpose of interpolate, for SphereSamples::adjoint.
    template <class T>
    void spread(ConstView<T, 3> values, SampleArray& samples) const;

    // For Zonal's own parts.
    class Implementation;
    const Implementation& implementation() const { return *implementation_; }

  private:
    std::unique_ptr<const Implementation> implementation_;
};

}  // namespace zonal
