#pragma once

#include <cmath>

#include "chebyshev/transform/cosine_transform_cuda.cuh"
#include "cuda/chebyshev_factors.cuh"

/// Where the methods of products meet on a GPU: what the constants of src/chebyshev/product/product_cost.hpp
/// are taken from.
///   "products": seconds of a call by either method, and in a graph, for shapes and batches;
///   "axes": of the transforms of one axis of as many points as a product needs, there and back, of so many
///   lines, as rows (the last axis) or columns, with dense matrices and by FFTs.
namespace zonal::bench {

/// Of calls that take so long that a round of them is about 20 ms at most, and 20 calls.
inline int calls_for(double seconds) {
    return std::max(1, static_cast<int>(std::min(20.0, 0.02 / seconds)));
}

template <class T, int D>
void measure_method(cudaStream_t stream, int rounds, Factors<T, D>& factors, std::int64_t n_batch,
                    const std::array<std::int64_t, D>& extents, ChebyshevMethod method) {
    const ChebyshevProductPlan<T, D> plan(extents, on(Device::cuda(0), method));
    auto workspace = plan.make_workspace(n_batch);
    workspace.use_stream(stream);
    const auto work = [&] { factors.multiply(plan, workspace); };
    const int calls = calls_for(stream_seconds(stream, 1, 1, work));
    const double seconds = stream_seconds(stream, calls, rounds, work);
    const double in_graph = graph_seconds(stream, calls, rounds, work);
    const char* const name = method == direct ? "direct" : "transform";
    std::printf(R"(, "%s": %.4g, "%s_graph": %.4g)", name, seconds, name, in_graph);
}

template <class T, int D>
void measure_methods(cudaStream_t stream, int rounds, std::int64_t n, std::int64_t n_batch,
                     const char*& separator) {
    std::array<std::int64_t, D> extents;
    extents.fill(n);
    Factors<T, D> factors(extents, n_batch);
    std::printf(R"(%s  {"precision": "%s", "dimensions": %d, "n": %lld, "batch": %lld)", separator,
                sizeof(T) == 4 ? "float" : "double", D, static_cast<long long>(n),
                static_cast<long long>(n_batch));
    for (const auto method : {direct, transform})
        measure_method<T, D>(stream, rounds, factors, n_batch, extents, method);
    std::printf("}");
    separator = ",\n";
    std::fflush(stdout);
}

/// n: coefficients of a line
inline void measure_axis(cudaStream_t stream, int rounds, std::int64_t n, std::int64_t n_lines,
                         bool are_rows) {
    using chebyshev::cuda::CosineAxis;
    using chebyshev::cuda::Plane;
    const std::int64_t points = 3 * n / 2;
    std::printf(R"(  {"n": %lld, "points": %lld, "lines": %lld, "rows": %s)", static_cast<long long>(n),
                static_cast<long long>(points), static_cast<long long>(n_lines), are_rows ? "true" : "false");
    for (const auto algorithm : {CosineAxis::Algorithm::dense, CosineAxis::Algorithm::fft}) {
        const CosineAxis axis(n, n, points, ChebyshevConvention::primed, algorithm);
        const core::DeviceArray<double> coefficients(random_values<double>(n * n_lines, 1));
        const core::DeviceArray<double> values(axis.points() * n_lines);
        const core::DeviceArray<char> scratch(axis.scratch_bytes(n_lines));
        const auto plane = [&](auto* data, std::int64_t length) {
            return are_rows ? chebyshev::cuda::row_major_plane(data, {n_lines, length, 1})
                            : chebyshev::cuda::row_major_plane(data, {length, n_lines, 1});
        };
        const chebyshev::cuda::AxisColumns columns{
            2, are_rows ? 1 : 0, {are_rows ? n_lines : n, are_rows ? n : n_lines, 1}, 1};
        const std::array<Plane<const double>, 1> from{
            plane(static_cast<const double*>(coefficients.data()), n)},
            back{plane(static_cast<const double*>(values.data()), axis.points())};
        const std::array<Plane<double>, 1> to{plane(values.data(), axis.points())},
            result{plane(coefficients.data(), n)};
        const auto work = [&] {
            axis.synthesize<double>(from, to, columns, scratch.data(), stream);
            axis.analyze<double>(back, result, columns, scratch.data(), stream);
        };
        const int calls = calls_for(stream_seconds(stream, 1, 1, work));
        const char* const name = algorithm == CosineAxis::Algorithm::dense ? "dense" : "fft";
        std::printf(R"(, "%s": %.4g, "%s_graph": %.4g)", name, stream_seconds(stream, calls, rounds, work),
                    name, graph_seconds(stream, calls, rounds, work));
    }
    std::printf("}");
    std::fflush(stdout);
}

inline void measure_crossover(const char* device, cudaStream_t stream, int rounds) {
    std::printf("{\"device\": \"%s\", \"rounds\": %d, \"products\": [\n", device, rounds);
    const char* separator = "";
    for (const std::int64_t n : {100, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 4000, 6000, 8000})
        for (const std::int64_t n_batch : {1, 10, 100, 1000}) {
            measure_methods<double, 1>(stream, rounds, n, n_batch, separator);
            if (n % 200 == 0) measure_methods<float, 1>(stream, rounds, n, n_batch, separator);
        }
    for (const std::int64_t n : {8, 12, 16, 24, 32, 48, 64})
        for (const std::int64_t n_batch : {1, 10, 100})
            measure_methods<double, 2>(stream, rounds, n, n_batch, separator);
    for (const std::int64_t n : {4, 6, 8, 12, 16})
        for (const std::int64_t n_batch : {1, 10})
            measure_methods<double, 3>(stream, rounds, n, n_batch, separator);
    std::printf("],\n \"axes\": [\n");
    chebyshev::cuda::prepare_cosine_kernels<double>();
    separator = "";
    for (const std::int64_t n : {64, 128, 200, 400, 800, 1200, 2000, 4000, 8000})
        for (const std::int64_t n_lines : {2, 20, 200, 2000})
            for (const bool are_rows : {true, false}) {
                std::printf("%s", separator);
                measure_axis(stream, rounds, n, n_lines, are_rows);
                separator = ",\n";
            }
    std::printf("\n]}\n");
}

}  // namespace zonal::bench
