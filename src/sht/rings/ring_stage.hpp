#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "sht/legendre/legendre.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// The Fourier stage: between the F_m of one block of ring pairs and the pixels of its rings. A pair is
/// transformed as one complex sequence, north + i south, both ways by the backward FFT, whose bin -m has what
/// a forward one has in bin m.
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
    fft::RowFft rows;
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
    /// Where at least half of the pairs are there and all have one length, they are transformed at once: lane
    /// by lane in rows, which are ready for n_pixels. Else null, and each pair has a sequence of its own.
    fft::RowFft* rows = nullptr;
    std::array<std::complex<double>*, block_size> sequence;  ///< [n_pixels], in scratch
    std::array<fft::ComplexFft*, block_size> transform;      ///< ready for n_pixels
    PhaseTable* phases;                                      ///< [2], in scratch
};

/// sequence[lane][k] = north_k + i south_k before the FFT: the modes m = -last_m..last_m times exp(i m
/// phi_0), each added to bin m mod n. The band must have all orders up to last_m.
void fold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field);

/// The transpose, after the FFT: the band from the sequences.
void unfold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field);

// Between the sequences and the pixels of a map, which lie at the rings' first_pixel.

void transform(const RingBlock& block);

template <class T>
void write_rings(const RingBlock& block, View<T, 1> map);

/// weighted: times the rings' weights.
template <class T>
void read_rings(const RingBlock& block, View<const T, 1> map, bool weighted);

/// The sequences become W (map - what they were).
template <class T>
void subtract_from_rings(const RingBlock& block, View<const T, 1> map);

}  // namespace zonal::sht
