#pragma once

#include "sht/legendre/ishioka_kernels.cuh"
#include "sht/legendre/jacobi_math.hpp"

/// Wigner d functions of one ring pair per thread, one degree after the other (the CPU's jacobi-inl.hpp).
namespace zonal::sht::cuda {

/// How lambda goes from one degree to the next; what the steps' argument is.
enum class JacobiForm {
    difference,  ///< exact to rounding near the poles; 1 - cos theta
    three_term   ///< exact to rounding elsewhere; cos theta
};

/// Orders, degrees and signs of the functions of one order m.
struct JacobiOrder {
    int m, spin, first_degree, n_degrees;
    int used;  ///< degrees up to lmax; the rest of n_degrees counts zero

    __device__ JacobiOrder(const LegendreView& t, int m) : m(m), spin(t.spin), first_degree(max(m, t.spin)) {
        used = static_cast<int>(t.lmax) - first_degree + 1;
        n_degrees = (used + degree_group - 1) / degree_group * degree_group;
    }
    /// Whether the first degree's F+ has parity (-1)^(l+m+s) = -1 under theta -> pi - theta.
    __device__ bool starts_odd() const { return (first_degree + m + spin) % 2 != 0; }

    /// The steps from degree first_degree + k of sequence 0 (lambda, or d_{m,-s}) and 1 (d_{m,+s}). d_{m,-s}
    /// carries sin^(m+s)(theta/2), d_{m,+s} carries sin^|m-s|(theta/2).
    template <JacobiForm Form, int Sequences>
    __device__ void steps(int k, JacobiStep (&out)[Sequences]) const {
        constexpr int last = Sequences - 1;
        const double far = m + spin, near = abs(m - spin);
        if (k >= used - 1) {
            out[0] = out[last] = {0, 0, 0};
        } else if constexpr (Form == JacobiForm::difference) {
            out[0] = difference_step(far, near, first_degree, k);
            if constexpr (last > 0) out[last] = difference_step(near, far, first_degree, k);
        } else {
            const JacobiStep step = three_term_step(m, -spin, first_degree, k);
            out[0] = step;
            if constexpr (last > 0) out[last] = {step.c0, -step.c1, step.c2};  // only its shift is odd in s
        }
    }
};

/// One sequence at one ring pair.
template <JacobiForm Form>
struct JacobiSequence {
    double value, memory;  ///< memory: the last difference, or the last value
    int scale;

    __device__ void start(const LegendreView& t, int m, int pair, int cos_power, int sin_power,
                          double factor) {
        Log2 log{t.log2_wigner.high[m], t.log2_wigner.low[m]};
        log.add(cos_power, t.log2_cos_half.high[pair], t.log2_cos_half.low[pair]);
        log.add(sin_power, t.log2_sin_half.high[pair], t.log2_sin_half.low[pair]);
        const ScaledValue first = exp2_scaled(log, factor, visible);
        value = first.value, memory = 0, scale = first.scale;
    }

    __device__ void advance(const JacobiStep& step, double x) {
        if constexpr (Form == JacobiForm::difference) {
            memory = fma(step.c1, memory, -(step.c2 * x * value));
            value = fma(step.c0, value, memory);
        } else {
            const double next = fma(fma(step.c0, x, step.c1), value, -(step.c2 * memory));
            memory = value;
            value = next;
        }
    }

    __device__ void promote() {
        if (scale == 0 || fabs(value) < promotion) return;
        value *= demotion_factor;
        memory *= demotion_factor;
        ++scale;
    }

    __device__ double counted() const { return scale == 0 ? value : 0; }
};

/// The functions of one order at one ring pair: lambda_lm for spin 0, the two of F+ and F- for spin s.
template <bool Spin, JacobiForm Form>
struct JacobiFunctions {
    static constexpr int n_sequences = Spin ? 2 : 1;
    JacobiSequence<Form> sequence[n_sequences];
    double x;

    __device__ void start(const LegendreView& t, int m, int pair) {
        x = Form == JacobiForm::difference ? t.h[pair] : t.cos_theta[pair];
        if constexpr (Spin) {
            const int s = t.spin, far = m + s, near = abs(m - s);
            sequence[0].start(t, m, pair, near, far, m % 2 == 0 ? 0.5 : -0.5);
            sequence[1].start(t, m, pair, far, near, m >= s && (m - s) % 2 != 0 ? -0.5 : 0.5);
        } else {
            sequence[0].start(t, m, pair, m, m, m % 2 == 0 ? 1 : -1);
        }
    }
    /// steps: [sequence].
    __device__ void advance(const JacobiStep* steps) {
#pragma unroll
        for (int k = 0; k < n_sequences; ++k) sequence[k].advance(steps[k], x);
    }
    __device__ void promote() {
#pragma unroll
        for (int k = 0; k < n_sequences; ++k) sequence[k].promote();
    }
    __device__ bool any_visible() const {
        bool any = false;
#pragma unroll
        for (int k = 0; k < n_sequences; ++k) any = any || sequence[k].scale == 0;
        return __any_sync(whole_warp, any);
    }
    /// F+ and F-, of spin fields.
    __device__ double plus() const {
        return sequence[0].counted() + sequence[n_sequences - 1].counted();
    }
    __device__ double minus() const {
        return sequence[0].counted() - sequence[n_sequences - 1].counted();
    }
};

/// One warp a block. Where there are blocks enough, two ring pairs a thread: what they share of a step is
/// loaded once.
inline constexpr int jacobi_threads = 32;

/// A thread's functions at its ring pairs first + 32 r, up to end.
template <bool Spin, JacobiForm Form, int R>
struct ThreadFunctions {
    JacobiFunctions<Spin, Form> at[R];
    bool visible = false;

    __device__ ThreadFunctions(const LegendreView& t, const LegendreJob& job) {
#pragma unroll
        for (int r = 0; r < R; ++r) at[r].start(t, job.m, min(pair(job, r), job.end - 1));
        look();
    }
    static __device__ int pair(const LegendreJob& job, int r) {
        return job.first + jacobi_threads * r + threadIdx.x;
    }
    __device__ void advance(const JacobiStep* steps) {
#pragma unroll
        for (int r = 0; r < R; ++r) at[r].advance(steps);
    }
    __device__ void promote() {
#pragma unroll
        for (int r = 0; r < R; ++r) at[r].promote();
    }
    /// Whether anything of the warp's counts, from now on for good.
    __device__ void look() {
#pragma unroll
        for (int r = 0; r < R; ++r) visible = visible || at[r].any_visible();
    }
};

/// Degrees whose steps lie in shared memory at a time.
inline constexpr int chunk_degrees = 2 * jacobi_threads;
static_assert(chunk_degrees % degree_group == 0);

/// Calls visit(degrees before, degrees) for one chunk of an order after the other, while its steps lie in
/// shared memory, and beside them what fill(place in the chunk, degree) puts there.
template <JacobiForm Form, int Sequences, class Fill, class Visit>
__device__ __forceinline__ void for_each_chunk(const JacobiOrder& order,
                                               JacobiStep (&steps)[chunk_degrees][Sequences],
                                               const Fill& fill, const Visit& visit) {
    for (int done = 0; done < order.n_degrees; done += chunk_degrees) {
        __syncwarp();
        for (int k = threadIdx.x; k < chunk_degrees; k += jacobi_threads) {
            order.template steps<Form>(done + k, steps[k]);
            fill(k, done + k);
        }
        __syncwarp();
        visit(done, min(chunk_degrees, order.n_degrees - done));
    }
}

/// Parts of F_m that are equal (even) or opposite (odd) on the two rings of a pair: [column][re, im]; columns
/// are the components of a spin field, or scalar maps.
template <int Columns>
struct MirrorParts {
    double even[Columns][2] = {}, odd[Columns][2] = {};
};

/// adjoint_jacobi of one list and of four scalar maps that share a pass, by matrix products on the tensor
/// cores.
void adjoint_jacobi_products(const LegendreStage& stage, Orders orders, const JobList& list, JacobiForm form,
                             const PairModes* fourier, double* sums, cudaStream_t stream);

}  // namespace zonal::sht::cuda
