#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "masks/nearest_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include <hwy/contrib/math/math-inl.h>

#include "masks/nearest.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::masks::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

HWY_INLINE V square_of(V x, V y, V z, V of_x, V of_y, V of_z) {
    const V a = hn::Sub(x, of_x), b = hn::Sub(y, of_y), c = hn::Sub(z, of_z);
    return hn::MulAdd(a, a, hn::MulAdd(b, b, hn::Mul(c, c)));
}

HWY_INLINE V angle_of(V square) {
    const D tag;
    const V half = hn::Mul(hn::Set(tag, 0.5), hn::Sqrt(square));
    const V angle = hn::Asin(tag, hn::Min(half, hn::Set(tag, 1)));
    return hn::Add(angle, angle);
}

std::int64_t squares_lanes(const Points& points, double x, double y, double z, double* squares) {
    const D tag;
    const V of_x = hn::Set(tag, x), of_y = hn::Set(tag, y), of_z = hn::Set(tag, z);
    const auto step = static_cast<std::int64_t>(hn::Lanes(tag));
    V least = hn::Set(tag, 8);  // above 4, the largest that there is
    std::int64_t i = 0;
    for (; i + step <= points.size; i += step) {
        const V square = square_of(hn::Load(tag, points.x.data() + i), hn::Load(tag, points.y.data() + i),
                                   hn::Load(tag, points.z.data() + i), of_x, of_y, of_z);
        hn::Store(square, tag, squares + i);
        least = hn::Min(least, square);
    }
    double result = hn::GetLane(hn::MinOfLanes(tag, least));
    for (; i < points.size; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const double a = points.x[k] - x, b = points.y[k] - y, c = points.z[k] - z;
        squares[i] = a * a + b * b + c * c;
        result = std::min(result, squares[i]);
    }
    return std::find(squares, squares + points.size, result) - squares;
}

/// With t the nearest point, c what the squares D are from, and |p - c| <= r: |p - s|^2 - |p - t|^2 = D_s -
/// D_t + 2 (p - c).(t - s) is above 0 where D_s - D_t > 2 r |s - t|, and s is not nearest to any such p.
/// slack: of the rounding of D_s - D_t.
void keep_lanes(const Points& points, const double* squares, std::int64_t nearest, double radius,
                Points& kept) {
    constexpr double slack = 1e-14;
    const D tag;
    const auto t = static_cast<std::size_t>(nearest);
    const double least = squares[nearest], t_x = points.x[t], t_y = points.y[t], t_z = points.z[t];
    const double factor = 4 * radius * radius * (1 + slack);
    const V of_x = hn::Set(tag, t_x), of_y = hn::Set(tag, t_y), of_z = hn::Set(tag, t_z);
    const V shrink = hn::Set(tag, 1 - slack), least_of_all = hn::Set(tag, least),
            limit = hn::Set(tag, factor);
    const auto step = static_cast<std::int64_t>(hn::Lanes(tag));
    std::int64_t i = 0, n = 0;
    double *x = kept.x.data(), *y = kept.y.data(), *z = kept.z.data();
    for (; i + step <= points.size; i += step) {
        const V s_x = hn::Load(tag, points.x.data() + i), s_y = hn::Load(tag, points.y.data() + i),
                s_z = hn::Load(tag, points.z.data() + i);
        const V beyond = hn::Max(hn::MulSub(hn::Load(tag, squares + i), shrink, least_of_all), hn::Zero(tag));
        const auto near =
            hn::Le(hn::Mul(beyond, beyond), hn::Mul(limit, square_of(s_x, s_y, s_z, of_x, of_y, of_z)));
        if (hn::AllFalse(tag, near)) continue;
        hn::CompressStore(s_x, near, tag, x + n);
        hn::CompressStore(s_y, near, tag, y + n);
        n += static_cast<std::int64_t>(hn::CompressStore(s_z, near, tag, z + n));
    }
    for (; i < points.size; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const double a = points.x[k] - t_x, b = points.y[k] - t_y, c = points.z[k] - t_z;
        const double beyond = std::max(squares[i] * (1 - slack) - least, 0.0);
        if (beyond * beyond > factor * (a * a + b * b + c * c)) continue;
        x[n] = points.x[k];
        y[n] = points.y[k];
        z[n++] = points.z[k];
    }
    kept.size = n;
}

void nearest_lanes(const Points& points, const double* x, const double* y, const double* z, double* squares,
                   double* angles) {
    const D tag;
    const auto step = static_cast<std::int64_t>(hn::Lanes(tag));
    for (std::int64_t at = 0; at < leaf_pixels; at += 2 * step) {  // two, so that neither waits for the other
        const std::int64_t next = at + step < leaf_pixels ? at + step : at;
        const V x0 = hn::Load(tag, x + at), y0 = hn::Load(tag, y + at), z0 = hn::Load(tag, z + at);
        const V x1 = hn::Load(tag, x + next), y1 = hn::Load(tag, y + next), z1 = hn::Load(tag, z + next);
        V least0 = hn::Set(tag, 8), least1 = least0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(points.size); ++i) {
            const V of_x = hn::Set(tag, points.x[i]), of_y = hn::Set(tag, points.y[i]),
                    of_z = hn::Set(tag, points.z[i]);
            least0 = hn::Min(least0, square_of(x0, y0, z0, of_x, of_y, of_z));
            least1 = hn::Min(least1, square_of(x1, y1, z1, of_x, of_y, of_z));
        }
        hn::Store(least0, tag, squares + at);
        hn::Store(least1, tag, squares + next);
        hn::Store(angle_of(least0), tag, angles + at);
        hn::Store(angle_of(least1), tag, angles + next);
    }
}

}  // namespace zonal::masks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::masks {

HWY_EXPORT(squares_lanes);
HWY_EXPORT(keep_lanes);
HWY_EXPORT(nearest_lanes);

void Points::resize(std::int64_t n) {
    constexpr std::int64_t longest_vector = 8;  // written past the end by compressed stores
    size = n;
    const auto room = static_cast<std::size_t>(n + longest_vector);
    if (x.size() >= room) return;
    for (auto* values : {&x, &y, &z}) values->resize(room);
}

std::int64_t squares_of(const Points& points, double x, double y, double z, double* squares) {
    return HWY_DYNAMIC_DISPATCH(squares_lanes)(points, x, y, z, squares);
}

void keep_candidates(const Points& points, const double* squares, std::int64_t nearest, double radius,
                     Points& kept) {
    kept.resize(points.size);
    HWY_DYNAMIC_DISPATCH(keep_lanes)(points, squares, nearest, radius, kept);
}

void nearest_squares(const Points& points, const double* x, const double* y, const double* z, double* squares,
                     double* angles) {
    HWY_DYNAMIC_DISPATCH(nearest_lanes)(points, x, y, z, squares, angles);
}

}  // namespace zonal::masks
#endif
