#include "core/mma_fp64.cuh"
#include "sht/legendre/jacobi_kernels.cuh"

namespace zonal::sht::cuda {
namespace {

constexpr int threads = jacobi_threads;

/// Rows of a matrix product and the degrees that its two, of even and of odd ones, take.
constexpr int product_rows = 16, product_degrees = 2 * product_rows;
/// Pairs of one instruction.
constexpr int block_pairs = 16;

/// Lambda of a warp's pairs at some degrees of one parity. The distance of rows: so that what a quarter of a
/// warp reads at once, of two rows, lies in different banks.
template <int R>
struct DegreeRows {
    double row[product_rows][threads * R + 8];
};

/// Advances by product_degrees degrees and writes what counts of lambda: of even ones, then of odd ones;
/// zeros from degree `count` on, which is a multiple of step_group.
template <JacobiForm Form, int R>
__device__ void write_rows(ThreadFunctions<false, Form, R>& functions, const JacobiStep (*steps)[1],
                           int count, DegreeRows<R> (&rows)[2]) {
    __syncwarp();  // the rows of the last product have been read
    for (int k = 0; k < product_degrees; k += step_group) {
#pragma unroll
        for (int i = 0; i < step_group; ++i) {
#pragma unroll
            for (int r = 0; r < R; ++r)
                rows[i % 2].row[(k + i) / 2][threads * r + threadIdx.x] =
                    k < count ? functions.at[r].sequence[0].counted() : 0;
            if (k < count) functions.advance(steps[k + i]);
        }
        functions.promote();
        functions.look();
    }
    __syncwarp();
}

/// An adjoint of four scalar maps, whose sums over pairs are products on the tensor cores, as in
/// ishioka_adjoint_cuda.cu: one with the parts of F_m that even degrees see, another with those of odd
/// degrees. Columns are re, im of each map; of fewer maps most of them would be empty.
template <JacobiForm Form, int R>
__global__ void __launch_bounds__(threads)
    four_maps_kernel(LegendreView t, const LegendreJob* jobs, const PairModes* fourier,
                     std::int64_t field_stride, double* sums) {
    constexpr int n_blocks = threads * R / block_pairs;
    __shared__ JacobiStep steps[chunk_degrees][1];
    __shared__ DegreeRows<R> rows[2];
    const LegendreJob job = jobs[blockIdx.x];
    const JacobiOrder order(t, job.m);
    ThreadFunctions<false, Form, R> functions(t, job);
    const int lane = threadIdx.x, g = lane / 4, q = lane % 4;
    // Lane (g, q) has column g of pairs 16 p + 8 (i / 2) + 2 q + i % 2, of even and of odd degrees.
    double f[2][n_blocks][4];
    const double odd_sign = order.starts_odd() ? -1 : 1;
#pragma unroll
    for (int p = 0; p < n_blocks; ++p)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int pair = job.first + block_pairs * p + 8 * (i / 2) + 2 * q + i % 2;
            double2 ring{0, 0};  // north and south
            if (pair < job.end) {
                const PairModes modes = fourier[g / 2 * field_stride + t.fourier_origin[job.m] + pair];
                ring = g % 2 == 0 ? double2{modes.north.x, modes.south.x}
                                  : double2{modes.north.y, modes.south.y};
            }
            f[0][p][i] = ring.x + odd_sign * ring.y;
            f[1][p][i] = ring.x - odd_sign * ring.y;
        }
    constexpr int n_maps = 4, width = sums_per_degree * n_maps;
    double* const of_job = sums + n_maps * job.sums + 2 * q;
    const auto nothing_else = [](int, int) {};
    for_each_chunk<Form>(order, steps, nothing_else, [&](int done, int count) {
        for (int j = 0; j < count; j += product_degrees) {
            const int here = min(product_degrees, count - j);
            write_rows(functions, steps + j, here, rows);
            double sum[2][4] = {};
            if (functions.visible) {
#pragma unroll
                for (int p = 0; p < n_blocks; ++p)
#pragma unroll
                    for (int odd = 0; odd < 2; ++odd) {
                        double a[8];
                        core::load_in_twos(rows[odd].row, block_pairs * p, a);
                        core::multiply_add_16x8x16(sum[odd], a, f[odd][p]);
                    }
            }
#pragma unroll
            for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int odd = 0; odd < 2; ++odd) {
                    const int degree = 2 * (g + 8 * h) + odd;
                    if (degree < here)
                        *reinterpret_cast<double2*>(of_job +
                                                    static_cast<std::int64_t>(done + j + degree) * width) = {
                            sum[odd][2 * h], sum[odd][2 * h + 1]};
                }
        }
    });
}

template <JacobiForm Form>
void launch(const LegendreStage& stage, Orders orders, const JobList& list, const PairModes* fourier,
            double* sums, cudaStream_t stream) {
    const auto kernel = list.tile == threads ? four_maps_kernel<Form, 1> : four_maps_kernel<Form, 2>;
    core::set_up_for_shared_memory(kernel);  // as Ishioka's adjoint needs it
    kernel<<<list.count(orders), threads, 0, stream>>>(stage.view(), list.begin(orders), fourier,
                                                       stage.layout().size(), sums);
    core::check_launch("Jacobi adjoint of four maps");
}

}  // namespace

void adjoint_jacobi_products(const LegendreStage& stage, Orders orders, const JobList& list, JacobiForm form,
                             const PairModes* fourier, double* sums, cudaStream_t stream) {
    const auto of_form =
        form == JacobiForm::difference ? &launch<JacobiForm::difference> : &launch<JacobiForm::three_term>;
    of_form(stage, orders, list, fourier, sums, stream);
}

}  // namespace zonal::sht::cuda
