#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spectra/coupling_diagonals.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "spectra/coupling_diagonals.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::coupling::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, padding>;
using V = hn::Vec<D>;
constexpr std::int64_t n_lanes = HWY_MAX_BYTES < 8 * padding ? HWY_MAX_BYTES / 8 : padding;

HWY_INLINE double total(V v) {
    return hn::GetLane(hn::SumOfLanes(D(), v));
}

template <bool Spin, int N>
HWY_INLINE void even_of(const Diagonal& diagonal, std::int64_t l, PairSums& sums) {
    const D d;
    const std::int64_t p = diagonal.s - l;
    const double a = static_cast<double>(l * (l + 1)), b = static_cast<double>(p * (p + 1));
    const double* const c = diagonal.tables.c.data();
    const V sum_ab = hn::Set(d, a + b), twice_ab = hn::Set(d, 2 * a * b), two = hn::Set(d, 2.0);
    V plain[N], once[N], twice[N];
    for (int n = 0; n < N; ++n) plain[n] = once[n] = twice[n] = hn::Zero(d);
    for (std::int64_t g = p; g < diagonal.end_even; g += n_lanes) {
        const V both = hn::Mul(hn::LoadU(d, c + (g - l)), hn::LoadU(d, c + (g - p)));
        V y = hn::Zero(d);
        if constexpr (Spin) {
            const V x = hn::Sub(hn::LoadU(d, diagonal.l_even.data() + g), sum_ab);
            y = hn::MulSub(x, hn::Add(x, two), twice_ab);
        }
        for (int n = 0; n < N; ++n) {
            const V term = hn::Mul(hn::LoadU(d, diagonal.even[n].data() + g), both);
            plain[n] = hn::Add(plain[n], term);
            if constexpr (Spin) {
                const V with_y = hn::Mul(term, y);
                once[n] = hn::Add(once[n], with_y);
                twice[n] = hn::MulAdd(with_y, y, twice[n]);
            }
        }
    }
    const double factor = Spin ? 1 / (2 * std::sqrt(a * b * (a - 2) * (b - 2))) : 0;
    for (int n = 0; n < N; ++n) {
        sums.spin00[n] = total(plain[n]);
        if constexpr (Spin) {
            sums.spin02[n] = factor * total(once[n]);
            sums.plus[n] = factor * factor * total(twice[n]);
        }
    }
}

template <int N>
HWY_INLINE void odd_of(const Diagonal& diagonal, std::int64_t l, PairSums& sums) {
    const D d;
    const std::int64_t p = diagonal.s - l;
    const double a = static_cast<double>(l * (l + 1)), b = static_cast<double>(p * (p + 1));
    const double* const k = diagonal.tables.k.data();
    const V shift = hn::Set(d, a + b - 2);
    V squares[N];
    for (int n = 0; n < N; ++n) squares[n] = hn::Zero(d);
    for (std::int64_t g = p; g < diagonal.end_odd; g += n_lanes) {
        const V x = hn::Sub(hn::LoadU(d, diagonal.l_odd.data() + g), shift);
        const V both = hn::Mul(hn::Mul(hn::LoadU(d, k + (g - l)), hn::LoadU(d, k + (g - p))), hn::Mul(x, x));
        for (int n = 0; n < N; ++n)
            squares[n] = hn::MulAdd(hn::LoadU(d, diagonal.odd[n].data() + g), both, squares[n]);
    }
    for (int n = 0; n < N; ++n) sums.minus[n] = total(squares[n]) / (a * b * (a - 2) * (b - 2));
}

void even(const Diagonal& diagonal, std::int64_t l, bool with_spin, PairSums& sums) {
    const auto of = [&]<int N>(std::integral_constant<int, N>) {
        with_spin ? even_of<true, N>(diagonal, l, sums) : even_of<false, N>(diagonal, l, sums);
    };
    if (diagonal.n_masks == 1)
        of(std::integral_constant<int, 1>());
    else
        of(std::integral_constant<int, most_masks>());
}
void odd(const Diagonal& diagonal, std::int64_t l, PairSums& sums) {
    diagonal.n_masks == 1 ? odd_of<1>(diagonal, l, sums) : odd_of<most_masks>(diagonal, l, sums);
}

}  // namespace zonal::coupling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::coupling {

HWY_EXPORT(even);
HWY_EXPORT(odd);

void sum_even(const Diagonal& diagonal, std::int64_t l, bool with_spin, PairSums& sums) {
    HWY_DYNAMIC_DISPATCH(even)(diagonal, l, with_spin, sums);
}
void sum_odd(const Diagonal& diagonal, std::int64_t l, PairSums& sums) {
    HWY_DYNAMIC_DISPATCH(odd)(diagonal, l, sums);
}

CouplingTables::CouplingTables(std::int64_t lmax) {
    // Products of thousands of factors: the errors of long double stay below a double's last bit.
    long double value = 1;
    for (std::int64_t n = 0; n <= 2 * lmax + padding; ++n) {
        if (n > 0) value *= static_cast<long double>(2 * n - 1) / static_cast<long double>(2 * n);
        c.push_back(static_cast<double>(value));
        k.push_back(static_cast<double>(static_cast<long double>(2 * n + 1) * value));
    }
}

Diagonal::Diagonal(const CouplingTables& of, std::int64_t lmax) : tables(of), room_(2 * lmax + 1 + padding) {
    const auto room = static_cast<std::size_t>(room_);
    for (int n = 0; n < most_masks; ++n) even[n].assign(room, 0.0), odd[n].assign(room, 0.0);
    l_even.assign(room, 0.0), l_odd.assign(room, 0.0);
}

void Diagonal::set(std::int64_t diagonal, const double* weights, std::int64_t degrees, int masks) {
    s = diagonal;
    n_masks = masks;
    const double *const c = tables.c.data(), *const k = tables.k.data();
    // L from 0 or 1 to s, and below `degrees`.
    const auto fill = [&](std::int64_t parity, core::AlignedVector<double>& products,
                          core::AlignedVector<double>(&sums)[most_masks], const auto& shared) {
        const std::int64_t first = (s + 1 - parity) / 2;  // L = 2g + parity - s >= 0
        const std::int64_t last = std::min(s - parity, (s + degrees - 1 - parity) / 2);
        for (std::int64_t g = first; g <= last; ++g) {
            const std::int64_t degree = 2 * g + parity - s;
            const double factor = shared(g, degree);
            products[static_cast<std::size_t>(g)] = static_cast<double>(degree * (degree + 1));
            for (int n = 0; n < most_masks; ++n)
                sums[n][static_cast<std::size_t>(g)] =
                    n < n_masks ? factor * weights[n * degrees + degree] : 0;
        }
        const std::int64_t end = std::max(first, last + 1);
        for (int n = 0; n < most_masks; ++n)
            std::fill_n(sums[n].begin() + end, std::min(padding, room_ - end), 0.0);
        return end;
    };
    end_even = fill(0, l_even, even, [&](std::int64_t g, std::int64_t degree) {
        return c[g - degree] / (static_cast<double>(2 * g + 1) * c[g]);
    });
    end_odd = fill(1, l_odd, odd, [&](std::int64_t g, std::int64_t degree) {
        return k[g - degree] * static_cast<double>(g + 1) / (2 * static_cast<double>(2 * g + 1) * c[g]);
    });
}

}  // namespace zonal::coupling
#endif
