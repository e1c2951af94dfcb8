#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "fft/fft_batch.cuh"
#include "fft/ring_caps_cuda.cuh"
#include "sht/legendre/legendre_cuda.cuh"
#include "zonal/grid.hpp"

/// The Fourier stage on CUDA: between the F_m of the ring pairs and the pixels. Runs of many rings of one
/// length are real FFTs in one call; the rings of the polar caps, each of its own length, are pairs north + i
/// south through Bluestein's algorithm, in shared memory (fft/ring_caps_cuda.cuh) or, where they are too long
/// for that, batched by padded length.
namespace zonal::sht::cuda {

using fft::cuda::blocks_of, fft::cuda::ring_threads;

/// What the kernels read of a ring pair; -1 for a missing ring.
struct PairGeometry {
    double north_phi_0, south_phi_0, north_weight, south_weight;
    std::int64_t north_pixel, south_pixel;
    std::int32_t n_pixels, last_m;
};

/// One ring of a run: its pair and whether it is the southern one.
struct RunRing {
    std::int32_t pair;
    std::int32_t south;
};

/// A pair of a run, its rings' places in the run; -1 for a missing ring.
struct RunPair {
    std::int32_t pair, north, south;
};

/// Between the spectra and the pixels of some rings of one length.
struct RunTransforms {
    RunTransforms(std::int64_t n_pixels, std::int64_t n_rings);
    fft::cuda::FftBatch synthesis, adjoint;  ///< complex to real, real to complex
    mutable std::mutex mutex;  ///< a handle carries the stream of the call that is being enqueued
};
/// Those of some stages, which share them, by pixels of a ring and rings: to make one takes a millisecond.
using RunTransformsBySize =
    std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const RunTransforms>>;

/// Rings that lie one after the other in the map.
struct RunPiece {
    std::int64_t first_pixel, n_rings;
    std::shared_ptr<const RunTransforms> transforms;
};

/// Rings of one length: the rings of the pieces, one after the other.
struct RingRun {
    std::int64_t n_pixels, n_rings;
    std::vector<RunPiece> pieces;
    core::DeviceArray<RunRing> rings;
    core::DeviceArray<RunPair> pairs;  ///< empty unless the run holds whole pairs, 2 last_m <= n
};

/// Ring pairs [first, end).
struct PairRange {
    std::int64_t first, end;
};

/// One pair of a Bluestein batch; a ring that belongs to a run, or is missing, is left out.
struct BluesteinPair {
    std::int32_t pair;
    std::int32_t has_north, has_south;
    std::int64_t filter;  ///< where its filter's spectrum starts
};

/// Pairs with the same padded length.
struct BluesteinBatch {
    std::int64_t length, n_pairs;
    core::DeviceArray<BluesteinPair> pairs;
    fft::cuda::FftBatch transform;
};

/// Device memory that a call's Fourier stage needs.
struct RingScratchSizes {
    std::int64_t buffer = 0;  ///< in doubles
    std::int64_t library_bytes = 0;

    std::int64_t bytes() const { return buffer * static_cast<std::int64_t>(sizeof(double)) + library_bytes; }
};
struct RingBuffers {
    core::DeviceArray<double> buffer;
    core::DeviceArray<char> library;  ///< of the FFT library

    void fit(RingScratchSizes sizes) {
        buffer.reserve(sizes.buffer);
        library.reserve(sizes.library_bytes);
    }
};

class RingStage {
  public:
    RingStage(const Grid& grid, const RingPairs& rings, const std::int64_t* fourier_origin);
    /// Only for pairs of the range. most_rings: that one call of the FFT library takes. transforms: of other
    /// stages, to which this one's are added.
    RingStage(const Grid& grid, const RingPairs& rings, const std::int64_t* fourier_origin, PairRange range,
              std::int64_t most_rings, RunTransformsBySize& transforms);

    RingScratchSizes scratch_sizes() const { return sizes_; }

    /// fourier: one field. Writes all pixels of the rings.
    template <class T>
    void synthesize(const PairModes* fourier, T* map, const RingBuffers& scratch, cudaStream_t stream) const;
    /// weighted: the pixels count with their rings' weights.
    template <class T>
    void adjoint(const T* map, bool weighted, PairModes* fourier, const RingBuffers& scratch,
                 cudaStream_t stream) const;
    /// The weighted adjoint of the n_pixels of map - synthesized, which the latter then holds.
    template <class T>
    void adjoint_of_residual(const T* map, std::int64_t n_pixels, T* synthesized, PairModes* fourier,
                             const RingBuffers& scratch, cudaStream_t stream) const;

  private:
    void find_runs(const Grid& grid, const RingPairs& rings, PairRange range, std::int64_t most_rings,
                   RunTransformsBySize& transforms);
    void add_run(const Grid& grid, const std::vector<std::vector<std::int64_t>>& pieces,
                 const std::vector<RunRing>& pair_of, RunTransformsBySize& transforms);
    void make_batches(const RingPairs& rings, PairRange range);
    void make_filters();

    std::vector<PairGeometry> host_pairs_;
    std::vector<bool> in_run_;  ///< per ring of the grid
    core::DeviceArray<PairGeometry> pairs_;
    const std::int64_t* fourier_origin_;
    std::int64_t n_orders_;  ///< that any ring has
    std::vector<RingRun> runs_;
    std::unique_ptr<fft::cuda::CapTransforms<double>> caps_;
    std::vector<BluesteinBatch> batches_;
    core::DeviceArray<double2> filters_;
    std::int64_t n_filters_ = 0;
    RingScratchSizes sizes_;
    mutable std::mutex library_mutex_;  ///< of the batches' handles
};

}  // namespace zonal::sht::cuda
