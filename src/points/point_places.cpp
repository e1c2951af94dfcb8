#include "points/point_kernels.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "points/point_places.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "points/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::points::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// a b = p + e exactly.
HWY_INLINE void exact_product(V a, V b, V& p, V& e) {
    p = hn::Mul(a, b);
#if defined(HWY_NATIVE_FMA) && HWY_NATIVE_FMA
    e = hn::MulSub(a, b, p);
#else
    // Dekker (1971): halves of 26 bits, whose products are exact.
    const D d;
    const V splitter = hn::Set(d, 134217729.0);
    const V ta = hn::Mul(splitter, a), tb = hn::Mul(splitter, b);
    const V ah = hn::Sub(ta, hn::Sub(ta, a)), bh = hn::Sub(tb, hn::Sub(tb, b));
    const V al = hn::Sub(a, ah), bl = hn::Sub(b, bh);
    e = hn::Add(hn::Add(hn::Add(hn::Sub(hn::Mul(ah, bh), p), hn::Mul(ah, bl)), hn::Mul(al, bh)),
                hn::Mul(al, bl));
#endif
}

/// places of a vector of coordinates.
HWY_INLINE void place(const PlaceRule& rule, V x, V& first, V& y) {
    const D d;
    const V inverse = hn::Set(d, 0x1.45f306dc9c883p-3),
            rest = hn::Set(d, -0x1.6b01ec5417056p-57);  // 1 / 2 pi
    const V n = hn::Set(d, static_cast<double>(rule.n)),
            half = hn::Set(d, static_cast<double>(rule.width) / 2);
    V p, e, q, r;
    exact_product(x, inverse, p, e);
    e = hn::MulAdd(x, rest, e);
    exact_product(p, n, q, r);
    V cell = hn::Round(q);
    const V fraction = hn::Add(hn::Sub(q, cell), hn::MulAdd(e, n, r));
    const V start = hn::Ceil(hn::Sub(fraction, half));
    y = hn::MulAdd(hn::Set(d, 2.0), hn::Sub(hn::Sub(fraction, start), half), hn::Set(d, 1.0));
    if (rule.wraps) {
        // Integers below 2^53; the number of turns may be one off.
        const V turns = hn::Floor(hn::Mul(cell, hn::Set(d, 1 / static_cast<double>(rule.n))));
        cell = hn::Sub(cell, hn::Mul(turns, n));
        cell = hn::IfThenElse(hn::Lt(cell, hn::Zero(d)), hn::Add(cell, n), cell);
        cell = hn::IfThenElse(hn::Ge(cell, n), hn::Sub(cell, n), cell);
    }
    first = hn::Add(hn::Add(cell, start), hn::Set(d, static_cast<double>(rule.border)));
}

bool places(const PlaceRule& rule, const double* x, std::int64_t count, std::int32_t* first, double* y) {
    const D d;
    const hn::Rebind<std::int32_t, D> di;
    const V least = hn::Set(d, rule.least), most = hn::Set(d, rule.most);
    auto valid = hn::Eq(least, least);
    V firsts, ys;
    const auto place_valid = [&](V v) HWY_ATTR {
        const auto is_valid = hn::And(hn::Ge(v, least), hn::Le(v, most));
        valid = hn::And(valid, is_valid);
        place(rule, hn::IfThenElse(is_valid, v, least), firsts, ys);  // others are in no int32
    };
    std::int64_t i = 0;
    for (; i + lanes() <= count; i += lanes()) {
        place_valid(hn::LoadU(d, x + i));
        hn::StoreU(hn::DemoteTo(di, firsts), di, first + i);
        hn::StoreU(ys, d, y + i);
    }
    for (; i < count; ++i) {
        HWY_ALIGN double one[lanes()];
        place_valid(hn::Set(d, x[i]));
        hn::Store(firsts, d, one);
        first[i] = static_cast<std::int32_t>(one[0]);
        hn::Store(ys, d, one);
        y[i] = one[0];
    }
    return hn::AllTrue(d, valid);
}

}  // namespace zonal::points::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::points {

HWY_EXPORT(places);

bool find_places(const PlaceRule& rule, const double* x, std::int64_t count, std::int32_t* first, double* y) {
    return HWY_DYNAMIC_DISPATCH(places)(rule, x, count, first, y);
}

}  // namespace zonal::points
#endif
