#include "chebyshev/transform/cosine_transform_cuda.cuh"

#include <algorithm>

#include "chebyshev/transform/cosine_kernels.cuh"
#include "chebyshev/transform/cosine_math.hpp"

namespace zonal::chebyshev::cuda {
namespace {

std::int64_t ceil_of(std::int64_t n, std::int64_t unit) {
    return (n + unit - 1) / unit;
}

/// Units of columns of a warp where there is enough to do for all processors.
constexpr int wide_units = 4;

template <class R, Direction D, int Fields>
struct WideKernel {
    using Tile = AxisTile<R, Fields, wide_units>;
    static constexpr auto function = transform_axis<R, D, Fields, wide_units>;

    static std::int64_t bytes(int strips) { return Tile::offsets_bytes + 2 * Tile::stage_bytes(strips); }
    /// Strips of a block at most: what shared memory has room for.
    static int most_strips_for(std::int64_t shared_bytes) {
        int strips = most_strips;
        while (strips > 1 && bytes(strips) > shared_bytes) --strips;
        return strips;
    }
    static std::int64_t n_blocks(std::int64_t n_strips, int strips, std::int64_t n_columns, int n_arrays) {
        return ceil_of(n_strips, strips) * ceil_of(n_columns, Tile::field_columns) * n_arrays;
    }
    static void launch(const MatrixLaunch<R>& launch, int strips, cudaStream_t stream) {
        const dim3 grid(static_cast<unsigned>(ceil_of(launch.n_columns, Tile::field_columns)),
                        static_cast<unsigned>(ceil_of(launch.rows, strips * strip)),
                        static_cast<unsigned>(launch.n_arrays));
        core::launch_overlapped("cosine transform", function, grid, 32 * strips, bytes(strips), stream,
                                launch);
    }
};

template <class R, Direction D, int Fields, int Units>
struct KernelInParts {
    using Tile = AxisTile<R, Fields, Units>;
    static constexpr auto function = transform_axis_in_parts<R, D, Fields, Units>;

    static std::int64_t bytes(std::int64_t parts, std::int64_t stages) {
        return Tile::offsets_bytes + parts * stages * Tile::stage_bytes(1);
    }
    static std::int64_t n_blocks(const MatrixLaunch<R>& launch) {
        return ceil_of(launch.rows, strip) * ceil_of(launch.n_columns, Tile::field_columns) * launch.n_arrays;
    }
    /// So few steps a warp as there may be warps, and then as few warps.
    static void launch(const MatrixLaunch<R>& launch, std::int64_t shared_bytes, cudaStream_t stream) {
        const std::int64_t n_steps = launch.inner / strip;
        std::int64_t each = ceil_of(n_steps, most_parts), parts = ceil_of(n_steps, each);
        while (parts > 1 && bytes(parts, std::min<std::int64_t>(each, 2)) > shared_bytes)
            parts = ceil_of(n_steps, ++each);
        const int stages = each > 1 ? 2 : 1;
        const dim3 grid(static_cast<unsigned>(ceil_of(launch.n_columns, Tile::field_columns)),
                        static_cast<unsigned>(ceil_of(launch.rows, strip)),
                        static_cast<unsigned>(launch.n_arrays));
        core::launch_overlapped("cosine transform in parts", function, grid, static_cast<int>(32 * parts),
                                bytes(parts, stages), stream, launch, stages);
    }
};

/// So many strips a block that the last block has the least to spare; of equals the most.
int even_strips(std::int64_t n_strips, int most) {
    int best = 1;
    std::int64_t least = INT64_MAX;
    for (int strips = std::max(1, most / 2); strips <= most; ++strips) {
        const std::int64_t padded = ceil_of(n_strips, strips) * strips;
        if (padded <= least) best = strips, least = padded;
    }
    return static_cast<int>(std::min<std::int64_t>(best, n_strips));
}

/// Picks the kernel by whether there is enough to do for every processor.
template <class R, Direction D, int Fields>
void run(const MatrixLaunch<R>& launch, cudaStream_t stream) {
    using Wide = WideKernel<R, D, Fields>;
    if (launch.n_columns == 0) return;
    const auto& limits = core::device_limits();
    const std::int64_t count = limits.processors, shared_bytes = limits.shared_memory_per_block;
    const std::int64_t n_strips = ceil_of(launch.rows, strip);
    const int strips = even_strips(n_strips, Wide::most_strips_for(shared_bytes));
    if (Wide::n_blocks(n_strips, strips, launch.n_columns, launch.n_arrays) >= count)
        return Wide::launch(launch, strips, stream);
    // With columns of one unit every strip of the matrices is read once for each of them.
    using Parts = KernelInParts<R, D, Fields, Fields>;
    if (Parts::n_blocks(launch) >= 2 * count)
        KernelInParts<R, D, Fields, 2 * Fields>::launch(launch, shared_bytes, stream);
    else
        Parts::launch(launch, shared_bytes, stream);
}

/// A launch of columns times matrices.
template <class R, class Matrices>
MatrixLaunch<R> matrix_launch(const AxisLaunch<R>& axis, const Matrices& matrices, const AxisParts& source,
                              const AxisParts& target) {
    return {axis, matrices.entries.data(), matrices.rows, matrices.inner, source, target};
}

/// [2][rows][inner] of value(parity, row, i) where i < count(parity) and row < n_rows(parity), else 0.
template <class Value>
core::DeviceArray<double> make_entries(std::int64_t rows, std::int64_t inner, const Value& value) {
    std::vector<double> entries(static_cast<std::size_t>(2 * rows * inner));
    for (int parity = 0; parity < 2; ++parity)
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t i = 0; i < inner; ++i)
                entries[static_cast<std::size_t>((parity * rows + row) * inner + i)] = value(parity, row, i);
    return core::DeviceArray<double>(entries);
}

}  // namespace

CosineAxis::CosineAxis(std::int64_t n_in, std::int64_t n_out, std::int64_t points,
                       ChebyshevConvention convention, Algorithm algorithm)
    : n_in_(n_in), n_out_(n_out), half_(ceil_of(points, 2)) {
    if (algorithm == Algorithm::fft) {
        fft_ = std::make_unique<CosineFft>(n_in, n_out, points, convention);
        return;
    }
    const bool is_primed = convention == ChebyshevConvention::primed;
    synthesis_ = make_synthesis(n_in, half_, is_primed ? 0.5 : 1);
    analysis_ = make_analysis(n_out, half_, is_primed ? 1 : 0.5);
}

CosineAxis::Matrices CosineAxis::make_synthesis(std::int64_t n_in, std::int64_t half, double first) {
    const CosineTable cosine(2 * half);
    const std::int64_t inner = ceil_of(n_of_parity(n_in, 0), strip) * strip;
    return {half, inner, make_entries(half, inner, [&](int parity, std::int64_t j, std::int64_t i) {
                const std::int64_t k = 2 * i + parity;
                return k < n_in ? cosine.gauss(k, j) * (k == 0 ? first : 1) : 0;
            })};
}

CosineAxis::Matrices CosineAxis::make_analysis(std::int64_t n_out, std::int64_t half, double first) {
    const CosineTable cosine(2 * half);
    const std::int64_t rows = n_of_parity(n_out, 0), inner = ceil_of(half, strip) * strip;
    return {rows, inner, make_entries(rows, inner, [&](int parity, std::int64_t i, std::int64_t j) {
                const std::int64_t k = 2 * i + parity;
                return k < n_out && j < half
                           ? cosine.gauss(k, j) * (k == 0 ? first : 1) / static_cast<double>(half)
                           : 0;
            })};
}

template <class R>
void CosineAxis::synthesize(std::span<const Plane<const R>> coefficients, std::span<const Plane<R>> values,
                            const AxisColumns& columns, void* scratch, cudaStream_t stream) const {
    for_arrays<R>(launch_for<R>(columns), coefficients, values, [&](const AxisLaunch<R>& launch) {
        if (fft_) return fft_->synthesize(launch, false, scratch, stream);
        run<R, Direction::synthesis, 1>(
            matrix_launch(launch, synthesis_, coefficient_parts(n_in_), value_parts(half_)), stream);
    });
}

template <class R>
void CosineAxis::synthesize_product(const Plane<const R>& one, const Plane<const R>& other, double weight,
                                    const Plane<R>& values, const AxisColumns& columns, void* scratch,
                                    cudaStream_t stream) const {
    auto launch = launch_for<R>(columns);
    launch.in[0] = one;
    launch.in[1] = other;
    launch.out[0] = values;
    launch.n_arrays = 1;
    launch.weight = weight;
    if (fft_) return fft_->synthesize(launch, true, scratch, stream);
    run<R, Direction::synthesis, 2>(
        matrix_launch(launch, synthesis_, coefficient_parts(n_in_), value_parts(half_)), stream);
}

template <class R>
void CosineAxis::analyze(std::span<const Plane<const R>> values, std::span<const Plane<R>> coefficients,
                         const AxisColumns& columns, void* scratch, cudaStream_t stream) const {
    for_arrays<R>(launch_for<R>(columns), values, coefficients, [&](const AxisLaunch<R>& launch) {
        if (fft_) return fft_->analyze(launch, scratch, stream);
        run<R, Direction::analysis, 1>(
            matrix_launch(launch, analysis_, value_parts(half_), coefficient_parts(n_out_)), stream);
    });
}

namespace {

template <class R, Direction D, int Fields>
void prepare_kernels(std::int64_t shared_bytes) {
    const auto allow = [](auto function, std::int64_t bytes) {
        core::check_cuda(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              static_cast<int>(bytes)),
                         "cosine transform: shared memory");
    };
    using Wide = WideKernel<R, D, Fields>;
    using Parts = KernelInParts<R, D, Fields, Fields>;
    using BroadParts = KernelInParts<R, D, Fields, 2 * Fields>;
    allow(Wide::function, Wide::bytes(Wide::most_strips_for(shared_bytes)));
    allow(Parts::function, std::min(shared_bytes, Parts::bytes(most_parts, 2)));
    allow(BroadParts::function, std::min(shared_bytes, BroadParts::bytes(most_parts, 2)));
}

}  // namespace

template <class R>
void prepare_cosine_kernels() {
    const auto bytes = core::device_limits().shared_memory_per_block;
    prepare_kernels<R, Direction::synthesis, 1>(bytes);
    prepare_kernels<R, Direction::synthesis, 2>(bytes);
    prepare_kernels<R, Direction::analysis, 1>(bytes);
}

template void CosineAxis::synthesize(std::span<const Plane<const float>>, std::span<const Plane<float>>,
                                     const AxisColumns&, void*, cudaStream_t) const;
template void CosineAxis::synthesize(std::span<const Plane<const double>>, std::span<const Plane<double>>,
                                     const AxisColumns&, void*, cudaStream_t) const;
template void CosineAxis::synthesize_product(const Plane<const float>&, const Plane<const float>&, double,
                                             const Plane<float>&, const AxisColumns&, void*,
                                             cudaStream_t) const;
template void CosineAxis::synthesize_product(const Plane<const double>&, const Plane<const double>&, double,
                                             const Plane<double>&, const AxisColumns&, void*,
                                             cudaStream_t) const;
template void CosineAxis::analyze(std::span<const Plane<const float>>, std::span<const Plane<float>>,
                                  const AxisColumns&, void*, cudaStream_t) const;
template void CosineAxis::analyze(std::span<const Plane<const double>>, std::span<const Plane<double>>,
                                  const AxisColumns&, void*, cudaStream_t) const;
template void prepare_cosine_kernels<float>();
template void prepare_cosine_kernels<double>();

}  // namespace zonal::chebyshev::cuda
