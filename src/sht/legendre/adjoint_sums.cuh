#pragma once

#include "sht/legendre/coefficients_cuda.cuh"
#include "sht/legendre/step_values.cuh"

/// How kernels that make a_lm read what the adjoint's other kernels left behind.
namespace zonal::sht::cuda {

__device__ inline void add(double2& sum, double2 part) {
    sum.x += part.x, sum.y += part.y;
}

/// Where one list's Jacobi sums of an order lie, of a pass over n_maps maps.
struct DegreeSums {
    const double* sums;
    int n_maps;
    const std::int64_t* first_sum;
    const std::int32_t* n_tiles;

    /// re, im at value k of an order; length of a tile's sums.
    __device__ double2 total(std::int64_t m, std::int64_t k, std::int64_t length) const {
        const int n = n_tiles[m];
        if (n == 0) return {0, 0};
        const double* at = sums + n_maps * first_sum[m] + k;
        double2 sum = complex_at(at, 0);  // on its way while others are asked for
#pragma unroll 2
        for (int tile = 1; tile < n; ++tile) add(sum, complex_at(at += length, 0));
        return sum;
    }
};

/// The Jacobi kernels' sums of one map.
struct JacobiSums {
    DegreeSums polar, equatorial;
    int map_of_pass;

    /// The sum for component c at degree l.
    __device__ double2 total(const LegendreView& t, std::int64_t m, std::int64_t l, int c) const {
        const std::int64_t first_degree = max(m, static_cast<std::int64_t>(t.spin)), k = l - first_degree;
        if (k < 0) return {0, 0};
        const std::int64_t n_degrees = (t.lmax - first_degree + degree_group) / degree_group * degree_group;
        const int width = sums_per_degree * t.components * polar.n_maps;
        const std::int64_t entry = k * width + 2 * (map_of_pass * t.components + c);
        const double2 from_poles = polar.total(m, entry, n_degrees * width);
        const double2 from_equator = equatorial.total(m, entry, n_degrees * width);
        return {from_poles.x + from_equator.x, from_poles.y + from_equator.y};
    }
};

/// Those of one of the maps.
inline JacobiSums jacobi_sums(const LegendreStage& stage, const AdjointSums& sums, int map) {
    const MapsOfPass pass = maps_of_pass(map, sums.n_maps, stage.view().components);
    const auto view = [&](const double* values, const JobList& jobs) {
        return DegreeSums{values + pass.first * jobs.n_sums, pass.count, jobs.first_sum.data(),
                          jobs.n_tiles.data()};
    };
    return {view(sums.polar, stage.polar()), view(sums.equatorial, stage.equatorial()), map - pass.first};
}

/// eps of degree l and order m; 0 for l < m, too.
__device__ inline double epsilon_or_zero(std::int64_t l, std::int64_t m) {
    return l > m ? epsilon_lm(static_cast<double>(l), static_cast<double>(m)) : 0;
}

/// The two components of a spin field at one degree.
struct SpinPair {
    double2 x{0, 0}, y{0, 0};
};

/// One order's steps between spins, of which a thread makes one degree's at a time:
///   x'_l = eps_l before_l x_{l-1} + eps_{l+1} after_l x_{l+1} + i m across_l y_l
/// and y' the same of y and -x, with the weights of SpinStep.
struct SpinSteps {
    const LegendreView& t;
    std::int64_t m;

    /// From spin s to s - 1, or else its transpose, at degree l; 0 where that is none. eps: of l and l + 1.
    template <bool ToScalar>
    __device__ SpinPair step(int s, std::int64_t l, double eps, double next_eps, const SpinPair& before,
                             const SpinPair& here, const SpinPair& after) const {
        if (l < m || l > t.lmax + t.spin) return {};
        const std::int64_t width = t.lmax + t.spin + 3;
        const double* const below = t.spin_steps + 3 * (s - 1) * width + l + 1;
        const double* const above = below + width;
        const double a = eps * (ToScalar ? below[0] : above[-1]);
        const double b = next_eps * (ToScalar ? above[0] : below[1]);
        const double c = static_cast<double>(m) * above[width];
        return {{fma(a, before.x.x, fma(b, after.x.x, -c * here.y.y)),
                 fma(a, before.x.y, fma(b, after.x.y, c * here.y.x))},
                {fma(a, before.y.x, fma(b, after.y.x, c * here.x.y)),
                 fma(a, before.y.y, fma(b, after.y.y, -c * here.x.x))}};
    }

    /// All steps, by a block whose thread k has degree l = first + k: right at all degrees but `spin` of them
    /// at each end. memory: [2][threads].
    template <bool ToScalar, int Threads>
    __device__ SpinPair all(std::int64_t l, SpinPair here, SpinPair (*memory)[Threads]) const {
        const int k = threadIdx.x;
        const double eps = epsilon_or_zero(l, m), next_eps = epsilon_or_zero(l + 1, m);
        for (int i = 0; i < t.spin; ++i) {
            SpinPair* const row = memory[i % 2];
            row[k] = here;
            __syncthreads();
            here = step<ToScalar>(ToScalar ? t.spin - i : i + 1, l, eps, next_eps, row[max(k - 1, 0)], here,
                                  row[min(k + 1, Threads - 1)]);
        }
        return here;
    }
};

}  // namespace zonal::sht::cuda
