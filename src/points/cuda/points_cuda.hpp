#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/points/plan.hpp"
#include "zonal/points/samples.hpp"
#include "zonal/view.hpp"

/// What SphereSamples, SampleArray and PointPlan keep on a GPU, and what their calls do there. Arrays of the
/// caller's may lie on the host or on that GPU. Without CUDA code all of it throws BackendUnavailable.
namespace zonal::points::cuda {

class SampleStage;   ///< the tables of a SphereSamples
class SampleMemory;  ///< the samples of a SampleArray, and the scratch of calls on them
class SortedPoints;  ///< the points of a PointPlan

/// plan: outlives the stage.
std::shared_ptr<const SampleStage> make_stage(const SphereSamples::Implementation& plan);

/// stage: outlives the memory. rows: as SampleArray has them.
std::shared_ptr<SampleMemory> make_memory(const SampleStage& stage, SampleRows rows);
void set_maps(SampleMemory& memory, std::int64_t n_maps);
/// Makes it hold the samples of n_maps maps in memory of somebody else, one field after the other.
void lend(SampleMemory& memory, double* lent, std::int64_t n_maps);
/// Doubles of a field of these rows.
std::int64_t field_size(const SampleStage& stage, SampleRows rows);
/// Bytes of its own samples, without scratch.
std::int64_t bytes_of(const SampleMemory& memory);
/// As PointWorkspace::use_stream.
void use_stream(SampleMemory& memory, void* stream);

template <class T>
void synthesize(View<const std::complex<T>, 3> alm, SampleMemory& memory, std::vector<PointErrors>* errors);
template <class T>
void adjoint(SampleMemory& memory, View<std::complex<T>, 3> alm);

/// The most points of a plan: kernels step a block's width past the last one in 32 bits.
inline constexpr std::int64_t most_points = 0xffffff00;
/// plan: outlives the points, of which there are up to most_points. Throws InvalidArgument for points that
/// are nowhere.
std::shared_ptr<const SortedPoints> sort_points(const SphereSamples::Implementation& plan,
                                                View<const double, 1> theta, View<const double, 1> phi);
/// The rows that they reach.
SampleRows rows_of(const SortedPoints& points);

/// What a call writes: values and, or null, their derivatives.
template <class T>
struct PointOutputs {
    View<T, 3> values;
    const View<T, 3>* by_theta;
    const View<T, 3>* by_phi;
};

/// Calls that read one memory take turns.
template <class T>
void interpolate(const SortedPoints& points, const SampleMemory& memory, const PointOutputs<T>& outputs);
template <class T>
void spread(const SortedPoints& points, View<const T, 3> values, SampleMemory& memory);

}  // namespace zonal::points::cuda
