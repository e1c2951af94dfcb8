#include <optional>

#include "chebyshev/evaluation/evaluation.hpp"
#include "chebyshev/evaluation/evaluation_math.hpp"
#include "chebyshev/lines_cuda.cuh"
#include "core/cuda.cuh"

namespace zonal::chebyshev::cuda {

/// Values of lines of n coefficients at points.
template <class R>
struct ValueSums {
    std::int64_t n;
    const double* points;
    std::int64_t point_stride;
    R first_weight;

    /// The part of term [first, first + count) in result i.
    __device__ R part(const LinePair<R>& line, std::int64_t i, const TeamShare& terms) const {
        const double x = points[i * point_stride];
        const R* const source = line.source + terms.first * line.source_stride;
        const auto a = [&](std::int64_t k) { return source[k * line.source_stride]; };
        return clenshaw<R>(a, terms.count, x, clenshaw_start(x, terms.first),
                           terms.first == 0 ? first_weight : R{1});
    }
    __device__ R weight(std::int64_t) const { return 1; }
};

/// Coefficients of lines of n values at nodes.
template <class R>
struct CoefficientSums {
    std::int64_t n;
    NodeSums nodes;

    __device__ R part(const LinePair<R>& line, std::int64_t k, const TeamShare& terms) const {
        const auto half_turn = static_cast<double>(2 * nodes.m());
        R sum = 0;
        for (std::int64_t j = terms.first; j < terms.first + terms.count; ++j) {
            const double cosine = cospi(static_cast<double>(nodes.quarter_turns(k, j)) / half_turn);
            sum += line.source[j * line.source_stride] * static_cast<R>(cosine * nodes.share(j));
        }
        return sum;
    }
    __device__ R weight(std::int64_t k) const { return static_cast<R>(nodes.weight(k)); }
};

/// Results i < n_results of each line, along the lines of the target.
template <class R, class Sums>
__global__ void __launch_bounds__(most_team_threads)
    add_along_lines(const __grid_constant__ LinePairs<R> lines, const __grid_constant__ Sums sums,
                    std::int64_t n_results, bool is_last_axis) {
    __shared__ R shared[most_team_warps];
    const std::int64_t result = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    const bool is_there = result < n_results * lines.count;
    const std::int64_t number = is_there ? result : 0;
    // Neighbouring threads write neighbours in memory.
    const std::int64_t i = is_last_axis ? number % n_results : number / lines.count;
    const LinePair<R> line = lines[is_last_axis ? number / n_results : number % lines.count];
    const auto terms = TeamShare::of(sums.n);
    const R sum = team_sum(terms.count > 0 ? sums.part(line, i, terms) : R{0}, shared);
    if (is_there && threadIdx.x == 0) line.target[i * line.target_stride] = sum * sums.weight(i);
}

/// Values of a batch of series at points anywhere; strides of planes are 1.
template <class R>
struct PointLaunch {
    Plane<const R> f;
    std::int64_t extents[3];
    R first_weight;
    const double* points;  ///< [point, axis]
    std::int64_t point_strides[2];
    R* values;  ///< [batch, point, plane]
    std::int64_t value_strides[2];
    std::int64_t n_batch, n_points, n_planes;
};

/// Sums over axes from `Axis` to the last, of which the first has these terms.
template <int D, int Axis, class R>
__device__ R value_at(const PointLaunch<R>& launch, const R* row, const double* point,
                      const TeamShare& terms) {
    const double x = point[Axis * launch.point_strides[1]];
    const auto a = [&](std::int64_t k) {
        const R* const source = row + (terms.first + k) * launch.f.strides[Axis + 1];
        if constexpr (Axis + 1 < D)
            return value_at<D, Axis + 1>(launch, source, point, {0, launch.extents[Axis + 1]});
        else
            return *source;
    };
    return clenshaw<R>(a, terms.count, x, clenshaw_start(x, terms.first),
                       terms.first == 0 ? launch.first_weight : R{1});
}

template <class R, int D>
__global__ void __launch_bounds__(most_team_threads)
    evaluate_at_points(const __grid_constant__ PointLaunch<R> launch) {
    __shared__ R shared[most_team_warps];
    const std::int64_t result = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    const bool is_there = result < launch.n_batch * launch.n_points * launch.n_planes;
    const std::int64_t number = is_there ? result : 0;
    const std::int64_t plane = number % launch.n_planes, i = number / launch.n_planes % launch.n_points;
    const std::int64_t item = number / launch.n_planes / launch.n_points;
    const R* const series = launch.f.data + item * launch.f.strides[0] + plane;
    const auto terms = TeamShare::of(launch.extents[0]);
    const R part = terms.count > 0
                       ? value_at<D, 0>(launch, series, launch.points + i * launch.point_strides[0], terms)
                       : R{0};
    const R sum = team_sum(part, shared);
    if (is_there && threadIdx.x == 0)
        launch.values[item * launch.value_strides[0] + i * launch.value_strides[1] + plane] = sum;
}

namespace {

unsigned unsigned_of(int value) {
    return static_cast<unsigned>(value);
}

template <class T, class Sums>
void run(const SeriesArray<const T>& from, const SeriesArray<T>& to, int axis, const Sums& sums,
         cudaStream_t stream) {
    const auto lines = line_pairs(from, to, axis);
    const auto n_results = to.extents[static_cast<std::size_t>(axis)], count = n_results * lines.count;
    if (count == 0) return;
    const auto teams = teams_for_sums(count, sums.n);
    const dim3 block(unsigned_of(teams.threads), unsigned_of(teams.per_block));
    add_along_lines<Real<T>, Sums><<<n_blocks_for(count, teams.per_block), block, 0, stream>>>(
        lines, sums, n_results, axis == from.dimensions);
    core::check_launch("sums along lines of Chebyshev series");
}

/// What lies between the steps along axes, from the device's memory pool.
template <class T>
class StreamBuffers {
  public:
    explicit StreamBuffers(cudaStream_t stream) : stream_(stream) {}
    T* operator()(int axis, std::int64_t size) const {
        return buffers_[axis % 2].emplace(size, stream_).data();
    }

  private:
    cudaStream_t stream_;
    mutable std::optional<core::StreamArray<T>> buffers_[2];
};

/// Points on the device: those of the caller or a copy.
class DevicePoints {
  public:
    DevicePoints(View<const double, 1> points, int device, cudaStream_t stream)
        : data(points.data()), stride(points.stride(0)) {
        if (points.extent(0) == 0) return;
        core::require_place("points", points, device);
        if (points.space() == MemorySpace::cuda) return;
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        core::check_cuda(cudaStreamIsCapturing(stream, &capture), "asking for a stream's capture");
        if (capture != cudaStreamCaptureStatusNone)
            throw InvalidArgument("points", "must be in device memory while the stream is captured");
        std::vector<double> packed;
        for (std::int64_t i = 0; i < points.extent(0); ++i) packed.push_back(points[i]);
        copy_.emplace(points.extent(0), stream);
        // From pageable memory all has been read on return.
        core::check_cuda(cudaMemcpyAsync(copy_->data(), packed.data(), packed.size() * sizeof(double),
                                         cudaMemcpyHostToDevice, stream),
                         "copying points");
        data = copy_->data();
        stride = 1;
    }

    const double* data;
    std::int64_t stride;

  private:
    std::optional<core::StreamArray<double>> copy_;
};

template <class T>
void put_on_grid(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& values,
                 int device, cudaStream_t stream) {
    const auto step = [&](int axis, const SeriesArray<const T>& from, const SeriesArray<T>& to) {
        const DevicePoints x(points[static_cast<std::size_t>(axis - 1)], device, stream);
        const auto n = from.extents[static_cast<std::size_t>(axis)];
        run(from, to, axis, ValueSums<Real<T>>{n, x.data, x.stride, first_weight(f)}, stream);
    };
    along_all_axes<T>(f, values, StreamBuffers<T>(stream), step);
}

template <class T>
void put_through(const SeriesArray<const T>& values, ChebyshevNodes nodes, const SeriesArray<T>& f,
                 cudaStream_t stream) {
    const auto step = [&](int axis, const SeriesArray<const T>& from, const SeriesArray<T>& to) {
        const auto n = from.extents[static_cast<std::size_t>(axis)];
        run(from, to, axis, CoefficientSums<Real<T>>{n, node_sums(nodes, f.convention, n)}, stream);
    };
    along_all_axes<T>(values, f, StreamBuffers<T>(stream), step);
}

template <class T>
std::int64_t size_of(const SeriesArray<T>& array) {
    return array.extents[0] * array.extents[1] * array.extents[2] * array.extents[3];
}

/// The device of both arrays.
template <class T>
int device_of_both(const char* from_name, const SeriesArray<const T>& from, const char* to_name,
                   const void* to) {
    const int device = core::device_of(from_name, from.data);
    core::require_place(from_name, from.data, MemorySpace::cuda, device, sizeof(Real<T>));
    core::require_place(to_name, to, MemorySpace::cuda, device, sizeof(Real<T>));
    return device;
}

template <class R>
void launch_points(int dimensions, const PointLaunch<R>& launch, cudaStream_t stream) {
    const auto count = launch.n_batch * launch.n_points * launch.n_planes;
    const auto teams = teams_for_sums(count, launch.extents[0]);
    const dim3 block(unsigned_of(teams.threads), unsigned_of(teams.per_block));
    const unsigned blocks = n_blocks_for(count, teams.per_block);
    if (dimensions == 1)
        evaluate_at_points<R, 1><<<blocks, block, 0, stream>>>(launch);
    else if (dimensions == 2)
        evaluate_at_points<R, 2><<<blocks, block, 0, stream>>>(launch);
    else
        evaluate_at_points<R, 3><<<blocks, block, 0, stream>>>(launch);
    core::check_launch("values of Chebyshev series");
}

}  // namespace

template <class T>
void evaluate(const SeriesArray<const T>& f, View<const double, 2> points, View<T, 2> values, void* stream) {
    using R = Real<T>;
    if (values.size() == 0) return;
    const int device = device_of_both("f", f, "values", values.data());
    core::require_place("points", points, device);
    const core::CurrentDevice current(device);
    PointLaunch<R> launch{};
    launch.f = plane_of(f, 0);
    std::copy(f.extents.begin() + 1, f.extents.end(), launch.extents);
    launch.first_weight = first_weight(f);
    launch.points = points.data();
    launch.values = reinterpret_cast<R*>(values.data());
    for (int axis = 0; axis < 2; ++axis) {
        launch.point_strides[axis] = points.stride(axis);
        launch.value_strides[axis] = values.stride(axis) * n_planes<T>;
    }
    launch.n_batch = f.extents[0];
    launch.n_points = points.extent(0);
    launch.n_planes = n_planes<T>;
    launch_points(f.dimensions, launch, static_cast<cudaStream_t>(stream));
}

template <class T>
void evaluate_on_grid(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& values,
                      void* stream) {
    if (size_of(values) == 0) return;
    const int device = device_of_both("f", f, "values", values.data);
    const core::CurrentDevice current(device);
    put_on_grid(f, points, values, device, static_cast<cudaStream_t>(stream));
}

template <class T>
void interpolate(const SeriesArray<const T>& values, ChebyshevNodes nodes, const SeriesArray<T>& f,
                 void* stream) {
    if (size_of(f) == 0) return;
    const core::CurrentDevice current(device_of_both("values", values, "f", f.data));
    put_through(values, nodes, f, static_cast<cudaStream_t>(stream));
}

template <class T>
void resample(const SeriesArray<const T>& f, const GridPoints& points, const SeriesArray<T>& result,
              void* stream) {
    if (size_of(result) == 0) return;
    const int device = device_of_both("f", f, "result", result.data);
    const core::CurrentDevice current(device);
    auto* const on_stream = static_cast<cudaStream_t>(stream);
    const core::StreamArray<T> values(size_of(result), on_stream);
    put_on_grid(f, points, row_major_like(f, values.data(), result.extents), device, on_stream);
    put_through(row_major_like<const T>(f, values.data(), result.extents), ChebyshevNodes::gauss, result,
                on_stream);
}

#include "chebyshev/evaluation/evaluation_instances-inl.hpp"
#include "chebyshev/evaluation/evaluation_math.hpp"
#include "chebyshev/lines_cuda.cuh"

}  // namespace zonal::chebyshev::cuda
