#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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
                           std::int64_t n_points, int threads);

/// Values of one map at the points, [components, point].
Array<double, 3> values_of(const SpinField& field, View<const std::complex<double>, 3> alm);

/// The covariant derivatives of a field of spin s, by fields of spin s - 1 and s + 1, which have no
/// singularities at the poles. `raised` is eth f; `lowered` its conjugate operator's, 0 for spin 0.
struct EthFields {
    /// alm: [1, components, size] of the field. One map.
    EthFields(const AlmLayout& layout, int spin, View<const std::complex<double>, 3> alm, double error,
              View<const double, 1> theta, View<const double, 1> phi, int threads);
    std::complex<double> raised(std::int64_t i) const;
    std::complex<double> lowered(std::int64_t i) const;
    /// Along e_theta and e_phi.
    std::complex<double> along_theta(std::int64_t i) const;
    std::complex<double> along_phi(std::int64_t i) const;

    int spin;
    Array<double, 3> up, down;  ///< [1 or 2, components, point]; without points where there is no such field
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

    std::complex<double> turn(std::int64_t i) const { return {rotation(0, i), rotation(1, i)}; }

    const LensingOptions options;
    const AlmLayout layout, potential_layout;
    const std::int64_t n_potentials;
    points::Targets targets;
    Array<double, 2> deflection;             ///< [2, point]; with derivatives
    Array<double, 2> rotation;               ///< [2, point]
    core::AlignedVector<double> theta, phi;  ///< [point], displaced; with derivatives
    std::vector<Part> parts;
    double deflection_error = 0;  ///< relative, where targets are no grid's
    double bound = 0, largest = 0, rms = 0;
};

namespace points {

/// Throws InvalidArgument unless both are in host memory and have the shapes of Lensing.
template <class A, class B>
void check_shapes(const Lensing::Implementation& lensing, const View<A, 3>& alm, const View<B, 3>& values) {
    sht::check_host("alm", alm);
    sht::check_host("values", values);
    sht::check_extent("alm", alm, 1, "components", lensing.options.components);
    sht::check_extent("alm", alm, 2, "coefficients", lensing.layout.size());
    sht::check_extent("values", values, 0, "maps", alm.extent(0));
    sht::check_extent("values", values, 1, "components", lensing.options.components);
    sht::check_extent("values", values, 2, "points", lensing.targets.n_values());
}

}  // namespace points

}  // namespace zonal
