#pragma once

#include "sht/legendre/legendre_cuda.cuh"

/// Rings of lengths of their own, as in HEALPix's polar caps: a pair is the complex sequence north + i south,
/// its n pixels are split in q = 4 (2, 1) interleaved parts of n / q, each of which goes through Bluestein's
/// algorithm in shared memory:
///   pixel q j + c = sum_{k < n/q} exp(2 pi i j k / (n/q)) s_c[k],
///   s_c[k] = exp(2 pi i c k / n) sum_{d < q} exp(2 pi i c d / q) Z[k + d n/q],  Z: the ring's Fourier bins.
namespace zonal::sht::cuda {

/// What the kernels read of a ring pair; -1 for a missing ring.
struct PairGeometry {
    double north_phi_0, south_phi_0, north_weight, south_weight;
    std::int64_t north_pixel, south_pixel;
    std::int32_t n_pixels, last_m;
};

/// Parts of a ring of n pixels.
inline std::int32_t cap_parts(std::int64_t n) {
    return n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
}

/// A ring pair of the caps; a ring that is treated elsewhere, or is missing, is left out.
struct CapPair {
    std::int32_t pair;
    std::int32_t has_north, has_south;
    std::int32_t n_parts, part_length;
    std::int64_t sequence;  ///< where its parts start in the buffer, complex
    std::int64_t chirp;     ///< where exp(i pi k^2 / part_length) starts
    std::int64_t filter;    ///< where the spectrum of its conjugate starts
};

/// One part of one pair.
struct CapPart {
    std::int32_t cap, part;
};

/// The parts that are padded to the same length.
struct CapClass {
    std::int32_t padded = 0;
    core::DeviceArray<CapPart> parts;
};

class RingCaps {
  public:
    /// The longest part that fits in the current device's shared memory.
    static std::int64_t longest_part();

    /// caps: pair, has_north and has_south are set; their parts must not be longer than longest_part().
    /// pairs: on the device.
    RingCaps(std::vector<CapPair> caps, const std::vector<PairGeometry>& geometry, const PairGeometry* pairs,
             const std::int64_t* fourier_origin);

    /// Doubles of scratch memory that a call needs.
    std::int64_t buffer_size() const { return 2 * n_sequence_; }
    std::int64_t bytes() const { return caps_.bytes() + chirps_.bytes() + filters_.bytes(); }

    template <class T>
    void synthesize(const PairModes* fourier, T* map, double* buffer, cudaStream_t stream) const;
    /// weighted: the pixels count with their rings' weights.
    template <class T>
    void adjoint(const T* map, bool weighted, PairModes* fourier, double* buffer, cudaStream_t stream) const;

  private:
    const PairGeometry* pairs_;
    const std::int64_t* fourier_origin_;
    std::int64_t n_sequence_ = 0, longest_ = 0;
    std::int64_t last_m_ = 0;
    core::DeviceArray<CapPair> caps_;
    core::DeviceArray<double2> chirps_, filters_;
    std::vector<CapClass> classes_;
};

}  // namespace zonal::sht::cuda
