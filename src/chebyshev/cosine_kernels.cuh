#pragma once

#include "chebyshev/cosine_math.hpp"
#include "chebyshev/planes_cuda.cuh"
#include "core/cuda.cuh"
#include "core/mma_fp64.cuh"

/// The arithmetic of transforms with dense cosine matrices, on the tensor cores. Even and odd coefficients,
/// near points and their mirror images go together through a block (see CosineTransform).
namespace zonal::chebyshev::cuda {

/// Rows of the matrices that a warp takes, and terms of the sums at a step: those of multiply_add_16x8x16.
inline constexpr int strip = 16;
inline constexpr int unit_columns = 8;
/// Warps of a block at most, each with its strip: 128 registers for each thread of two such blocks.
inline constexpr int most_strips = 8;
/// Distance of rows in shared memory: a half-warp's 4 x 4 words of 8 bytes, or a warp's 4 x 8 of 4, then lie
/// in different banks.
inline constexpr int matrix_pitch = strip + 4;
template <class R>
inline constexpr int column_padding = sizeof(R) == 8 ? 4 : 8;

enum class Direction { synthesis, analysis };

/// One axis of arrays, for all columns along it.
template <class R>
struct AxisLaunch {
    Plane<const R> in[most_planes];
    Plane<R> out[most_planes];
    /// [2][rows][inner]: even and odd k, zero beyond what they have; inner a multiple of `strip`.
    const double* matrices;
    std::int64_t rows, inner;
    AxisParts source, target;
    int axis, first, second;  ///< of strides: the axis, and those that columns count
    std::int64_t n_first, n_second, n_columns;
    bool is_last_axis;  ///< then neighbours in memory lie along the axis
    double weight;      ///< of products
};

/// Shared memory of a block; Fields: 2 to synthesize two fields and multiply them, else 1; Units: columns of
/// a warp over unit_columns, of all fields.
template <class R, int Fields, int Units, int Stages>
struct AxisTile {
    static constexpr int columns = Units * unit_columns;    ///< of all fields
    static constexpr int field_columns = columns / Fields;  ///< of one
    static constexpr int pitch = columns + column_padding<R>;
    static constexpr int data_size = 2 * strip * pitch;
    static constexpr std::int64_t offsets_bytes = 8 * (columns + field_columns);

    __host__ __device__ static int matrix_size(int strips) { return 2 * strips * strip * matrix_pitch; }
    static std::int64_t bytes(int strips) {
        return offsets_bytes + Stages * (8 * static_cast<std::int64_t>(matrix_size(strips)) +
                                         static_cast<std::int64_t>(sizeof(R)) * data_size);
    }
};

/// Of columns beyond the last: no offset, as strides may be negative.
inline constexpr std::int64_t absent = INT64_MIN;

/// Where a block's columns begin in their arrays.
template <class R, int Fields, int FieldColumns>
__device__ void find_columns(const AxisLaunch<R>& launch, std::int64_t* sources, std::int64_t* targets) {
    const auto offset = [&](const auto& plane, const ColumnIndex& index) {
        return index.batch * plane.strides[0] + index.first * plane.strides[launch.first] +
               index.second * plane.strides[launch.second];
    };
    for (int c = static_cast<int>(threadIdx.x); c < FieldColumns; c += static_cast<int>(blockDim.x)) {
        const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * FieldColumns + c;
        const ColumnIndex index = column_index(p, launch.n_first, launch.n_second);
        const bool is_there = p < launch.n_columns;
        for (int field = 0; field < Fields; ++field)
            sources[field * FieldColumns + c] =
                is_there ? offset(launch.in[Fields == 2 ? field : blockIdx.z], index) : absent;
        targets[c] = is_there ? offset(launch.out[Fields == 2 ? 0 : blockIdx.z], index) : absent;
    }
}

/// Rows of both matrices for terms [step * strip, (step + 1) * strip), by copies that run by themselves.
template <class R>
__device__ __forceinline__ void load_matrices(const AxisLaunch<R>& launch, std::int64_t first_row, int step,
                                              double* matrices) {
    constexpr int pairs = strip / 2;  // doubles go two by two
    const int rows = static_cast<int>(blockDim.x) / 32 * strip;
#pragma unroll
    for (int parity = 0; parity < 2; ++parity)
        for (int e = static_cast<int>(threadIdx.x); e < rows * pairs; e += static_cast<int>(blockDim.x)) {
            const int row = e / pairs, i = 2 * (e % pairs);
            const bool is_there = first_row + row < launch.rows;
            const double* from =
                launch.matrices +
                (is_there ? (parity * launch.rows + first_row + row) * launch.inner + step * strip + i : 0);
            __pipeline_memcpy_async(matrices + (parity * rows + row) * matrix_pitch + i, from, 16,
                                    is_there ? 0 : 16);
        }
}

/// The columns' terms of the same step: data[part][i][column].
template <class R, Direction D, int Columns, int FieldColumns, int Pitch>
__device__ __forceinline__ void load_columns(const AxisLaunch<R>& launch, const std::int64_t* sources,
                                             int step, R* data) {
    constexpr int entries = 2 * strip;
    const auto copy = [&](int entry, int c) {
        const int part = D == Direction::synthesis ? entry % 2 : entry / strip;
        const int i = D == Direction::synthesis ? entry / 2 : entry % strip;
        const int plane = FieldColumns == Columns ? static_cast<int>(blockIdx.z) : c / FieldColumns;
        const std::int64_t term = static_cast<std::int64_t>(step) * strip + i;
        const bool is_there = sources[c] != absent && term < launch.source.count[part];
        const std::int64_t place = term * launch.source.step + part * launch.source.part_step;
        const R* from = launch.in[plane].data +
                        (is_there ? sources[c] + place * launch.in[plane].strides[launch.axis] : 0);
        __pipeline_memcpy_async(data + (part * strip + i) * Pitch + c, from, sizeof(R),
                                is_there ? 0 : sizeof(R));
    };
    // Neighbouring threads read neighbours in memory.
    const int thread = static_cast<int>(threadIdx.x), n_threads = static_cast<int>(blockDim.x);
    if (launch.is_last_axis)
        for (int c = thread / entries; c < Columns; c += n_threads / entries) copy(thread % entries, c);
    else
        for (int entry = thread / Columns; entry < entries; entry += n_threads / Columns)
            copy(entry, thread % Columns);
}

/// sums[parity][unit] += a warp's strip of the matrices times the columns.
template <class R, Direction D, int Units, int Pitch>
__device__ __forceinline__ void multiply_step(const double* matrices, const R* data,
                                              double (&sums)[2][Units][4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    const int warp = static_cast<int>(threadIdx.x) / 32, rows = static_cast<int>(blockDim.x) / 32 * strip;
    double left[2][8];
#pragma unroll
    for (int parity = 0; parity < 2; ++parity)
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int h = 0; h < 2; ++h)
                left[parity][2 * i + h] =
                    matrices[(parity * rows + warp * strip + g + 8 * h) * matrix_pitch + t + 4 * i];
#pragma unroll
    for (int unit = 0; unit < Units; ++unit) {
        double right[2][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const double near = data[(t + 4 * i) * Pitch + unit * unit_columns + g];
            const double far = data[(strip + t + 4 * i) * Pitch + unit * unit_columns + g];
            // Values at mirrored points add up in even sums, and cancel in odd ones.
            right[0][i] = D == Direction::synthesis ? near : near + far;
            right[1][i] = D == Direction::synthesis ? far : near - far;
        }
#pragma unroll
        for (int parity = 0; parity < 2; ++parity)
            core::multiply_add_16x8x16(sums[parity][unit], left[parity], right[parity]);
    }
}

/// Two neighbouring columns of a row, in one write where they lie together.
template <class R>
__device__ __forceinline__ void store_pair(R* row, std::int64_t left, std::int64_t right, R x, R y) {
    struct alignas(2 * sizeof(R)) Two {
        R x, y;
    };
    if (right == left + 1 && reinterpret_cast<std::uintptr_t>(row + left) % sizeof(Two) == 0) {
        *reinterpret_cast<Two*>(row + left) = {x, y};
        return;
    }
    if (left != absent) row[left] = x;
    if (right != absent) row[right] = y;
}

/// The two sums of each parity to what is stored as parts: (even + odd, even - odd) in synthesis.
template <Direction D>
__device__ __forceinline__ double part_of(double even, double odd, int part) {
    if (D == Direction::analysis) return part == 0 ? even : odd;
    return part == 0 ? even + odd : even - odd;
}

template <class R, Direction D, int Fields, int Units>
__device__ __forceinline__ void store_sums(const AxisLaunch<R>& launch, std::int64_t first_row,
                                           const std::int64_t* targets, const double (&sums)[2][Units][4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    const Plane<R>& plane = launch.out[Fields == 2 ? 0 : blockIdx.z];
#pragma unroll
    for (int unit = 0; unit < Units / Fields; ++unit)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const std::int64_t row = first_row + static_cast<int>(threadIdx.x) / 32 * strip + g + 8 * h;
#pragma unroll
            for (int part = 0; part < 2; ++part) {
                if (row >= launch.target.count[part]) continue;
                double values[2];
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    values[j] = part_of<D>(sums[0][unit][2 * h + j], sums[1][unit][2 * h + j], part);
                    if (Fields == 2) {
                        constexpr int other = Fields == 2 ? Units / 2 : 0;
                        values[j] *= launch.weight * part_of<D>(sums[0][unit + other][2 * h + j],
                                                                sums[1][unit + other][2 * h + j], part);
                    }
                }
                const int c = unit * unit_columns + 2 * t;
                const std::int64_t place = row * launch.target.step + part * launch.target.part_step;
                store_pair(plane.data + place * plane.strides[launch.axis], targets[c], targets[c + 1],
                           static_cast<R>(values[0]), static_cast<R>(values[1]));
            }
        }
}

/// out = matrices in. Blocks: x columns, y rows of the matrices, z arrays; a thread block has a warp for each
/// strip of rows. Two stages of shared memory or more, of which one is worked on and the others arrive.
template <class R, Direction D, int Fields, int Units, int Stages>
__global__ void __launch_bounds__(32 * most_strips, 2)
    transform_axis(const __grid_constant__ AxisLaunch<R> launch) {
    using Tile = AxisTile<R, Fields, Units, Stages>;
    extern __shared__ double2 shared_bytes[];  // 16-byte copies need their alignment
    auto* const sources = reinterpret_cast<std::int64_t*>(shared_bytes);
    auto* const targets = sources + Tile::columns;
    auto* const matrices = reinterpret_cast<double*>(targets + Tile::field_columns);
    const int strips = static_cast<int>(blockDim.x) / 32;
    const int matrix_size = Tile::matrix_size(strips);
    auto* const data = reinterpret_cast<R*>(matrices + Stages * matrix_size);
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * strips * strip;
    find_columns<R, Fields, Tile::field_columns>(launch, sources, targets);
    __syncthreads();

    const int n_steps = static_cast<int>(launch.inner / strip);
    const auto load = [&](int step) {
        if (step < n_steps) {
            const int stage = step % Stages;
            load_matrices(launch, first_row, step, matrices + stage * matrix_size);
            load_columns<R, D, Tile::columns, Tile::field_columns, Tile::pitch>(
                launch, sources, step, data + stage * Tile::data_size);
        }
        __pipeline_commit();
    };
    double sums[2][Units][4] = {};
    for (int step = 0; step < Stages - 1; ++step) load(step);
    for (int step = 0; step < n_steps; ++step) {
        __pipeline_wait_prior(Stages - 2);
        __syncthreads();  // this step's terms are there, and all are done with the last step's
        load(step + Stages - 1);
        const int stage = step % Stages;
        multiply_step<R, D, Units, Tile::pitch>(matrices + stage * matrix_size,
                                                data + stage * Tile::data_size, sums);
    }
    store_sums<R, D, Fields, Units>(launch, first_row, targets, sums);
}

}  // namespace zonal::chebyshev::cuda
