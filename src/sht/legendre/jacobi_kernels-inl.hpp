// The inner loops of the Legendre stage near the poles and the equator, and for spins above 2 everywhere: a
// group of ring vectors at a time, one degree after the other. Included once per SIMD target.

#if defined(ZONAL_SHT_JACOBI_KERNELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_JACOBI_KERNELS_INL_HPP
#undef ZONAL_SHT_JACOBI_KERNELS_INL_HPP
#else
#define ZONAL_SHT_JACOBI_KERNELS_INL_HPP
#endif

#include "sht/legendre/jacobi-inl.hpp"
#include "sht/legendre/lane_sums-inl.hpp"
#include "sht/legendre/scaled-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

using Complex = std::complex<double>;

HWY_INLINE V set(double value) {
    const D d;
    return hn::Set(d, value);
}

/// Parts of F_m that are equal (even) or opposite (odd) on the two rings of a pair: [re, im] per map
/// component.
struct MirrorParts {
    V even[2][2], odd[2][2];
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
