#include "chebyshev/evaluation/evaluation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "chebyshev/evaluation/evaluation_math.hpp"
#include "chebyshev/transform/cosine_math.hpp"
#include "core/interruption.hpp"
#include "zonal/error.hpp"

namespace zonal {

std::vector<double> chebyshev_nodes(ChebyshevNodes nodes, std::int64_t n) {
    const bool gauss = nodes == ChebyshevNodes::gauss;
    if (n < (gauss ? 1 : 2))
        throw InvalidArgument(
            "n", n,
            fmt::format("must be at least {} for {} nodes", gauss ? 1 : 2, gauss ? "Gauss" : "Lobatto"));
    const chebyshev::CosineTable cosine(gauss ? n : n - 1);
    std::vector<double> points(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j)
        points[static_cast<std::size_t>(j)] = gauss ? cosine.gauss(1, j) : cosine.lobatto(1, j);
    return points;
}

namespace chebyshev {
namespace {

template <class A, class B>
void require_batch(const SeriesArray<A>& f, const char* name, const SeriesArray<B>& other) {
    require_extent(name, 0, other.extents[0], f.extents[0]);
    if (f.space != other.space)
        throw InvalidArgument(name, "must be in the memory of f, the host's or a device's");
}

template <class T>
void require_grid(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& values) {
    require_not_empty(f, "f");
    require_batch(f, "values", values);
    for (int axis = 0; axis < f.dimensions; ++axis) {
        require_extent("values", axis + 1, values.extents[axis + 1], points[axis].extent(0));
        if (f.space == MemorySpace::host && points[axis].space() != MemorySpace::host)
            throw InvalidArgument(fmt::format("points[{}]", axis), "must be in host memory, as f is");
    }
}

template <class T>
void require_nodes(const SeriesArray<const T>& values, ChebyshevNodes nodes, const SeriesArray<T>& f) {
    require_not_empty(values, "values");
    require_not_empty(f, "f");
    require_batch(values, "f", f);
    for (int axis = 1; axis <= f.dimensions; ++axis) {
        const auto n = values.extents[axis];
        if (nodes == ChebyshevNodes::lobatto && n < 2)
            throw InvalidArgument("n", n, "must be at least 2 for Lobatto nodes");
        if (f.extents[axis] > n)
            throw InvalidArgument("f", fmt::format("{} = {}: must be at most the number of values {}",
                                                   axis_names[axis], f.extents[axis], n));
    }
}

/// What lies between the steps along axes.
template <class T>
class HostBuffers {
  public:
    T* operator()(int axis, std::int64_t size) const {
        auto& buffer = buffers_[axis % 2];
        buffer.resize(static_cast<std::size_t>(size));
        return buffer.data();
    }

  private:
    mutable std::vector<T> buffers_[2];
};

template <class T>
T coefficient(const NodeSums& sums, const CosineTable& cosine, const T* values, std::int64_t stride,
              std::int64_t k) {
    using R = Real<T>;
    T sum{};
    for (std::int64_t j = 0; j < sums.n; ++j)
        sum += values[j * stride] * static_cast<R>(cosine(sums.quarter_turns(k, j)) * sums.share(j));
    return sum * static_cast<R>(sums.weight(k));
}

/// Points whose recurrences go side by side: each step of one of them waits for the step before.
constexpr std::int64_t n_lanes = 8;

/// clenshaw() at n_lanes points, to the bit.
template <class T>
class Lanes {
    using R = Real<T>;

  public:
    /// x: at most n_lanes
    explicit Lanes(View<const double, 1> x) : n_points_(x.extent(0)) {
        for (std::size_t i = 0; i < n_lanes; ++i) {
            if (const auto point = static_cast<std::int64_t>(i); point < n_points_) x_[i] = x[point];
            const bool near_end = is_near_end(x_[i]);
            const double end = end_beside(x_[i]);
            slope_[i] = static_cast<R>(near_end ? 2 * (x_[i] - end) : 2 * x_[i]);
            turn_[i] = static_cast<R>(near_end ? end : -1);
            is_near_[i] = near_end ? R(1) : R(0);
            is_far_[i] = R(1) - is_near_[i];
        }
    }

    /// values: one for each x; a: n coefficients
    void sum(const T* a, std::int64_t stride, std::int64_t n, R first_weight, T* values,
             std::int64_t values_stride) const {
        std::array<T, n_lanes> b{}, next{};
        for (std::int64_t k = n - 1; k >= 1; --k) {
            const T present = a[k * stride];
            for (std::size_t i = 0; i < n_lanes; ++i) {
                const T step = present + slope_[i] * b[i] + turn_[i] * next[i];
                next[i] = is_near_[i] * step + is_far_[i] * b[i];
                b[i] = step + is_near_[i] * turn_[i] * b[i];
            }
        }
        for (std::int64_t point = 0; point < n_points_; ++point) {
            const auto i = static_cast<std::size_t>(point);
            const auto start = clenshaw_start(x_[i], 0);
            const T rest = turn_[i] * next[i];
            values[point * values_stride] = static_cast<R>(start.value) * (a[0] * first_weight + rest) +
                                            static_cast<R>(start.next) * b[i];
        }
    }

  private:
    std::int64_t n_points_;
    std::array<double, n_lanes> x_{};
    std::array<R, n_lanes> slope_, turn_, is_near_, is_far_;
};

/// The values at points x of every line of `from` along an axis.
template <class T>
void evaluate_lines(const SeriesArray<const T>& from, int axis, View<const double, 1> x,
                    const SeriesArray<T>& to) {
    const core::InterruptionPoll poll;
    const auto stride = from.strides[axis], n = from.extents[axis], to_stride = to.strides[axis];
    const auto weight = first_weight(from);
    if (x.extent(0) == 1) {
        for_each_line(from, to, axis, [&](std::int64_t source, std::int64_t target) {
            const auto a = [&](std::int64_t k) { return from.data[source + k * stride]; };
            to.data[target] = clenshaw<T>(a, n, x[0], clenshaw_start(x[0], 0), weight);
        });
        return;
    }
    for (std::int64_t first = 0; first < x.extent(0); first += n_lanes) {
        const Lanes<T> lanes(x.slice(first, std::min(n_lanes, x.extent(0) - first)));
        for_each_line(from, to, axis, [&](std::int64_t source, std::int64_t target) {
            poll();
            lanes.sum(from.data + source, stride, n, weight, to.data + target + first * to_stride, to_stride);
        });
    }
}

}  // namespace

template <class T>
void evaluate_on_grid(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& values,
                      void* cuda_stream) {
    require_grid(f, points, values);
    if (f.space == MemorySpace::cuda) return cuda::evaluate_on_grid(f, points, values, cuda_stream);
    const auto step = [&](int axis, const SeriesArray<const T>& from, const SeriesArray<T>& to) {
        evaluate_lines<T>(from, axis, points[static_cast<std::size_t>(axis - 1)], to);
    };
    along_all_axes<T>(f, values, HostBuffers<T>(), step);
}

template <class T>
T evaluate(const SeriesArray<const T>& f, const double* point) {
    require_host(f, "f");
    T value{};
    GridPoints points;
    for (int axis = 0; axis < f.dimensions; ++axis) points[axis] = {point + axis, {1}};
    auto one = f;
    one.extents[0] = 1;
    evaluate_on_grid<T>(one, points, row_major_like(one, &value, {1, 1, 1, 1}));
    return value;
}

template <class T>
void evaluate(const SeriesArray<const T>& f, View<const double, 2> points, View<T, 2> values,
              void* cuda_stream) {
    require_not_empty(f, "f");
    SeriesArray<T> series_values{values.data(), 1, f.convention, values.space()};
    for (int axis = 0; axis < 2; ++axis) {
        series_values.extents[axis] = values.extent(axis);
        series_values.strides[axis] = values.stride(axis);
    }
    require_batch(f, "values", series_values);
    require_extent("values", 1, values.extent(1), points.extent(0));
    require_extent("points", 1, points.extent(1), f.dimensions);
    if (points.space() != f.space)
        throw InvalidArgument("points", "must be in the memory of f, the host's or a device's");
    if (f.space == MemorySpace::cuda) return cuda::evaluate(f, points, values, cuda_stream);
    if (f.dimensions == 1)
        return evaluate_lines<T>(f, 1, {points.data(), {points.extent(0)}, {points.stride(0)}},
                                 series_values);
    const core::InterruptionPoll poll;
    auto one = f;
    for (std::int64_t item = 0; item < f.extents[0]; ++item, one.data += f.strides[0])
        for (std::int64_t i = 0; i < points.extent(0); ++i) {
            poll();
            std::array<double, 3> point{};
            for (int axis = 0; axis < f.dimensions; ++axis) point[axis] = points(i, axis);
            values(item, i) = evaluate<T>(one, point.data());
        }
}

template <class T>
void interpolate(const SeriesArray<const T>& values, ChebyshevNodes nodes, const SeriesArray<T>& f,
                 void* cuda_stream) {
    require_nodes(values, nodes, f);
    if (f.space == MemorySpace::cuda) return cuda::interpolate(values, nodes, f, cuda_stream);
    const core::InterruptionPoll poll;
    const auto step = [&](int axis, const SeriesArray<const T>& from, const SeriesArray<T>& to) {
        const auto sums = node_sums(nodes, f.convention, from.extents[axis]);
        const CosineTable cosine(sums.m());
        for_each_line(from, to, axis, [&](std::int64_t source, std::int64_t target) {
            for (std::int64_t k = 0; k < to.extents[axis]; ++k) {
                poll();
                to.data[target + k * to.strides[axis]] =
                    coefficient(sums, cosine, from.data + source, from.strides[axis], k);
            }
        });
    };
    along_all_axes<T>(values, f, HostBuffers<T>(), step);
}

template <class T>
void resample(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& result,
              void* cuda_stream) {
    require_grid(f, points, result);
    if (f.space == MemorySpace::cuda) return cuda::resample(f, points, result, cuda_stream);
    const auto& n = result.extents;
    std::vector<T> values(static_cast<std::size_t>(n[0] * n[1] * n[2] * n[3]));
    const auto between = row_major_like(f, values.data(), n);
    evaluate_on_grid(f, points, between);
    interpolate<T>(row_major_like<const T>(f, values.data(), n), ChebyshevNodes::gauss, result);
}

template float evaluate(const SeriesArray<const float>&, const double*);
template double evaluate(const SeriesArray<const double>&, const double*);
template std::complex<float> evaluate(const SeriesArray<const std::complex<float>>&, const double*);
template std::complex<double> evaluate(const SeriesArray<const std::complex<double>>&, const double*);
#include "chebyshev/evaluation/evaluation_instances-inl.hpp"

}  // namespace chebyshev
}  // namespace zonal
