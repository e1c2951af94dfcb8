#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "points/lensing/displacement_math.hpp"
#include "points/lensing/targets.hpp"
#include "sht/array_checks.hpp"
#include "zonal/points/lensing.hpp"
#include "zonal/points/plan.hpp"

namespace zonal {
namespace points {

/// Points among the samples of fields of one spin.
struct SpinField {
    SpinField(const PointOptions& options, View<const double, 1> theta, View<const double, 1> phi)
        : samples(options), points(std::make_shared<const PointPlan>(samples, theta, phi)) {}
    /// The same points. options: differ in their spin alone.
    SpinField(const PointOptions& options, std::shared_ptr<const PointPlan> others)
        : samples(options), points(std::move(others)) {}
    SphereSamples samples;
    std::shared_ptr<const PointPlan> points;
};

/// Options of fields that n_points points read.
PointOptions field_options(std::int64_t lmax, std::int64_t mmax, int spin, double error,
                           std::int64_t n_points, int threads, Device device);

/// Values of maps at the points, [map, components, point].
WorkArray<double, 3> values_of(const SpinField& field, View<const std::complex<double>, 3> alm);

/// What EthValues reads.
class EthFields {
  public:
    /// alm: [1, components, size] of the field, contiguous, on the host or in the device's memory. theta,
    /// phi: in the device's memory.
    EthFields(const AlmLayout& layout, int spin, View<const std::complex<double>, 3> alm, double error,
              View<const double, 1> theta, View<const double, 1> phi, int threads, Device device);
    EthValues values() const;

  private:
    int spin_;
    WorkArray<double, 3> up_, down_;  ///< [1 or 2, components, point]; empty where there is no such field
};

}  // namespace points

/// The displaced points, and fields of the sky there.
class Lensing::Implementation {
  public:
    Implementation(points::Targets where, const DeflectionPotentials& potentials,
                   const LensingOptions& given);

    /// One of the sky's fields: its first component, and what reads it.
    struct Part {
        std::int64_t first, components;
        int spin;
        points::SpinField field;
    };

    const LensingOptions options;
    const AlmLayout layout, potential_layout;
    const std::int64_t n_potentials;
    points::Targets targets;
    points::WorkArray<double, 2> deflection;  ///< [2, point]; with derivatives
    points::WorkArray<double, 2> rotation;    ///< [2, point], cos and sin gamma
    points::WorkArray<double, 2> displaced;   ///< [2, point], theta and phi; with derivatives
    std::vector<Part> parts;
    double deflection_error = 0;  ///< relative, where targets are no grid's
    /// With derivatives: a GPU's takes time to make.
    std::optional<points::DeflectionField> deflecting;
    double bound = 0;
    points::Lengths lengths;

  private:
    points::Lengths displace_targets();
};

namespace points {

/// Throws InvalidArgument unless both are on the host or in the device's memory and have the shapes of
/// Lensing. It waits for what the caller may still do with arrays of a GPU.
template <class A, class B>
void check_arrays(const Lensing::Implementation& lensing, const View<A, 3>& alm, const View<B, 3>& values) {
    const MemorySpace space = space_on(lensing.targets.device());
    sht::check_space("alm", alm, space);
    sht::check_space("values", values, space);
    sht::check_extent("alm", alm, 1, "components", lensing.options.components);
    sht::check_extent("alm", alm, 2, "coefficients", lensing.layout.size());
    sht::check_extent("values", values, 0, "maps", alm.extent(0));
    sht::check_extent("values", values, 1, "components", lensing.options.components);
    sht::check_extent("values", values, 2, "points", lensing.targets.n_values());
    sht::check_contiguous("alm", alm);
    sht::check_contiguous("values", values);
    if (space == MemorySpace::cuda) cuda::wait_for_caller(lensing.targets.device());
}

}  // namespace points

}  // namespace zonal
