#include <optional>

#include "chebyshev/evaluation/evaluation.hpp"
#include "chebyshev/evaluation/evaluation_kernels.cuh"
#include "core/cuda_place.cuh"

namespace zonal::chebyshev::cuda {
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
        core::require_place("points", points.data(), points.space(), device, sizeof(double));
        if (points.space() == MemorySpace::cuda) return;
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        core::check_cuda(cudaStreamIsCapturing(stream, &capture), "asking for a stream's capture");
        if (capture != cudaStreamCaptureStatusNone)
            throw InvalidArgument("points: must be in device memory while the stream is captured");
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
    core::require_place("points", points.data(), points.space(), device, sizeof(double));
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

}  // namespace zonal::chebyshev::cuda
