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

}  // namespace points
}  // namespace zonal
