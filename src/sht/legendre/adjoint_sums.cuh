#pragma once

#include "sht/legendre/coefficients_cuda.cuh"
#include "sht/legendre/spin_math.hpp"
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

/// Weights of degree l of order m; e_at(k): eps of degree l + k, 0 where that is below m.
template <class Epsilon>
__device__ SpinShifts shifts(const LegendreView& t, std::int64_t l, std::int64_t m, const Epsilon& e_at) {
    if (l < m || l < t.spin || l > t.lmax) return {};
    const double degree = static_cast<double>(l), order = static_cast<double>(m);
    if (t.spin == 1) return spin_1_shifts(degree, order, e_at(0), e_at(1));
    return spin_2_shifts(degree, order, e_at(-1), e_at(0), e_at(1), e_at(2));
}

/// eps of degree l and order m; 0 for l < m, too.
__device__ inline double epsilon_or_zero(std::int64_t l, std::int64_t m) {
    return l > m ? epsilon_lm(static_cast<double>(l), static_cast<double>(m)) : 0;
}

/// e, b: re, im of the transpose of to_scalar at degree l. q, u: rows there.
__device__ inline void add_from_scalar(const SpinShifts& w, int spin, int first, int last, const double* q,
                                       const double* u, double (&value)[2][2]) {
#pragma unroll
    for (int offset = -2; offset <= 2; ++offset) {
        if (offset < first || offset > last) continue;
        const double weight = w.weight[offset + 2];
        const double *x = q + 2 * offset, *y = u + 2 * offset;
        if ((offset + spin) % 2 == 0) {
            value[0][0] += weight * x[0], value[0][1] += weight * x[1];
            value[1][0] += weight * y[0], value[1][1] += weight * y[1];
        } else {  // e += i w u, b -= i w q
            value[0][0] -= weight * y[1], value[0][1] += weight * y[0];
            value[1][0] += weight * x[1], value[1][1] -= weight * x[0];
        }
    }
}

}  // namespace zonal::sht::cuda
