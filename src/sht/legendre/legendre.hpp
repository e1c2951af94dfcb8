#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
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

/// F_m of the blocks [first, end) of ring pairs, for some orders, those of one or several runs one after the
/// other: [run][block][order of the run][field][fourier_block]. Blocks have the orders that reach them
/// (m <= last_m) only. With one run of all orders the FFT of a block reads one contiguous piece; in a
/// distributed transform each run comes from another rank.
///
/// A band for GPUs lies as their kernels read and write it, of pairs that hold a ring only:
/// [field][run][zone] [order of the run][pair of the zone][north re, im, south re, im]. Its zones are runs of
/// blocks that go to one rank each.
class FourierBand {
  public:
    /// Where at() finds an order: its run, and its place among those of the run.
    struct Place {
        std::int64_t run = -1, position = 0;
    };

    /// One run of all orders.
    FourierBand(const RingPairs& rings, std::int64_t first, std::int64_t end, std::int64_t n_fields);
    /// runs: ascending orders each, no order in two of them.
    FourierBand(const RingPairs& rings, std::int64_t first, std::int64_t end, std::int64_t n_fields,
                const std::vector<std::vector<std::int64_t>>& runs);
    /// For GPUs, of the blocks from zones[0] on; zones: where these begin, and the end of the last.
    static FourierBand of_zones(const RingPairs& rings, const std::vector<std::int64_t>& zones,
                                std::int64_t n_fields, const std::vector<std::vector<std::int64_t>>& runs);

    /// One order m of the blocks [0, end), of which the first that it reaches is `reached`: its coefficients
    /// lie there one block after the other. rows: of the blocks, [end] zeros, then 0..end; places: of all
    /// orders, zeros. Many bands share them.
    FourierBand(std::int64_t reached, std::int64_t end, std::int64_t n_fields,
                std::shared_ptr<const std::vector<std::int64_t>> rows,
                std::shared_ptr<const std::vector<Place>> places)
        : first(0),
          end(end),
          n_fields(n_fields),
          first_stored_(reached - end),
          n_stored_(2 * end - reached),
          offsets_(std::move(rows)),
          places_(std::move(places)) {}

    /// The fields' F_m, [n_fields][fourier_block]; m: an order of a run that reaches the block.
    double* at(std::int64_t block, std::int64_t m) const {
        const Place place = places_ == nullptr ? Place{0, m} : (*places_)[static_cast<std::size_t>(m)];
        return data + (offset(place.run, block) + place.position) * n_fields * fourier_block;
    }
    /// Where a run's coefficients of a block, or of the zone that begins with it, begin in a piece; those of
    /// the run's next block or zone follow.
    double* begin(std::int64_t run, std::int64_t block, std::int64_t piece = 0) const {
        return data + piece * piece_size() + offset(run, block) * row_size();
    }
    /// The same memory, of which only the blocks [first, end) are worked on.
    FourierBand part(std::int64_t first, std::int64_t end) const;
    /// Pieces that each have all runs and blocks: one, or the fields of a band for GPUs.
    std::int64_t n_pieces() const { return has_zones() ? n_fields : 1; }
    /// Doubles of all pieces, and of one run's blocks [first, end) in a piece; in a band for GPUs, both begin
    /// zones.
    std::int64_t size() const { return n_pieces() * piece_size(); }
    std::int64_t size(std::int64_t run, std::int64_t first, std::int64_t end) const {
        return (offset(run, end) - offset(run, first)) * row_size();
    }

    bool has_zones() const { return zones_ != nullptr; }
    /// For bands with zones: the zone of each block, and by zone and order, [zone * (mmax + 1) + m], what
    /// added to the number of a pair, counted from the band's first, is its number in a field.
    const std::vector<std::int32_t>& zones() const { return *zones_; }
    const std::vector<std::int64_t>& origins() const { return *origins_; }

    /// For bands with runs, and code that cannot call at(): the places by order, and rows of n_fields before
    /// those of a run and block, [run * n_stored_blocks() + number of the block among these].
    const std::vector<Place>& places() const { return *places_; }
    const std::vector<std::int64_t>& offsets() const { return *offsets_; }
    /// The largest order that reaches the block.
    std::int64_t last_m(std::int64_t block) const {
        return (*last_m_)[static_cast<std::size_t>(block - first_stored_)];
    }
    std::int64_t n_stored_blocks() const { return n_stored_; }

    std::int64_t first, end, n_fields;
    double* data = nullptr;

  private:
    FourierBand(const RingPairs& rings, std::int64_t first, std::int64_t end, std::int64_t n_fields,
                std::vector<std::int64_t> offsets, std::shared_ptr<const std::vector<Place>> places);

    /// Doubles of a row: n_fields blocks of an order, or a pair's modes.
    std::int64_t row_size() const {
        return has_zones() ? fourier_block / block_size : n_fields * fourier_block;
    }
    std::int64_t piece_size() const { return offsets_->back() * row_size(); }
    /// Rows before those of a block and run.
    std::int64_t offset(std::int64_t run, std::int64_t block) const {
        return (*offsets_)[static_cast<std::size_t>(run * n_stored_ + block - first_stored_)];
    }

    std::int64_t first_stored_, n_stored_;
    std::shared_ptr<const std::vector<std::int64_t>> offsets_;  ///< [run * n_stored + block], and the end
    std::shared_ptr<const std::vector<Place>> places_;          ///< by order; null: one run of all orders
    std::shared_ptr<const std::vector<std::int64_t>> last_m_;   ///< of the blocks; null: of one order
    std::shared_ptr<const std::vector<std::int32_t>> zones_;    ///< of the blocks; null: not for GPUs
    std::shared_ptr<const std::vector<std::int64_t>> origins_;
};

/// One step from spin s to spin s - 1 of what multiplies eps_lm and m in it (Varshalovich et al. 1988, 8.5.2
/// of d^1_{0,-1} d^l_{m,s}). With F+- of spin s:
///   sin theta F+-_l = -eps_{l+1} sqrt((l-s+1)(l-s+2)) / (l+1) F'+-_{l+1} + eps_l sqrt((l+s)(l+s-1)) / l
///   F'+-_{l-1}
///                     + m sqrt((l-s+1)(l+s)) / (l(l+1)) F'-+_l
/// The coefficients of spin s thus become those of sin theta times the field in functions of spin s - 1. The
/// step to spin 0 has the sign of Q + iU = -sum (E + iB) sY, too.
class SpinStep {
  public:
    SpinStep(int spin, std::int64_t lmax);

    /// Weights of degree l - 1, l + 1 and l in degree l, from l = m - 1 on.
    const double* below(std::int64_t m) const { return below_.data() + m + 1; }
    const double* above(std::int64_t m) const { return above_.data() + m + 1; }
    const double* across(std::int64_t m) const { return across_.data() + m + 1; }

  private:
    core::AlignedVector<double> below_, above_, across_;  ///< [l + 1], l = -1..lmax + s + 1
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
    std::vector<SpinStep> steps;  ///< from spin 1 to 0, from 2 to 1, ...
};

/// One order's coefficients: [field][l - m], l = m..lmax; field = map * components + component.
struct AlmRow {
    std::complex<double>* data;
    std::int64_t length;    ///< lmax - m + 1
    std::int64_t n_fields;  ///< maps * components
    std::complex<double>* field(std::int64_t index) const { return data + index * length; }
};

/// Room for `count` values, whose contents are unspecified. Never shrinks: resize() would write zeros when it
/// grows again.
template <class T>
T* room_for(core::AlignedVector<T>& memory, std::int64_t count) {
    if (static_cast<std::int64_t>(memory.size()) < count) memory.resize(static_cast<std::size_t>(count));
    return memory.data();
}

/// Scratch of one thread.
struct LegendreScratch {
    /// What the kernels ask memory for while they compute: the F_m of an order, -1 for none, and rows of alm,
    /// of so many bytes each.
    std::int64_t next_order = -1;
    std::vector<const std::byte*> next_rows;
    std::int64_t next_row_bytes = 0;
    core::AlignedVector<double> epsilon, alpha, steps, sums, groups, weights, tile, jacobi, spin_rows;
    core::AlignedVector<std::complex<double>> scalar_row;
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
