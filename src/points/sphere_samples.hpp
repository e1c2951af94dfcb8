#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/aligned.hpp"
#include "points/sample_choice.hpp"
#include "points/sample_stage.hpp"
#include "points/window.hpp"
#include "zonal/points/samples.hpp"

namespace zonal {

/// What copies of a SphereSamples share.
class SphereSamples::Implementation : public std::enable_shared_from_this<SphereSamples::Implementation> {
  public:
    /// options: resolved.
    Implementation(const PointOptions& options, const points::SampleChoice& choice,
                   const points::Window& window, double bound);

    const PointOptions options;
    const AlmLayout layout;
    const points::Sampling sampling;
    const points::Window window;
    const double bound;
    const points::WindowPolynomials polynomials;
    const points::SampleTables tables;
    const int components;
};

/// [map * component] fields of rows, one after the other.
struct SampleArray::Storage {
    /// Throws OutOfMemory.
    Storage(std::shared_ptr<const SphereSamples::Implementation> made_by, std::int64_t maps, SampleRows all);
    /// In memory of somebody else, with room for them.
    Storage(std::shared_ptr<const SphereSamples::Implementation> made_by, std::int64_t maps, SampleRows all,
            double* lent);
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
    core::Scratch memory;
    double* data = nullptr;
    std::vector<std::unique_ptr<points::SampleScratch>> threads;
};

namespace points {

/// Threads that pay for work of about this many nanoseconds.
int threads_for(const PointOptions& options, double nanoseconds);

/// Rows and those that they are copies of, all of which must be there.
SampleRows completed(SampleRows rows, std::int64_t n);

/// Throws InvalidArgument unless the array is of this plan.
void check_plan(const SampleArray& samples, const SphereSamples::Implementation& plan);

}  // namespace points
}  // namespace zonal
