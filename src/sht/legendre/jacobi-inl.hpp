// Wigner d functions for any spin, one degree after the other: by differences of Jacobi polynomials near the
// poles, by the three-term recurrence elsewhere. Included once per SIMD target.

#if defined(ZONAL_SHT_JACOBI_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_JACOBI_INL_HPP
#undef ZONAL_SHT_JACOBI_INL_HPP
#else
#define ZONAL_SHT_JACOBI_INL_HPP
#endif

#include <hwy/highway.h>

#include <cmath>

#include "sht/legendre/jacobi_steps-inl.hpp"
#include "sht/legendre/legendre.hpp"
#include "sht/legendre/scaled-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// One sequence at one vector of rings. x: h = 1 - cos theta for differences, else cos theta.
template <JacobiForm Form>
struct JacobiSequence {
    V value;
    V memory;  ///< the last difference, or the last value
    V scale;

    /// From sign * 2^log.
    HWY_INLINE void start(const LogSum& log, double sign) {
        const Scaled start = exp2_scaled(log, sign);
        value = start.value;
        scale = start.scale;
        memory = hn::Zero(D());
    }

    /// power: of sin(theta/2); the other of cos(theta/2).
    HWY_INLINE void start(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                          std::int64_t ring, std::int64_t cos_power, std::int64_t sin_power, double factor) {
        const D d;
        LogSum log{hn::Set(d, table.log2_wigner.high[m]), hn::Set(d, table.log2_wigner.low[m])};
        log.add(static_cast<double>(cos_power), rings.log2_cos_half, ring);
        log.add(static_cast<double>(sin_power), rings.log2_sin_half, ring);
        start(log, factor);
    }

    /// By differences.
    HWY_INLINE void advance(const JacobiSteps& steps, std::int64_t k, V x) {
        const D d;
        const V drive = hn::Mul(hn::Mul(hn::Set(d, steps.c2[k]), x), value);
        memory = hn::MulSub(hn::Set(d, steps.c1[k]), memory, drive);
        value = hn::MulAdd(hn::Set(d, steps.c0[k]), value, memory);
    }

    /// By the three-term recurrence; factor: c0 x + c1.
    HWY_INLINE void advance(V factor) {
        const V next = hn::MulSub(factor, value, memory);
        memory = value;
        value = next;
    }

    static constexpr int stored_vectors = 3;
    HWY_INLINE void store(double* HWY_RESTRICT to) const {
        const D d;
        hn::Store(value, d, to);
        hn::Store(memory, d, to + lanes());
        hn::Store(scale, d, to + 2 * lanes());
    }
    HWY_INLINE void load(const double* HWY_RESTRICT from) {
        const D d;
        value = hn::Load(d, from);
        memory = hn::Load(d, from + lanes());
        scale = hn::Load(d, from + 2 * lanes());
    }

    /// The value where it is visible, else 0.
    template <bool AllVisible>
    HWY_INLINE V counted() const {
        return AllVisible ? value : hn::Mul(value, visibility(scale));
    }
};

template <JacobiForm Form>
HWY_INLINE V jacobi_argument(const RingPairs& rings, std::int64_t ring) {
    return hn::LoadU(D(), (Form == JacobiForm::difference ? rings.h : rings.cos_theta).data() + ring);
}

/// The functions of one order at one vector of rings: lambda_lm of scalar fields, F+ and F- of spin s.
template <bool Spin, JacobiForm Form>
struct JacobiFunctions {
    JacobiSequence<Form> lambda;
    V x;

    HWY_INLINE void start(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                          std::int64_t ring) {
        const D d;
        LogSum log{hn::Set(d, table.log2_scalar.high[m]), hn::Set(d, table.log2_scalar.low[m])};
        log.add(static_cast<double>(m), rings.log2_sin, ring);
        lambda.start(log, m % 2 == 0 ? 1 : -1);
        x = jacobi_argument<Form>(rings, ring);
    }
    HWY_INLINE void advance(const JacobiRecurrence& r, std::int64_t k) {
        if constexpr (Form == JacobiForm::difference)
            lambda.advance(r.steps[0], k, x);
        else
            lambda.advance(hn::Mul(hn::Set(D(), r.steps[0].c0[k]), x));
    }
    HWY_INLINE void rescale() { promote(lambda.memory, lambda.value, lambda.scale); }
    HWY_INLINE bool invisible() const { return none_visible(lambda.scale); }
    HWY_INLINE bool visible() const { return all_visible(lambda.scale); }

    static constexpr int stored_vectors = 4;
    HWY_INLINE void store(double* HWY_RESTRICT to) const {
        hn::Store(x, D(), to);
        lambda.store(to + lanes());
    }
    HWY_INLINE void load(const double* HWY_RESTRICT from) {
        x = hn::Load(D(), from);
        lambda.load(from + lanes());
    }
};

/// +s lambda / 2 = plus, (-1)^s -s lambda / 2 = minus, so that F+ = plus + minus, F- = plus - minus. Signs:
/// (-1)^s d_{m,-s} with d_{m,-s} = (-1)^(m+s) d^-, and d_{m,+s} = (-1)^(m-s) d^+ for m >= s, else d^+.
template <JacobiForm Form>
struct JacobiFunctions<true, Form> {
    JacobiSequence<Form> plus, minus;
    V x;

    HWY_INLINE void start(const LegendreTable& table, const RingPairs& rings, std::int64_t m,
                          std::int64_t ring) {
        const std::int64_t s = table.spin, far = m + s, near = std::abs(m - s);
        plus.start(table, rings, m, ring, near, far, m % 2 == 0 ? 0.5 : -0.5);
        minus.start(table, rings, m, ring, far, near, m >= s && (m - s) % 2 != 0 ? -0.5 : 0.5);
        x = jacobi_argument<Form>(rings, ring);
    }
    HWY_INLINE void advance(const JacobiRecurrence& r, std::int64_t k) {
        if constexpr (Form == JacobiForm::difference) {
            plus.advance(r.steps[0], k, x);
            minus.advance(r.steps[1], k, x);
        } else {
            const D d;
            const V c0 = hn::Set(d, r.steps[0].c0[k]), c1 = hn::Set(d, r.steps[0].c1[k]);
            plus.advance(hn::MulAdd(c0, x, c1));
            minus.advance(hn::MulSub(c0, x, c1));
        }
    }
    HWY_INLINE void rescale() {
        promote(plus.memory, plus.value, plus.scale);
        promote(minus.memory, minus.value, minus.scale);
    }
    HWY_INLINE bool invisible() const { return none_visible(plus.scale) && none_visible(minus.scale); }
    HWY_INLINE bool visible() const { return all_visible(plus.scale) && all_visible(minus.scale); }

    static constexpr int stored_vectors = 7;
    HWY_INLINE void store(double* HWY_RESTRICT to) const {
        hn::Store(x, D(), to);
        plus.store(to + lanes());
        minus.store(to + 4 * lanes());
    }
    HWY_INLINE void load(const double* HWY_RESTRICT from) {
        x = hn::Load(D(), from);
        plus.load(from + lanes());
        minus.load(from + 4 * lanes());
    }
};

/// NV vectors of neighbouring rings, which need not wait for each other.
template <bool Spin, JacobiForm Form, int NV>
struct JacobiGroup {
    using Functions = JacobiFunctions<Spin, Form>;
    Functions vector[NV];

    HWY_INLINE JacobiGroup(const LegendreOrder& order, std::int64_t ring) {
        for (int v = 0; v < NV; ++v) vector[v].start(order.table, order.rings, order.m, ring + v * lanes());
    }
    /// One that was put aside.
    HWY_INLINE explicit JacobiGroup(const double* HWY_RESTRICT from) {
        for (int v = 0; v < NV; ++v) vector[v].load(from + v * Functions::stored_vectors * lanes());
    }
    HWY_INLINE void store(double* HWY_RESTRICT to) const {
        for (int v = 0; v < NV; ++v) vector[v].store(to + v * Functions::stored_vectors * lanes());
    }
    HWY_INLINE void advance(const JacobiRecurrence& r, std::int64_t k) {
        for (int v = 0; v < NV; ++v) vector[v].advance(r, k);
    }
    HWY_INLINE void rescale() {
        for (int v = 0; v < NV; ++v) vector[v].rescale();
    }
    HWY_INLINE bool invisible() const {
        bool all = true;
        for (int v = 0; v < NV; ++v) all = all && vector[v].invisible();
        return all;
    }
    HWY_INLINE bool visible() const {
        bool all = true;
        for (int v = 0; v < NV; ++v) all = all && vector[v].visible();
        return all;
    }
};

using Complex = std::complex<double>;

HWY_INLINE V set(double value) {
    const D d;
    return hn::Set(d, value);
}

/// Whether the first degree's F+ has parity (-1)^(l+m+s) = -1 under theta -> pi - theta.
inline bool starts_odd(std::int64_t first_degree, std::int64_t m, std::int64_t s) {
    return (first_degree + m + s) % 2 != 0;
}

/// What the sums over degrees of one vector of ring pairs are taken of, re and im of each in neighbouring
/// vectors. Of Components scalar fields: the even and the odd part of each. Of a spin field, with G = E + i B
/// and H = E - i B: sum G plus, sum H minus of the northern rings, and of the southern ones, where the two
/// functions change places and have opposite signs in every other degree. Then Q = -(first + second), U = i
/// (first - second).
template <bool Spin, int Components>
inline constexpr int jacobi_parts = Spin ? 8 : 4 * Components;

/// Numbers that each degree is multiplied by, or adds to: re and im per component, of G and H for a spin
/// field.
template <int Components>
inline constexpr int jacobi_width = 2 * Components;

/// Adds one degree's part. a: rows of [n_degrees][width]. Odd: of the degrees of opposite parity to the
/// first.
template <bool AllVisible, bool Odd, int Components, bool Spin, JacobiForm Form>
HWY_INLINE void add_degree(const JacobiFunctions<Spin, Form>& functions, const double* HWY_RESTRICT a,
                           V (&parts)[jacobi_parts<Spin, Components>]) {
    if constexpr (Spin) {
        const V p = functions.plus.template counted<AllVisible>();
        const V q = functions.minus.template counted<AllVisible>();
        for (int r = 0; r < 2; ++r) {
            const V g = set(a[r]), h = set(a[2 + r]);
            parts[r] = hn::MulAdd(g, p, parts[r]);
            parts[2 + r] = hn::MulAdd(h, q, parts[2 + r]);
            parts[4 + r] = Odd ? hn::NegMulAdd(g, q, parts[4 + r]) : hn::MulAdd(g, q, parts[4 + r]);
            parts[6 + r] = Odd ? hn::NegMulAdd(h, p, parts[6 + r]) : hn::MulAdd(h, p, parts[6 + r]);
        }
    } else {
        const V lambda = functions.lambda.template counted<AllVisible>();
        for (int c = 0; c < Components; ++c)
            for (int r = 0; r < 2; ++r) {
                V& part = parts[4 * c + (Odd ? 2 : 0) + r];
                part = hn::MulAdd(set(a[2 * c + r]), lambda, part);
            }
    }
}

/// The transpose: adds one vector's products to the lanes of sums[width].
template <bool AllVisible, bool Odd, int Components, bool Spin, JacobiForm Form>
HWY_INLINE void project_degree(const JacobiFunctions<Spin, Form>& functions,
                               const V (&parts)[jacobi_parts<Spin, Components>],
                               V (&sums)[jacobi_width<Components>]) {
    if constexpr (Spin) {
        const V p = functions.plus.template counted<AllVisible>();
        const V q = functions.minus.template counted<AllVisible>();
        for (int r = 0; r < 2; ++r) {
            sums[r] = hn::MulAdd(p, parts[r], sums[r]);
            sums[2 + r] = hn::MulAdd(q, parts[2 + r], sums[2 + r]);
            sums[r] = Odd ? hn::NegMulAdd(q, parts[4 + r], sums[r]) : hn::MulAdd(q, parts[4 + r], sums[r]);
            sums[2 + r] =
                Odd ? hn::NegMulAdd(p, parts[6 + r], sums[2 + r]) : hn::MulAdd(p, parts[6 + r], sums[2 + r]);
        }
    } else {
        const V lambda = functions.lambda.template counted<AllVisible>();
        for (int c = 0; c < Components; ++c)
            for (int r = 0; r < 2; ++r)
                sums[2 * c + r] = hn::MulAdd(lambda, parts[4 * c + (Odd ? 2 : 0) + r], sums[2 * c + r]);
    }
}

/// a: [n_degrees][width], coefficients from the first degree on.
template <int Components, bool Spin, JacobiForm Form, int NV>
HWY_NOINLINE void jacobi_synthesis(JacobiGroup<Spin, Form, NV> group, const JacobiRecurrence& jacobi,
                                   const double* HWY_RESTRICT a,
                                   V (&result)[NV][jacobi_parts<Spin, Components>]) {
    constexpr int width = jacobi_width<Components>;
    V parts[NV][jacobi_parts<Spin, Components>];
    for (auto& vector : parts)
        for (V& part : vector) part = hn::Zero(D());
    auto add = [&]<bool AllVisible, bool Odd>(std::int64_t k) HWY_ATTR {
        for (int v = 0; v < NV; ++v)
            add_degree<AllVisible, Odd, Components>(group.vector[v], a + k * width, parts[v]);
    };
    auto advance = [&]<bool AllVisible>(std::int64_t k) HWY_ATTR {
        group.advance(jacobi, k);
        if (!AllVisible) group.rescale();
    };
    auto two_degrees = [&]<bool AllVisible>(std::int64_t k) HWY_ATTR {
        add.template operator()<AllVisible, false>(k);
        advance.template operator()<AllVisible>(k);
        add.template operator()<AllVisible, true>(k + 1);
        advance.template operator()<AllVisible>(k + 1);
    };
    std::int64_t k = 0;
    for (; k < jacobi.n_degrees && group.invisible(); k += 2) {
        advance.template operator()<false>(k);
        if (!group.invisible()) add.template operator()<false, true>(k + 1);
        advance.template operator()<false>(k + 1);
    }
    for (; k < jacobi.n_degrees && !group.visible(); k += 2) two_degrees.template operator()<false>(k);
    for (; k < jacobi.n_degrees; k += 2) two_degrees.template operator()<true>(k);
    for (int v = 0; v < NV; ++v)
        for (int i = 0; i < jacobi_parts<Spin, Components>; ++i) result[v][i] = parts[v][i];
}

/// The transpose for the degrees [begin, end), both even: adds to the lanes of sums[end - begin][width].
/// stored: a group that was put aside, and is again; f: its parts, one vector of rings after the other.
template <int Components, bool Spin, JacobiForm Form, int NV>
HWY_NOINLINE void jacobi_adjoint(double* HWY_RESTRICT stored, const JacobiRecurrence& jacobi,
                                 std::int64_t begin, std::int64_t end, const double* HWY_RESTRICT f,
                                 double* HWY_RESTRICT sums) {
    constexpr int width = jacobi_width<Components>, n_parts = jacobi_parts<Spin, Components>;
    const D d;
    JacobiGroup<Spin, Form, NV> group(stored);
    V parts[NV][n_parts];
    for (int v = 0; v < NV; ++v)
        for (int i = 0; i < n_parts; ++i) parts[v][i] = hn::Load(d, f + (v * n_parts + i) * lanes());
    auto project = [&]<bool AllVisible, bool Odd>(std::int64_t k) HWY_ATTR {
        double* const HWY_RESTRICT out = sums + (k - begin) * width * lanes();
        V sum[width];
        for (int i = 0; i < width; ++i) sum[i] = hn::Load(d, out + i * lanes());
        for (int v = 0; v < NV; ++v)
            project_degree<AllVisible, Odd, Components>(group.vector[v], parts[v], sum);
        for (int i = 0; i < width; ++i) hn::Store(sum[i], d, out + i * lanes());
        group.advance(jacobi, k);
        if (!AllVisible) group.rescale();
    };
    std::int64_t k = begin;
    for (; k < end && group.invisible(); k += 2) {
        group.advance(jacobi, k);
        group.rescale();
        if (group.invisible()) {
            group.advance(jacobi, k + 1);
            group.rescale();
        } else {
            project.template operator()<false, true>(k + 1);
        }
    }
    for (; k < end && !group.visible(); k += 2) {
        project.template operator()<false, false>(k);
        project.template operator()<false, true>(k + 1);
    }
    for (; k < end; k += 2) {
        project.template operator()<true, false>(k);
        project.template operator()<true, true>(k + 1);
    }
    group.store(stored);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
