#include <algorithm>
#include <numbers>

#include "points/cuda/point_weights_cuda.cuh"
#include "points/cuda/sample_memory_cuda.cuh"
#include "points/cuda/sorted_points_cuda.cuh"

/// Sums over the samples around points: a block takes the points of a tile, whose samples it has in shared
/// memory.
namespace zonal::points::cuda {
namespace {

constexpr int n_threads = 128;
/// The most fields that share a point's weights.
constexpr int most_fields = 4;
constexpr std::int64_t most_shared = 48 << 10;

/// What one launch does.
struct Interpolation {
    WeightTables weights;
    const PointTask* tasks;
    const PlacedPoint* points;
    const double* samples;  ///< of the first field
    std::int64_t field_size, stride;
    std::int32_t first_row, n_rows;  ///< stored, as tasks count them
    int n_fields;
    bool is_float;
    double per_radian;  ///< samples, for slopes
    void* outputs[3][most_fields];
};

/// What windows of a tile's points reach, in shared memory.
template <int N>
struct TileShape {
    static constexpr int rows = Tile::size + N - 1, columns = rows;
    static constexpr int pitch = columns;  ///< odd, so that a column lies in all banks
    static_assert(pitch % 2 == 1);
    static constexpr std::int64_t doubles = rows * pitch;
};

template <int N>
__device__ void load_tile(const Interpolation& call, const PointTask& task, const double* field,
                          double* tile) {
    constexpr int warp = 32;
    const int lane = threadIdx.x % warp;
    for (int r = threadIdx.x / warp; r < TileShape<N>::rows; r += n_threads / warp) {
        const int row = task.row + r - call.first_row;
        const bool is_there = row >= 0 && row < call.n_rows;
        for (int c = lane; c < TileShape<N>::columns; c += warp)
            tile[r * TileShape<N>::pitch + c] =
                is_there && task.column + c < call.stride ? field[row * call.stride + task.column + c] : 0;
    }
}

__device__ void store(const Interpolation& call, int output, int field, std::int64_t i, double value) {
    if (call.is_float)
        static_cast<float*>(call.outputs[output][field])[i] = static_cast<float>(value);
    else
        static_cast<double*>(call.outputs[output][field])[i] = value;
}

template <int N, bool Slopes>
__device__ void interpolate_point(const Interpolation& call, const double* tables, const double* tiles,
                                  const PointTask& task, const PlacedPoint& point) {
    const double x = point.y_phi, x2 = x * x, y = point.y_theta, y2 = y * y;
    double columns[N], slopes[Slopes ? N : 1];
#pragma unroll
    for (int j = 0; j < N / 2; ++j) {
        const PairOfWeights w = weights_of<false>(tables, call.weights, j, x, x2);
        columns[j] = w.first;
        columns[N - 1 - j] = w.mirror;
        if constexpr (Slopes) {
            const PairOfWeights s = weights_of<true>(tables, call.weights, j, x, x2);
            slopes[j] = s.first;
            slopes[N - 1 - j] = s.mirror;
        }
    }
    double sums[Slopes ? 3 : 1][most_fields] = {};
    const double* const corner =
        tiles + (point.row - task.row) * TileShape<N>::pitch + point.column - task.column;
    for (int j = 0; j < N / 2; ++j) {
        const PairOfWeights w = weights_of<false>(tables, call.weights, j, y, y2);
        PairOfWeights s{};
        if constexpr (Slopes) s = weights_of<true>(tables, call.weights, j, y, y2);
#pragma unroll
        for (int f = 0; f < most_fields; ++f) {
            if (f == call.n_fields) break;
            const double* const first = corner + f * TileShape<N>::doubles + j * TileShape<N>::pitch;
            const double* const mirror = first + (N - 1 - 2 * j) * TileShape<N>::pitch;
            double a = 0, b = 0, slope_a = 0, slope_b = 0;
#pragma unroll
            for (int c = 0; c < N; ++c) {
                a = fma(columns[c], first[c], a);
                b = fma(columns[c], mirror[c], b);
                if constexpr (Slopes) {
                    slope_a = fma(slopes[c], first[c], slope_a);
                    slope_b = fma(slopes[c], mirror[c], slope_b);
                }
            }
            sums[0][f] += w.first * a + w.mirror * b;
            if constexpr (Slopes) {
                sums[1][f] += s.first * a + s.mirror * b;
                sums[2][f] += w.first * slope_a + w.mirror * slope_b;
            }
        }
    }
#pragma unroll
    for (int f = 0; f < most_fields; ++f) {
        if (f == call.n_fields) break;
        store(call, 0, f, point.caller, sums[0][f]);
        if constexpr (Slopes) {
            store(call, 1, f, point.caller, call.per_radian * sums[1][f]);
            store(call, 2, f, point.caller, call.per_radian * sums[2][f]);
        }
    }
}

/// A block for each task. Shared memory: the weights, and the tiles of the fields.
template <int N, bool Slopes>
__global__ void __launch_bounds__(n_threads) interpolate_kernel(Interpolation call) {
    extern __shared__ double shared[];
    double* const tiles = shared + call.weights.doubles(Slopes);
    const PointTask task = call.tasks[blockIdx.x];
    load_weights(call.weights, Slopes, shared);
    for (int f = 0; f < call.n_fields; ++f)
        load_tile<N>(call, task, call.samples + f * call.field_size, tiles + f * TileShape<N>::doubles);
    __syncthreads();
    for (std::uint32_t i = task.begin + threadIdx.x; i < task.end; i += n_threads)
        interpolate_point<N, Slopes>(call, shared, tiles, task, call.points[i]);
}

template <int N, bool Slopes>
void launch(const Interpolation& call, std::int64_t n_tasks, cudaStream_t stream) {
    const std::int64_t bytes = shared_bytes(call.weights, Slopes) +
                               call.n_fields * TileShape<N>::doubles * std::int64_t{sizeof(double)};
    interpolate_kernel<N, Slopes>
        <<<static_cast<unsigned>(n_tasks), n_threads, static_cast<std::size_t>(bytes), stream>>>(call);
    core::check_launch("interpolating at points");
}

/// Fields whose tiles fit into a block's memory.
template <int N>
int fields_at_once(const WeightTables& weights, bool slopes) {
    const std::int64_t room = most_shared - shared_bytes(weights, slopes);
    return static_cast<int>(std::clamp<std::int64_t>(
        room / (TileShape<N>::doubles * std::int64_t{sizeof(double)}), 1, most_fields));
}

}  // namespace

template <class T>
void interpolate(const SortedPoints& points, const SampleMemory& memory, const PointOutputs<T>& outputs) {
    const bool has_slopes = outputs.by_theta != nullptr;
    const int n_outputs = has_slopes ? 3 : 1;
    const View<T, 3>* const views[3] = {&outputs.values, outputs.by_theta, outputs.by_phi};
    const char* const names[3] = {"values", "by_theta", "by_phi"};
    const core::CurrentDevice current(points.device);
    const std::lock_guard turn(memory.turns);
    bool on_device = true;
    std::vector<DeviceField<T>> fields[3];
    for (int k = 0; k < n_outputs && points.n_points > 0; ++k) {
        core::require_place(names[k], *views[k], points.device);
        on_device = on_device && views[k]->space() == MemorySpace::cuda;
        fields[k] = memory.fields_of(*views[k], memory.values[k]);
    }
    if (points.n_points == 0) return;
    const SampleTables& t = points.plan.tables;
    Interpolation call{.weights = memory.stage.weights(),
                       .tasks = points.tiles.data(),
                       .points = points.placed.data(),
                       .field_size = memory.layout.field_size(),
                       .stride = memory.layout.stride,
                       .first_row = static_cast<std::int32_t>(memory.layout.first + t.border),
                       .n_rows = memory.layout.n_rows,
                       .is_float = sizeof(T) == sizeof(float),
                       .per_radian = static_cast<double>(t.n) / (2 * std::numbers::pi)};
    with_width(points.plan.window.width(), [&](auto width) {
        constexpr int N = width;
        const int at_once = fields_at_once<N>(call.weights, has_slopes);
        for (std::int64_t f = 0; f < memory.n_fields(); f += at_once) {
            call.samples = memory.field(f);
            call.n_fields = static_cast<int>(std::min<std::int64_t>(at_once, memory.n_fields() - f));
            for (int k = 0; k < n_outputs; ++k)
                for (int i = 0; i < call.n_fields; ++i)
                    call.outputs[k][i] = fields[k][static_cast<std::size_t>(f + i)].there;
            if (has_slopes)
                launch<N, true>(call, points.tiles.size(), memory.stream());
            else
                launch<N, false>(call, points.tiles.size(), memory.stream());
        }
    });
    for (int k = 0; k < n_outputs; ++k) memory.deliver(fields[k], points.n_points);
    memory.finish(on_device);
}

template void interpolate(const SortedPoints&, const SampleMemory&, const PointOutputs<float>&);
template void interpolate(const SortedPoints&, const SampleMemory&, const PointOutputs<double>&);

}  // namespace zonal::points::cuda
