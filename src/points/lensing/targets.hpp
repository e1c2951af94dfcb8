#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "points/cuda/lensing_cuda.hpp"
#include "points/lensing/work_array.hpp"
#include "zonal/grid.hpp"
#include "zonal/points/lensing.hpp"
#include "zonal/sht.hpp"

namespace zonal::points {

/// Where a sky is lensed: the pixels of a grid, or points.
class Targets {
  public:
    Targets(const Grid& grid, int threads, Device device);
    /// theta, phi: in the memory of the host or of the device.
    Targets(View<const double, 1> theta, View<const double, 1> phi, int threads, Device device);

    Device device() const { return device_; }
    std::int64_t n_points() const { return n_points_; }
    /// Values in the caller's arrays, which have pixels in no ring, too; these are no points.
    std::int64_t n_values() const { return n_values_; }
    const std::optional<Grid>& grid() const { return grid_; }
    /// Whether points and values are numbered alike.
    bool has_all_values() const { return values_.empty(); }
    // In the memory of the device.
    View<const double, 1> theta() const { return angles_.view()[0]; }
    View<const double, 1> phi() const { return angles_.view()[1]; }
    /// Takes the memory of theta and phi, of which a grid's are needed no more, away.
    void forget_angles() { angles_ = {}; }

    // Between points, in the memory of the device, and the caller's values, there or on the host.
    /// Each point gets its value. name: of the values, for errors.
    template <class In, class Out>
    void gather(View<const In, 1> values, View<Out, 1> points, const char* name = "values") const;
    /// Each point's value is written; other values stay.
    template <class T>
    void scatter(View<const T, 1> points, View<T, 1> values) const;

  private:
    void make_transfer();
    std::int64_t value_of(std::int64_t point) const {
        return values_.empty() ? point : values_[static_cast<std::size_t>(point)];
    }

    Device device_;
    std::int64_t n_values_, n_points_;
    int threads_;
    std::optional<Grid> grid_;
    std::vector<std::int64_t> values_;         ///< of each point; empty where they are numbered alike
    WorkArray<std::int64_t, 1> values_there_;  ///< the same on a GPU
    WorkArray<double, 2> angles_;
    std::shared_ptr<cuda::ValueTransfer> transfer_;  ///< of a GPU
};

/// E and B of the deflections, [1, 1 or 2, size]: sqrt(l (l + 1)) times the potentials. Throws
/// InvalidArgument for potentials of a wrong shape, of degree 0 alone, and that are not finite.
Array<std::complex<double>, 3> deflection_alm(const DeflectionPotentials& potentials, int threads);

/// At least the largest |d| on the sphere: the sum over l of what each degree has at most.
double largest_deflection_of(const AlmLayout& layout, const Array<std::complex<double>, 3>& alm);

/// The transform from deflection_alm to deflections on a grid.
std::shared_ptr<const ShtPlan> deflection_plan(const Grid& grid, const AlmLayout& layout,
                                               std::int64_t n_potentials, int threads, Device device);

/// Turns potentials to deflections at targets, and back.
class DeflectionField {
  public:
    /// error: of the deflections at points in no grid, relative to the largest on the sphere.
    DeflectionField(const Targets& targets, const AlmLayout& layout, std::int64_t n_potentials, double error,
                    int threads);
    /// deflection: [2, target.n_points()], in the memory of the targets' device.
    void synthesize(const Array<std::complex<double>, 3>& alm, View<double, 2> deflection) const;
    /// by_deflection: as deflection; gradient: [1 or 2, size] on the host, by the potentials.
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
