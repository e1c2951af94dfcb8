#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

#include "zonal/alm.hpp"
#include "zonal/distributed/plan.hpp"
#include "zonal/points/samples.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// A PointTransform whose ranks have some orders m of the alm each, and some of the points. Every rank makes
/// its orders' share of the samples, and has the samples of those rows that its points reach: points of one
/// band of the sky take memory for that band, points all over the sky take samples of the whole.
///
/// Results are those of one process to rounding; the bits depend on which rank has which orders. All ranks
/// compute on CPUs. It keeps its scratch memory between calls, and takes one call at a time.
class DistributedPointTransform {
  public:
    /// Collective: all ranks make it, with the same options but for their threads. orders: this rank's, those
    /// of a DistributedPlan for example, ascending; every order from 0 to mmax is one rank's. theta, phi:
    /// this rank's points, of which there may be none. options.device must be the CPU, and n_points is not
    /// used. Throws what SphereSamples and PointPlan throw, on all ranks.
    DistributedPointTransform(const Communicator& communicator, std::span<const std::int64_t> orders,
                              View<const double, 1> theta, View<const double, 1> phi,
                              const PointOptions& options);
    ~DistributedPointTransform();
    DistributedPointTransform(DistributedPointTransform&&) noexcept;
    DistributedPointTransform& operator=(DistributedPointTransform&&) noexcept;

    const Communicator& ranks() const;
    const SphereSamples& samples() const;
    /// Of this rank's alm.
    const AlmLayout& layout() const;
    std::int64_t n_points() const;
    /// Whose samples this rank has.
    SampleRows rows() const;

    /// Collective, as adjoint: the number of maps and T, float or double, are the same on all ranks, and what
    /// is wrong on one is thrown on all. values = S alm at this rank's points. alm: [map, component,
    /// layout().size()], values: [map, component, n_points()], in host memory.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> values);
    /// alm = S^T values: the sum over all ranks' points.
    template <class T>
    void adjoint(ConstView<T, 3> values, View<std::complex<T>, 3> alm);

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace zonal
