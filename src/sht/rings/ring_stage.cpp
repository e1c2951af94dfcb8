#include "sht/rings/ring_stage.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sht/rings/ring_stage.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, block_size>;
using V = hn::Vec<D>;
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

using Lanes = double[block_size];

void fill(const PhaseTable::Angles& phi_0, std::int64_t m, Lanes& re, Lanes& im) {
    for (std::int64_t j = 0; j < block_size; ++j) {
        // Most rings of a block have one of two angles.
        const std::int64_t same = j >= 2 && phi_0[j] == phi_0[j - 2] ? j - 2 : j;
        if (same < j) {
            re[j] = re[same];
            im[j] = im[same];
            continue;
        }
        // The rounding error of m phi_0 is put back, as an angle of many turns has lost digits.
        const double angle = static_cast<double>(m) * phi_0[j];
        const double lost = std::fma(static_cast<double>(m), phi_0[j], -angle);
        const double c = std::cos(angle), s = std::sin(angle);
        re[j] = c - lost * s;
        im[j] = s + lost * c;
    }
}

/// One complex number per lane.
struct Z {
    V re, im;

    static HWY_INLINE Z load(const double* re, const double* im) {
        const D d;
        return {hn::LoadU(d, re), hn::LoadU(d, im)};
    }
    HWY_INLINE void store(double* to_re, double* to_im) const {
        const D d;
        hn::StoreU(re, d, to_re);
        hn::StoreU(im, d, to_im);
    }
    HWY_INLINE Z times(Z w) const {
        return {hn::NegMulAdd(im, w.im, hn::Mul(re, w.re)), hn::MulAdd(im, w.re, hn::Mul(re, w.im))};
    }
    /// Times the conjugate of w.
    HWY_INLINE Z over(Z w) const {
        return {hn::MulAdd(im, w.im, hn::Mul(re, w.re)), hn::NegMulAdd(re, w.im, hn::Mul(im, w.re))};
    }
};

/// exp(i m phi_0) of every lane for m = 0, 1, ...: products of tables, so that no error grows with m. The
/// table's own entries are products of two of its first.
class Phases {
  public:
    Phases(const PhaseTable::Angles& phi_0, PhaseTable& table) : table_(table) {
        if (table.is_filled && table.phi_0 == phi_0) return;
        table.phi_0 = phi_0;
        table.is_filled = true;
        constexpr std::int64_t step = 8;
        for (std::int64_t k = 0; k < PhaseTable::run; ++k) {
            const std::int64_t first = k - k % step;
            if (k < step || k == first)
                fill(phi_0, k, table.re[k], table.im[k]);
            else
                for (std::int64_t j = 0; j < block_size; j += lanes)
                    at(first, j).times(at(k % step, j)).store(table.re[k] + j, table.im[k] + j);
        }
    }

    void move_to(std::int64_t m) {
        k_ = m % PhaseTable::run;
        if (k_ == 0) fill(table_.phi_0, m, coarse_re_, coarse_im_);
    }
    /// Of the lanes from j on.
    HWY_INLINE Z get(std::int64_t j) const {
        return Z::load(coarse_re_ + j, coarse_im_ + j).times(at(k_, j));
    }

  private:
    HWY_INLINE Z at(std::int64_t k, std::int64_t j) const {
        return Z::load(table_.re[k] + j, table_.im[k] + j);
    }

    const PhaseTable& table_;
    std::int64_t k_ = 0;
    Lanes coarse_re_ = {}, coarse_im_ = {};
};

/// m mod n and -m mod n of every lane, for m = 0, 1, ..., where each pair has a sequence.
struct SequenceBins {
    const RingBlock& block;
    std::int64_t up[block_size] = {}, down[block_size] = {};

    explicit SequenceBins(const RingBlock& block) : block(block) {}
    void advance() {
        for (std::int64_t j = 0; j < block_size; ++j) {
            up[j] = up[j] + 1 == block.n_pixels[j] ? 0 : up[j] + 1;
            down[j] = up[j] == 0 ? 0 : block.n_pixels[j] - up[j];
        }
    }
    void clear(std::int64_t) const {
        for (std::int64_t j = 0; j < block_size; ++j) std::fill_n(block.sequence[j], block.n_pixels[j], 0.0);
    }
    HWY_INLINE void add(const std::int64_t (&bins)[block_size], std::int64_t first, Z value) const {
        HWY_ALIGN Lanes re, im;
        value.store(re, im);
        for (std::int64_t j = 0; j < lanes; ++j)
            if (block.n_pixels[first + j] > 0)
                block.sequence[first + j][bins[first + j]] += std::complex<double>(re[j], im[j]);
    }
    HWY_INLINE Z get(const std::int64_t (&bins)[block_size], std::int64_t first) const {
        HWY_ALIGN Lanes re, im;
        for (std::int64_t j = 0; j < lanes; ++j) {
            const std::complex<double> z =
                block.n_pixels[first + j] > 0 ? block.sequence[first + j][bins[first + j]] : 0;
            re[j] = z.real(), im[j] = z.imag();
        }
        return Z::load(re, im);
    }
};

/// The same where all pairs share rows.
struct RowBins {
    double* const rows;
    const std::int64_t length;
    /// Whether some modes share a bin; else each is written, not added.
    const bool shared;
    std::int64_t up = 0, down = 0;

    explicit RowBins(const RingBlock& block)
        : rows(block.rows->data()), length(block.rows->length()), shared(2 * block.last_m >= length) {}
    void advance() {
        up = up + 1 == length ? 0 : up + 1;
        down = up == 0 ? 0 : length - up;
    }
    void clear(std::int64_t last_m) const {
        const std::int64_t first = shared ? 0 : last_m + 1, end = shared ? length : length - last_m;
        std::fill_n(rows + 2 * block_size * first, 2 * block_size * (end - first), 0.0);
    }
    HWY_INLINE void add(std::int64_t bin, std::int64_t first, Z value) const {
        double* const re = rows + 2 * block_size * bin + first;
        if (shared) {
            const Z was = Z::load(re, re + block_size);
            value = {hn::Add(was.re, value.re), hn::Add(was.im, value.im)};
        }
        value.store(re, re + block_size);
    }
    HWY_INLINE Z get(std::int64_t bin, std::int64_t first) const {
        const double* const re = rows + 2 * block_size * bin + first;
        return Z::load(re, re + block_size);
    }
};

template <class Bins>
void fold_into(Bins bins, const RingBlock& block, const FourierBand& band, std::int64_t field) {
    bins.clear(block.last_m);
    const bool same_phases = block.north_phi_0 == block.south_phi_0;
    Phases north(block.north_phi_0, block.phases[0]),
        south(block.south_phi_0, block.phases[same_phases ? 0 : 1]);
    for (std::int64_t m = 0; m <= block.last_m; ++m, bins.advance()) {
        const double* const in = band.at(block.index, m) + field * fourier_block;
        north.move_to(m);
        if (!same_phases) south.move_to(m);
        for (std::int64_t j = 0; j < block_size; j += lanes) {
            const auto part = [&](int p) HWY_ATTR { return in + p * block_size + j; };
            if (m == 0) {  // F_0 is real
                bins.add(bins.up, j, Z::load(part(0), part(2)));
                continue;
            }
            const Z n_phase = north.get(j), s_phase = same_phases ? n_phase : south.get(j);
            const Z n = Z::load(part(0), part(1)).times(n_phase),
                    s = Z::load(part(2), part(3)).times(s_phase);
            // F_m of north + i south, and of -m, where the fields' F are conjugate.
            bins.add(bins.up, j, {hn::Sub(n.re, s.im), hn::Add(n.im, s.re)});
            bins.add(bins.down, j, {hn::Add(n.re, s.im), hn::Sub(s.re, n.im)});
        }
    }
}

template <class Bins>
void unfold_from(Bins bins, const RingBlock& block, const FourierBand& band, std::int64_t field) {
    const D d;
    const V half = hn::Set(d, 0.5);
    const bool same_phases = block.north_phi_0 == block.south_phi_0;
    Phases north(block.north_phi_0, block.phases[0]),
        south(block.south_phi_0, block.phases[same_phases ? 0 : 1]);
    for (std::int64_t m = 0; m <= block.last_m; ++m, bins.advance()) {
        double* const out = band.at(block.index, m) + field * fourier_block;
        north.move_to(m);
        if (!same_phases) south.move_to(m);
        for (std::int64_t j = 0; j < block_size; j += lanes) {
            const auto part = [&](int p) HWY_ATTR { return out + p * block_size + j; };
            const Z up = bins.get(bins.down, j), down = bins.get(bins.up, j);
            const Z n = {hn::Mul(half, hn::Add(up.re, down.re)), hn::Mul(half, hn::Sub(up.im, down.im))};
            const Z s = {hn::Mul(half, hn::Add(up.im, down.im)), hn::Mul(half, hn::Sub(down.re, up.re))};
            const Z n_phase = north.get(j), s_phase = same_phases ? n_phase : south.get(j);
            n.over(n_phase).store(part(0), part(1));
            s.over(s_phase).store(part(2), part(3));
        }
    }
}

void fold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field) {
    if (block.rows != nullptr)
        fold_into(RowBins(block), block, band, field);
    else
        fold_into(SequenceBins(block), block, band, field);
}

void unfold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field) {
    if (block.rows != nullptr)
        unfold_from(RowBins(block), block, band, field);
    else
        unfold_from(SequenceBins(block), block, band, field);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::sht {

HWY_EXPORT(fold_modes);
HWY_EXPORT(unfold_modes);

void fold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field) {
    HWY_DYNAMIC_DISPATCH(fold_modes)(block, band, field);
}

void unfold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field) {
    HWY_DYNAMIC_DISPATCH(unfold_modes)(block, band, field);
}

RingBlock::RingBlock(std::span<const Ring> rings, const RingPairs& pairs, std::int64_t block,
                     std::int64_t last_m, RingScratch& scratch)
    : index(block),
      last_m(last_m),
      north{},
      south{},
      n_pixels{},
      north_phi_0{},
      south_phi_0{},
      sequence{},
      transform{},
      phases(scratch.phases) {
    std::int64_t total = 0, n_rings = 0;
    bool one_length = true;
    for (std::int64_t j = 0; j < block_size; ++j) {
        const RingPair pair = pairs.pairs[block * block_size + j];
        if (pair.north >= 0) north[j] = &rings[pair.north];
        if (pair.south >= 0) south[j] = &rings[pair.south];
        const Ring* ring = north[j] != nullptr ? north[j] : south[j];
        if (ring == nullptr) continue;
        n_pixels[j] = ring->n_pixels;
        total += ring->n_pixels;
        ++n_rings;
        one_length = one_length && ring->n_pixels == n_pixels[0];
        // A missing ring takes its partner's phases.
        north_phi_0[j] = ring->phi_0;
        south_phi_0[j] = south[j] != nullptr ? south[j]->phi_0 : ring->phi_0;
    }
    static_assert(fft::RowFft::row == block_size);
    if (one_length && 2 * n_rings >= block_size) {
        rows = &scratch.rows;
        rows->prepare(n_pixels[0]);
        return;
    }
    if (static_cast<std::int64_t>(scratch.sequences.size()) < total) scratch.sequences.resize(total);
    std::complex<double>* next = scratch.sequences.data();
    for (std::int64_t j = 0; j < block_size; ++j) {
        sequence[j] = next;
        next += n_pixels[j];
        const bool shared = j > 0 && n_pixels[j] == n_pixels[0];
        transform[j] = shared ? transform[0] : &scratch.transforms[j];
        if (n_pixels[j] > 0) transform[j]->prepare(n_pixels[j]);
    }
}

void transform(const RingBlock& block) {
    if (block.rows != nullptr) return block.rows->backward();
    for (std::int64_t j = 0; j < block_size; ++j)
        if (block.n_pixels[j] > 0) block.transform[j]->backward(block.sequence[j]);
}

}  // namespace zonal::sht
#endif
