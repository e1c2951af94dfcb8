// Wigner d functions for any spin, one degree after the other: by differences of Jacobi polynomials near the
// poles, by the three-term recurrence elsewhere. Included once per SIMD target.

#if defined(ZONAL_SHT_JACOBI_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_JACOBI_INL_HPP
#undef ZONAL_SHT_JACOBI_INL_HPP
#else
#define ZONAL_SHT_JACOBI_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "sht/legendre/jacobi_math.hpp"
#include "sht/legendre/legendre.hpp"
#include "sht/legendre/scaled-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// Degrees are taken in groups of this many, so that sums over rings fold whole vectors.
inline constexpr std::int64_t degree_group = 4;

/// How lambda = sqrt((2l+1)/4pi) d^l_{m,+-s} goes from degree l to l + 1.
enum class JacobiForm {
    difference,  ///< exact to rounding near the poles
    three_term   ///< exact to rounding elsewhere
};

/// The coefficients of all steps of one sequence, [n_degrees] each; their meaning depends on the form.
struct JacobiSteps {
    double *c0, *c1, *c2;
};

inline void write_difference_steps(double alpha, double beta, double first_degree, std::int64_t count,
                                   const JacobiSteps& steps) {
    for (std::int64_t k = 0; k < count; ++k) {
        const JacobiStep step = difference_step(alpha, beta, first_degree, static_cast<double>(k));
        steps.c0[k] = step.c0;
        steps.c1[k] = step.c1;
        steps.c2[k] = step.c2;
    }
}

/// As three_term_step, with w_l = u_l / u_{l-1} from the stored u.
inline void write_three_term_steps(double m, double s, double first_degree, std::int64_t count,
                                   const JacobiSteps& steps) {
    for (std::int64_t k = 0; k < count; ++k) {
        const double l = first_degree + static_cast<double>(k);
        steps.c0[k] = three_term_growth(m, s, l);
    }
    for (std::int64_t k = 0; k < count; ++k)
        steps.c1[k] = three_term_shift(m, s, first_degree + static_cast<double>(k), steps.c0[k]);
    for (std::int64_t k = count - 1; k > 0; --k) steps.c2[k] = steps.c0[k] / steps.c0[k - 1];
    if (count > 0) steps.c2[0] = 0;
}

/// The steps of one order for lambda_lm (spin 0, one sequence) or the pair d_{m,-s}, d_{m,+s}; padded to
/// whole degree groups by steps to zero.
struct JacobiRecurrence {
    std::int64_t first_degree;  ///< L = max(m, s)
    std::int64_t n_degrees;     ///< a multiple of degree_group, 0 where L > lmax
    JacobiSteps steps[2];

    /// The three-term recurrence of lambda_lm up to degree lmax. epsilon: [l - m], as Ishioka's, up to lmax.
    JacobiRecurrence(std::int64_t m, std::int64_t lmax, const double* epsilon, LegendreScratch& scratch)
        : first_degree(m), n_degrees((lmax - m + degree_group) / degree_group * degree_group) {
        scratch.jacobi.assign(n_degrees * 3, 0.0);
        double* const all = scratch.jacobi.data();
        steps[0] = {all, all + n_degrees, all + 2 * n_degrees};
        for (std::int64_t k = 0; k < lmax - m; ++k) steps[0].c0[k] = 1 / epsilon[k + 1];
        for (std::int64_t k = 1; k < lmax - m; ++k) steps[0].c2[k] = steps[0].c0[k] / steps[0].c0[k - 1];
    }

    JacobiRecurrence(const LegendreOrder& order, JacobiForm form) {
        const std::int64_t m = order.m, s = order.table.spin, lmax = order.table.layout.lmax();
        first_degree = std::max(m, s);
        const std::int64_t used = std::max<std::int64_t>(0, lmax - first_degree + 1);
        n_degrees = (used + degree_group - 1) / degree_group * degree_group;
        const int n_sequences = s == 0 ? 1 : 2;
        order.scratch.jacobi.assign(n_degrees * 3 * n_sequences, 0.0);
        double* next = order.scratch.jacobi.data();
        const double dm = static_cast<double>(m), ds = static_cast<double>(s), first = std::max(dm, ds);
        const double far = dm + ds, near = std::abs(dm - ds);
        for (int k = 0; k < n_sequences; ++k) {
            steps[k] = {next, next + n_degrees, next + 2 * n_degrees};
            next += 3 * n_degrees;
            // d_{m,-s} carries sin^(m+s)(theta/2), d_{m,+s} carries sin^|m-s|(theta/2).
            if (form == JacobiForm::difference)
                write_difference_steps(k == 0 ? far : near, k == 0 ? near : far, first, used - 1, steps[k]);
            else
                write_three_term_steps(dm, k == 0 ? -ds : ds, first, used - 1, steps[k]);
        }
    }
};

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

    HWY_INLINE void advance(const JacobiSteps& steps, std::int64_t k, V x) {
        const D d;
        if constexpr (Form == JacobiForm::difference) {
            const V drive = hn::Mul(hn::Mul(hn::Set(d, steps.c2[k]), x), value);
            memory = hn::MulSub(hn::Set(d, steps.c1[k]), memory, drive);
            value = hn::MulAdd(hn::Set(d, steps.c0[k]), value, memory);
        } else {
            const V factor = hn::MulAdd(hn::Set(d, steps.c0[k]), x, hn::Set(d, steps.c1[k]));
            const V next = hn::MulSub(factor, value, hn::Mul(hn::Set(d, steps.c2[k]), memory));
            memory = value;
            value = next;
        }
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
    HWY_INLINE void advance(const JacobiRecurrence& r, std::int64_t k) { lambda.advance(r.steps[0], k, x); }
    HWY_INLINE void rescale() { promote(lambda.memory, lambda.value, lambda.scale); }
    HWY_INLINE bool invisible() const { return none_visible(lambda.scale); }
    HWY_INLINE bool visible() const { return all_visible(lambda.scale); }
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
        plus.advance(r.steps[0], k, x);
        minus.advance(r.steps[1], k, x);
    }
    HWY_INLINE void rescale() {
        promote(plus.memory, plus.value, plus.scale);
        promote(minus.memory, minus.value, minus.scale);
    }
    HWY_INLINE bool invisible() const { return none_visible(plus.scale) && none_visible(minus.scale); }
    HWY_INLINE bool visible() const { return all_visible(plus.scale) && all_visible(minus.scale); }
};

/// NV vectors of neighbouring rings, which need not wait for each other.
template <bool Spin, JacobiForm Form, int NV>
struct JacobiGroup {
    JacobiFunctions<Spin, Form> vector[NV];

    HWY_INLINE JacobiGroup(const LegendreOrder& order, std::int64_t ring) {
        for (int v = 0; v < NV; ++v) vector[v].start(order.table, order.rings, order.m, ring + v * lanes());
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

/// Parts of F_m that are equal (even) or opposite (odd) on the two rings of a pair: [re, im] per map
/// component.
struct MirrorParts {
    V even[2][2], odd[2][2];

    HWY_INLINE void scale(V factor) {
        for (auto* part : {&even, &odd})
            for (auto& component : *part)
                for (V& x : component) x = hn::Mul(x, factor);
    }
};

/// Whether the first degree's F+ has parity (-1)^(l+m+s) = -1 under theta -> pi - theta.
inline bool starts_odd(std::int64_t first_degree, std::int64_t m, std::int64_t s) {
    return (first_degree + m + s) % 2 != 0;
}

/// Adds one degree's part to F_m. a: the degrees' coefficients of each component: E and B of a spin field, or
/// as many scalar fields. Q += -(E F+ + i B F-), U += -(B F+ - i E F-); the sign is applied by the caller.
template <bool AllVisible, int Components, bool Spin, JacobiForm Form>
HWY_INLINE void add_degree(const JacobiFunctions<Spin, Form>& functions, const Complex* const* a,
                           std::int64_t k, V (&same)[2][2], V (&mirror)[2][2]) {
    if constexpr (Spin) {
        const V p = functions.plus.template counted<AllVisible>();
        const V q = functions.minus.template counted<AllVisible>();
        const V f_plus = hn::Add(p, q), f_minus = hn::Sub(p, q);
        const Complex e = a[0][k], b = a[1][k];
        same[0][0] = hn::MulAdd(set(e.real()), f_plus, same[0][0]);
        same[0][1] = hn::MulAdd(set(e.imag()), f_plus, same[0][1]);
        same[1][0] = hn::MulAdd(set(b.real()), f_plus, same[1][0]);
        same[1][1] = hn::MulAdd(set(b.imag()), f_plus, same[1][1]);
        mirror[0][0] = hn::NegMulAdd(set(b.imag()), f_minus, mirror[0][0]);
        mirror[0][1] = hn::MulAdd(set(b.real()), f_minus, mirror[0][1]);
        mirror[1][0] = hn::MulAdd(set(e.imag()), f_minus, mirror[1][0]);
        mirror[1][1] = hn::NegMulAdd(set(e.real()), f_minus, mirror[1][1]);
    } else {
        const V lambda = functions.lambda.template counted<AllVisible>();
        for (int c = 0; c < Components; ++c) {
            same[c][0] = hn::MulAdd(set(a[c][k].real()), lambda, same[c][0]);
            same[c][1] = hn::MulAdd(set(a[c][k].imag()), lambda, same[c][1]);
        }
    }
}

/// The transpose: one vector's products, out[2 * components] = re, im per component.
/// E = -(F+ q + i F- u), B = -(F+ u - i F- q); the sign is applied by the caller.
template <bool AllVisible, int Components, bool Spin, JacobiForm Form>
HWY_INLINE void project_degree(const JacobiFunctions<Spin, Form>& functions, const V (&same)[2][2],
                               const V (&mirror)[2][2], V* HWY_RESTRICT out) {
    if constexpr (Spin) {
        const V p = functions.plus.template counted<AllVisible>();
        const V q = functions.minus.template counted<AllVisible>();
        const V f_plus = hn::Add(p, q), f_minus = hn::Sub(p, q);
        out[0] = hn::NegMulAdd(f_minus, mirror[1][1], hn::MulAdd(f_plus, same[0][0], out[0]));
        out[1] = hn::MulAdd(f_minus, mirror[1][0], hn::MulAdd(f_plus, same[0][1], out[1]));
        out[2] = hn::MulAdd(f_minus, mirror[0][1], hn::MulAdd(f_plus, same[1][0], out[2]));
        out[3] = hn::NegMulAdd(f_minus, mirror[0][0], hn::MulAdd(f_plus, same[1][1], out[3]));
    } else {
        const V lambda = functions.lambda.template counted<AllVisible>();
        for (int c = 0; c < Components; ++c)
            for (int r = 0; r < 2; ++r) out[2 * c + r] = hn::MulAdd(lambda, same[c][r], out[2 * c + r]);
    }
}

/// a: [component][n_degrees], coefficients from the first degree on.
template <int Components, bool Spin, JacobiForm Form, int NV>
HWY_NOINLINE void jacobi_synthesis(JacobiGroup<Spin, Form, NV> group, const JacobiRecurrence& jacobi,
                                   const Complex* const* a, MirrorParts (&result)[NV]) {
    const D d;
    MirrorParts parts[NV];
    for (MirrorParts& part : parts)
        for (int c = 0; c < 2; ++c)
            for (int r = 0; r < 2; ++r) part.even[c][r] = part.odd[c][r] = hn::Zero(d);
    auto two_degrees = [&]<bool AllVisible>(std::int64_t k) HWY_ATTR {
        for (int v = 0; v < NV; ++v)
            add_degree<AllVisible, Components>(group.vector[v], a, k, parts[v].even, parts[v].odd);
        group.advance(jacobi, k);
        if (!AllVisible) group.rescale();
        for (int v = 0; v < NV; ++v)
            add_degree<AllVisible, Components>(group.vector[v], a, k + 1, parts[v].odd, parts[v].even);
        group.advance(jacobi, k + 1);
        if (!AllVisible) group.rescale();
    };
    std::int64_t k = 0;
    for (; k < jacobi.n_degrees && group.invisible(); k += 2) {
        group.advance(jacobi, k);
        group.rescale();
        if (!group.invisible())
            for (int v = 0; v < NV; ++v)
                add_degree<false, Components>(group.vector[v], a, k + 1, parts[v].odd, parts[v].even);
        group.advance(jacobi, k + 1);
        group.rescale();
    }
    for (; k < jacobi.n_degrees && !group.visible(); k += 2) two_degrees.template operator()<false>(k);
    for (; k < jacobi.n_degrees; k += 2) two_degrees.template operator()<true>(k);
    for (int v = 0; v < NV; ++v) result[v] = parts[v];
}

/// The transpose: adds to sums[n_degrees][2 * components] = re, im per component.
template <int Components, bool Spin, JacobiForm Form, int NV>
HWY_NOINLINE void jacobi_adjoint(JacobiGroup<Spin, Form, NV> group, const JacobiRecurrence& jacobi,
                                 const MirrorParts (&parts)[NV], double* HWY_RESTRICT sums) {
    constexpr int width = 2 * Components;
    const D d;
    auto sum_group = [&]<bool AllVisible>(std::int64_t k) HWY_ATTR {
        V products[degree_group * width];
        for (V& product : products) product = hn::Zero(d);
        bool any = AllVisible;
        for (std::int64_t j = 0; j < degree_group; ++j) {
            any = any || !group.invisible();
            for (int v = 0; v < NV; ++v) {
                const MirrorParts& part = parts[v];
                if (j % 2 == 0)
                    project_degree<AllVisible, Components>(group.vector[v], part.even, part.odd,
                                                           products + j * width);
                else
                    project_degree<AllVisible, Components>(group.vector[v], part.odd, part.even,
                                                           products + j * width);
            }
            group.advance(jacobi, k + j);
            if (!AllVisible) group.rescale();
        }
        for (std::int64_t j = 0; any && j < degree_group * width; j += lanes())
            add_horizontal_sums(products + j, sums + k * width + j);
    };
    std::int64_t k = 0;
    for (; k < jacobi.n_degrees && !group.visible(); k += degree_group)
        sum_group.template operator()<false>(k);
    for (; k < jacobi.n_degrees; k += degree_group) sum_group.template operator()<true>(k);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
