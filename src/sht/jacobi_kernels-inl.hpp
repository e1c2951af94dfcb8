// The inner loops of the Legendre stage near the poles and the equator, and for spins above 2 everywhere: one
// vector of ring pairs at a time, one degree after the other. Included once per SIMD target.

#if defined(ZONAL_SHT_JACOBI_KERNELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_JACOBI_KERNELS_INL_HPP
#undef ZONAL_SHT_JACOBI_KERNELS_INL_HPP
#else
#define ZONAL_SHT_JACOBI_KERNELS_INL_HPP
#endif

#include "sht/jacobi-inl.hpp"
#include "sht/scalar_kernels-inl.hpp"

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

/// a: [component][n_degrees], coefficients from the first degree on.
template <bool Spin, JacobiForm Form>
HWY_NOINLINE MirrorParts jacobi_synthesis(JacobiFunctions<Spin, Form> functions,
                                          const JacobiRecurrence& jacobi, const Complex* const* a) {
    const D d;
    MirrorParts parts;
    for (int c = 0; c < 2; ++c)
        for (int r = 0; r < 2; ++r) parts.even[c][r] = parts.odd[c][r] = hn::Zero(d);
    auto add = [&]<bool AllVisible>(V(&same)[2][2], V(&mirror)[2][2], std::int64_t k) HWY_ATTR {
        if constexpr (Spin) {
            // Q += -(E F+ + i B F-), U += -(B F+ - i E F-); the sign is applied by the caller.
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
            same[0][0] = hn::MulAdd(set(a[0][k].real()), lambda, same[0][0]);
            same[0][1] = hn::MulAdd(set(a[0][k].imag()), lambda, same[0][1]);
        }
    };
    std::int64_t k = 0;
    // Two at a time, to keep the parity of k.
    for (; k < jacobi.n_degrees && functions.invisible(); k += 2) {
        functions.advance(jacobi, k);
        functions.rescale();
        if (!functions.invisible()) add.template operator()<false>(parts.odd, parts.even, k + 1);
        functions.advance(jacobi, k + 1);
        functions.rescale();
    }
    for (; k < jacobi.n_degrees && !functions.visible(); k += 2) {
        add.template operator()<false>(parts.even, parts.odd, k);
        functions.advance(jacobi, k);
        functions.rescale();
        add.template operator()<false>(parts.odd, parts.even, k + 1);
        functions.advance(jacobi, k + 1);
        functions.rescale();
    }
    for (; k < jacobi.n_degrees; k += 2) {
        add.template operator()<true>(parts.even, parts.odd, k);
        functions.advance(jacobi, k);
        add.template operator()<true>(parts.odd, parts.even, k + 1);
        functions.advance(jacobi, k + 1);
    }
    return parts;
}

/// The transpose: adds to sums[n_degrees][2 * components] = re, im per component.
template <bool Spin, JacobiForm Form>
HWY_NOINLINE void jacobi_adjoint(JacobiFunctions<Spin, Form> functions, const JacobiRecurrence& jacobi,
                                 const MirrorParts& parts, double* HWY_RESTRICT sums) {
    constexpr int width = Spin ? 4 : 2;
    auto project = [&]<bool AllVisible>(const V(&same)[2][2], const V(&mirror)[2][2], V* HWY_RESTRICT out)
                       HWY_ATTR {
                           if constexpr (Spin) {
                               // E = -(F+ q + i F- u), B = -(F+ u - i F- q); the sign is applied by the
                               // caller.
                               const V p = functions.plus.template counted<AllVisible>();
                               const V q = functions.minus.template counted<AllVisible>();
                               const V f_plus = hn::Add(p, q), f_minus = hn::Sub(p, q);
                               out[0] = hn::NegMulAdd(f_minus, mirror[1][1], hn::Mul(f_plus, same[0][0]));
                               out[1] = hn::MulAdd(f_minus, mirror[1][0], hn::Mul(f_plus, same[0][1]));
                               out[2] = hn::MulAdd(f_minus, mirror[0][1], hn::Mul(f_plus, same[1][0]));
                               out[3] = hn::NegMulAdd(f_minus, mirror[0][0], hn::Mul(f_plus, same[1][1]));
                           } else {
                               const V lambda = functions.lambda.template counted<AllVisible>();
                               out[0] = hn::Mul(lambda, same[0][0]);
                               out[1] = hn::Mul(lambda, same[0][1]);
                           }
                       };
    V products[degree_group * width];
    auto sum_group = [&]<bool AllVisible>(std::int64_t k) HWY_ATTR {
        bool any = AllVisible;
        for (std::int64_t j = 0; j < degree_group; ++j) {
            any = any || !functions.invisible();
            if (j % 2 == 0)
                project.template operator()<AllVisible>(parts.even, parts.odd, products + j * width);
            else
                project.template operator()<AllVisible>(parts.odd, parts.even, products + j * width);
            functions.advance(jacobi, k + j);
            if (!AllVisible) functions.rescale();
        }
        for (std::int64_t j = 0; any && j < degree_group * width; j += lanes())
            add_horizontal_sums(products + j, sums + k * width + j);
    };
    std::int64_t k = 0;
    for (; k < jacobi.n_degrees && !functions.visible(); k += degree_group)
        sum_group.template operator()<false>(k);
    for (; k < jacobi.n_degrees; k += degree_group) sum_group.template operator()<true>(k);
}

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
