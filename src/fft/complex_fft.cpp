#include "fft/complex_fft.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/complex_fft.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <cmath>
#include <numbers>

#include "core/transpose-inl.hpp"
#include "fft/mixed_radix-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::fft::HWY_NAMESPACE {

/// Eight sequences at once where the vectors and the length allow it, else four.
constexpr bool has_eight_lanes = HWY_MAX_BYTES >= 64 && HWY_TARGET != HWY_SCALAR;
using Lanes8 = hn::CappedTag<double, 8>;
using Lanes4 = hn::CappedTag<double, 4>;
using Lanes1 = hn::CappedTag<double, 1>;

/// x_k = sum_j x_j exp(2 pi i j k / part) in every lane, through a convolution (Bluestein, 1970):
/// j k = (j^2 + k^2 - (k-j)^2) / 2.
template <class D, std::int64_t Row = lanes_of<D>>
void bluestein(const ComplexFft::Tables& t, const MixedRadixTable& padded, core::AlignedVector<double>& x,
               core::AlignedVector<double>& y) {
    using C = ComplexV<D>;
    constexpr std::int64_t width = 2 * Row;
    const auto for_each = [&](std::int64_t end, const auto& step) HWY_ATTR {
        for (std::int64_t j = 0; j < end; ++j)
            for (std::int64_t lane = 0; lane < Row; lane += lanes_of<D>) step(j, x.data() + j * width + lane);
    };
    for_each(t.part, [&](std::int64_t j, double* at) HWY_ATTR {
        C::template load<Row>(at).times(t.chirp.data() + 2 * j).template store<Row>(at);
    });
    std::fill(x.begin() + t.part * width, x.begin() + t.padded * width, 0.0);
    transform<D, Row>(padded, x, y);
    // A backward transform with re and im exchanged is a forward one.
    for_each(t.padded, [&](std::int64_t j, double* at) HWY_ATTR {
        const C product = C::template load<Row>(at).times(t.kernel.data() + 2 * j);
        C{product.im, product.re}.template store<Row>(at);
    });
    transform<D, Row>(padded, x, y);
    for_each(t.part, [&](std::int64_t j, double* at) HWY_ATTR {
        const C swapped = C::template load<Row>(at);
        C{swapped.im, swapped.re}.times(t.chirp.data() + 2 * j).template store<Row>(at);
    });
}

/// The kernel: transform of conj(chirp), which is even in its index, divided by the length.
void write_kernel(ComplexFft::Tables& t, const MixedRadixTable& padded) {
    t.work[0].assign(2 * t.padded, 0.0);
    t.work[1].resize(2 * t.padded);
    double* x = t.work[0].data();
    for (std::int64_t j = 0; j < t.part; ++j) {
        const double re = t.chirp[2 * j], im = -t.chirp[2 * j + 1];
        x[2 * j] = re, x[2 * j + 1] = im;
        if (j > 0) x[2 * (t.padded - j)] = re, x[2 * (t.padded - j) + 1] = im;
    }
    transform<Lanes1>(padded, t.work[0], t.work[1]);
    t.kernel.resize(2 * t.padded);
    for (std::int64_t j = 0; j < 2 * t.padded; ++j)
        t.kernel[j] = t.work[0][j] / static_cast<double>(t.padded);
}

/// n_sequences: 1, which is taken apart, or as many as a row of `work` has.
void prepare(ComplexFft::Tables& t, std::int64_t length, std::int64_t n_sequences) {
    t.length = length;
    t.lanes = 1;
    if (n_sequences == 1 && length % lanes_of<Lanes4> == 0) t.lanes = lanes_of<Lanes4>;
    if (n_sequences == 1 && has_eight_lanes && length % 8 == 0) t.lanes = 8;
    t.part = length / t.lanes;
    t.combining.resize(2 * t.part);
    if (t.lanes > 1) {
        t.work[0].resize(2 * t.part);
        write_roots(length, t.part, t.work[0].data());
        for (std::int64_t q = 0; q < t.part; ++q) {
            t.combining[q] = t.work[0][2 * q];
            t.combining[t.part + q] = t.work[0][2 * q + 1];
        }
    }
    t.padded = good_length(2 * t.part - 1);
    if (bluestein_is_cheaper(t.part, t.padded)) {
        t.chirp.resize(2 * t.part);
        t.work[0].resize(4 * t.part);
        write_roots(2 * t.part, 2 * t.part, t.work[0].data());
        std::int64_t square = 0;  // j^2 mod 2 part
        for (std::int64_t j = 0; j < t.part; ++j) {
            t.chirp[2 * j] = t.work[0][2 * square];
            t.chirp[2 * j + 1] = t.work[0][2 * square + 1];
            square = (square + 2 * j + 1) % (2 * t.part);
        }
        auto& padded = t.padded_tables[t.padded];
        padded.prepare(t.padded, has_eight_lanes);
        write_kernel(t, padded);
    } else {
        t.padded = 0;
        t.direct.prepare(t.part, has_eight_lanes);
    }
    const std::int64_t needed = 2 * n_sequences * t.lanes * std::max(t.part, t.padded);
    for (auto& work : t.work) work.resize(needed);
}

/// X[q + part r] = sum_lane exp(2 pi i lane q / length) exp(2 pi i lane r / lanes) Y_lane[q] for q >= first,
/// from the vectors y[q] of all lanes.
template <int N>
void combine(const ComplexFft::Tables& t, std::int64_t first, const double* HWY_RESTRICT y,
             double* HWY_RESTRICT x) {
    using Scalar = hn::CappedTag<double, 1>;
    const Scalar d;
    for (std::int64_t q = first; q < t.part; ++q) {
        const double root[2] = {t.combining[q], t.combining[t.part + q]};
        ComplexV<Scalar> a[N], power{hn::Set(d, 1.0), hn::Zero(d)};
        for (int lane = 0; lane < N; ++lane) {
            a[lane] =
                ComplexV<Scalar>{hn::Set(d, y[2 * N * q + lane]), hn::Set(d, y[2 * N * q + N + lane])}.times(
                    power);
            power = power.times(root);
        }
        butterfly<Scalar, N>(a);
        for (int r = 0; r < N; ++r) {
            x[2 * (q + r * t.part)] = hn::GetLane(a[r].re);
            x[2 * (q + r * t.part) + 1] = hn::GetLane(a[r].im);
        }
    }
}

/// The same for four lanes, four q at a time; returns the first q left over.
std::int64_t combine_vectors(const ComplexFft::Tables& t, const double* HWY_RESTRICT y,
                             double* HWY_RESTRICT x) {
    const Lanes4 d;
    using C = ComplexV<Lanes4>;
    std::int64_t q = 0;
    for (; q + 4 <= t.part; q += 4) {
        // y: per q four re, then four im. Interleaved loads by 4 and a rearrangement make vectors over q.
        HWY_ALIGN double rows[32] = {};
        for (int k = 0; k < 4; ++k) {
            hn::Store(hn::LoadU(d, y + 8 * (q + k)), d, rows + 4 * k);
            hn::Store(hn::LoadU(d, y + 8 * (q + k) + 4), d, rows + 16 + 4 * k);
        }
        C a[4];
        hn::LoadInterleaved4(d, rows, a[0].re, a[1].re, a[2].re, a[3].re);
        hn::LoadInterleaved4(d, rows + 16, a[0].im, a[1].im, a[2].im, a[3].im);
        const C w = {hn::LoadU(d, t.combining.data() + q), hn::LoadU(d, t.combining.data() + t.part + q)};
        const C w2 = w.times(w);
        a[1] = a[1].times(w);
        a[2] = a[2].times(w2);
        a[3] = a[3].times(w2.times(w));
        butterfly<Lanes4, 4>(a);
        for (int r = 0; r < 4; ++r) hn::StoreInterleaved2(a[r].re, a[r].im, d, x + 2 * (q + r * t.part));
    }
    return q;
}

/// The same for eight lanes, eight q at a time.
template <class D>
std::int64_t combine_eight(const ComplexFft::Tables& t, const double* HWY_RESTRICT y,
                           double* HWY_RESTRICT x) {
    const D d;
    using C = ComplexV<D>;
    std::int64_t q = 0;
    for (; q + 8 <= t.part; q += 8) {
        hn::Vec<D> re[8], im[8];
        for (int k = 0; k < 8; ++k) {
            re[k] = hn::LoadU(d, y + 16 * (q + k));
            im[k] = hn::LoadU(d, y + 16 * (q + k) + 8);
        }
        core::HWY_NAMESPACE::transpose(d, re);
        core::HWY_NAMESPACE::transpose(d, im);
        const C w = {hn::LoadU(d, t.combining.data() + q), hn::LoadU(d, t.combining.data() + t.part + q)};
        const C w2 = w.times(w), w3 = w2.times(w), w4 = w2.times(w2);
        const C powers[8] = {{}, w, w2, w3, w4, w4.times(w), w3.times(w3), w4.times(w3)};
        C a[8] = {{re[0], im[0]}};
        for (int lane = 1; lane < 8; ++lane) a[lane] = C{re[lane], im[lane]}.times(powers[lane]);
        butterfly<D, 8>(a);
        for (int r = 0; r < 8; ++r) hn::StoreInterleaved2(a[r].re, a[r].im, d, x + 2 * (q + r * t.part));
    }
    return q;
}

template <class D, std::int64_t Row = lanes_of<D>>
void transform_parts(ComplexFft::Tables& t) {
    if (t.padded > 0)
        bluestein<D, Row>(t, t.padded_tables.at(t.padded), t.work[0], t.work[1]);
    else
        transform<D, Row>(t.direct, t.work[0], t.work[1]);
}

/// Takes the sequence apart into its lanes and transforms them.
template <class D>
void transform_lanes(ComplexFft::Tables& t, const double* x) {
    const D d;
    for (std::int64_t k = 0; k < t.part; ++k) {
        hn::Vec<D> re, im;
        hn::LoadInterleaved2(d, x + 2 * t.lanes * k, re, im);
        ComplexV<D>{re, im}.store(t.work[0].data() + 2 * t.lanes * k);
    }
    transform_parts<D>(t);
}

/// Transforms a sequence that is taken in eight lanes; returns whether it is. A template, as most targets
/// cannot compile what it calls.
template <class D>
bool transform_eight(ComplexFft::Tables& t, double* x) {
    if constexpr (has_eight_lanes) {
        if (t.lanes != 8) return false;
        transform_lanes<D>(t, x);
        combine<8>(t, combine_eight<D>(t, t.work[0].data(), x), t.work[0].data(), x);
        return true;
    }
    return false;
}

void backward(ComplexFft::Tables& t, std::complex<double>* sequence) {
    double* x = reinterpret_cast<double*>(sequence);
    if (t.lanes == 1) {
        std::copy(x, x + 2 * t.length, t.work[0].data());
        transform_parts<Lanes1>(t);
        std::copy(t.work[0].data(), t.work[0].data() + 2 * t.length, x);
        return;
    }
    if (transform_eight<Lanes8>(t, x)) return;
    transform_lanes<Lanes4>(t, x);
    if (t.lanes == 2)
        combine<2>(t, 0, t.work[0].data(), x);
    else
        combine<4>(t, combine_vectors(t, t.work[0].data(), x), t.work[0].data(), x);
}

void backward_rows(ComplexFft::Tables& t) {
    transform_parts<Lanes8, RowFft::row>(t);
}

}  // namespace zonal::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::fft {

HWY_EXPORT(prepare);
HWY_EXPORT(backward);
HWY_EXPORT(backward_rows);

void ComplexFft::prepare(std::int64_t length) {
    if (length == length_) return;
    HWY_DYNAMIC_DISPATCH(prepare)(tables_, length, 1);
    length_ = length;
}

void RowFft::prepare(std::int64_t length) {
    if (length == tables_.length) return;
    HWY_DYNAMIC_DISPATCH(prepare)(tables_, length, row);
}

void RowFft::backward() {
    HWY_DYNAMIC_DISPATCH(backward_rows)(tables_);
}

void ComplexFft::backward(std::complex<double>* x) {
    HWY_DYNAMIC_DISPATCH(backward)(tables_, x);
}

void ComplexFft::forward(std::complex<double>* x) {
    // forward(x) = conj(backward(conj(x)))
    for (std::int64_t k = 0; k < length_; ++k) x[k] = std::conj(x[k]);
    backward(x);
    for (std::int64_t k = 0; k < length_; ++k) x[k] = std::conj(x[k]);
}

void MixedRadixTable::prepare(std::int64_t new_length, bool eights) {
    if (length == new_length) return;
    length = new_length;
    radices = fft::radices(length);
    if (eights) {
        // 4 4 4 -> 8 8, 4 2 -> 8.
        std::int64_t twos = 0, rest = length;
        for (; rest % 2 == 0; rest /= 2) ++twos;
        radices.assign(twos % 3 == 1 && twos > 1 ? (twos - 4) / 3 : twos / 3, 8);
        radices.insert(radices.end(), twos % 3 == 1 && twos > 1 ? 2 : twos % 3 == 2 ? 1 : 0, 4);
        if (twos == 1) radices.push_back(2);
        if (rest > 1)
            for (const std::int64_t p : fft::radices(rest)) radices.push_back(p);
    }
    roots.resize(2 * length);
    write_roots(length, length, roots.data());
}

namespace {

/// exp(2 pi i k / length), 0 <= k < length, the angle reduced exactly to at most pi / 4.
std::complex<double> root(std::int64_t k, std::int64_t length) {
    if (k == 0) return 1;
    const std::int64_t quarter = (8 * k + length) / (2 * length);
    const double angle =
        std::numbers::pi / 2 * static_cast<double>(4 * k - quarter * length) / static_cast<double>(length);
    const double c = std::cos(angle), s = std::sin(angle);
    switch (quarter % 4) {
        case 0:
            return {c, s};
        case 1:
            return {-s, c};
        case 2:
            return {-c, -s};
        default:
            return {s, -c};
    }
}

}  // namespace

void write_roots(std::int64_t length, std::int64_t count, double* roots) {
    // Products of two tables, short ones of about as many roots each: an ulp less accurate than cosines.
    constexpr std::int64_t longest = 64;
    std::int64_t run = 1;
    while (run < longest && run * run < count) run *= 2;
    std::complex<double> fine[longest];
    for (std::int64_t k = 0; k < std::min(run, count); ++k) fine[k] = root(k, length);
    for (std::int64_t first = 0; first < count; first += run) {
        const std::complex<double> coarse = root(first, length);
        const double cr = coarse.real(), ci = coarse.imag();
        for (std::int64_t k = 0; k < std::min(run, count - first); ++k) {
            const double fr = fine[k].real(), fi = fine[k].imag();
            roots[2 * (first + k)] = cr * fr - ci * fi;
            roots[2 * (first + k) + 1] = cr * fi + ci * fr;
        }
    }
}

std::vector<std::int64_t> radices(std::int64_t length) {
    std::vector<std::int64_t> factors;
    for (; length % 4 == 0; length /= 4) factors.push_back(4);
    for (std::int64_t p = 2; p * p <= length; ++p)
        for (; length % p == 0; length /= p) factors.push_back(p);
    if (length > 1) factors.push_back(length);
    return factors;
}

namespace {

/// Fused multiply-adds per element, about, of a direct transform; infinite past the largest direct prime.
double direct_cost(std::int64_t length) {
    double cost = 0;
    for (const std::int64_t p : radices(length)) {
        if (p > largest_direct_prime) return HUGE_VAL;
        cost += p <= 5 ? 4.0 + static_cast<double>(p) : 10.0 + 1.5 * static_cast<double>(p);
    }
    return cost;
}

}  // namespace

bool bluestein_is_cheaper(std::int64_t length, std::int64_t padded) {
    const double ratio = static_cast<double>(padded) / static_cast<double>(length);
    return direct_cost(length) > (2.3 * direct_cost(padded) + 8) * ratio + 12;
}

double cost(std::int64_t length) {
    const std::int64_t lanes = length % 4 == 0 ? 4 : 1, part = length / lanes;
    const std::int64_t padded = good_length(2 * part - 1);
    // Direct transforms of long primes take longer for each operation than those of a padded length.
    const double elements_times_cost = bluestein_is_cheaper(part, padded)
                                           ? 0.45 * static_cast<double>(lanes * padded) * direct_cost(padded)
                                           : static_cast<double>(length) * direct_cost(part);
    return 2 * elements_times_cost;
}

std::int64_t good_length(std::int64_t minimum) {
    std::int64_t best = 4;
    while (best < minimum) best *= 2;
    for (std::int64_t five = 4; five < 2 * minimum; five *= 5)
        for (std::int64_t three = five; three < 2 * minimum; three *= 3) {
            std::int64_t length = three;
            while (length < minimum) length *= 2;
            best = std::min(best, length);
        }
    return best;
}

}  // namespace zonal::fft
#endif
