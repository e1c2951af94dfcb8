#pragma once

#include <cstdint>
#include <vector>

#include "radial/pixel_sum/direct_math.hpp"
#include "radial/pixel_sum/square_tables.hpp"

/// What the direct stage of the pixel sum on CUDA reads, made when a plan is.
namespace zonal::radial::cuda {

inline CudaRing cuda_ring(const SumRing& ring) {
    return {ring.first_pixel, ring.n_pixels, ring.rotation, ring.weight, ring.half};
}

/// Some pixels of a ring, or of a band: what a block does.
struct CudaTask {
    int index;
    std::int64_t first;
};

/// Pixels of a task, a thread for each and its images: two warps, as the rings of caps are short.
inline constexpr int direct_threads = 64;

struct DirectTables {
    std::vector<DirectRing> rings;
    std::vector<DirectPair> pairs;
    std::vector<CudaTask> tasks;
};

/// pairs: in any order. sets_lone_rings: those output rings that are alone have not been set before, and are
/// where they have no pairs too.
DirectTables make_direct_tables(const PixelSumSchedule& schedule, const DirectPairs& pairs,
                                bool sets_lone_rings);

}  // namespace zonal::radial::cuda
