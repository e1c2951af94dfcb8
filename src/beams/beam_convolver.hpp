#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "beams/effective_beams.hpp"
#include "core/aligned.hpp"
#include "points/cuda/lensing_cuda.hpp"
#include "points/lensing/work_array.hpp"
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

    /// The first of a map's.
    std::int64_t field(std::int64_t map) const { return first_field + map * samples.components(); }
    std::int64_t n_maps() const { return std::ssize(beams); }
    std::int64_t n_fields() const { return n_maps() * samples.components(); }
};

/// What multiplies a field's value in a detector's sum: mod(alpha), and for k > 0 2 cos k psi and 2 sin k psi
/// of Q_k and U_k, which follow each other.
struct Term {
    std::int64_t k, field, detector;
    Modulation modulation;

    std::int64_t n_fields() const { return k == 0 ? 1 : 2; }
};

}  // namespace beams

class BeamConvolver::Implementation {
  public:
    /// options: resolved but for n_pointings.
    Implementation(const AlmLayout& layout, const View<const beams::Complex, 3>& given,
                   const BeamOptions& options, const SphereSamples& samples);

    double bound() const;
    bool is_on_gpu() const { return options.device.kind() == Device::Kind::cuda; }

    const BeamOptions options;
    const std::int64_t n_detectors, components;
    const AlmLayout sky_layout;
    const SphereSamples samples;  ///< of spin 0; those of all planes have as many, and the same window
    std::vector<beams::EffectiveBeam> effective;
    std::vector<beams::EffectiveBeam> left_out;  ///< of the orders above kmax
    std::vector<beams::Plane> planes;
    std::vector<beams::Term> terms;  ///< of all planes, by ascending field
    std::int64_t n_fields = 0;
};

namespace beams {

/// Rows of all fields, one field after the other, in the memory of the convolver's device.
struct Fields {
    /// Throws OutOfMemory and OutOfDeviceMemory.
    Fields(const BeamConvolver::Implementation& convolver, SampleRows all);
    /// On the CPU.
    points::SampleView field(std::int64_t f) const { return {data + f * field_size, stride, rows}; }
    /// The maps whose fields begin with this one, as SphereSamples wants them: those of the maps' spin, or
    /// any others of the convolver's for what is alike for all spins.
    SampleArray array(const SphereSamples& samples, std::int64_t first_field, std::int64_t n_maps) const;
    std::int64_t bytes() const { return memory.bytes() + gpu_memory.bytes(); }

    SampleRows rows;
    std::int64_t stride, field_size;
    core::Scratch memory;
    Buffer gpu_memory;
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

namespace beams {

/// psi or hwp of a set's pointings, of each of its detectors, or one row for all.
struct SetAngles {
    std::vector<core::AlignedVector<double>> sorted;  ///< on the CPU: [row][sorted pointing]
    points::WorkArray<double, 2> there;               ///< on a GPU: [row, pointing], in the caller's order

    const double* of(std::size_t i) const { return sorted[sorted.size() == 1 ? 0 : i].data(); }
};

}  // namespace beams

class Pointings::Implementation {
  public:
    /// Pointings that one or all detectors share.
    struct Set {
        PointPlan plan;
        std::vector<std::int64_t> detectors;
        beams::SetAngles psi, hwp;
        std::shared_ptr<points::cuda::ValueTransfer> transfer;  ///< of a GPU, which all sets share
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

// The same on a GPU, where fields and angles are. tod: on the host or there.
template <class T>
void scan_set_there(const BeamConvolver::Implementation& convolver, const Fields& from,
                    const Pointings::Implementation::Set& set, const View<T, 2>& tod);
template <class T>
void spread_set_there(const BeamConvolver::Implementation& convolver, const Fields& to,
                      const Pointings::Implementation::Set& set, const View<const T, 2>& tod);
/// Copies rows of angles, on the host or on the GPU, to the GPU. name: for errors.
points::WorkArray<double, 2> angles_there(const char* name, Device device,
                                          points::cuda::ValueTransfer& transfer,
                                          const std::vector<View<const double, 1>>& rows);

}  // namespace beams
}  // namespace zonal
