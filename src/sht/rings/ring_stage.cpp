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

// Plain loops over the block's lanes: the compiler vectorises them for each target.
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

HWY_INLINE void multiply(const Lanes& a_re, const Lanes& a_im, const Lanes& b_re, const Lanes& b_im,
                         Lanes& re, Lanes& im) {
    for (std::int64_t j = 0; j < block_size; ++j) {
        re[j] = a_re[j] * b_re[j] - a_im[j] * b_im[j];
        im[j] = a_re[j] * b_im[j] + a_im[j] * b_re[j];
    }
}

/// exp(i m phi_0) of every lane for m = 0, 1, ...: products of tables, so that no error grows with m. The
/// table's own entries are products of two of its first.
class Phases {
  public:
    Phases(const PhaseTable::Angles& phi_0, PhaseTable& table) : table_(table) {
        if (table.is_filled && table.phi_0 == phi_0) return;
        table.phi_0 = phi_0;
        table.is_filled = true;
        constexpr std::int64_t step = 8;
        for (std::int64_t k = 0; k < PhaseTable::run; ++k)
            if (k < step || k % step == 0)
                fill(phi_0, k, table.re[k], table.im[k]);
            else
                multiply(table.re[k - k % step], table.im[k - k % step], table.re[k % step],
                         table.im[k % step], table.re[k], table.im[k]);
    }

    void at(std::int64_t m, Lanes& re, Lanes& im) {
        const std::int64_t k = m % PhaseTable::run;
        if (k == 0) fill(table_.phi_0, m, coarse_re_, coarse_im_);
        multiply(coarse_re_, coarse_im_, table_.re[k], table_.im[k], re, im);
    }

  private:
    const PhaseTable& table_;
    Lanes coarse_re_ = {}, coarse_im_ = {};
};

/// m mod n and -m mod n of every lane, for m = 0, 1, ...
struct Bins {
    std::int64_t up[block_size] = {}, down[block_size] = {};

    void advance(const RingBlock& block) {
        for (std::int64_t j = 0; j < block_size; ++j) {
            up[j] = up[j] + 1 == block.n_pixels[j] ? 0 : up[j] + 1;
            down[j] = up[j] == 0 ? 0 : block.n_pixels[j] - up[j];
        }
    }
};

HWY_INLINE void rotate(const double* HWY_RESTRICT in, const Lanes& c, const Lanes& s, Lanes& re, Lanes& im) {
    for (std::int64_t j = 0; j < block_size; ++j) {
        re[j] = in[j] * c[j] - in[block_size + j] * s[j];
        im[j] = in[j] * s[j] + in[block_size + j] * c[j];
    }
}

void fold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field) {
    for (std::int64_t j = 0; j < block_size; ++j)
        std::fill(block.sequence[j], block.sequence[j] + block.n_pixels[j], 0.0);
    const bool same_phases = block.north_phi_0 == block.south_phi_0;
    Phases north(block.north_phi_0, block.phases[0]),
        south(block.south_phi_0, block.phases[same_phases ? 0 : 1]);
    Bins bins;
    HWY_ALIGN Lanes nc, ns, sc, ss, nr, ni, sr, si, up_re, up_im, down_re, down_im;
    for (std::int64_t m = 0; m <= block.last_m; ++m, bins.advance(block)) {
        const double* in = band.at(block.index, m) + field * fourier_block;
        north.at(m, nc, ns);
        rotate(in, nc, ns, nr, ni);
        if (same_phases) {
            rotate(in + 2 * block_size, nc, ns, sr, si);
        } else {
            south.at(m, sc, ss);
            rotate(in + 2 * block_size, sc, ss, sr, si);
        }
        if (m == 0) {  // F_0 is real
            for (std::int64_t j = 0; j < block_size; ++j)
                if (block.n_pixels[j] > 0)
                    block.sequence[j][0] += std::complex<double>(in[j], in[2 * block_size + j]);
            continue;
        }
        // F_m of north + i south, and of -m, where the fields' F are conjugate.
        for (std::int64_t j = 0; j < block_size; ++j) {
            up_re[j] = nr[j] - si[j];
            up_im[j] = ni[j] + sr[j];
            down_re[j] = nr[j] + si[j];
            down_im[j] = sr[j] - ni[j];
        }
        for (std::int64_t j = 0; j < block_size; ++j) {
            if (block.n_pixels[j] == 0) continue;
            block.sequence[j][bins.up[j]] += std::complex<double>(up_re[j], up_im[j]);
            block.sequence[j][bins.down[j]] += std::complex<double>(down_re[j], down_im[j]);
        }
    }
}

void unfold_modes(const RingBlock& block, const FourierBand& band, std::int64_t field) {
    const bool same_phases = block.north_phi_0 == block.south_phi_0;
    Phases north(block.north_phi_0, block.phases[0]),
        south(block.south_phi_0, block.phases[same_phases ? 0 : 1]);
    Bins bins;
    HWY_ALIGN Lanes c, s, nr, ni, sr, si, up_re, up_im, down_re, down_im;
    for (std::int64_t m = 0; m <= block.last_m; ++m, bins.advance(block)) {
        double* out = band.at(block.index, m) + field * fourier_block;
        for (std::int64_t j = 0; j < block_size; ++j) {
            const bool empty = block.n_pixels[j] == 0;
            const std::complex<double> up = empty ? 0 : block.sequence[j][bins.up[j]];
            const std::complex<double> down = empty ? 0 : block.sequence[j][bins.down[j]];
            up_re[j] = up.real(), up_im[j] = up.imag();
            down_re[j] = down.real(), down_im[j] = down.imag();
        }
        for (std::int64_t j = 0; j < block_size; ++j) {
            nr[j] = (up_re[j] + down_re[j]) / 2;
            ni[j] = (up_im[j] - down_im[j]) / 2;
            sr[j] = (up_im[j] + down_im[j]) / 2;
            si[j] = (down_re[j] - up_re[j]) / 2;
        }
        // Times exp(-i m phi_0): a rotation of the conjugate.
        north.at(m, c, s);
        for (std::int64_t j = 0; j < block_size; ++j) {
            out[j] = nr[j] * c[j] + ni[j] * s[j];
            out[block_size + j] = ni[j] * c[j] - nr[j] * s[j];
        }
        if (!same_phases) south.at(m, c, s);
        for (std::int64_t j = 0; j < block_size; ++j) {
            out[2 * block_size + j] = sr[j] * c[j] + si[j] * s[j];
            out[3 * block_size + j] = si[j] * c[j] - sr[j] * s[j];
        }
    }
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
    std::int64_t total = 0;
    for (std::int64_t j = 0; j < block_size; ++j) {
        const RingPair pair = pairs.pairs[block * block_size + j];
        if (pair.north >= 0) north[j] = &rings[pair.north];
        if (pair.south >= 0) south[j] = &rings[pair.south];
        const Ring* ring = north[j] != nullptr ? north[j] : south[j];
        if (ring == nullptr) continue;
        n_pixels[j] = ring->n_pixels;
        total += ring->n_pixels;
        // A missing ring takes its partner's phases.
        north_phi_0[j] = ring->phi_0;
        south_phi_0[j] = south[j] != nullptr ? south[j]->phi_0 : ring->phi_0;
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

}  // namespace zonal::sht
#endif
