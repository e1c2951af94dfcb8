#include "chebyshev/evaluation/evaluation.hpp"

#include <fmt/core.h>

#include "chebyshev/evaluation/evaluation_math.hpp"
#include "chebyshev/transform/cosine_math.hpp"
#include "core/interruption.hpp"
#include "zonal/error.hpp"

namespace zonal {

std::vector<double> chebyshev_nodes(ChebyshevNodes nodes, std::int64_t n) {
    const bool gauss = nodes == ChebyshevNodes::gauss;
    if (n < (gauss ? 1 : 2))
        throw InvalidArgument(fmt::format("n = {}: must be at least {} for {} nodes", n, gauss ? 1 : 2,
                                          gauss ? "Gauss" : "Lobatto"));
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
        throw InvalidArgument(fmt::format("{}: must be in the memory of f, the host's or a device's", name));
}

template <class T>
void require_grid(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& values) {
    require_not_empty(f, "f");
    require_batch(f, "values", values);
    for (int axis = 0; axis < f.dimensions; ++axis) {
        require_extent("values", axis + 1, values.extents[axis + 1], points[axis].extent(0));
        if (f.space == MemorySpace::host && points[axis].space() != MemorySpace::host)
            throw InvalidArgument(fmt::format("points[{}]: must be in host memory, as f is", axis));
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
            throw InvalidArgument(fmt::format("n = {}: must be at least 2 for Lobatto nodes", n));
        if (f.extents[axis] > n)
            throw InvalidArgument(fmt::format("f: {} = {}: must be at most the number of values {}",
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

}  // namespace

template <class T>
void evaluate_on_grid(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& values,
                      void* cuda_stream) {
    require_grid(f, points, values);
    if (f.space == MemorySpace::cuda) return cuda::evaluate_on_grid(f, points, values, cuda_stream);
    const core::InterruptionPoll poll;
    const auto step = [&](int axis, const SeriesArray<const T>& from, const SeriesArray<T>& to) {
        const auto& x = points[static_cast<std::size_t>(axis - 1)];
        for_each_line(from, to, axis, [&](std::int64_t source, std::int64_t target) {
            poll();
            const auto a = [&](std::int64_t k) { return from.data[source + k * from.strides[axis]]; };
            for (std::int64_t i = 0; i < to.extents[axis]; ++i)
                to.data[target + i * to.strides[axis]] =
                    clenshaw<T>(a, from.extents[axis], x[i], clenshaw_start(x[i], 0), first_weight(f));
        });
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
        throw InvalidArgument("points: must be in the memory of f, the host's or a device's");
    if (f.space == MemorySpace::cuda) return cuda::evaluate(f, points, values, cuda_stream);
    const core::InterruptionPoll poll;
    auto one = f;
    for (std::int64_t item = 0; item < f.extents[0]; ++item, one.data += f.strides[0])
        for (std::int64_t i = 0; i < points.extent(0); ++i) {
            constexpr std::int64_t many = 64;  // a look at the clock takes as long as a short series
            if (i % many == 0) poll();
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
