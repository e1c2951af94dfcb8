#pragma once

#include "chebyshev/series_lines.hpp"
#include "core/cuda.cuh"
#include "zonal/chebyshev/product.hpp"

/// Sums of products of fields at points.
namespace zonal::chebyshev::cuda {

/// A term as the kernel reads it; output by output.
struct TermRecord {
    double weight;
    int n_factors;
    int factors[8];
};

/// Terms of a plan on the device.
struct TermTable {
    core::DeviceArray<TermRecord> records;
    core::DeviceArray<int> first;  ///< [n_outputs + 1], of each output's terms

    /// places: [field], where a field's values lie among those that terms use
    TermTable(const ProductShape& shape, const std::vector<int>& places) {
        std::vector<TermRecord> ordered;
        std::vector<int> begins{0};
        for (int output = 0; output < shape.n_outputs; ++output) {
            for (const auto& term : shape.terms) {
                if (term.output != output) continue;
                TermRecord record{term.weight, static_cast<int>(term.factors.size()), {}};
                for (std::size_t f = 0; f < term.factors.size(); ++f)
                    record.factors[f] = places[static_cast<std::size_t>(term.factors[f])];
                ordered.push_back(record);
            }
            begins.push_back(static_cast<int>(ordered.size()));
        }
        records = core::DeviceArray<TermRecord>(ordered);
        first = core::DeviceArray<int>(begins);
    }
};

/// values: [field, plane, point], sums: [output, plane, point]
template <class R>
struct TermsLaunch {
    const TermRecord* records;
    const int* first;
    const R* values;
    R* sums;
    std::int64_t n_points;
};

inline constexpr int terms_threads = 256;

/// Blocks: x points, y outputs. Real or complex values, in double.
template <class R, bool IsComplex>
__global__ void __launch_bounds__(terms_threads) add_terms(const __grid_constant__ TermsLaunch<R> launch) {
    constexpr int planes = IsComplex ? 2 : 1;
    const std::int64_t point = static_cast<std::int64_t>(blockIdx.x) * terms_threads + threadIdx.x;
    if (point >= launch.n_points) return;
    const int output = static_cast<int>(blockIdx.y);
    double re = 0, im = 0;
    for (int term = launch.first[output]; term < launch.first[output + 1]; ++term) {
        const TermRecord& record = launch.records[term];
        double left_re = record.weight, left_im = 0;
        for (int f = 0; f < record.n_factors; ++f) {
            const R* value = launch.values + record.factors[f] * planes * launch.n_points + point;
            const double x = value[0];
            if constexpr (IsComplex) {
                const double y = value[launch.n_points];
                const double product = left_re * x - left_im * y;
                left_im = left_re * y + left_im * x;
                left_re = product;
            } else {
                left_re *= x;
            }
        }
        re += left_re;
        im += left_im;
    }
    R* const sum = launch.sums + output * planes * launch.n_points + point;
    sum[0] = static_cast<R>(re);
    if constexpr (IsComplex) sum[launch.n_points] = static_cast<R>(im);
}

}  // namespace zonal::chebyshev::cuda
