#pragma once

#include "chebyshev/transform/cosine_launch.cuh"
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

/// Columns along an axis times matrices.
template <class R>
struct MatrixLaunch : AxisLaunch<R> {
    /// [2][rows][inner]: even and odd k, zero beyond what they have; inner a multiple of `strip`.
    const double* matrices;
    std::int64_t rows, inner;
    AxisParts source, target;
};

/// Shared memory of a block; Fields: 2 to synthesize two fields and multiply them, else 1; Units: columns of
/// a warp over unit_columns, of all fields.
template <class R, int Fields, int Units>
struct AxisTile {
    static constexpr int columns = Units * unit_columns;    ///< of all fields
    static constexpr int field_columns = columns / Fields;  ///< of one
    static constexpr int pitch = columns + column_padding<R>;
    static constexpr int data_size = 2 * strip * pitch;
    static constexpr std::int64_t offsets_bytes = 8 * (columns + field_columns);

    __host__ __device__ static constexpr int matrix_size(int strips) {
        return 2 * strips * strip * matrix_pitch;
    }
    /// The bytes of one step's terms.
    __host__ __device__ static constexpr std::int64_t stage_bytes(int strips) {
        return 8 * static_cast<std::int64_t>(matrix_size(strips)) +
               static_cast<std::int64_t>(sizeof(R)) * data_size;
    }
};

/// Threads that load a step's terms together, and how many strips of rows they are for.
struct Team {
    int thread, n_threads, strips;

    static __device__ Team block() {
        return {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                static_cast<int>(blockDim.x) / 32};
    }
    static __device__ Team warp() { return {static_cast<int>(threadIdx.x) % 32, 32, 1}; }
    __device__ int rows() const { return strips * strip; }
};

/// Marks columns beyond the last, which are not written; strides may be negative.
inline constexpr std::int64_t absent = INT64_MIN;

/// Where a block's columns begin in their arrays. What is computed of columns beyond the last is not kept:
/// they are read as the last one.
template <class R, int Fields, int FieldColumns>
__device__ void find_columns(const MatrixLaunch<R>& launch, std::int64_t* sources, std::int64_t* targets) {
    for (int c = static_cast<int>(threadIdx.x); c < FieldColumns; c += static_cast<int>(blockDim.x)) {
        const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * FieldColumns + c;
        const std::int64_t known = min(p, launch.n_columns - 1);
        for (int field = 0; field < Fields; ++field)
            sources[field * FieldColumns + c] =
                column_offset(launch, launch.in[Fields == 2 ? field : blockIdx.z], known);
        targets[c] = p == known ? column_offset(launch, launch.out[Fields == 2 ? 0 : blockIdx.z], p) : absent;
    }
}

/// Rows of both matrices for terms [step * strip, (step + 1) * strip), by copies that run by themselves.
/// Beyond the last row comes that row again, as its sums are not kept.
template <class R>
__device__ __forceinline__ void load_matrices(const MatrixLaunch<R>& launch, Team team,
                                              std::int64_t first_row, int step, double* matrices) {
    constexpr int pairs = strip / 2;  // doubles go two by two
    const int rows = team.rows(), i = 2 * (team.thread % pairs);
    const double* const term = launch.matrices + step * strip + i;
    const std::int64_t parity_size = launch.rows * launch.inner;
#pragma unroll 4
    for (int row = team.thread / pairs; row < rows; row += team.n_threads / pairs) {
        const double* const from = term + min(first_row + row, launch.rows - 1) * launch.inner;
        double* const to = matrices + row * matrix_pitch + i;
        __pipeline_memcpy_async(to, from, 16);
        __pipeline_memcpy_async(to + rows * matrix_pitch, from + parity_size, 16);
    }
}

/// The columns' terms of the same step: data[part][i][column].
template <class R, Direction D, int Columns, int FieldColumns, int Pitch>
__device__ __forceinline__ void load_columns(const MatrixLaunch<R>& launch, Team team,
                                             const std::int64_t* sources, int step, R* data) {
    const auto plane_of_column = [](int c) {
        return FieldColumns == Columns ? static_cast<int>(blockIdx.z) : c / FieldColumns;
    };
    const std::int64_t first_term = static_cast<std::int64_t>(step) * strip;
    // Neighbouring threads read neighbours in memory.
    if (launch.is_last_axis) {
        constexpr int entries = 2 * strip;
        const int entry = team.thread % entries;
        const int part = D == Direction::synthesis ? entry % 2 : entry / strip;
        const int i = D == Direction::synthesis ? entry / 2 : entry % strip;
        const bool is_there = first_term + i < launch.source.count[part];
        const std::int64_t place =
            is_there ? (first_term + i) * launch.source.step + part * launch.source.part_step : 0;
        const std::size_t zeros = is_there ? 0 : sizeof(R);
        R* const to = data + (part * strip + i) * Pitch;
#pragma unroll 8
        for (int c = team.thread / entries; c < Columns; c += team.n_threads / entries) {
            const Plane<const R>& plane = launch.in[plane_of_column(c)];
            __pipeline_memcpy_async(to + c, plane.data + sources[c] + place * plane.strides[launch.axis],
                                    sizeof(R), zeros);
        }
        return;
    }
    const int c = team.thread % Columns, rows_apart = team.n_threads / Columns;
    const Plane<const R>& plane = launch.in[plane_of_column(c)];
    const std::int64_t stride = plane.strides[launch.axis];
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        int i = team.thread / Columns;
        const std::int64_t here = min(launch.source.count[part] - first_term, std::int64_t{strip});
        const R* from = plane.data + sources[c] +
                        ((first_term + i) * launch.source.step + part * launch.source.part_step) * stride;
        const std::int64_t apart = rows_apart * launch.source.step * stride;
        R* to = data + (part * strip + i) * Pitch + c;
#pragma unroll 8
        for (; i < strip; i += rows_apart, from += apart, to += rows_apart * Pitch) {
            const bool is_there = i < here;
            __pipeline_memcpy_async(to, is_there ? from : plane.data, sizeof(R), is_there ? 0 : sizeof(R));
        }
    }
}

/// sums[parity][unit] += a strip of the matrices, which have so many rows, times the columns.
template <class R, Direction D, int Units, int Pitch>
__device__ __forceinline__ void multiply_step(const double* matrices, int rows, int first_row, const R* data,
                                              double (&sums)[2][Units][4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    double left[2][8];
#pragma unroll
    for (int parity = 0; parity < 2; ++parity)
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int h = 0; h < 2; ++h)
                left[parity][2 * i + h] =
                    matrices[(parity * rows + first_row + g + 8 * h) * matrix_pitch + t + 4 * i];
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

/// A row's part of two neighbouring columns, the first of them column c of the block. sums:
/// [field][parity][column]
template <class R, Direction D, int Fields>
__device__ __forceinline__ void store_row(const MatrixLaunch<R>& launch, std::int64_t row, int c,
                                          const std::int64_t* targets, const double (&sums)[Fields][2][2]) {
    const Plane<R>& plane = launch.out[Fields == 2 ? 0 : blockIdx.z];
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        if (row >= launch.target.count[part]) continue;
        double values[2];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            values[j] = part_of<D>(sums[0][0][j], sums[0][1][j], part);
            if (Fields == 2)
                values[j] *= launch.weight * part_of<D>(sums[Fields - 1][0][j], sums[Fields - 1][1][j], part);
        }
        const std::int64_t place = row * launch.target.step + part * launch.target.part_step;
        store_pair(plane.data + place * plane.strides[launch.axis], targets[c], targets[c + 1],
                   static_cast<R>(values[0]), static_cast<R>(values[1]));
    }
}

/// Stores a warp's sums, in rows 8 h + lane / 4 of a strip and the columns of unit `unit` of each field:
/// store(row, c, sums of them), with sum(parity, unit, k) that of multiply_step.
template <int Fields, int Units, class Sum, class Store>
__device__ __forceinline__ void store_unit(int unit, int h, const Sum& sum, const Store& store) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    double sums[Fields][2][2];
#pragma unroll
    for (int field = 0; field < Fields; ++field)
#pragma unroll
        for (int parity = 0; parity < 2; ++parity)
#pragma unroll
            for (int j = 0; j < 2; ++j)
                sums[field][parity][j] = sum(parity, unit + field * (Units / Fields), 2 * h + j);
    store(8 * h + lane / 4, unit * unit_columns + 2 * (lane % 4), sums);
}

/// out = matrices in. Blocks: x columns, y rows of the matrices, z arrays; a thread block has a warp for each
/// strip of rows. Two stages of shared memory, of which one is worked on and the other arrives.
template <class R, Direction D, int Fields, int Units>
__global__ void __launch_bounds__(32 * most_strips, 2)
    transform_axis(const __grid_constant__ MatrixLaunch<R> launch) {
    using Tile = AxisTile<R, Fields, Units>;
    extern __shared__ double2 shared_bytes[];  // 16-byte copies need their alignment
    auto* const sources = reinterpret_cast<std::int64_t*>(shared_bytes);
    auto* const targets = sources + Tile::columns;
    auto* const matrices = reinterpret_cast<double*>(targets + Tile::field_columns);
    core::let_next_begin();
    const Team team = Team::block();
    const int matrix_size = Tile::matrix_size(team.strips);
    auto* const data = reinterpret_cast<R*>(matrices + 2 * matrix_size);
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * team.rows();
    find_columns<R, Fields, Tile::field_columns>(launch, sources, targets);
    __syncthreads();

    const int n_steps = static_cast<int>(launch.inner / strip), own_row = team.thread / 32 * strip;
    const auto load = [&](int step) {
        if (step < n_steps) {
            load_matrices(launch, team, first_row, step, matrices + step % 2 * matrix_size);
            load_columns<R, D, Tile::columns, Tile::field_columns, Tile::pitch>(
                launch, team, sources, step, data + step % 2 * Tile::data_size);
        }
        __pipeline_commit();
    };
    double sums[2][Units][4] = {};
    core::wait_for_earlier_work();
    load(0);
    for (int step = 0; step < n_steps; ++step) {
        __pipeline_wait_prior(0);
        __syncthreads();  // this step's terms are there, and all are done with the last step's
        load(step + 1);
        multiply_step<R, D, Units, Tile::pitch>(matrices + step % 2 * matrix_size, team.rows(), own_row,
                                                data + step % 2 * Tile::data_size, sums);
    }
#pragma unroll
    for (int unit = 0; unit < Units / Fields; ++unit)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            store_unit<Fields, Units>(
                unit, h, [&](int parity, int u, int k) { return sums[parity][u][k]; },
                [&](int row, int c, const auto& of_row) {
                    store_row<R, D, Fields>(launch, first_row + own_row + row, c, targets, of_row);
                });
}

/// Warps of a block at most among which transform_axis_in_parts shares the steps.
inline constexpr int most_parts = 16;

/// The same where there is too little to do for all processors, so that what takes the time is a warp's own
/// instructions, step after step. The warps of a block share the steps of one strip, each with a stage of
/// memory, or two; then their sums are added up, always in the same order. Matrices are no stream's work, so
/// the first ones arrive while the launch before this one ends.
template <class R, Direction D, int Fields, int Units>
__global__ void __launch_bounds__(32 * most_parts)
    transform_axis_in_parts(const __grid_constant__ MatrixLaunch<R> launch, int stages) {
    constexpr int n_sums = 2 * Units * 4;
    using Tile = AxisTile<R, Fields, Units>;
    static_assert(8 * 32 * n_sums <= Tile::stage_bytes(1), "a warp's sums fit into its stage");
    extern __shared__ double2 shared_bytes[];
    auto* const sources = reinterpret_cast<std::int64_t*>(shared_bytes);
    auto* const targets = sources + Tile::columns;
    auto* const all_stages = reinterpret_cast<double*>(targets + Tile::field_columns);
    core::let_next_begin();
    const Team team = Team::warp();
    const std::int64_t stage_size = Tile::stage_bytes(1) / 8;
    const int warp = static_cast<int>(threadIdx.x) / 32, n_parts = static_cast<int>(blockDim.x) / 32;
    const auto stages_of = [&](int part) { return all_stages + part * stages * stage_size; };
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * strip;
    double *present = stages_of(warp), *next = present + (stages - 1) * stage_size;
    load_matrices(launch, team, first_row, warp, present);
    find_columns<R, Fields, Tile::field_columns>(launch, sources, targets);
    __syncthreads();
    core::wait_for_earlier_work();

    const int n_steps = static_cast<int>(launch.inner / strip);
    const auto load_data = [&](int step, double* stage) {
        load_columns<R, D, Tile::columns, Tile::field_columns, Tile::pitch>(
            launch, team, sources, step, reinterpret_cast<R*>(stage + Tile::matrix_size(1)));
    };
    load_data(warp, present);
    __pipeline_commit();
    double sums[2][Units][4] = {};
    for (int step = warp; step < n_steps; step += n_parts) {
        if (step + n_parts < n_steps) {
            load_matrices(launch, team, first_row, step + n_parts, next);
            load_data(step + n_parts, next);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncwarp();  // this step's terms are there
        multiply_step<R, D, Units, Tile::pitch>(
            present, strip, 0, reinterpret_cast<const R*>(present + Tile::matrix_size(1)), sums);
        __syncwarp();  // and no lane needs them any more
        double* const done = present;
        present = next, next = done;
    }
    const double(&own)[n_sums] = reinterpret_cast<const double(&)[n_sums]>(sums);
#pragma unroll
    for (int k = 0; k < n_sums; ++k) stages_of(warp)[k * 32 + team.thread] = own[k];
    __syncthreads();
    const auto sum_of_parts = [&](int parity, int unit, int k) {
        double sum = 0;
        for (int part = 0; part < n_parts; ++part)
            sum += stages_of(part)[((parity * Units + unit) * 4 + k) * 32 + team.thread];
        return sum;
    };
    for (int share = warp; share < 2 * (Units / Fields); share += n_parts)
        store_unit<Fields, Units>(share / 2, share % 2, sum_of_parts,
                                  [&](int row, int c, const auto& of_row) {
                                      store_row<R, D, Fields>(launch, first_row + row, c, targets, of_row);
                                  });
}

}  // namespace zonal::chebyshev::cuda
