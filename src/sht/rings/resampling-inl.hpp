// Theta resampling of one order: transforms of its values, and windows from samples to rings. Included once
// per SIMD target.

#if defined(ZONAL_SHT_RESAMPLING_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_RESAMPLING_INL_HPP
#undef ZONAL_SHT_RESAMPLING_INL_HPP
#else
#define ZONAL_SHT_RESAMPLING_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "sht/rings/resampling_cpu.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Complex = std::complex<double>;
using Tables = CpuResampling::Tables;
using BlockWindow = CpuResampling::BlockWindow;

/// One sample: north re, im, south re, im.
constexpr std::int64_t sample_size = 4;
using Four = hn::CappedTag<double, sample_size>;
constexpr std::int64_t four_lanes() {
    constexpr std::int64_t most = HWY_MAX_BYTES / sizeof(double);
    return HWY_TARGET == HWY_SCALAR ? 1 : std::min(most, sample_size);
}
constexpr int n_vectors = static_cast<int>(sample_size / four_lanes());
using Sample = hn::Vec<Four>[n_vectors];

HWY_INLINE void load(const double* from, Sample& x) {
    const Four d;
    for (int v = 0; v < n_vectors; ++v) x[v] = hn::LoadU(d, from + v * four_lanes());
}
HWY_INLINE void store(const Sample& x, double* to) {
    const Four d;
    for (int v = 0; v < n_vectors; ++v) hn::StoreU(x[v], d, to + v * four_lanes());
}
HWY_INLINE void multiply_add(double weight, const Sample& x, Sample& sum) {
    const Four d;
    for (int v = 0; v < n_vectors; ++v) sum[v] = hn::MulAdd(hn::Set(d, weight), x[v], sum[v]);
}

/// Values G at (j + 1/2) pi / n, j < n, are transformed in the order v_j = G_2j, v_{n-1-j} = G_{2j+1}
/// (Makhoul, 1980): cosine sums are then one complex transform of length n. With G_{2j+1} negated they are
/// sums of sines, of degree n - k in the place of k.

/// Calls visit(p, place of G_p, place of G_{n-1-p}, sign of the one, of the other) for p < n / 2.
template <class Visit>
HWY_INLINE void for_each_pair(std::int64_t n, bool sines, const Visit& visit) {
    const double sign = sines ? -1 : 1;
    for (std::int64_t i = 0; i < n / 4; ++i) {
        visit(2 * i, i, n / 2 + i, 1.0, sign);
        visit(2 * i + 1, n - 1 - i, n / 2 - 1 - i, sign, 1.0);
    }
}

/// From transformed values of one length to those of another with the same series, each of whose terms is
/// multiplied by its factor. series: scratch, [to.length + 1].
void change_length(const Tables& t, bool sines, const CosineRoots& from, const Complex* values,
                   const CosineRoots& to, Complex* series, Complex* result) {
    const std::int64_t n = from.length, n_to = to.length;
    const double* const v = reinterpret_cast<const double*>(values);
    double* const d = reinterpret_cast<double*>(series);
    double* const out = reinterpret_cast<double*>(result);
    std::fill(d, d + 2 * (n_to + 1), 0.0);
    if (!sines) {
        d[0] = t.factors[0] * v[0];
        d[1] = t.factors[0] * v[1];
    }
    for (std::int64_t k = 1; k <= t.lmax; ++k) {
        const std::int64_t a = sines ? n - k : k, b = n - a, c = sines ? n_to - k : k;
        const double half = 0.5 * t.factors[k], re = half * from.re[a], im = half * from.im[a];
        const double sum_re = v[2 * a] + v[2 * b], sum_im = v[2 * a + 1] + v[2 * b + 1];
        const double dif_re = v[2 * a] - v[2 * b], dif_im = v[2 * a + 1] - v[2 * b + 1];
        d[2 * c] = re * sum_re - im * dif_im;
        d[2 * c + 1] = re * sum_im + im * dif_re;
    }
    out[0] = d[0];
    out[1] = d[1];
    for (std::int64_t k = 1; k < n_to; ++k) {
        const double x = d[2 * k] + d[2 * (n_to - k) + 1], y = d[2 * k + 1] - d[2 * (n_to - k)];
        out[2 * k] = to.re[k] * x - to.im[k] * y;
        out[2 * k + 1] = to.re[k] * y + to.im[k] * x;
    }
}

/// The order's values on the equidistant rings, in the order of the transform. block: the first that the
/// order reaches.
void read_rings(const FourierBand& band, std::int64_t m, std::int64_t field, std::int64_t block,
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
void write_rings(const Complex* values, std::int64_t n, bool sines, std::int64_t m, std::int64_t field,
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

/// From transformed values to samples, of which `width` lie beyond the pole and beyond the equator.
void write_samples(const Complex* values, std::int64_t n, bool sines, std::int64_t width, double* samples) {
    double* const middle = samples + width * sample_size;
    for_each_pair(n, sines, [&](std::int64_t p, std::int64_t north, std::int64_t south, double a, double b) {
        double* const x = middle + p * sample_size;
        x[0] = a * values[north].real();
        x[1] = a * values[north].imag();
        x[2] = b * values[south].real();
        x[3] = b * values[south].imag();
    });
    const double sign = sines ? -1 : 1;
    double* const end = middle + n / 2 * sample_size;
    for (std::int64_t k = 0; k < width; ++k)
        for (std::int64_t c = 0; c < sample_size; ++c) {
            middle[-(k + 1) * sample_size + c] = sign * middle[k * sample_size + c];
            end[k * sample_size + c] = end[-(k + 1) * sample_size + (c + 2) % sample_size];
        }
}
/// The transpose.
void read_samples(double* samples, std::int64_t n, bool sines, std::int64_t width, Complex* values) {
    const double sign = sines ? -1 : 1;
    double* const middle = samples + width * sample_size;
    double* const end = middle + n / 2 * sample_size;
    for (std::int64_t k = 0; k < width; ++k)
        for (std::int64_t c = 0; c < sample_size; ++c) {
            middle[k * sample_size + c] += sign * middle[-(k + 1) * sample_size + c];
            end[-(k + 1) * sample_size + (c + 2) % sample_size] += end[k * sample_size + c];
        }
    for_each_pair(n, sines, [&](std::int64_t p, std::int64_t north, std::int64_t south, double a, double b) {
        const double* const x = middle + p * sample_size;
        values[north] = {a * x[0], a * x[1]};
        values[south] = {b * x[2], b * x[3]};
    });
}

/// F_m of a block of the grid's ring pairs: sums over the samples that the windows of all of them reach, of
/// which some weigh nothing in a pair's. That way a sample is read once, and written once by the transpose.
void gather_block(const BlockWindow& window, const double* HWY_RESTRICT weights,
                  const double* HWY_RESTRICT samples, double* HWY_RESTRICT out) {
    const Four d;
    Sample sum[block_size];
    for (auto& s : sum)
        for (auto& x : s) x = hn::Zero(d);
    weights += window.weights;
    samples += window.first_sample * sample_size;
    for (std::int64_t k = 0; k < window.n_samples; ++k) {
        Sample x;
        load(samples + k * sample_size, x);
        for (std::int64_t j = 0; j < block_size; ++j) multiply_add(weights[k * block_size + j], x, sum[j]);
    }
    HWY_ALIGN double rows[block_size][sample_size];
    for (std::int64_t j = 0; j < block_size; ++j) store(sum[j], rows[j]);
    for (std::int64_t c = 0; c < sample_size; ++c)
        for (std::int64_t j = 0; j < block_size; ++j) out[c * block_size + j] = rows[j][c];
}
/// The transpose: adds to the samples.
void scatter_block(const BlockWindow& window, const double* HWY_RESTRICT weights,
                   const double* HWY_RESTRICT in, double* HWY_RESTRICT samples) {
    const Four d;
    Sample x[block_size];
    HWY_ALIGN double rows[block_size][sample_size];
    for (std::int64_t c = 0; c < sample_size; ++c)
        for (std::int64_t j = 0; j < block_size; ++j) rows[j][c] = in[c * block_size + j];
    for (std::int64_t j = 0; j < block_size; ++j) load(rows[j], x[j]);
    weights += window.weights;
    samples += window.first_sample * sample_size;
    for (std::int64_t k = 0; k < window.n_samples; ++k) {
        Sample even, odd;  // two sums, which need not wait for each other
        load(samples + k * sample_size, even);
        for (auto& v : odd) v = hn::Zero(d);
        for (std::int64_t j = 0; j < block_size; j += 2) {
            multiply_add(weights[k * block_size + j], x[j], even);
            multiply_add(weights[k * block_size + j + 1], x[j + 1], odd);
        }
        for (int v = 0; v < n_vectors; ++v) even[v] = hn::Add(even[v], odd[v]);
        store(even, samples + k * sample_size);
    }
}

std::int64_t first_block(const RingPairs& rings, std::int64_t m, std::int64_t first, std::int64_t end) {
    const auto begin = rings.last_m.begin();
    return std::lower_bound(begin + first, begin + end, m) - begin;
}

void prepare(const Tables& t, ResamplingScratch& s) {
    const std::int64_t n = t.rings.length, n_samples = t.samples.length;
    s.of_rings.prepare(n);
    s.of_samples.prepare(n_samples);
    s.values.resize(static_cast<std::size_t>(n));
    s.line.resize(static_cast<std::size_t>(n_samples));
    s.series.resize(static_cast<std::size_t>(n_samples) + 1);
    s.samples.resize(static_cast<std::size_t>((n_samples / 2 + 2 * t.width) * sample_size));
}

void interpolate(const Tables& t, const RingPairs& coarse, const RingPairs& grid, std::int64_t m,
                 const FourierBand& from, const FourierBand& band, ResamplingScratch& s) {
    const bool sines = (m + t.spin) % 2 != 0;
    const std::int64_t begin = first_block(grid, m, band.first, band.end);
    if (begin == band.end) return;
    prepare(t, s);
    const std::int64_t reached = first_block(coarse, m, 0, coarse.n_blocks());
    for (std::int64_t f = 0; f < band.n_fields; ++f) {
        read_rings(from, m, f, reached, t.rings.length, sines, s.values.data());
        s.of_rings.backward(s.values.data());
        change_length(t, sines, t.rings, s.values.data(), t.samples, s.series.data(), s.line.data());
        s.of_samples.backward(s.line.data());
        write_samples(s.line.data(), t.samples.length, sines, t.width, s.samples.data());
        for (std::int64_t block = begin; block < band.end; ++block)
            gather_block(t.windows[block], t.weights.data(), s.samples.data(),
                         band.at(block, m) + f * fourier_block);
    }
}

void adjoint(const Tables& t, const RingPairs& coarse, const RingPairs& grid, std::int64_t m,
             const FourierBand& band, const FourierBand& to, ResamplingScratch& s) {
    const bool sines = (m + t.spin) % 2 != 0;
    prepare(t, s);
    const std::int64_t begin = first_block(grid, m, band.first, band.end);
    const std::int64_t reached = first_block(coarse, m, 0, coarse.n_blocks());
    for (std::int64_t f = 0; f < band.n_fields; ++f) {
        std::fill(s.samples.begin(), s.samples.end(), 0.0);
        for (std::int64_t block = begin; block < band.end; ++block)
            scatter_block(t.windows[block], t.weights.data(), band.at(block, m) + f * fourier_block,
                          s.samples.data());
        read_samples(s.samples.data(), t.samples.length, sines, t.width, s.line.data());
        s.of_samples.backward(s.line.data());
        change_length(t, sines, t.samples, s.line.data(), t.rings, s.series.data(), s.values.data());
        s.of_rings.backward(s.values.data());
        write_rings(s.values.data(), t.rings.length, sines, m, f, reached, to);
    }
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
