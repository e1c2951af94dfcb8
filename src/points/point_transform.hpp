#pragma once

#include <complex>
#include <cstdint>
#include <optional>

#include "zonal/points/transform.hpp"

namespace zonal {

struct PointWorkspace::Storage {
    std::optional<SampleArray> samples;
    std::optional<void*> stream;  ///< of the caller's
};

namespace points {

/// Samples of n_maps maps, in the workspace.
SampleArray& samples_of(const PointTransform& transform, std::int64_t n_maps, PointWorkspace& workspace);

/// Maps that share the recurrences of a pass, and whose samples are there at once.
std::int64_t maps_at_once(const PointTransform& transform);

}  // namespace points
}  // namespace zonal
