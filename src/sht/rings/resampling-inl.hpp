// Theta resampling of one order: transforms of its values, and windows from samples to rings. Included once
// per SIMD target.

#if defined(ZONAL_SHT_RESAMPLING_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_RESAMPLING_INL_HPP
#undef ZONAL_SHT_RESAMPLING_INL_HPP
#else
#define ZONAL_SHT_RESAMPLING_INL_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "core/interruption.hpp"
#include "sht/rings/resampling_cpu.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Complex = std::complex<double>;
using Tables = CpuResampling::Tables;
using BlockWindow = CpuResampling::BlockWindow;

using D = hn::CappedTag<double, block_size>;
using V = hn::Vec<D>;
constexpr std::int64_t lanes() {
    return HWY_TARGET == HWY_SCALAR ? 1 : std::min<std::int64_t>(HWY_MAX_BYTES / sizeof(double), block_size);
}

/// Two samples: north re, im, south re, im, each of both, so that a pair of weights serves every 128 bits.
constexpr std::int64_t pair_size = 8;

/// Values G at (j + 1/2) pi / n, j < n, are transformed in the order v_j = G_2j, v_{n-1-j} = G_{2j+1}
/// (Makhoul, 1980): cosine sums are then one complex transform of length n. With G_{2j+1} negated they are
/// sums of sines, of degree n - k in the place of k.

/// From transformed values of one length to those of another with the same series, each of whose terms is
/// multiplied by its factor. series: scratch, [to.length].
inline void change_length(const Tables& t, bool sines, const CosineRoots& from, const Complex* values,
                          const CosineRoots& to, Complex* series, Complex* result) {
    const D d;
    const std::int64_t n = from.length, n_to = to.length, last = lanes() - 1;
    const double* const v = reinterpret_cast<const double*>(values);
    double* const terms = reinterpret_cast<double*>(series);
    double* const out = reinterpret_cast<double*>(result);
    // Calls step(k) for vectors of k that cover [1, end), the last two of which may overlap.
    const auto for_each_vector = [](std::int64_t end, const auto& step) HWY_ATTR {
        std::int64_t k = 1;
        for (; k + lanes() <= end; k += lanes()) step(k);
        if (k < end) step(end - lanes());
    };
    // re, im of x[k..] and of x[length - k], descending.
    const auto load_both = [&](const double* x, std::int64_t length, std::int64_t k, V& a_re, V& a_im,
                               V& b_re, V& b_im) HWY_ATTR {
        hn::LoadInterleaved2(d, x + 2 * k, a_re, a_im);
        hn::LoadInterleaved2(d, x + 2 * (length - k - last), b_re, b_im);
        b_re = hn::Reverse(d, b_re);
        b_im = hn::Reverse(d, b_im);
    };
    terms[0] = sines ? 0 : t.factors[0] * v[0];
    terms[1] = sines ? 0 : t.factors[0] * v[1];
    for_each_vector(t.lmax + 1, [&](std::int64_t k) HWY_ATTR {
        V a_re, a_im, b_re, b_im, re, im;
        load_both(v, n, k, a_re, a_im, b_re, b_im);
        const V half = hn::Mul(hn::Set(d, 0.5), hn::LoadU(d, t.factors.data() + k));
        const V c = hn::Mul(half, hn::LoadU(d, from.re.data() + k)),
                s = hn::Mul(half, hn::LoadU(d, from.im.data() + k));
        const V sum_re = hn::Add(a_re, b_re), sum_im = hn::Add(a_im, b_im);
        const V dif_re = hn::Sub(a_re, b_re), dif_im = hn::Sub(a_im, b_im);
        if (sines) {
            re = hn::MulAdd(s, sum_re, hn::Mul(c, dif_im));
            im = hn::MulSub(s, sum_im, hn::Mul(c, dif_re));
        } else {
            re = hn::MulSub(c, sum_re, hn::Mul(s, dif_im));
            im = hn::MulAdd(c, sum_im, hn::Mul(s, dif_re));
        }
        hn::StoreInterleaved2(re, im, d, terms + 2 * k);
    });
    std::fill(terms + 2 * (t.lmax + 1), terms + 2 * n_to, 0.0);
    out[0] = terms[0];
    out[1] = terms[1];
    for_each_vector(n_to, [&](std::int64_t k) HWY_ATTR {
        V a_re, a_im, b_re, b_im;
        load_both(terms, n_to, k, a_re, a_im, b_re, b_im);
        const V x = sines ? hn::Add(b_re, a_im) : hn::Add(a_re, b_im);
        const V y = sines ? hn::Sub(b_im, a_re) : hn::Sub(a_im, b_re);
        const V c = hn::LoadU(d, to.re.data() + k), s = hn::LoadU(d, to.im.data() + k);
        hn::StoreInterleaved2(hn::MulSub(c, x, hn::Mul(s, y)), hn::MulAdd(c, y, hn::Mul(s, x)), d,
                              out + 2 * k);
    });
}

/// The order's values on the equidistant rings, in the order of the transform. block: the first that the
/// order reaches.
inline void read_rings(const FourierBand& band, std::int64_t m, std::int64_t field, std::int64_t block,
                       std::int64_t n, bool sines, Complex* values) {
    std::fill(values, values + n, Complex(0));
    const double sign = sines ? -1 : 1;
    for (; block < band.end; ++block) {
        const double* HWY_RESTRICT f = band.at(block, m) + field * fourier_block;
        Complex *const up = values + block * block_size / 2, *const down =
                                                                 values + n - 1 - block * block_size / 2;
        for (std::int64_t k = 0; k < block_size / 2; ++k, f += 2) {
            up[k] = {f[0], f[block_size]};
            up[n / 2 + k] = {sign * f[2 * block_size], sign * f[3 * block_size]};
            down[-k] = {sign * f[1], sign * f[block_size + 1]};
            down[-n / 2 - k] = {f[2 * block_size + 1], f[3 * block_size + 1]};
        }
    }
}
inline void write_rings(const Complex* values, std::int64_t n, bool sines, std::int64_t m, std::int64_t field,
                        std::int64_t block, const FourierBand& band) {
    const double sign = sines ? -1 : 1;
    for (; block < band.end; ++block) {
        double* HWY_RESTRICT f = band.at(block, m) + field * fourier_block;
        const Complex *const up = values + block * block_size / 2, *const down = values + n - 1 -
                                                                                 block * block_size / 2;
        for (std::int64_t k = 0; k < block_size / 2; ++k, f += 2) {
            f[0] = up[k].real();
            f[block_size] = up[k].imag();
            f[2 * block_size] = sign * up[n / 2 + k].real();
            f[3 * block_size] = sign * up[n / 2 + k].imag();
            f[1] = sign * down[-k].real();
            f[block_size + 1] = sign * down[-k].imag();
            f[2 * block_size + 1] = down[-n / 2 - k].real();
            f[3 * block_size + 1] = down[-n / 2 - k].imag();
        }
    }
}

/// Component c of sample j, of which the first is -margin.
HWY_INLINE double& sample_at(double* samples, std::int64_t margin, std::int64_t j, std::int64_t c) {
    return samples[(j + margin) / 2 * pair_size + 2 * c + (j + margin) % 2];
}

/// From transformed values to samples, of which `margin` lie beyond the pole and beyond the equator.
inline void write_samples(const Complex* values, std::int64_t n, bool sines, std::int64_t margin,
                          double* samples) {
    const double sign = sines ? -1 : 1;
    double* HWY_RESTRICT x = samples + margin / 2 * pair_size;
    for (std::int64_t i = 0; i < n / 4; ++i, x += pair_size) {
        const Complex a = values[i], b = sign * values[n - 1 - i], c = sign * values[n / 2 + i],
                      e = values[n / 2 - 1 - i];
        x[0] = a.real(), x[1] = b.real(), x[2] = a.imag(), x[3] = b.imag();
        x[4] = c.real(), x[5] = e.real(), x[6] = c.imag(), x[7] = e.imag();
    }
    for (std::int64_t k = 0; k < margin; ++k)
        for (std::int64_t c = 0; c < 4; ++c) {
            sample_at(samples, margin, -1 - k, c) = sign * sample_at(samples, margin, k, c);
            sample_at(samples, margin, n / 2 + k, c) = sample_at(samples, margin, n / 2 - 1 - k, (c + 2) % 4);
        }
}
/// The transpose.
inline void read_samples(double* samples, std::int64_t n, bool sines, std::int64_t margin, Complex* values) {
    const double sign = sines ? -1 : 1;
    for (std::int64_t k = 0; k < margin; ++k)
        for (std::int64_t c = 0; c < 4; ++c) {
            sample_at(samples, margin, k, c) += sign * sample_at(samples, margin, -1 - k, c);
            sample_at(samples, margin, n / 2 - 1 - k, (c + 2) % 4) +=
                sample_at(samples, margin, n / 2 + k, c);
        }
    const double* HWY_RESTRICT x = samples + margin / 2 * pair_size;
    for (std::int64_t i = 0; i < n / 4; ++i, x += pair_size) {
        values[i] = {x[0], x[2]};
        values[n - 1 - i] = {sign * x[1], sign * x[3]};
        values[n / 2 + i] = {sign * x[4], sign * x[6]};
        values[n / 2 - 1 - i] = {x[5], x[7]};
    }
}

#if HWY_TARGET == HWY_SCALAR
inline void gather_block(const BlockWindow& window, const double* weights, const double* samples,
                         double* out) {
    std::fill(out, out + fourier_block, 0.0);
    for (std::int64_t q = 0; q < window.n_pairs; ++q)
        for (std::int64_t j = 0; j < block_size; ++j)
            for (std::int64_t i = 0; i < pair_size; ++i)
                out[i / 2 * block_size + j] += weights[window.weights + (q * block_size + j) * 2 + i % 2] *
                                               samples[(window.first_pair + q) * pair_size + i];
}
inline void scatter_block(const BlockWindow& window, const double* weights, const double* in,
                          double* samples) {
    for (std::int64_t q = 0; q < window.n_pairs; ++q)
        for (std::int64_t j = 0; j < block_size; ++j)
            for (std::int64_t i = 0; i < pair_size; ++i)
                samples[(window.first_pair + q) * pair_size + i] +=
                    weights[window.weights + (q * block_size + j) * 2 + i % 2] * in[i / 2 * block_size + j];
}
#else
/// Vectors of a pair of samples, and ring pairs whose sums stay in registers.
constexpr int pair_vectors = static_cast<int>(pair_size / lanes());
constexpr std::int64_t rings_at_once = lanes();

/// F_m of a block of the grid's ring pairs: sums over the samples that the windows of all of them reach, of
/// which some weigh nothing in a pair's. That way a sample is read once, and written once by the transpose.
inline void gather_block(const BlockWindow& window, const double* HWY_RESTRICT weights,
                         const double* HWY_RESTRICT samples, double* HWY_RESTRICT out) {
    const D d;
    samples += window.first_pair * pair_size;
    HWY_ALIGN double rows[block_size][pair_size];
    for (std::int64_t first = 0; first < block_size; first += rings_at_once) {
        V sum[rings_at_once][pair_vectors];
        for (auto& row : sum)
            for (V& x : row) x = hn::Zero(d);
        const double* HWY_RESTRICT w = weights + window.weights + 2 * first;
        for (std::int64_t q = 0; q < window.n_pairs; ++q, w += 2 * block_size) {
            V x[pair_vectors];
            for (int v = 0; v < pair_vectors; ++v) x[v] = hn::LoadU(d, samples + q * pair_size + v * lanes());
            for (std::int64_t j = 0; j < rings_at_once; ++j) {
                const V weight = hn::LoadDup128(d, w + 2 * j);
                for (int v = 0; v < pair_vectors; ++v) sum[j][v] = hn::MulAdd(weight, x[v], sum[j][v]);
            }
        }
        for (std::int64_t j = 0; j < rings_at_once; ++j)
            for (int v = 0; v < pair_vectors; ++v) hn::Store(sum[j][v], d, rows[first + j] + v * lanes());
    }
    for (std::int64_t c = 0; c < 4; ++c)
        for (std::int64_t j = 0; j < block_size; ++j)
            out[c * block_size + j] = rows[j][2 * c] + rows[j][2 * c + 1];
}
/// The transpose: adds to the samples.
inline void scatter_block(const BlockWindow& window, const double* HWY_RESTRICT weights,
                          const double* HWY_RESTRICT in, double* HWY_RESTRICT samples) {
    const D d;
    samples += window.first_pair * pair_size;
    HWY_ALIGN double rows[block_size][pair_size];
    for (std::int64_t c = 0; c < 4; ++c)
        for (std::int64_t j = 0; j < block_size; ++j)
            rows[j][2 * c] = rows[j][2 * c + 1] = in[c * block_size + j];
    for (std::int64_t first = 0; first < block_size; first += rings_at_once) {
        V x[rings_at_once][pair_vectors];
        for (std::int64_t j = 0; j < rings_at_once; ++j)
            for (int v = 0; v < pair_vectors; ++v) x[j][v] = hn::Load(d, rows[first + j] + v * lanes());
        const double* HWY_RESTRICT w = weights + window.weights + 2 * first;
        for (std::int64_t q = 0; q < window.n_pairs; ++q, w += 2 * block_size) {
            V even[pair_vectors], odd[pair_vectors];  // two sums, which need not wait for each other
            for (int v = 0; v < pair_vectors; ++v) {
                even[v] = hn::LoadU(d, samples + q * pair_size + v * lanes());
                odd[v] = hn::Zero(d);
            }
            for (std::int64_t j = 0; j < rings_at_once; j += 2) {
                const V weight = hn::LoadDup128(d, w + 2 * j), next = hn::LoadDup128(d, w + 2 * j + 2);
                for (int v = 0; v < pair_vectors; ++v) {
                    even[v] = hn::MulAdd(weight, x[j][v], even[v]);
                    odd[v] = hn::MulAdd(next, x[j + 1][v], odd[v]);
                }
            }
            for (int v = 0; v < pair_vectors; ++v)
                hn::StoreU(hn::Add(even[v], odd[v]), d, samples + q * pair_size + v * lanes());
        }
    }
}
#endif

/// Asks for an order's F_m of a few blocks ahead, which lie too far apart for the hardware to foresee.
HWY_INLINE void prefetch(const FourierBand& band, std::int64_t block, std::int64_t m, std::int64_t field) {
    constexpr std::int64_t ahead = 8, line = 8;
    if (block + ahead >= band.end) return;
    const double* const modes = band.at(block + ahead, m) + field * fourier_block;
    for (std::int64_t k = 0; k < fourier_block; k += line) hwy::Prefetch(modes + k);
}

inline std::int64_t first_block(const RingPairs& rings, std::int64_t m, std::int64_t first,
                                std::int64_t end) {
    const auto begin = rings.last_m.begin();
    return std::lower_bound(begin + first, begin + end, m) - begin;
}

inline void prepare(const Tables& t, ResamplingScratch& s) {
    const std::int64_t n = t.rings.length, n_samples = t.samples.length;
    s.of_rings.prepare(n);
    s.of_samples.prepare(n_samples);
    s.values.resize(static_cast<std::size_t>(n));
    s.line.resize(static_cast<std::size_t>(n_samples));
    s.series.resize(static_cast<std::size_t>(std::max(n, n_samples)));
    s.samples.resize(static_cast<std::size_t>((n_samples / 2 + 2 * t.margin) * 4));
}

inline void interpolate(const Tables& t, const RingPairs& coarse, const RingPairs& grid, std::int64_t m,
                        const FourierBand& from, const FourierBand& band, ResamplingScratch& s) {
    const bool sines = (m + t.spin) % 2 != 0;
    const std::int64_t begin = first_block(grid, m, band.first, band.end);
    if (begin == band.end) return;
    prepare(t, s);
    const std::int64_t reached = first_block(coarse, m, 0, coarse.n_blocks());
    // The blocks lie far apart: in memory that is new, each takes the system a millisecond.
    core::TaskPoll poll;
    for (std::int64_t f = 0; f < band.n_fields; ++f) {
        read_rings(from, m, f, reached, t.rings.length, sines, s.values.data());
        s.of_rings.backward(s.values.data());
        change_length(t, sines, t.rings, s.values.data(), t.samples, s.series.data(), s.line.data());
        s.of_samples.backward(s.line.data());
        write_samples(s.line.data(), t.samples.length, sines, t.margin, s.samples.data());
        for (std::int64_t block = begin; block < band.end; ++block) {
            prefetch(band, block, m, f);
            gather_block(t.windows[block], t.weights.data(), s.samples.data(),
                         band.at(block, m) + f * fourier_block);
            poll();
        }
    }
}

inline void adjoint(const Tables& t, const RingPairs& coarse, const RingPairs& grid, std::int64_t m,
                    const FourierBand& band, const FourierBand& to, ResamplingScratch& s) {
    const bool sines = (m + t.spin) % 2 != 0;
    prepare(t, s);
    const std::int64_t begin = first_block(grid, m, band.first, band.end);
    const std::int64_t reached = first_block(coarse, m, 0, coarse.n_blocks());
    for (std::int64_t f = 0; f < band.n_fields; ++f) {
        std::fill(s.samples.begin(), s.samples.end(), 0.0);
        for (std::int64_t block = begin; block < band.end; ++block) {
            prefetch(band, block, m, f);
            scatter_block(t.windows[block], t.weights.data(), band.at(block, m) + f * fourier_block,
                          s.samples.data());
        }
        read_samples(s.samples.data(), t.samples.length, sines, t.margin, s.line.data());
        s.of_samples.backward(s.line.data());
        change_length(t, sines, t.samples, s.line.data(), t.rings, s.series.data(), s.values.data());
        s.of_rings.backward(s.values.data());
        write_rings(s.values.data(), t.rings.length, sines, m, f, reached, to);
    }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
