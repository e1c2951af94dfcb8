#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "beams/effective_beams.hpp"
#include "core/aligned.hpp"
#include "points/sample_stage.hpp"
#include "points/sphere_samples.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/points/plan.hpp"

namespace zonal {
namespace beams {

/// The fields of spin k of all beams that have this order.
struct Plane {
    std::int64_t k;
    SphereSamples samples;
    std::vector<std::int64_t> beams;  ///< [map] numbers among the effective beams
    std::int64_t first_field;         ///< of the convolver's

    std::int64_t n_maps() const { return std::ssize(beams); }
    std::int64_t n_fields() const { return n_maps() * samples.components(); }
};

/// What multiplies a field's value in a detector's sum: mod(alpha), and for k > 0 2 cos k psi and 2 sin k psi
/// of Q_k and U_k, which follow each other.
struct Term {
    std::int64_t k, field, detector;
    Modulation modulation;
};

}  // namespace beams

class BeamConvolver::Implementation {
  public:
    /// options: resolved but for n_pointings.
    Implementation(const AlmLayout& layout, const View<const beams::Complex, 3>& given,
                   const BeamOptions& options, const SphereSamples& samples);

    beams::Term term(const beams::Plane& plane, std::int64_t map) const;
    double bound() const;

    const BeamOptions options;
    const std::int64_t n_detectors, components;
    const AlmLayout sky_layout;
    const SphereSamples samples;  ///< of spin 0; those of all planes have as many, and the same window
    std::vector<beams::EffectiveBeam> effective;
    std::vector<beams::EffectiveBeam> left_out;  ///< of the orders above kmax
    std::vector<beams::Plane> planes;
    std::int64_t n_fields = 0;
};

namespace beams {

/// Rows of all fields, one field after the other.
struct Fields {
    /// Throws OutOfMemory.
    Fields(const BeamConvolver::Implementation& convolver, SampleRows all);
    points::SampleView field(std::int64_t f) const { return {data + f * field_size, stride, rows}; }
    /// Those of maps of a plane, as SphereSamples wants them.
    SampleArray array(const Plane& plane, std::int64_t first_map, std::int64_t n_maps) const;

    SampleRows rows;
    std::int64_t stride, field_size;
    core::Scratch memory;
    double* data;
};

/// alm: [1 or 2, layout.size()] = the coefficients of P_k of a beam. layout: of the sky, whose lmax is that
/// of the beam.
template <class T>
void field_of_sky(const AlmLayout& layout, int threads, const EffectiveBeam& beam, std::int64_t k,
                  const View<const std::complex<T>, 2>& sky, const View<Complex, 2>& alm);
/// sky: [component, layout.size()] += the transpose.
void add_sky_of_field(const AlmLayout& layout, int threads, const EffectiveBeam& beam, std::int64_t k,
                      const View<const Complex, 2>& alm, const View<Complex, 2>& sky);

/// sky: [component, sky_layout.size()], zeros at first, = the transpose of making planes. The fields are used
/// up.
void add_sky_of_planes(const BeamConvolver::Implementation& convolver, const Fields& fields,
                       const View<Complex, 2>& sky);

/// Throws InvalidArgument unless there are the rows that pointings need.
void check_rows(const SphereSamples& samples, SampleRows there, SampleRows needed);

}  // namespace beams

struct BeamPlanes::Storage {
    Storage(std::shared_ptr<const BeamConvolver::Implementation> made_by, SampleRows rows)
        : convolver(std::move(made_by)), fields(*convolver, rows) {}

    std::shared_ptr<const BeamConvolver::Implementation> convolver;
    const beams::Fields fields;
};

class Pointings::Implementation {
  public:
    /// Pointings that one or all detectors share.
    struct Set {
        PointPlan plan;
        std::vector<std::int64_t> detectors;
        /// [detector of the set, or one of all][sorted pointing]
        std::vector<core::AlignedVector<double>> psi, hwp;

        const double* psi_of(std::size_t i) const { return psi[psi.size() == 1 ? 0 : i].data(); }
        const double* hwp_of(std::size_t i) const { return hwp[hwp.size() == 1 ? 0 : i].data(); }
    };

    std::shared_ptr<const BeamConvolver::Implementation> convolver;
    std::vector<Set> sets;
    std::int64_t n_pointings = 0;
    SampleRows rows;
};

namespace beams {

/// tod: [detector, pointing], of the set's detectors = sums over the fields, which have the pointings' rows.
template <class T>
void scan_set(const BeamConvolver::Implementation& convolver, const Fields& from,
              const Pointings::Implementation::Set& set, const View<T, 2>& tod);
/// The transpose; it writes all of the fields.
template <class T>
void spread_set(const BeamConvolver::Implementation& convolver, const Fields& to,
                const Pointings::Implementation::Set& set, const View<const T, 2>& tod);

}  // namespace beams
}  // namespace zonal
