#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "points/lensing/displacement_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include <hwy/contrib/math/math-inl.h>

#include "core/constants.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::points::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

HWY_INLINE V number(double x) {
    return hn::Set(D(), x);
}
HWY_INLINE V select(M mask, V yes, V no) {
    return hn::IfThenElse(mask, yes, no);
}
HWY_INLINE V root(V squares) {
    return hn::Sqrt(squares);
}

/// atan2(y, x), 0 at (0, 0); to 4 ulp of itself where x > |y|.
HWY_INLINE V angle_of(V y, V x) {
    const V along = hn::Abs(x), across = hn::Abs(y);
    const M steep = hn::Gt(across, along);
    const V longer = hn::Max(along, across), shorter = hn::Min(along, across);
    const M none = hn::Eq(longer, hn::Zero(D()));
    const V octant = hn::Atan(D(), hn::Div(shorter, select(none, number(1), longer)));
    const V quarter = select(steep, hn::Sub(number(core::pi / 2), octant), octant);
    const V half = select(hn::Lt(x, hn::Zero(D())), hn::Sub(number(core::pi), quarter), quarter);
    return hn::CopySign(half, y);
}

/// As displaced() of displacement_math.hpp. theta' is found as theta and a small angle, which are rounded
/// less than a large one.
HWY_INLINE void displace(V theta, V phi, V t, V p, V& new_theta, V& new_phi, V& cos_gamma, V& sin_gamma) {
    const D tag;
    const V one = number(1), zero = hn::Zero(tag);
    const V size = root(hn::MulAdd(t, t, hn::Mul(p, p)));
    const M tiny = hn::Lt(size, number(1e-9));
    const V sinc = select(tiny, one, hn::Div(hn::Sin(tag, size), select(tiny, one, size)));
    const V s = hn::Sin(tag, theta), c = hn::Cos(tag, theta), d = hn::Cos(tag, size);
    const V a = hn::Mul(sinc, t), y = hn::Mul(sinc, p);
    const V x = hn::MulAdd(d, s, hn::Mul(a, c)), z = hn::MulSub(d, c, hn::Mul(a, s));
    const V f = hn::Div(a, hn::Add(one, d));
    const V v_x = hn::NegMulAdd(f, hn::Add(s, x), c), v_y = hn::Neg(hn::Mul(f, y)),
            v_z = hn::Neg(hn::MulAdd(f, hn::Add(c, z), s));
    const V r = root(hn::MulAdd(x, x, hn::Mul(y, y)));
    const M pole = hn::Eq(r, zero);
    const V inverse = hn::Div(one, select(pole, one, r));
    const V cos_turn = select(pole, one, hn::Mul(x, inverse)), sin_turn = hn::Mul(y, inverse);
    const V u = hn::MulSub(hn::MulAdd(v_x, cos_turn, hn::Mul(v_y, sin_turn)), z, hn::Mul(v_z, r));
    const V w = hn::MulSub(v_y, cos_turn, hn::Mul(v_x, sin_turn));
    const V norm = hn::Div(one, root(hn::MulAdd(u, u, hn::Mul(w, w))));
    cos_gamma = hn::Mul(u, norm);
    sin_gamma = hn::Neg(hn::Mul(w, norm));
    const V further = angle_of(hn::MulSub(r, c, hn::Mul(z, s)), hn::MulAdd(r, s, hn::Mul(z, c)));
    // It is beyond a pole by rounding alone.
    new_theta = hn::Min(hn::Max(hn::Add(theta, further), zero), number(core::pi));
    new_phi = hn::Add(phi, angle_of(y, x));
}

/// in: theta, phi, d_theta, d_phi; out: theta, phi, cos gamma, sin gamma. Whole vectors.
void displace_vectors(const double* const* in, double* const* out, std::int64_t count) {
    const D tag;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(tag))) {
        V result[4];
        displace(hn::LoadU(tag, in[0] + i), hn::LoadU(tag, in[1] + i), hn::LoadU(tag, in[2] + i),
                 hn::LoadU(tag, in[3] + i), result[0], result[1], result[2], result[3]);
        for (int k = 0; k < 4; ++k) hn::StoreU(result[k], tag, out[k] + i);
    }
}

}  // namespace zonal::points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <utility>

#include "core/parallel.hpp"
#include "points/lensing/displacement_math.hpp"
#include "points/point_checks.hpp"
#include "sht/array_checks.hpp"
#include "zonal/points/lensing.hpp"

namespace zonal {
namespace points {
namespace {

HWY_EXPORT(displace_vectors);

constexpr std::int64_t piece = 512;  ///< points whose numbers stay in the first cache

/// Points [first, first + count), count <= piece. Returns whether all are right.
bool displace_piece(const View<const double, 1>& theta, const View<const double, 1>& phi,
                    const View<const double, 2>& deflection, const View<double, 1>& new_theta,
                    const View<double, 1>& new_phi, const View<double, 2>& rotation, std::int64_t first,
                    std::int64_t count) {
    alignas(64) double in[4][piece] = {}, out[4][piece];
    bool right = true;
    for (std::int64_t k = 0; k < count; ++k) {
        in[0][k] = theta[first + k];
        in[1][k] = phi[first + k];
        in[2][k] = deflection(0, first + k);
        in[3][k] = deflection(1, first + k);
        right = right && is_displaceable(in[0][k], in[1][k], in[2][k], in[3][k]);
    }
    if (!right) return false;
    const double* const from[4] = {in[0], in[1], in[2], in[3]};
    double* const to[4] = {out[0], out[1], out[2], out[3]};
    HWY_DYNAMIC_DISPATCH(displace_vectors)(from, to, (count + 7) / 8 * 8);
    for (std::int64_t k = 0; k < count; ++k) {
        new_theta[first + k] = out[0][k];
        new_phi[first + k] = out[1][k];
        rotation(0, first + k) = out[2][k];
        rotation(1, first + k) = out[3][k];
    }
    return true;
}

void check_lengths(const View<const double, 1>& theta, const View<const double, 1>& phi,
                   const View<const double, 2>& deflection, const View<double, 1>& new_theta,
                   const View<double, 1>& new_phi, const View<double, 2>& rotation) {
    const std::int64_t n = theta.extent(0);
    sht::check_extent("phi", phi, 0, "points", n);
    sht::check_extent("deflection", deflection, 0, "components", 2);
    sht::check_extent("deflection", deflection, 1, "points", n);
    sht::check_extent("new_theta", new_theta, 0, "points", n);
    sht::check_extent("new_phi", new_phi, 0, "points", n);
    sht::check_extent("rotation", rotation, 0, "components", 2);
    sht::check_extent("rotation", rotation, 1, "points", n);
    for (const auto& [name, view] : {std::pair("theta", theta), {"phi", phi}}) sht::check_host(name, view);
    sht::check_host("deflection", deflection);
    sht::check_host("rotation", rotation);
}

}  // namespace
}  // namespace points

void displace(View<const double, 1> theta, View<const double, 1> phi, View<const double, 2> deflection,
              View<double, 1> new_theta, View<double, 1> new_phi, View<double, 2> rotation, int threads) {
    using points::check_lengths;
    using points::displace_piece;
    using points::piece;
    check_lengths(theta, phi, deflection, new_theta, new_phi, rotation);
    const std::int64_t n = theta.extent(0), n_pieces = (n + piece - 1) / piece;
    constexpr double of_point = 0.03;  // us
    const int workers =
        core::paying_threads(core::resolve_threads(threads), of_point * static_cast<double>(n));
    std::atomic<std::int64_t> wrong{n};  // no point before it is
    core::parallel_for(n_pieces, workers, [&](std::int64_t task, int) {
        const std::int64_t first = task * piece;
        if (displace_piece(theta, phi, deflection, new_theta, new_phi, rotation, first,
                           std::min(piece, n - first)))
            return;
        std::int64_t before = wrong;
        while (first < before && !wrong.compare_exchange_weak(before, first)) {
        }
    });
    for (std::int64_t i = wrong; i < n; ++i)
        points::check_displacement(theta[i], phi[i], deflection(0, i), deflection(1, i), i);
}

}  // namespace zonal
#endif
