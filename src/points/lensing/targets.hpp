#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/aligned.hpp"
#include "zonal/grid.hpp"
#include "zonal/points/lensing.hpp"
#include "zonal/sht.hpp"

namespace zonal::points {

/// Where a sky is lensed: the pixels of a grid, or points.
class Targets {
  public:
    Targets(const Grid& grid, int threads);
    Targets(View<const double, 1> theta, View<const double, 1> phi, int threads);

    std::int64_t n_points() const { return n_points_; }
    /// Values in the caller's arrays, which have pixels in no ring, too; these are no points.
    std::int64_t n_values() const { return n_values_; }
    const std::optional<Grid>& grid() const { return grid_; }
    /// The value of each point; empty where they are numbered alike.
    const std::vector<std::int64_t>& values() const { return values_; }
    View<const double, 1> theta() const { return {theta_.data(), {n_points()}}; }
    View<const double, 1> phi() const { return {phi_.data(), {n_points()}}; }
    /// Takes the memory of theta and phi, of which a grid's are needed no more, away.
    void forget_angles() {
        theta_ = core::AlignedVector<double>();
        phi_ = core::AlignedVector<double>();
    }

    /// out = in, one number for each point and for each value.
    template <class In, class Out>
    void scatter(const In& in, const Out& out) const {
        for (std::int64_t i = 0; i < n_points(); ++i) out[value_of(i)] = in[i];
    }
    template <class In, class Out>
    void gather(const In& in, const Out& out) const {
        for (std::int64_t i = 0; i < n_points(); ++i) out[i] = in[value_of(i)];
    }

  private:
    std::int64_t value_of(std::int64_t point) const {
        return values_.empty() ? point : values_[static_cast<std::size_t>(point)];
    }

    std::int64_t n_values_, n_points_;
    int threads_;
    std::optional<Grid> grid_;
    std::vector<std::int64_t> values_;
    core::AlignedVector<double> theta_, phi_;
};

/// E and B of the deflections, [1, 1 or 2, size]: sqrt(l (l + 1)) times the potentials. Throws
/// InvalidArgument for potentials of a wrong shape, of degree 0 alone, and that are not finite.
Array<std::complex<double>, 3> deflection_alm(const DeflectionPotentials& potentials);

/// At least the largest |d| on the sphere: the sum over l of what each degree has at most.
double largest_deflection_of(const AlmLayout& layout, const Array<std::complex<double>, 3>& alm);

/// The transform from deflection_alm to deflections on a grid.
std::shared_ptr<const ShtPlan> deflection_plan(const Grid& grid, const AlmLayout& layout,
                                               std::int64_t n_potentials, int threads);

/// Turns potentials to deflections at targets, and back.
class DeflectionField {
  public:
    /// error: of the deflections at points in no grid, relative to the largest on the sphere.
    DeflectionField(const Targets& targets, const AlmLayout& layout, std::int64_t n_potentials, double error,
                    int threads);
    /// deflection: [2, target.n_points()]
    void synthesize(const Array<std::complex<double>, 3>& alm, View<double, 2> deflection) const;
    /// gradient: [1 or 2, size], by the potentials.
    void adjoint(View<const double, 2> by_deflection, View<std::complex<double>, 2> gradient) const;

  private:
    const Targets& targets_;
    AlmLayout layout_;
    std::int64_t n_potentials_;
    double error_;
    int threads_;
    std::shared_ptr<const ShtPlan> plan_;  ///< of a grid
};

}  // namespace zonal::points
