#include "radial/ring_fft/rows.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "radial/ring_fft/kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace zonal::radial::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of a block that the inner loops hold in registers at once: 4 of 32 registers, 2 of 16.
inline constexpr std::int64_t unroll = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

std::complex<double> root(std::int64_t numerator, std::int64_t length) {
    const double angle =
        std::numbers::pi * static_cast<double>(numerator % (2 * length)) / static_cast<double>(length);
    return {std::cos(angle), std::sin(angle)};
}

template <class S>
void write_waves(Wave wave, std::int64_t length, std::int64_t parity, std::int64_t first_mode,
                 std::int64_t first_j, std::int64_t end_j, S* tile) {
    constexpr std::int64_t run = 16;
    // The sine is the real part a quarter of a turn before.
    const std::complex<double> before(wave == Wave::cosine ? 1 : 0, wave == Wave::cosine ? 0 : -1);
    for (std::int64_t j = first_j; j < end_j; ++j) {
        const std::int64_t q = (parity + 2 * j) % (2 * length);
        HWY_ALIGN double re[run], im[run];
        const std::complex<double> first = before * root(first_mode % (2 * length) * q, length),
                                   step = root(q, length);
        re[0] = first.real(), im[0] = first.imag();
        double c = step.real(), s = step.imag();
        for (std::int64_t have = 1; have < run; have *= 2) {  // times the step's powers 1, 2, 4, 8
            for (std::int64_t k = 0; k < have; ++k) {
                re[have + k] = re[k] * c - im[k] * s;
                im[have + k] = re[k] * s + im[k] * c;
            }
            const double square = c * c - s * s;
            s = 2 * c * s, c = square;
        }
        const std::complex<double> turn = root(run * q, length);
        const double tc = turn.real(), ts = turn.imag();
        S* const out = tile + j * mode_block;
        for (std::int64_t m = 0; m < mode_block; m += run) {
            for (std::int64_t k = 0; k < run; ++k) {
                out[m + k] = static_cast<S>(re[k]);
                const double turned = re[k] * tc - im[k] * ts;
                im[k] = re[k] * ts + im[k] * tc;
                re[k] = turned;
            }
        }
    }
}

template <class S>
void transform_rows(const S* HWY_RESTRICT values, std::int64_t n_values, const S* HWY_RESTRICT tile,
                    std::int64_t n_modes, S* HWY_RESTRICT rows) {
    const hn::CappedTag<S, 16> d;
    using V = hn::Vec<decltype(d)>;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t m = 0; m < n_modes; m += unroll * lanes) {
        V sums[row_pack][unroll];
        for (auto& row : sums)
            for (V& sum : row) sum = hn::Zero(d);
        for (std::int64_t j = 0; j < n_values; ++j) {
            V cosines[unroll];
            for (std::int64_t v = 0; v < unroll; ++v)
                cosines[v] = hn::LoadU(d, tile + j * mode_block + m + v * lanes);
            for (std::int64_t r = 0; r < row_pack; ++r) {
                const V value = hn::Set(d, values[j * row_pack + r]);
                for (std::int64_t v = 0; v < unroll; ++v)
                    sums[r][v] = hn::MulAdd(value, cosines[v], sums[r][v]);
            }
        }
        for (std::int64_t r = 0; r < row_pack; ++r)
            for (std::int64_t v = 0; v < unroll; ++v)
                hn::StoreU(sums[r][v], d, rows + r * mode_block + m + v * lanes);
    }
}

template <class S>
void add_products(std::int64_t n_rows, const S* HWY_RESTRICT rows, const S* const* HWY_RESTRICT fourier,
                  std::int64_t n_modes, S* HWY_RESTRICT sum) {
    const hn::CappedTag<S, 16> d;
    using V = hn::Vec<decltype(d)>;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t m = 0; m < n_modes; m += unroll * lanes) {
        V re[unroll], im[unroll];
        for (std::int64_t v = 0; v < unroll; ++v) {
            re[v] = hn::LoadU(d, sum + m + v * lanes);
            im[v] = hn::LoadU(d, sum + mode_block + m + v * lanes);
        }
        for (std::int64_t k = 0; k < n_rows; ++k) {
            const S* const in = fourier[k] + m;
            for (std::int64_t v = 0; v < unroll; ++v) {
                const V row = hn::LoadU(d, rows + k * mode_block + m + v * lanes);
                re[v] = hn::MulAdd(row, hn::LoadU(d, in + v * lanes), re[v]);
                im[v] = hn::MulAdd(row, hn::LoadU(d, in + mode_block + v * lanes), im[v]);
            }
        }
        for (std::int64_t v = 0; v < unroll; ++v) {
            hn::StoreU(re[v], d, sum + m + v * lanes);
            hn::StoreU(im[v], d, sum + mode_block + m + v * lanes);
        }
    }
}

// Plain loops over a block's modes from here on: the compiler vectorises them for each target.
using Block = double[mode_block];

/// exp(i m phi_0) of a block.
HWY_INLINE void block_phases(const RingPhases& phases, std::int64_t first_mode, Block& re, Block& im) {
    // The rounding error of m phi_0 is put back, as an angle of many turns has lost digits.
    const double angle = static_cast<double>(first_mode) * phases.phi_0;
    const double lost = std::fma(static_cast<double>(first_mode), phases.phi_0, -angle);
    const double cosine = std::cos(angle), sine = std::sin(angle);
    const double c = cosine - lost * sine, s = sine + lost * cosine;
    for (std::int64_t m = 0; m < mode_block; ++m) {
        re[m] = c * phases.fine[2 * m] - s * phases.fine[2 * m + 1];
        im[m] = c * phases.fine[2 * m + 1] + s * phases.fine[2 * m];
    }
}

/// Calls run(m, k, count): modes m, m + 1, ... of the block are in bins k, k + 1, ... >= 1, or (count = 0)
/// mode m is in bin 0.
template <class Run>
HWY_INLINE void for_each_run(std::int64_t n, std::int64_t first_mode, std::int64_t n_modes, const Run& run) {
    std::int64_t k = first_mode % n;
    for (std::int64_t m = 0; m < n_modes;) {
        if (k == 0) {
            run(m, 0, 0);
            ++m, k = n == 1 ? 0 : 1;
            continue;
        }
        const std::int64_t count = std::min(n_modes - m, n - k);
        run(m, k, count);
        m += count;
        k = 0;
    }
}

template <class S>
void unfold_block(const std::complex<double>* z, std::int64_t n, std::int64_t first_mode,
                  std::int64_t n_modes, const RingPhases& phases, S* HWY_RESTRICT north,
                  S* HWY_RESTRICT south) {
    HWY_ALIGN Block up_re, up_im, down_re, down_im, c, s;
    const double* const x = reinterpret_cast<const double*>(z);
    for_each_run(n, first_mode, n_modes, [&](std::int64_t m, std::int64_t k, std::int64_t count) {
        if (count == 0) {
            up_re[m] = down_re[m] = x[0], up_im[m] = down_im[m] = x[1];
            return;
        }
        const double *up = x + 2 * (n - k), *down = x + 2 * k;
        for (std::int64_t i = 0; i < count; ++i) {
            up_re[m + i] = up[-2 * i], up_im[m + i] = up[1 - 2 * i];
            down_re[m + i] = down[2 * i], down_im[m + i] = down[2 * i + 1];
        }
    });
    for (std::int64_t m = n_modes; m < mode_block; ++m) up_re[m] = up_im[m] = down_re[m] = down_im[m] = 0;
    const bool turned = phases.fine != nullptr;
    if (turned) block_phases(phases, first_mode, c, s);
    if (north != nullptr)
        for (std::int64_t m = 0; m < mode_block; ++m) {
            const double re = 0.5 * (up_re[m] + down_re[m]), im = 0.5 * (up_im[m] - down_im[m]);
            north[m] = static_cast<S>(turned ? re * c[m] + im * s[m] : re);
            north[mode_block + m] = static_cast<S>(turned ? im * c[m] - re * s[m] : im);
        }
    if (south != nullptr)
        for (std::int64_t m = 0; m < mode_block; ++m) {
            const double re = 0.5 * (up_im[m] + down_im[m]), im = 0.5 * (down_re[m] - up_re[m]);
            south[m] = static_cast<S>(turned ? re * c[m] + im * s[m] : re);
            south[mode_block + m] = static_cast<S>(turned ? im * c[m] - re * s[m] : im);
        }
}

template <class S>
void fold_block(const S* HWY_RESTRICT north, const S* HWY_RESTRICT south, std::int64_t n,
                std::int64_t first_mode, std::int64_t n_modes, const RingPhases& phases,
                std::complex<double>* z) {
    HWY_ALIGN Block up_re = {}, up_im = {}, down_re = {}, down_im = {}, c, s;
    const bool turned = phases.fine != nullptr;
    if (turned) block_phases(phases, first_mode, c, s);
    // North + i south, and of -m, where the fields' modes are conjugate.
    if (north != nullptr)
        for (std::int64_t m = 0; m < mode_block; ++m) {
            const double a = north[m], b = north[mode_block + m];
            const double re = turned ? a * c[m] - b * s[m] : a, im = turned ? a * s[m] + b * c[m] : b;
            up_re[m] += re, up_im[m] += im;
            down_re[m] += re, down_im[m] -= im;
        }
    if (south != nullptr)
        for (std::int64_t m = 0; m < mode_block; ++m) {
            const double a = south[m], b = south[mode_block + m];
            const double re = turned ? a * c[m] - b * s[m] : a, im = turned ? a * s[m] + b * c[m] : b;
            up_re[m] -= im, up_im[m] += re;
            down_re[m] += im, down_im[m] += re;
        }
    double* const x = reinterpret_cast<double*>(z);
    for_each_run(n, first_mode, n_modes, [&](std::int64_t m, std::int64_t k, std::int64_t count) {
        if (count == 0) {
            x[0] += up_re[m], x[1] += up_im[m];
            if (first_mode + m > 0) x[0] += down_re[m], x[1] += down_im[m];  // mode 0 is its own conjugate
            return;
        }
        double *up = x + 2 * k, *down = x + 2 * (n - k);
        for (std::int64_t i = 0; i < count; ++i) up[2 * i] += up_re[m + i], up[2 * i + 1] += up_im[m + i];
        for (std::int64_t i = 0; i < count; ++i)
            down[-2 * i] += down_re[m + i], down[1 - 2 * i] += down_im[m + i];
    });
}

template <class S>
constexpr RingFftLoops<S> ring_fft_table{write_waves<S>, transform_rows<S>, add_products<S>, unfold_block<S>,
                                         fold_block<S>};

// The dispatch takes functions, not templates.
const RingFftLoops<float>* float_ring_fft_loops() {
    return &ring_fft_table<float>;
}
const RingFftLoops<double>* double_ring_fft_loops() {
    return &ring_fft_table<double>;
}

}  // namespace zonal::radial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::radial {

HWY_EXPORT(float_ring_fft_loops);
HWY_EXPORT(double_ring_fft_loops);

template <>
const RingFftLoops<float>& ring_fft_loops() {
    return *HWY_DYNAMIC_DISPATCH(float_ring_fft_loops)();
}
template <>
const RingFftLoops<double>& ring_fft_loops() {
    return *HWY_DYNAMIC_DISPATCH(double_ring_fft_loops)();
}

void write_phases(double phi_0, double* fine) {
    for (std::int64_t m = 0; m < mode_block; ++m) {
        const double angle = static_cast<double>(m) * phi_0;
        const double lost = std::fma(static_cast<double>(m), phi_0, -angle);
        const double c = std::cos(angle), s = std::sin(angle);
        fine[2 * m] = c - lost * s;
        fine[2 * m + 1] = s + lost * c;
    }
}

}  // namespace zonal::radial
#endif
