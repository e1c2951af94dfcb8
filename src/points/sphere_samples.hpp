#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "points/cuda/points_cuda.hpp"
#include "points/sample_choice.hpp"
#include "points/sample_stage.hpp"
#include "points/window.hpp"
#include "sht/transform_cache.hpp"
#include "zonal/points/samples.hpp"

namespace zonal {

namespace points {

/// How functions of any spin are interpolated from samples. SphereSamples that are alike but for their spin
/// share one.
struct SampleRule {
    SampleRule(const SampleChoice& choice, double error);

    const Sampling sampling;
    const Window window;
    const double named_error;
    const double rounding;
    const double bound;  ///< SphereSamples::bound()
    const WindowPolynomials polynomials;
    const std::vector<double> transforms;  ///< Window::transforms()
};

}  // namespace points

/// What copies of a SphereSamples share.
class SphereSamples::Implementation : public std::enable_shared_from_this<SphereSamples::Implementation> {
  public:
    /// options: resolved.
    Implementation(const PointOptions& options, std::shared_ptr<const points::SampleRule> given);

    const PointOptions options;
    const AlmLayout layout;
    const std::shared_ptr<const points::SampleRule> rule;
    const points::Sampling& sampling;
    const points::Window& window;
    const double bound;
    const points::WindowPolynomials& polynomials;
    const points::SampleTables tables;
    const int components;
    std::shared_ptr<const points::cuda::SampleStage> on_cuda;  ///< null where the samples are on the CPU
};

/// [map * component] fields of rows, one after the other.
struct SampleArray::Storage {
    /// Throws OutOfMemory.
    Storage(std::shared_ptr<const SphereSamples::Implementation> made_by, std::int64_t maps, SampleRows all);
    /// In memory of somebody else, with room for them, of the device that the plan computes on.
    Storage(std::shared_ptr<const SphereSamples::Implementation> made_by, std::int64_t maps, SampleRows all,
            double* lent);
    ~Storage() { sht::leave_scratch(std::move(memory)); }
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    /// The same from now on.
    void lend(double* lent, std::int64_t maps);
    /// Makes it hold `count` maps from now on; memory grows if need be.
    void set_maps(std::int64_t count);

    std::int64_t n_fields() const { return n_maps * plan->components; }
    points::SampleView field(std::int64_t f) const {
        return {data + f * (rows.end - rows.first) * plan->tables.stride, plan->tables.stride, rows};
    }
    points::SampleScratch& scratch(int thread) { return *threads[static_cast<std::size_t>(thread)]; }

    const std::shared_ptr<const SphereSamples::Implementation> plan;
    const SampleRows rows;
    std::int64_t n_maps = 0;
    // On the CPU.
    core::Scratch memory;
    double* data = nullptr;
    std::vector<std::unique_ptr<points::SampleScratch>> threads;

    std::shared_ptr<points::cuda::SampleMemory> on_cuda;  ///< or null

  private:
    /// Without room for samples.
    Storage(std::shared_ptr<const SphereSamples::Implementation> made_by, SampleRows all);
};

namespace points {

/// Threads that pay for work of about this many nanoseconds.
int threads_for(const PointOptions& options, double nanoseconds);

/// Doubles of a field of these rows.
std::int64_t field_size(const SphereSamples::Implementation& plan, SampleRows rows);

/// Rows and those that they are copies of, all of which must be there.
SampleRows completed(SampleRows rows, std::int64_t n);

/// Whether points among the samples of one lie at the same places among those of the other.
bool are_alike(const SphereSamples::Implementation& a, const SphereSamples::Implementation& b);

/// Weights of |c_k|^2 in the sums of an order, where coefficients come times 2 / w^(k).
ErrorWeights error_weights(const SphereSamples::Implementation& plan, const std::vector<double>& aliases);
/// of_orders: [mmax + 1].
PointErrors mean_errors(const OrderErrors* of_orders, const std::vector<double>& aliases, std::int64_t mmax);

/// The memory, besides the host's, that a plan's arrays may be in.
MemorySpace space_of(const SphereSamples::Implementation& plan);

/// Throws InvalidArgument unless the array is of this plan.
void check_plan(const SampleArray& samples, const SphereSamples::Implementation& plan);

}  // namespace points
}  // namespace zonal
