#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "fft/fft_batch.cuh"
#include "radial/ring_fft/fold.cuh"
#include "radial/ring_fft/schedule.hpp"

/// From maps to F(m) of their rings and from G(m) to maps, in precision R. Rings of one length that follow
/// each other go through one batch of real transforms; others as pairs north + i south through Bluestein's
/// algorithm, in shared memory (fft/ring_caps_cuda.cuh) or, where they are too long for it, batched by padded
/// length.
namespace zonal::radial::cuda {

/// One ring of a run.
struct RunRing {
    std::int64_t modes;  ///< where its modes start; -1: none, its bins are zero
    double phi_0, weight;
    std::int32_t n_modes;
};

/// Consecutive rings of n pixels.
struct RingRun {
    std::int64_t first_pixel, n_pixels, n_rings;
    std::int64_t n_modes;  ///< of the ring with the most
    core::DeviceArray<RunRing> rings;
    fft::cuda::FftBatch transform;
};

/// Pairs whose sequences are padded to one length.
struct PairBatch {
    std::int64_t length, n_pairs;
    std::int64_t n_modes;  ///< of the pair with the most
    core::DeviceArray<PairSequence> pairs;
    fft::cuda::FftBatch transform;
};

/// One direction: of a grid's rings to their modes, or back.
template <class R>
class RingTransforms {
  public:
    enum class Direction { to_modes, to_pixels };

    RingTransforms(const RingFftGeometry& geometry, const SumSchedule& schedule, Direction direction);

    /// Complex numbers of scratch memory that a call needs for each map, and bytes of the FFT library's.
    std::int64_t scratch_size() const { return scratch_size_; }
    std::int64_t library_bytes() const { return static_cast<std::int64_t>(library_bytes_); }
    /// Bytes that the tables take.
    std::int64_t bytes() const;

    /// Direction::to_modes: F(m) of all rings, weights included, of n_maps = 1, 2 or 4 maps, map_stride
    /// apart, which share the phases.
    template <class T>
    void transform(const T* maps, std::int64_t map_stride, std::int64_t n_maps, ModesOfMaps<Complex<R>> modes,
                   Complex<R>* scratch, void* library, cudaStream_t stream) const;
    /// Direction::to_pixels.
    template <class T>
    void transform_back(ModesOfMaps<const Complex<R>> modes, T* maps, std::int64_t map_stride,
                        std::int64_t n_maps, Complex<R>* scratch, void* library, cudaStream_t stream) const;

  private:
    template <int Maps, class T>
    void maps_to_modes(const T* maps, std::int64_t map_stride, ModesOfMaps<Complex<R>> modes,
                       Complex<R>* scratch, void* library, cudaStream_t stream) const;
    template <int Maps, class T>
    void modes_to_maps(ModesOfMaps<const Complex<R>> modes, T* maps, std::int64_t map_stride,
                       Complex<R>* scratch, void* library, cudaStream_t stream) const;
    void add_run(const Grid& grid, const std::vector<std::int64_t>& rings, std::vector<bool>& in_run,
                 const std::vector<RunRing>& ring_modes);
    void make_batches(const RingFftGeometry& geometry, const SumSchedule& schedule,
                      const std::vector<bool>& in_run);
    void make_filters();

    const Direction direction_;
    std::vector<RingRun> runs_;
    std::vector<PairBatch> batches_;
    core::DeviceArray<PairSequence> cap_pairs_;
    std::unique_ptr<fft::cuda::CapTransforms<R>> caps_;
    core::DeviceArray<Complex<R>> filters_;
    std::vector<std::pair<std::int64_t, std::int64_t>> filter_lengths_;  ///< pixels, padded length
    std::int64_t scratch_size_ = 0;
    std::size_t library_bytes_ = 0;
    mutable std::mutex library_mutex_;  ///< a cuFFT plan's stream and work area are its state
};

}  // namespace zonal::radial::cuda
