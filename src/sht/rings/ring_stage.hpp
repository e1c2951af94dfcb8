#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "sht/legendre/legendre.hpp"
#include "zonal/grid.hpp"

/// The Fourier stage: between the F_m of one block of ring pairs and the pixels of its rings. A pair is
/// transformed as one complex sequence, north + i south.
namespace zonal::sht {

/// exp(i k phi_0) of a block's rings for the first k, which the next block may have, too.
struct PhaseTable {
    static constexpr std::int64_t run = 32;
    using Angles = std::array<double, block_size>;

    bool is_filled = false;
    Angles phi_0{};
    double re[run][block_size], im[run][block_size];
};

/// Scratch of one thread.
struct RingScratch {
    PhaseTable phases[2];  ///< of the northern rings, and of the southern ones where they differ
    std::array<fft::ComplexFft, block_size> transforms;
    core::AlignedVector<std::complex<double>> sequences;
};

/// The block's pixel sequences and their phases, of which a ring pair is one lane.
struct RingBlock {
    /// rings: what pairs counts. last_m: of the orders that the block has in its band.
    RingBlock(std::span<const Ring> rings, const RingPairs& pairs, std::int64_t block, std::int64_t last_m,
              RingScratch& scratch);

    std::int64_t index;  ///< of the block
    std::int64_t last_m;
    std::array<const Ring*, block_size> north, south;  ///< null where there is none
    std::array<std::int64_t, block_size> n_pixels;     ///< of both; 0 in empty lanes
    PhaseTable::Angles north_phi_0, south_phi_0;
    std::array<std::complex<double>*, block_size> sequence;  ///< [n_pixels], in scratch
    std::array<fft::ComplexFft*, block_size> transform;      ///< ready for n_pixels
    PhaseTable* phases;                                      ///< [2], in scratch
};

/// sequence[lane][k] = north_k + i south_k before the FFT: the modes m = -last_m..last_m times exp(i m
/// phi_0), each added to bin m mod n. The band must have all orders up to last_m.
void fold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field);

/// The transpose, after the forward FFT: the band from the sequences.
void unfold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field);

}  // namespace zonal::sht
