#pragma once

#include <vector>

#include "fft/complex.cuh"

/// Rings of lengths of their own, as in HEALPix's polar caps, in precision R: a ring and its mirror are the
/// complex sequence north + i south, its n pixels are split in q = 4 (2, 1) interleaved parts of n / q, each
/// of which goes through Bluestein's algorithm in shared memory.
namespace zonal::radial::cuda {

/// A ring and its mirror, either of which may be missing (pixel = -1), and their modes (-1: none, zero).
struct PairSequence {
    std::int64_t pixel[2], modes[2];
    double phi_0, weight[2];
    std::int64_t filter;    ///< where the spectrum of the chirp starts
    std::int64_t chirp;     ///< where exp(i pi k^2 / part_length) starts
    std::int64_t sequence;  ///< where its parts start in scratch memory
    std::int32_t n_pixels, n_modes;
    std::int32_t n_parts, part_length;
};

/// Parts of a ring of n pixels.
inline std::int32_t parts_of(std::int64_t n) {
    return n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
}

/// One part of one pair.
struct CapPart {
    std::int32_t pair, part;
};

/// Parts that are padded to one length.
struct CapClass {
    std::int32_t padded;
    core::DeviceArray<CapPart> parts;
};

template <class R>
class CapTransforms {
  public:
    /// Of this device.
    static std::int64_t longest_part();

    explicit CapTransforms(std::vector<PairSequence> pairs);

    /// Complex numbers of scratch memory that a call needs.
    std::int64_t scratch_size() const { return n_sequence_; }
    std::int64_t bytes() const { return pairs_.bytes() + chirps_.bytes() + filters_.bytes(); }

    template <class T>
    void transform(const T* map, Complex<R>* modes, Complex<R>* scratch, cudaStream_t stream) const;
    template <class T>
    void transform_back(const Complex<R>* modes, T* map, Complex<R>* scratch, cudaStream_t stream) const;

  private:
    std::int64_t n_sequence_ = 0, longest_ = 0, most_modes_ = 0;
    core::DeviceArray<PairSequence> pairs_;
    core::DeviceArray<Complex<R>> chirps_, filters_;
    std::vector<CapClass> classes_;
};

}  // namespace zonal::radial::cuda
