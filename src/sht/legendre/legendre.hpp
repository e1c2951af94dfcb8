#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "sht/rings/ring_pairs.hpp"
#include "zonal/alm.hpp"
#include "zonal/view.hpp"

/// The Legendre stage: for one order m, between coefficients a_lm and the Fourier coefficients F_m(theta) of
/// the ring pairs of a band of blocks.
namespace zonal::sht {

/// Doubles that one block takes in the Fourier coefficients, per order and field: north re, north im, south
/// re, south im, block_size lanes each.
inline constexpr std::int64_t fourier_block = 4 * block_size;

/// F_m of the blocks [first, end), for m = 0..last_m of each block: [block][m][field][fourier_block]. Block
/// by block, so that the FFT of a block reads one contiguous run.
struct FourierBand {
    FourierBand(const RingPairs& rings, std::int64_t first, std::int64_t end, std::int64_t n_fields);

    double* at(std::int64_t block, std::int64_t m) const {
        return data + (offset[block - first] + m) * n_fields * fourier_block;
    }
    /// Doubles of the whole band.
    std::int64_t size() const { return offset.back() * n_fields * fourier_block; }

    std::int64_t first, end, n_fields;
    std::vector<std::int64_t> offset;
    double* data = nullptr;
};

/// What of the Legendre functions does not depend on the ring: the start values' factors per order.
class LegendreTable {
  public:
    LegendreTable(const AlmLayout& layout, int spin);

    AlmLayout layout;
    int spin;
    int components;  ///< coefficients and maps per field: 1 for spin 0, else 2
    /// log2 of the start value's factor: spin 0: sqrt(1/4pi) prod_{k=1..m} sqrt((2k+1)/2k), the ring's part
    /// being sin^m theta; else sqrt((2L+1)/4pi) sqrt((2L)! / ((L+n)! (L-n)!)), L = max(m, s), n = min(m, s),
    /// the ring's part being powers of cos(theta/2) and sin(theta/2).
    LogTable log2_scalar, log2_wigner;
};

/// One order's coefficients: [field][l - m], l = m..lmax; field = map * components + component.
struct AlmRow {
    std::complex<double>* data;
    std::int64_t length;    ///< lmax - m + 1
    std::int64_t n_fields;  ///< maps * components
    std::complex<double>* field(std::int64_t index) const { return data + index * length; }
};

/// Scratch of one thread.
struct LegendreScratch {
    /// Order whose F_m the adjoint asks memory for while it computes; -1: none.
    std::int64_t next_order = -1;
    core::AlignedVector<double> epsilon, alpha, steps, sums, groups, weights, tile, jacobi, spin_weights;
    core::AlignedVector<std::complex<double>> row, scalar_row;
};

/// One order's transform of a band of rings.
struct LegendreOrder {
    const LegendreTable& table;
    const RingPairs& rings;
    std::int64_t m;
    const FourierBand& band;
    LegendreScratch& scratch;
};

/// Fills F_m of the band's blocks whose last_m >= m.
void legendre_synthesis(const LegendreOrder& order, const AlmRow& alm);

/// alm = sum over the band's rings; overwritten.
void legendre_adjoint(const LegendreOrder& order, const AlmRow& alm);

}  // namespace zonal::sht
