#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/cuda.cuh"
#include "radial/pixel_sum/cuda_tables.hpp"
#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/schedule.hpp"

/// The stages of the pixel sum on CUDA, as on the CPU (pixel_sum_stages.hpp). T: in which sums are done, Map:
/// of which the maps are, components: 1, or 2 of Q and U.
namespace zonal::radial::cuda {

/// An input ring in a filter of a block. first_weight: of [n_taps][filter_rings] or, of Q and U, of four such
/// (filter_parts in equal_cuda.cu).
struct CudaFilter {
    int row, left, right;
    std::int64_t n_taps, first_weight;
};

/// Output rings that share what is loaded of the input.
struct CudaFilterBlock {
    std::int64_t first_filter, end_filter;
    int n_rings;
    CudaRing rings[filter_rings];
};

struct CudaBand {
    std::int64_t n_pixels, halo;
    int first_row, n_rows, first_block, n_blocks;
};

/// Sets every output ring that is not alone to its filtered input, or to zero.
template <class T, int components>
class EqualStage {
  public:
    /// Adds to `direct` the pairs of bands that are too wide for shared memory.
    EqualStage(const PixelSumSchedule& schedule, DirectPairs& direct);

    template <class Map>
    void run(const Fields<const Map>& in, const Fields<Map>& out, cudaStream_t stream) const;

  private:
    struct HostArrays;
    static HostArrays host_arrays(const PixelSumSchedule& schedule, DirectPairs& direct);
    explicit EqualStage(const HostArrays& host);

    core::DeviceArray<CudaBand> bands_;
    core::DeviceArray<CudaRing> rows_;
    core::DeviceArray<CudaFilterBlock> blocks_;
    core::DeviceArray<CudaFilter> filters_;
    core::DeviceArray<T> weights_;
    core::DeviceArray<CudaTask> tasks_;
    std::int64_t shared_bytes_ = 0;
    int n_warps_ = 1;
};

/// A ring (and its mirrored one) of folded input: [image / 4][pixel][image % 4] from `first` on, its pixels
/// beginning with pixel `from`.
struct CudaFoldedRow {
    CudaRing ring, mirrored;
    bool has_mirrored;
    std::int64_t from, n_pixels, first;
};

/// Output rings of the square stage that read the input together.
inline constexpr int square_rings = 2;

/// An output ring of the square stage; is_set: by an earlier stage, so that its sums are added.
struct CudaSquareRing {
    CudaRing ring, mirrored;
    bool has_mirrored, is_set;
};

/// square_rings of them, one below the other, or fewer.
struct CudaSquareGroup {
    CudaSquareRing rings[square_rings];
    int n_rings;
    std::int64_t first_pair, end_pair;
};

/// An input ring's part in a group; n_taps = 0 where it has none in a ring.
struct CudaSquarePair {
    SquareTaps taps[square_rings];
    std::int64_t row_pixels;
};

/// Adds the sums over the input rings of kind square; sets the rings that are alone.
template <class T>
class SquareStage {
  public:
    /// Does nothing.
    SquareStage() = default;
    /// Adds to `direct` the pairs whose weights no table gives.
    SquareStage(const PixelSumSchedule& schedule, int threads, DirectPairs& direct);

    /// Elements of the folded input.
    std::int64_t folded_size() const { return folded_size_; }
    template <class Map>
    void run(const Map* in, T* folded, Map* out, cudaStream_t stream) const;

  private:
    struct HostArrays;
    static HostArrays host_arrays(const PixelSumSchedule& schedule, int threads, DirectPairs& direct);
    explicit SquareStage(const HostArrays& host);

    core::DeviceArray<CudaFoldedRow> rows_;
    core::DeviceArray<CudaSquareGroup> groups_;
    core::DeviceArray<CudaSquarePair> pairs_;
    core::DeviceArray<T> weights_;
    core::DeviceArray<CudaTask> tasks_, fold_tasks_;
    std::int64_t folded_size_ = 0;
};

}  // namespace zonal::radial::cuda
