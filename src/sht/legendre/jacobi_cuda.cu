#include "core/warp_sums.cuh"
#include "sht/legendre/jacobi_kernels.cuh"

namespace zonal::sht::cuda {
namespace {

constexpr int threads = jacobi_threads;
/// Q += -(E F+ + i B F-), U += -(B F+ - i E F-), without the sign; a: re, im per component.
template <bool Spin, JacobiForm Form, int Columns>
__device__ void add_degree(const JacobiFunctions<Spin, Form>& functions, const double (&a)[Columns][2],
                           double (&same)[Columns][2], double (&mirror)[Columns][2]) {
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
#pragma unroll
        for (int c = 0; c < Columns; ++c)
#pragma unroll
            for (int r = 0; r < 2; ++r) same[c][r] = fma(a[c][r], lambda, same[c][r]);
    }
}

/// What an adjoint of scalar maps needs of F_m at one ring pair, and how a warp sums up.
template <int Columns>
struct ScalarParts {
    static constexpr int n_sums = 2 * Columns, degrees = 32 / n_sums;  ///< of a fold
    double even[Columns][2] = {}, odd[Columns][2] = {};

    __device__ void set(const double (&a)[Columns][2], const double (&b)[Columns][2]) {
#pragma unroll
        for (int c = 0; c < Columns; ++c)
#pragma unroll
            for (int k = 0; k < 2; ++k) even[c][k] = a[c][k], odd[c][k] = b[c][k];
    }
    /// sums += this pair's; Odd: of an odd degree, counted from the first.
    template <bool Odd, JacobiForm Form>
    __device__ void project(const JacobiFunctions<false, Form>& functions, double* sums) const {
        const double lambda = functions.sequence[0].counted();
#pragma unroll
        for (int c = 0; c < Columns; ++c)
#pragma unroll
            for (int k = 0; k < 2; ++k)
                sums[2 * c + k] = fma(lambda, Odd ? odd[c][k] : even[c][k], sums[2 * c + k]);
    }
    /// The sum that is the lane's, number lane of [degrees][n_sums].
    static __device__ double fold(double (&sums)[32]) {
        return sum_over_lanes(sums, threadIdx.x);
    }
    static __device__ int own_place() {
        return threadIdx.x;
    }
};

/// The same of a spin field. With q and u the parts of Q and U that have the degree's parity, q' and u' those
/// that have the other, E = -(F+ q + i F- u'), B = -(F+ u - i F- q'). As F+- = d_0 +- d_1, its four sums re
/// E, im E, re B, im B are those of d_0 times x and d_1 times y, x = (q + i u', u - i q'), y = (q - i u', u +
/// i q') of even degrees; those of odd degrees are the same numbers in reverse order, with signs. Which of
/// the sums a slot holds depends on the lane, slot k the one numbered k ^ own_sum(lane), so that most
/// exchanges between lanes need not select (ishioka_adjoint_few_cuda.cu).
struct SpinParts {
    static constexpr int n_sums = 4, degrees = 32 / n_sums;
    double x[4] = {}, y[4] = {};

    static __device__ int own_sum() { return threadIdx.x / degrees; }
    static __device__ bool is_mixed(int sum) { return sum == 1 || sum == 2; }

    __device__ void set(const double (&even)[2][2], const double (&odd)[2][2]) {
        double of_sum[2][4];
#pragma unroll
        for (int sum = 0; sum < 4; ++sum) {
            const double same = even[sum / 2][sum % 2], other = odd[1 - sum / 2][1 - sum % 2];
            of_sum[0][sum] = is_mixed(sum) ? same + other : same - other;
            of_sum[1][sum] = is_mixed(sum) ? same - other : same + other;
        }
        const bool low = own_sum() % 2 != 0, high = own_sum() >= 2;
#pragma unroll
        for (int slot = 0; slot < 4; ++slot) {
            const auto pick = [&](const double(&v)[4]) {
                return high ? (low ? v[slot ^ 3] : v[slot ^ 2]) : (low ? v[slot ^ 1] : v[slot]);
            };
            x[slot] = pick(of_sum[0]);
            y[slot] = pick(of_sum[1]);
        }
    }
    /// sums += this pair's, without the sign.
    template <bool Odd, JacobiForm Form>
    __device__ void project(const JacobiFunctions<true, Form>& functions, double* sums) const {
        double d_0 = functions.sequence[0].counted(), d_1 = functions.sequence[1].counted();
        if (Odd) {  // the sign of the sum in slot 0; others differ from it as their numbers do
            d_0 = is_mixed(own_sum()) ? d_0 : -d_0;
            d_1 = is_mixed(own_sum()) ? -d_1 : d_1;
        }
#pragma unroll
        for (int slot = 0; slot < 4; ++slot) {
            const double sign = Odd && is_mixed(slot) ? -1 : 1;
            sums[slot] = fma(sign * d_1, y[Odd ? 3 - slot : slot],
                             fma(sign * d_0, x[Odd ? 3 - slot : slot], sums[slot]));
        }
    }
    static __device__ double fold(double (&sums)[32]) {
        double own[degrees];
#pragma unroll
        for (int i = 0; i < degrees; ++i) {
            const double* const of = sums + 4 * i;
            const double first = of[0] + __shfl_xor_sync(whole_warp, of[2], 2 * degrees);
            const double second = of[1] + __shfl_xor_sync(whole_warp, of[3], 2 * degrees);
            own[i] = first + __shfl_xor_sync(whole_warp, second, degrees);
        }
        return sum_over_lanes<degrees, degrees>(own, threadIdx.x);
    }
    static __device__ int own_place() {
        return threadIdx.x % degrees * n_sums + own_sum();
    }
};

/// Coefficients of one pass: the components of a spin field, or scalar maps; null where they are zero.
template <class T>
struct ColumnPointers {
    const T* column[4];
};

template <bool Spin, JacobiForm Form, int R, int Columns, class T>
__global__ void __launch_bounds__(threads)
    synthesis_kernel(LegendreView t, const LegendreJob* jobs, ColumnPointers<T> alm, PairModes* fourier,
                     std::int64_t field_stride) {
    constexpr int sequences = Spin ? 2 : 1;
    __shared__ JacobiStep steps[chunk_degrees][sequences];
    __shared__ double a[chunk_degrees][Columns][2];
    const LegendreJob job = jobs[blockIdx.x];
    const JacobiOrder order(t, job.m);
    const std::int64_t row = t.alm_origin[job.m] + order.first_degree;
    ThreadFunctions<Spin, Form, R> functions(t, job);
    MirrorParts<Columns> parts[R];
    const auto load = [&](int k, int degree) {
#pragma unroll
        for (int c = 0; c < Columns; ++c) {
            const bool there = degree < order.used && alm.column[c] != nullptr;
            for (int part = 0; part < 2; ++part)
                a[k][c][part] = there ? alm.column[c][2 * (row + degree) + part] : T(0);
        }
    };
    for_each_chunk<Form>(order, steps, load, [&](int, int count) {
        for (int j = 0; j < count; j += step_group) {
            if (functions.visible) {
#pragma unroll
                for (int i = j; i < j + step_group; i += 2) {
#pragma unroll
                    for (int r = 0; r < R; ++r)
                        add_degree(functions.at[r], a[i], parts[r].even, parts[r].odd);
                    functions.advance(steps[i]);
#pragma unroll
                    for (int r = 0; r < R; ++r)
                        add_degree(functions.at[r], a[i + 1], parts[r].odd, parts[r].even);
                    functions.advance(steps[i + 1]);
                }
            } else {
#pragma unroll
                for (int i = j; i < j + step_group; ++i) functions.advance(steps[i]);
            }
            functions.promote();
            functions.look();
        }
    });
    const double sign = Spin ? -1 : 1, odd_sign = order.starts_odd() ? -1 : 1;
#pragma unroll
    for (int r = 0; r < R; ++r) {
        const int pair = functions.pair(job, r);
#pragma unroll
        for (int c = 0; c < Columns; ++c) {
            if (pair >= job.end) continue;
            const double re = sign * parts[r].even[c][0], im = sign * parts[r].even[c][1];
            const double odd_re = sign * parts[r].odd[c][0], odd_im = sign * parts[r].odd[c][1];
            fourier[c * field_stride + t.fourier_origin[job.m] + pair] = {
                {re + odd_re, im + odd_im}, {odd_sign * (re - odd_re), odd_sign * (im - odd_im)}};
        }
    }
}

template <bool Spin, JacobiForm Form, int R, int Columns>
__global__ void __launch_bounds__(threads)
    adjoint_kernel(LegendreView t, const LegendreJob* jobs, const PairModes* fourier,
                   std::int64_t field_stride, double* sums) {
    using Parts = std::conditional_t<Spin, SpinParts, ScalarParts<Columns>>;
    constexpr int sequences = Spin ? 2 : 1, width = Parts::n_sums, per_fold = Parts::degrees;
    // Sums of several maps take the place of one's.
    constexpr int n_maps = Spin ? 1 : Columns;
    __shared__ JacobiStep steps[chunk_degrees][sequences];
    const LegendreJob job = jobs[blockIdx.x];
    const JacobiOrder order(t, job.m);
    ThreadFunctions<Spin, Form, R> functions(t, job);
    Parts parts[R];
    const double odd_sign = order.starts_odd() ? -1 : 1;
#pragma unroll
    for (int r = 0; r < R; ++r) {
        const int pair = functions.pair(job, r);
        if (pair >= job.end) continue;
        double even[Columns][2], odd[Columns][2];
#pragma unroll
        for (int c = 0; c < Columns; ++c) {
            const PairModes f = fourier[c * field_stride + t.fourier_origin[job.m] + pair];
            even[c][0] = f.north.x + odd_sign * f.south.x;
            even[c][1] = f.north.y + odd_sign * f.south.y;
            odd[c][0] = f.north.x - odd_sign * f.south.x;
            odd[c][1] = f.north.y - odd_sign * f.south.y;
        }
        parts[r].set(even, odd);
    }
    const auto nothing_else = [](int, int) {};
    for_each_chunk<Form>(order, steps, nothing_else, [&](int done, int count) {
        for (int j = 0; j < count; j += per_fold) {
            double v[32] = {};
#pragma unroll
            for (int i = 0; i < per_fold; ++i) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    if (i % 2 == 0)
                        parts[r].template project<false>(functions.at[r], v + i * width);
                    else
                        parts[r].template project<true>(functions.at[r], v + i * width);
                }
                functions.advance(steps[j + i]);
                if (i % step_group == step_group - 1 || i == per_fold - 1) functions.promote();
            }
            // Lanes that became visible within the fold counted from there; none visible: all are zero.
            functions.look();
            sums[n_maps * job.sums + static_cast<std::int64_t>(done + j) * width + Parts::own_place()] =
                functions.visible ? Parts::fold(v) : 0;
        }
    });
}

/// Launches for `Columns` columns, one or two pairs a thread.
template <bool Spin, JacobiForm Form, int Columns, class T>
void launch_synthesis(const LegendreStage& stage, Orders orders, const JobList& list,
                      const ColumnPointers<T>& alm, PairModes* fourier, cudaStream_t stream) {
    if (list.count(orders) == 0) return;
    const auto kernel = list.tile == threads ? synthesis_kernel<Spin, Form, 1, Columns, T>
                                             : synthesis_kernel<Spin, Form, 2, Columns, T>;
    kernel<<<list.count(orders), threads, 0, stream>>>(stage.view(), list.begin(orders), alm, fourier,
                                                       stage.layout().size());
    core::check_launch("Jacobi synthesis");
}

template <bool Spin, JacobiForm Form, int Columns>
void launch_adjoint(const LegendreStage& stage, Orders orders, const JobList& list, const PairModes* fourier,
                    double* sums, cudaStream_t stream) {
    if (list.count(orders) == 0) return;
    if constexpr (Columns == 4) {
        adjoint_jacobi_products(stage, orders, list, Form, fourier, sums, stream);
    } else {
        const auto kernel = list.tile == threads ? adjoint_kernel<Spin, Form, 1, Columns>
                                                 : adjoint_kernel<Spin, Form, 2, Columns>;
        core::set_up_for_shared_memory(kernel);  // as Ishioka's adjoint needs it
        kernel<<<list.count(orders), threads, 0, stream>>>(stage.view(), list.begin(orders), fourier,
                                                           stage.layout().size(), sums);
        core::check_launch("Jacobi adjoint");
    }
}

/// Calls visit(first map, maps, whether a spin field as a constant, columns as a constant) for every pass.
template <class Visit>
void for_each_pass(int components, int n_maps, const Visit& visit) {
    using std::integral_constant;
    for (int k = 0; k < n_maps;) {
        const MapsOfPass pass = maps_of_pass(k, n_maps, components);
        if (components == 2)
            visit(pass, std::true_type(), integral_constant<int, 2>());
        else if (pass.count == 4)
            visit(pass, std::false_type(), integral_constant<int, 4>());
        else if (pass.count == 2)
            visit(pass, std::false_type(), integral_constant<int, 2>());
        else
            visit(pass, std::false_type(), integral_constant<int, 1>());
        k = pass.first + pass.count;
    }
}

}  // namespace

template <class T>
void synthesize_jacobi(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                       PairModes* fourier, JacobiStreams streams) {
    using enum JacobiForm;
    const int components = stage.view().components;
    for_each_pass(components, static_cast<int>(maps.size()), [&](MapsOfPass pass, auto spin, auto columns) {
        ColumnPointers<T> alm{};
        for (int k = 0; k < pass.count; ++k)
            for (int c = 0; c < components; ++c) alm.column[k * components + c] = maps[pass.first + k].alm[c];
        PairModes* const first = fourier + pass.first * components * stage.layout().size();
        launch_synthesis<spin, difference, columns>(stage, orders, stage.polar(), alm, first, streams.polar);
        launch_synthesis<spin, three_term, columns>(stage, orders, stage.equatorial(), alm, first,
                                                    streams.equatorial);
    });
}

void adjoint_jacobi(const LegendreStage& stage, Orders orders, int n_maps, const PairModes* fourier,
                    double* polar, double* equatorial, JacobiStreams streams) {
    using enum JacobiForm;
    const int components = stage.view().components;
    for_each_pass(components, n_maps, [&](MapsOfPass pass, auto spin, auto columns) {
        const PairModes* const first = fourier + pass.first * components * stage.layout().size();
        launch_adjoint<spin, difference, columns>(stage, orders, stage.polar(), first,
                                                  polar + pass.first * stage.polar().n_sums, streams.polar);
        launch_adjoint<spin, three_term, columns>(stage, orders, stage.equatorial(), first,
                                                  equatorial + pass.first * stage.equatorial().n_sums,
                                                  streams.equatorial);
    });
}

template void synthesize_jacobi(const LegendreStage&, Orders, const std::vector<AlmPointers<float>>&,
                                PairModes*, JacobiStreams);
template void synthesize_jacobi(const LegendreStage&, Orders, const std::vector<AlmPointers<double>>&,
                                PairModes*, JacobiStreams);

}  // namespace zonal::sht::cuda
