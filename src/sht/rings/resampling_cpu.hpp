#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "sht/legendre/legendre.hpp"
#include "zonal/sht.hpp"

/// Theta resampling on the CPU (meridian.hpp): the series of an order in cos k theta or sin k theta by a
/// transform of its values on lmax + 1 rings or a few more, its values on a finer set of samples by another,
/// and from these those of the grid's rings with a short window (a non-uniform Fourier transform of type 2,
/// Dutt & Rokhlin 1993, with a Kaiser-Bessel window). The adjoint is the transpose of each step.
namespace zonal::sht {

/// Scratch of one thread.
struct ResamplingScratch {
    core::AlignedVector<double> modes;    ///< F_m of an order on the equidistant rings
    core::AlignedVector<double> samples;  ///< [pair][north re, im, south re, im][2]
    core::AlignedVector<std::complex<double>> values, series, line;
    fft::ComplexFft of_rings, of_samples;
    double seconds = 0;  ///< spent in resampling
};

/// exp(i pi k / 2n), k < n, for the transforms of n values.
struct CosineRoots {
    std::int64_t length = 0;
    core::AlignedVector<double> re, im;
};

/// On how many equidistant rings the Legendre stage had better work, and what the transform of a field then
/// takes before the ring stage, in operations of the Legendre stage.
struct TransformRings {
    std::int64_t n_rings;  ///< 0: on those of the grid
    double work;
};

/// flops: of the Legendre stage on the grid's n_pairs ring pairs. accuracy: as ShtOptions has it. The same on
/// all machines.
TransformRings cheapest_rings(double flops, std::int64_t n_pairs, std::int64_t lmax, std::int64_t mmax,
                              double accuracy);

class CpuResampling {
  public:
    /// n_rings: as cheapest_rings gives it, or another multiple of 16 above lmax. Keeps a reference to the
    /// grid's pairs.
    CpuResampling(const RingPairs& grid, const ShtOptions& options, std::int64_t n_rings);

    /// The equidistant rings, on which the Legendre stage works.
    const RingPairs& pairs() const { return pairs_; }
    /// Room for F_m of one order on all of them.
    FourierBand band_of(std::int64_t m, std::int64_t n_fields, ResamplingScratch& scratch) const;

    /// What a thread's scratch takes.
    std::int64_t scratch_bytes(std::int64_t n_fields) const;

    /// F_m of the band's blocks that the order reaches, from those of the equidistant rings.
    void interpolate(std::int64_t m, const FourierBand& from, const FourierBand& band,
                     ResamplingScratch& scratch) const;
    /// The transpose: F_m of the equidistant rings, overwritten.
    void adjoint(std::int64_t m, const FourierBand& band, const FourierBand& to,
                 ResamplingScratch& scratch) const;

    /// Pairs of samples that the windows of a block of ring pairs reach, and where its weights begin.
    struct BlockWindow {
        std::int64_t first_pair, n_pairs, weights;
    };
    /// What the kernels of all instruction sets read.
    struct Tables {
        int spin;
        std::int64_t lmax;
        CosineRoots rings, samples;
        core::AlignedVector<double> factors;  ///< [degree] 1 / (rings * the window's transform)
        std::int64_t margin;                  ///< samples beyond the pole, and beyond the equator; even
        std::vector<BlockWindow> windows;     ///< [block of the grid]
        core::AlignedVector<double> weights;  ///< [block][pair of samples][block_size][2]
    };

  private:
    const RingPairs& grid_;
    const RingPairs pairs_;
    Tables tables_;
    std::shared_ptr<const std::vector<std::int64_t>> rows_;  ///< of bands of one order
    std::shared_ptr<const std::vector<FourierBand::Place>> places_;
};

}  // namespace zonal::sht
