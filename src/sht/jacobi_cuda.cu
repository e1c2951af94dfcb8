#include "sht/jacobi_kernels.cuh"
#include "sht/warp_sums.cuh"

namespace zonal::sht::cuda {
namespace {

constexpr int threads = jacobi_pairs;
constexpr int warps = threads / 32;
/// Degrees whose steps and coefficients lie in shared memory at a time.
constexpr int chunk_degrees = jacobi_pairs;
static_assert(chunk_degrees % degree_group == 0);

/// Q += -(E F+ + i B F-), U += -(B F+ - i E F-), without the sign; a: re, im per component.
template <bool Spin, JacobiForm Form>
__device__ void add_degree(const JacobiFunctions<Spin, Form>& functions, const double (&a)[2][2],
                           double (&same)[2][2], double (&mirror)[2][2]) {
    if constexpr (Spin) {
        const double f_plus = functions.plus(), f_minus = functions.minus();
#pragma unroll
        for (int c = 0; c < 2; ++c)
#pragma unroll
            for (int r = 0; r < 2; ++r) same[c][r] = fma(a[c][r], f_plus, same[c][r]);
        mirror[0][0] = fma(-a[1][1], f_minus, mirror[0][0]);
        mirror[0][1] = fma(a[1][0], f_minus, mirror[0][1]);
        mirror[1][0] = fma(a[0][1], f_minus, mirror[1][0]);
        mirror[1][1] = fma(-a[0][0], f_minus, mirror[1][1]);
    } else {
        const double lambda = functions.sequence[0].counted();
        same[0][0] = fma(a[0][0], lambda, same[0][0]);
        same[0][1] = fma(a[0][1], lambda, same[0][1]);
    }
}

/// The transpose, for a spin field E = -(F+ q + i F- u), B = -(F+ u - i F- q), without the sign.
template <bool Spin, JacobiForm Form>
__device__ void project_degree(const JacobiFunctions<Spin, Form>& functions, const double (&same)[2][2],
                               const double (&mirror)[2][2], double* out) {
    if constexpr (Spin) {
        const double f_plus = functions.plus(), f_minus = functions.minus();
        out[0] = fma(f_plus, same[0][0], -f_minus * mirror[1][1]);
        out[1] = fma(f_plus, same[0][1], f_minus * mirror[1][0]);
        out[2] = fma(f_plus, same[1][0], f_minus * mirror[0][1]);
        out[3] = fma(f_plus, same[1][1], -f_minus * mirror[0][0]);
    } else {
        const double lambda = functions.sequence[0].counted();
        out[0] = lambda * same[0][0];
        out[1] = lambda * same[0][1];
    }
}

template <bool Spin, JacobiForm Form, class T>
__global__ void __launch_bounds__(threads)
    synthesis_kernel(LegendreView t, const LegendreJob* jobs, AlmPointers<T> alm, PairModes* fourier,
                     std::int64_t field_stride) {
    constexpr int components = Spin ? 2 : 1;
    __shared__ JacobiStep steps[chunk_degrees][components];
    __shared__ double a[chunk_degrees][2][2];
    const LegendreJob job = jobs[blockIdx.x];
    const JacobiOrder order(t, job.m);
    const int pair = job.first + threadIdx.x;
    const std::int64_t row =
        static_cast<std::int64_t>(job.m) * (2 * t.lmax + 1 - job.m) / 2 + order.first_degree;
    JacobiFunctions<Spin, Form> functions;
    functions.start(t, job.m, min(pair, job.end - 1));
    MirrorParts parts;
    bool visible_here = functions.any_visible();
    for (int done = 0; done < order.n_degrees; done += chunk_degrees) {
        const int mine = done + threadIdx.x;
        __syncthreads();
        for (int c = 0; c < components; ++c) {
            steps[threadIdx.x][c] = order.template step<Form>(c, mine);
            const bool there = mine < order.used && alm.alm[c] != nullptr;
            for (int r = 0; r < 2; ++r)
                a[threadIdx.x][c][r] = there ? alm.alm[c][2 * (row + mine) + r] : T(0);
        }
        __syncthreads();
        const int count = min(chunk_degrees, order.n_degrees - done);
        for (int j = 0; j < count; j += step_group) {
#pragma unroll
            for (int i = j; i < j + step_group; i += 2) {
                if (visible_here) add_degree(functions, a[i], parts.even, parts.odd);
                functions.advance(steps[i]);
                if (visible_here) add_degree(functions, a[i + 1], parts.odd, parts.even);
                functions.advance(steps[i + 1]);
            }
            functions.promote();
            visible_here = visible_here || functions.any_visible();
        }
    }
    if (pair >= job.end) return;
    const double sign = Spin ? -1 : 1, odd_sign = order.starts_odd() ? -1 : 1;
    for (int c = 0; c < components; ++c) {
        const double re = sign * parts.even[c][0], im = sign * parts.even[c][1];
        const double odd_re = sign * parts.odd[c][0], odd_im = sign * parts.odd[c][1];
        fourier[c * field_stride + t.fourier_origin[job.m] + pair] = {
            {re + odd_re, im + odd_im}, {odd_sign * (re - odd_re), odd_sign * (im - odd_im)}};
    }
}

template <bool Spin, JacobiForm Form>
__global__ void __launch_bounds__(threads)
    adjoint_kernel(LegendreView t, const LegendreJob* jobs, const PairModes* fourier,
                   std::int64_t field_stride, double* sums) {
    constexpr int components = Spin ? 2 : 1, width = sums_per_degree * components, per_fold = 32 / width;
    __shared__ JacobiStep steps[chunk_degrees][components];
    __shared__ double partial[warps][chunk_degrees * width];
    const LegendreJob job = jobs[blockIdx.x];
    const JacobiOrder order(t, job.m);
    const int pair = job.first + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    JacobiFunctions<Spin, Form> functions;
    functions.start(t, job.m, min(pair, job.end - 1));
    MirrorParts parts;
    const double odd_sign = order.starts_odd() ? -1 : 1;
    for (int c = 0; c < components && pair < job.end; ++c) {
        const PairModes f = fourier[c * field_stride + t.fourier_origin[job.m] + pair];
        parts.even[c][0] = f.north.x + odd_sign * f.south.x,
        parts.even[c][1] = f.north.y + odd_sign * f.south.y;
        parts.odd[c][0] = f.north.x - odd_sign * f.south.x,
        parts.odd[c][1] = f.north.y - odd_sign * f.south.y;
    }
    bool visible_here = functions.any_visible();
    for (int done = 0; done < order.n_degrees; done += chunk_degrees) {
        __syncthreads();
        for (int c = 0; c < components; ++c)
            steps[threadIdx.x][c] = order.template step<Form>(c, done + threadIdx.x);
        __syncthreads();
        const int count = min(chunk_degrees, order.n_degrees - done);
        for (int j = 0; j < count; j += per_fold) {
            double v[32];
#pragma unroll
            for (int i = 0; i < per_fold; ++i) {
                if (i % 2 == 0)
                    project_degree(functions, parts.even, parts.odd, v + i * width);
                else
                    project_degree(functions, parts.odd, parts.even, v + i * width);
                functions.advance(steps[j + i]);
                if (i % step_group == step_group - 1) functions.promote();
            }
            // Lanes that became visible within the fold counted from there; none_visible folds are all zero.
            visible_here = visible_here || functions.any_visible();
            partial[warp][j * width + lane] = visible_here ? sum_over_lanes(v, lane) : 0;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count * width; i += threads) {
            double sum = partial[0][i];
            for (int w = 1; w < warps; ++w) sum += partial[w][i];
            sums[job.sums + static_cast<std::int64_t>(done) * width + i] = sum;
        }
    }
}

template <bool Spin, JacobiForm Form, class T>
void launch_synthesis(const LegendreStage& stage, const JobList& list, AlmPointers<T> alm, PairModes* fourier,
                      cudaStream_t stream) {
    if (list.jobs.size() == 0) return;
    synthesis_kernel<Spin, Form, T><<<static_cast<unsigned>(list.jobs.size()), threads, 0, stream>>>(
        stage.view(), list.jobs.data(), alm, fourier, stage.layout().size());
    core::check_launch("Jacobi synthesis");
}

template <bool Spin, JacobiForm Form>
void launch_adjoint(const LegendreStage& stage, const JobList& list, const PairModes* fourier, double* sums,
                    cudaStream_t stream) {
    if (list.jobs.size() == 0) return;
    adjoint_kernel<Spin, Form><<<static_cast<unsigned>(list.jobs.size()), threads, 0, stream>>>(
        stage.view(), list.jobs.data(), fourier, stage.layout().size(), sums);
    core::check_launch("Jacobi adjoint");
}

}  // namespace

template <class T>
void synthesize_jacobi(const LegendreStage& stage, AlmPointers<T> alm, PairModes* fourier,
                       cudaStream_t stream) {
    using enum JacobiForm;
    if (stage.view().spin == 0) {
        launch_synthesis<false, difference>(stage, stage.polar(), alm, fourier, stream);
        launch_synthesis<false, three_term>(stage, stage.equatorial(), alm, fourier, stream);
    } else {
        launch_synthesis<true, difference>(stage, stage.polar(), alm, fourier, stream);
        launch_synthesis<true, three_term>(stage, stage.equatorial(), alm, fourier, stream);
    }
}

void adjoint_jacobi(const LegendreStage& stage, const PairModes* fourier, double* polar, double* equatorial,
                    cudaStream_t stream) {
    using enum JacobiForm;
    if (stage.view().spin == 0) {
        launch_adjoint<false, difference>(stage, stage.polar(), fourier, polar, stream);
        launch_adjoint<false, three_term>(stage, stage.equatorial(), fourier, equatorial, stream);
    } else {
        launch_adjoint<true, difference>(stage, stage.polar(), fourier, polar, stream);
        launch_adjoint<true, three_term>(stage, stage.equatorial(), fourier, equatorial, stream);
    }
}

template void synthesize_jacobi(const LegendreStage&, AlmPointers<float>, PairModes*, cudaStream_t);
template void synthesize_jacobi(const LegendreStage&, AlmPointers<double>, PairModes*, cudaStream_t);

}  // namespace zonal::sht::cuda
