#include <algorithm>

#include "points/cuda/point_weights_cuda.cuh"
#include "points/cuda/sample_memory_cuda.cuh"
#include "points/cuda/sorted_points_cuda.cuh"

/// The transpose of interpolation. A warp takes the points of some bins one after the other: its lanes are
/// the columns that these reach, and each keeps the sums of all rows in registers. Bins of one colour reach
/// no common samples and are added to these at once, so the sums do not depend on which block is first.
namespace zonal::points::cuda {
namespace {

constexpr int warp_size = 32, n_warps = 2, n_threads = n_warps * warp_size;
/// The most fields that share a point's weights.
constexpr int most_fields = 2;

/// What one launch does.
struct Spreading {
    WeightTables weights;
    const PointTask* tasks;
    std::int64_t n_tasks;
    const PlacedPoint* points;
    const void* values[most_fields];
    bool is_float;
    double* samples;  ///< of the first field; of parts, [field][part][row][lane]
    std::int64_t field_size, stride;
    std::int32_t first_row, n_rows;  ///< stored, as tasks count them
    bool parts;
};

/// What a warp keeps in shared memory for up to 32 points, one for each lane.
template <int N, int F>
struct WarpShape {
    static constexpr int rows = N + Bin::size;  ///< one more than windows of a bin reach
    static constexpr int columns = N + Bin::together(N) * Bin::size - 1;
    static_assert(columns <= warp_size);
    /// Doubles from point to point, such that lanes that write theirs meet few others in a bank, and two
    /// rows are read at once.
    static constexpr int row_pitch = rows % 4 == 2 ? rows : rows + 2;
    static constexpr int column_pitch = N + 1;
    static constexpr int doubles = warp_size * (row_pitch + column_pitch + F);
    static_assert(row_pitch % 2 == 0);
};

__device__ double value_of(const Spreading& call, int field, std::int64_t i) {
    return call.is_float ? static_cast<double>(static_cast<const float*>(call.values[field])[i])
                         : static_cast<const double*>(call.values[field])[i];
}

/// A lane's point: weights of rows from the bin's first one on, 0 for those that it does not reach, weights
/// of its columns, and values.
template <int N, int F>
__device__ void prepare(const Spreading& call, const double* tables, const PointTask& task,
                        const PlacedPoint& point, double* rows, double* columns, double* values) {
    using Shape = WarpShape<N, F>;
    const int offset = point.row - task.row;
    const double x = point.y_phi, x2 = x * x, y = point.y_theta, y2 = y * y;
    for (int r = 0; r < offset; ++r) rows[r] = 0;
    for (int r = offset + N; r < Shape::rows; ++r) rows[r] = 0;
    for (int j = 0; j < N / 2; ++j) {
        const PairOfWeights of_row = weights_of<false>(tables, call.weights, j, y, y2);
        rows[offset + j] = of_row.first;
        rows[offset + N - 1 - j] = of_row.mirror;
        const PairOfWeights of_column = weights_of<false>(tables, call.weights, j, x, x2);
        columns[j] = of_column.first;
        columns[N - 1 - j] = of_column.mirror;
    }
    for (int f = 0; f < F; ++f) values[f * warp_size] = value_of(call, f, point.caller);
}

template <int N, int F>
__device__ void add_to_samples(const Spreading& call, const PointTask& task, std::int64_t number, int lane,
                               const double (&sums)[F][WarpShape<N, F>::rows]) {
    using Shape = WarpShape<N, F>;
    if (call.parts) {
#pragma unroll
        for (int f = 0; f < F; ++f)
#pragma unroll
            for (int r = 0; r < Shape::rows; ++r)
                call.samples[((f * call.n_tasks + number) * Shape::rows + r) * warp_size + lane] = sums[f][r];
        return;
    }
    if (lane >= Shape::columns || task.column + lane >= call.stride) return;
#pragma unroll
    for (int f = 0; f < F; ++f)
#pragma unroll
        for (int r = 0; r < Shape::rows - 1; ++r) {
            const int row = task.row + r - call.first_row;
            if (row < 0 || row >= call.n_rows) continue;
            call.samples[f * call.field_size + row * call.stride + task.column + lane] += sums[f][r];
        }
}

/// A warp for each task. Shared memory: the weights' tables, and what each warp has.
template <int N, int F>
__global__ void __launch_bounds__(n_threads) spread_kernel(Spreading call) {
    using Shape = WarpShape<N, F>;
    extern __shared__ double2 aligned[];
    auto* const shared = reinterpret_cast<double*>(aligned);
    const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    double* const rows = shared + warp * Shape::doubles;
    double* const columns = rows + warp_size * Shape::row_pitch;
    double* const values = columns + warp_size * Shape::column_pitch;
    double* const tables = shared + n_warps * Shape::doubles;
    load_weights(call.weights, false, tables);
    __syncthreads();
    const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * n_warps + warp;
    if (number >= call.n_tasks) return;
    const PointTask task = call.tasks[number];
    double sums[F][Shape::rows] = {};
    for (std::uint32_t first = task.begin; first < task.end; first += warp_size) {
        const int count = static_cast<int>(min(task.end - first, static_cast<std::uint32_t>(warp_size)));
        int column = 0;
        if (lane < count) {
            const PlacedPoint point = call.points[first + lane];
            column = point.column - task.column;
            prepare<N, F>(call, tables, task, point, rows + lane * Shape::row_pitch,
                          columns + lane * Shape::column_pitch, values + lane);
        }
        __syncwarp();
#pragma unroll 2
        for (int q = 0; q < count; ++q) {
            const int c = lane - __shfl_sync(~0u, column, q);
            const double w = c >= 0 && c < N ? columns[q * Shape::column_pitch + c] : 0;
            double weighted[F];
#pragma unroll
            for (int f = 0; f < F; ++f) weighted[f] = w * values[f * warp_size + q];
            const auto* const pairs = reinterpret_cast<const double2*>(rows + q * Shape::row_pitch);
#pragma unroll
            for (int r = 0; r < Shape::rows / 2; ++r) {
                const double2 pair = pairs[r];
#pragma unroll
                for (int f = 0; f < F; ++f) {
                    sums[f][2 * r] = fma(weighted[f], pair.x, sums[f][2 * r]);
                    sums[f][2 * r + 1] = fma(weighted[f], pair.y, sums[f][2 * r + 1]);
                }
            }
        }
        __syncwarp();
    }
    add_to_samples<N, F>(call, task, number, lane, sums);
}

/// Adds the parts of a crowded bin to the samples, a block each; along y: fields.
__global__ void __launch_bounds__(warp_size)
    add_parts(Spreading call, const CrowdedBin* bins, const double* parts, std::int64_t n_parts, int n_rows,
              int n_columns) {
    const CrowdedBin bin = bins[blockIdx.x];
    const int lane = threadIdx.x;
    if (lane >= n_columns || bin.column + lane >= call.stride) return;
    double* const field = call.samples + blockIdx.y * call.field_size;
    for (int r = 0; r < n_rows - 1; ++r) {
        const int row = bin.row + r - call.first_row;
        if (row < 0 || row >= call.n_rows) continue;
        double sum = 0;
        for (int part = 0; part < bin.n_parts; ++part)
            sum += parts[((blockIdx.y * n_parts + bin.first_part + part) * n_rows + r) * warp_size + lane];
        field[row * call.stride + bin.column + lane] += sum;
    }
}

template <int N, int F>
void launch(Spreading call, const PointTask* tasks, std::int64_t n_tasks, cudaStream_t stream) {
    if (n_tasks == 0) return;
    call.tasks = tasks;
    call.n_tasks = n_tasks;
    const std::int64_t bytes =
        n_warps * WarpShape<N, F>::doubles * std::int64_t{sizeof(double)} + shared_bytes(call.weights, false);
    spread_kernel<N, F><<<static_cast<unsigned>((n_tasks + n_warps - 1) / n_warps), n_threads,
                          static_cast<std::size_t>(bytes), stream>>>(call);
    core::check_launch("spreading points");
}

/// Adds all points to F fields, which are 0 before.
template <int N, int F>
void spread_fields(const Spreading& call, const SpreadTasks& tasks, cudaStream_t stream) {
    using Shape = WarpShape<N, F>;
    const std::int64_t n_parts = tasks.parts.size();
    const core::StreamArray<double> parts(F * n_parts * Shape::rows * warp_size, stream);
    Spreading of_parts = call;
    of_parts.samples = parts.data();
    of_parts.parts = true;
    launch<N, F>(of_parts, tasks.parts.data(), n_parts, stream);
    for (const SpreadColour& colour : tasks.colours) {
        launch<N, F>(call, tasks.tasks.data() + colour.first_task, colour.n_tasks, stream);
        if (colour.n_crowded == 0) continue;
        const dim3 grid(static_cast<unsigned>(colour.n_crowded), F);
        add_parts<<<grid, warp_size, 0, stream>>>(call, tasks.crowded.data() + colour.first_crowded,
                                                  parts.data(), n_parts, Shape::rows, Shape::columns);
        core::check_launch("adding crowded points");
    }
}

}  // namespace

template <class T>
void spread(const SortedPoints& points, View<const T, 3> values, SampleMemory& memory) {
    const core::CurrentDevice current(points.device);
    const cudaStream_t stream = memory.stream();
    core::check_cuda(
        cudaMemsetAsync(
            memory.samples, 0,
            static_cast<std::size_t>(memory.n_fields() * memory.layout.field_size()) * sizeof(double),
            stream),
        "clearing samples");
    const bool on_device = values.space() == MemorySpace::cuda;
    if (points.n_points == 0) return memory.finish(on_device);
    core::require_place("values", values, points.device);
    const auto fields = memory.fields_of(values, memory.values[0]);
    memory.bring(fields, points.n_points);
    const SpreadTasks& tasks = points.spread_tasks();
    Spreading call{.weights = memory.stage.weights(),
                   .points = points.placed.data(),
                   .is_float = sizeof(T) == sizeof(float),
                   .field_size = memory.layout.field_size(),
                   .stride = memory.layout.stride,
                   .first_row = static_cast<std::int32_t>(memory.layout.first + points.plan.tables.border),
                   .n_rows = memory.layout.n_rows};
    with_width(points.plan.window.width(), [&](auto width) {
        constexpr int N = width;
        for (std::int64_t f = 0; f < memory.n_fields(); f += most_fields) {
            const std::int64_t count = std::min<std::int64_t>(most_fields, memory.n_fields() - f);
            call.samples = memory.field(f);
            for (std::int64_t i = 0; i < count; ++i)
                call.values[i] = fields[static_cast<std::size_t>(f + i)].there;
            if (count == 1)
                spread_fields<N, 1>(call, tasks, stream);
            else
                spread_fields<N, 2>(call, tasks, stream);
        }
    });
    memory.finish(on_device);
}

template void spread(const SortedPoints&, View<const float, 3>, SampleMemory&);
template void spread(const SortedPoints&, View<const double, 3>, SampleMemory&);

}  // namespace zonal::points::cuda
