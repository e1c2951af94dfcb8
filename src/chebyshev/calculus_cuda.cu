#include "chebyshev/calculus.hpp"
#include "chebyshev/calculus_math.hpp"
#include "chebyshev/lines_cuda.cuh"
#include "core/cuda.cuh"

namespace zonal::chebyshev::cuda {
namespace {

constexpr int line_threads = 128;

/// Sums over 2j a_j from the highest mode down, one for even and one for odd j.
template <class R>
struct Derivative {
    std::int64_t n;
    R scale, first;

    __device__ void by_thread(const LinePair<R>& line) const {
        differentiate_line(line.source, line.source_stride, n, scale, first, line.target, line.target_stride);
    }

    /// shared: [2][warp][2]
    __device__ void by_team(const LinePair<R>& line, bool is_there, R* shared) const {
        const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
        const int n_warps = static_cast<int>(blockDim.x) / 32, parity = lane % 2;
        R above = 0;  // of the modes that previous rounds had, of this thread's parity
        int round = 0;
        for (std::int64_t top = n - 1; top >= 0; top -= blockDim.x, ++round) {
            const std::int64_t k = top - threadIdx.x;  // of the derivative
            const bool has_share = k >= 0 && k < n - 1;
            R sum = has_share ? derivative_share(line.source[(k + 1) * line.source_stride], k + 1, scale) : 0;
#pragma unroll
            for (int distance = 2; distance < 32; distance *= 2) {
                const R higher = __shfl_up_sync(~0u, sum, distance);
                if (lane >= distance) sum += higher;
            }
            R before = above;
            if (n_warps == 1) {
                above += __shfl_sync(~0u, sum, 30 + parity);
            } else {
                R* const totals = shared + round % 2 * 2 * most_team_warps;
                if (lane >= 30) totals[2 * warp + parity] = sum;
                __syncthreads();
                for (int other = 0; other < n_warps; ++other) {
                    if (other == warp) before = above;
                    above += totals[2 * other + parity];
                }
            }
            sum += before;
            if (is_there && k >= 0) line.target[k * line.target_stride] = k == 0 ? sum / first : sum;
        }
    }
};

template <class R>
struct Integral {
    std::int64_t n_used, n_out;
    R scale, first;

    __device__ void by_thread(const LinePair<R>& line) const {
        integrate_line(line.source, line.source_stride, n_used, scale, first, line.target, line.target_stride,
                       n_out);
    }

    __device__ void by_team(const LinePair<R>& line, bool is_there, R* shared) const {
        R constant = 0;
        for (std::int64_t k = n_used - threadIdx.x; k >= 1; k -= blockDim.x) {
            const R mode = integral_mode(line.source, line.source_stride, n_used, k, scale, first);
            if (is_there && k < n_out) line.target[k * line.target_stride] = mode;
            constant += k % 2 == 0 ? -mode : mode;
        }
        if (is_there)
            for (std::int64_t k = n_used + 1 + threadIdx.x; k < n_out; k += blockDim.x)
                line.target[k * line.target_stride] = 0;
        constant = team_sum(constant, shared);
        if (is_there && threadIdx.x == 0) line.target[0] = constant * (2 / first);
    }
};

template <class R>
struct WholeIntegral {
    std::int64_t n;
    R scale, first;

    __device__ void by_thread(const LinePair<R>& line) const {
        *line.target = integral_of_line(line.source, line.source_stride, n, scale, first);
    }

    __device__ void by_team(const LinePair<R>& line, bool is_there, R* shared) const {
        R sum = 0;
        for (std::int64_t k = (n - 1) / 2 * 2 - 2 * static_cast<int>(threadIdx.x); k >= 0;
             k -= 2 * blockDim.x)
            sum += integral_share(line.source[k * line.source_stride], k, first);
        sum = team_sum(sum, shared);
        if (is_there && threadIdx.x == 0) *line.target = sum * scale;
    }
};

template <class R, class Work>
__global__ void __launch_bounds__(line_threads)
    work_by_threads(const __grid_constant__ LinePairs<R> lines, const __grid_constant__ Work work) {
    const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * line_threads + threadIdx.x;
    if (number < lines.count) work.by_thread(lines[number]);
}

/// Blocks: threads x of a team, teams y.
template <class R, class Work>
__global__ void __launch_bounds__(most_team_threads)
    work_by_teams(const __grid_constant__ LinePairs<R> lines, const __grid_constant__ Work work) {
    __shared__ R shared[4 * most_team_warps];
    const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    const bool is_there = number < lines.count;
    work.by_team(lines[is_there ? number : 0], is_there, shared);
}

/// n: of a line
template <class T, class Work>
void run(const SeriesArray<const T>& f, const SeriesArray<T>& result, const char* name, int axis,
         std::int64_t n, const Work& work, void* stream) {
    using R = Real<T>;
    const auto lines = line_pairs(f, result, axis + 1);
    if (lines.count == 0) return;
    const int device = core::device_of("f", f.data);
    core::require_place("f", f.data, f.space, device, sizeof(R));
    core::require_place(name, result.data, result.space, device, sizeof(R));
    const core::CurrentDevice current(device);
    auto* const on_stream = static_cast<cudaStream_t>(stream);
    if (has_line_for_each_thread(lines, n)) {
        work_by_threads<R, Work>
            <<<n_blocks_for(lines.count, line_threads), line_threads, 0, on_stream>>>(lines, work);
    } else {
        const auto teams = teams_for(n);
        const dim3 block(static_cast<unsigned>(teams.threads), static_cast<unsigned>(teams.per_block));
        work_by_teams<R, Work>
            <<<n_blocks_for(lines.count, teams.per_block), block, 0, on_stream>>>(lines, work);
    }
    core::check_launch("calculus of Chebyshev series");
}

}  // namespace

template <class T>
void differentiate(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& derivative,
                   void* stream) {
    using R = Real<T>;
    const auto n = f.extents[static_cast<std::size_t>(axis + 1)];
    const Derivative<R> work{n, static_cast<R>(scale), to_primed(f)};
    run(f, derivative, "derivative", axis, n, work, stream);
}

template <class T>
void integrate(const SeriesArray<const T>& f, int axis, double scale, HighestMode mode,
               const SeriesArray<T>& integral, void* stream) {
    using R = Real<T>;
    const auto at = static_cast<std::size_t>(axis + 1);
    const auto n = f.extents[at];
    const Integral<R> work{n_integrated(n, mode), integral.extents[at], static_cast<R>(scale), to_primed(f)};
    run(f, integral, "integral", axis, n, work, stream);
}

template <class T>
void integrate_out(const SeriesArray<const T>& f, int axis, double scale, const SeriesArray<T>& integral,
                   void* stream) {
    using R = Real<T>;
    const auto n = f.extents[static_cast<std::size_t>(axis + 1)];
    const WholeIntegral<R> work{n, static_cast<R>(scale), to_primed(f)};
    run(f, integral, "integral", axis, n, work, stream);
}

#include "chebyshev/calculus_instances-inl.hpp"

}  // namespace zonal::chebyshev::cuda
