#include <algorithm>

#include "chebyshev/product/direct_kernels.cuh"
#include "chebyshev/product/product_cuda.cuh"

namespace zonal::chebyshev::cuda {
namespace {

using Extents = std::array<std::int64_t, 3>;

/// Elements of a row in shared memory at once: 10 KiB for a team with tables of doubles, so that three blocks
/// of eight teams fit.
constexpr std::int64_t most_tile = 512;

/// Coefficients of a lane: as many as their registers allow, where rows are that long.
int outputs_for(std::int64_t n) {
    return n <= 32 ? 1 : n <= 64 ? 2 : n <= 128 ? 4 : 7;
}

template <class R, int Outputs, bool WholeBlock>
struct PairKernel {
    static constexpr auto function = sum_pairs<R, Outputs, WholeBlock>;
    static int bytes(int tile) {
        const int teams = WholeBlock ? 1 : direct_warps;
        return static_cast<int>(sizeof(R)) *
               std::max(teams * team_size<Outputs>(tile), direct_warps * 32 * Outputs);
    }
    /// What is left of a row's pairs of coefficients, or what shared memory has room for.
    static int tile_for(std::int64_t n_pairs, std::int64_t shared_bytes) {
        auto tile = static_cast<int>(std::min(most_tile, (n_pairs + 31) / 32 * 32));
        while (tile > 32 && bytes(tile) > shared_bytes) tile -= 32;
        return tile;
    }
    static void prepare(std::int64_t shared_bytes) {
        core::check_cuda(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              bytes(tile_for(most_tile, shared_bytes))),
                         "direct product: shared memory");
    }
    static void launch(DirectLaunch<R> launch, std::int64_t n_batch, cudaStream_t stream) {
        const auto& n = launch.out.n;
        launch.tile = tile_for(launch.a.n[2] * 2 - 1, core::device_limits().shared_memory_per_block);
        const auto blocks = n_batch * n[0] * n[1] * ((n[2] + 32 * Outputs - 1) / (32 * Outputs));
        function<<<static_cast<unsigned>(blocks), 32 * direct_warps,
                   static_cast<std::size_t>(bytes(launch.tile)), stream>>>(launch);
        core::check_launch("direct product");
    }
};

/// body(std::integral_constant of the coefficients of a lane)
template <class Body>
void with_outputs(int outputs, const Body& body) {
    if (outputs == 1) return body(std::integral_constant<int, 1>());
    if (outputs == 2) return body(std::integral_constant<int, 2>());
    if (outputs == 4) return body(std::integral_constant<int, 4>());
    body(std::integral_constant<int, 7>());
}

template <class R>
void prepare_kernels() {
    const auto bytes = core::device_limits().shared_memory_per_block;
    for (const int outputs : {1, 2, 4, 7})
        with_outputs(outputs, [&](auto count) {
            PairKernel<R, decltype(count)::value, true>::prepare(bytes);
            PairKernel<R, decltype(count)::value, false>::prepare(bytes);
        });
}

/// One dimension and so few coefficients that blocks of 32 or more of them leave processors without work.
template <class R>
bool are_few(const DirectLaunch<R>& launch, std::int64_t n_batch) {
    const std::int64_t width = 32 * outputs_for(launch.out.n[2]);
    return launch.dimensions == 1 &&
           n_batch * ((launch.out.n[2] + width - 1) / width) < core::device_limits().processors;
}

template <class R>
void run_pairs(const DirectLaunch<R>& launch, std::int64_t n_batch, cudaStream_t stream) {
    if (are_few(launch, n_batch)) {
        const auto blocks = n_batch * ((launch.out.n[2] + few_outputs - 1) / few_outputs);
        sum_few_pairs<<<static_cast<unsigned>(blocks), 32 * direct_warps, 0, stream>>>(launch);
        core::check_launch("direct product");
        return;
    }
    with_outputs(outputs_for(launch.out.n[2]), [&](auto count) {
        if (launch.dimensions == 1)
            PairKernel<R, decltype(count)::value, true>::launch(launch, n_batch, stream);
        else
            PairKernel<R, decltype(count)::value, false>::launch(launch, n_batch, stream);
    });
}

std::int64_t size_of(const Extents& n) {
    return n[0] * n[1] * n[2];
}

/// Extents of the axes (l, j, k): those of absent axes, the slow ones, are 1.
Extents rows_last(int dimensions, const Extents& extents) {
    Extents n{1, 1, 1};
    for (int axis = 0; axis < dimensions; ++axis)
        n[static_cast<std::size_t>(3 - dimensions + axis)] = extents[static_cast<std::size_t>(axis)];
    return n;
}

/// Sums of products of pairs of coefficients, term by term. Sums that are fields, too, come about in scratch
/// memory; of terms of three and more factors all products but the last are whole, so that nothing that is
/// cut off comes back.
template <class T>
class DirectMethod final : public Method<T> {
    using R = Real<T>;
    static constexpr int planes = n_planes<T>;

  public:
    DirectMethod(const ProductShape& shape, const Extents& extents_out)
        : shape_(shape),
          n_(rows_last(shape.dimensions, shape.extents)),
          n_out_(rows_last(shape.dimensions, extents_out)) {
        prepare_kernels<R>();
        const auto factors = static_cast<std::int64_t>(most_factors(shape));
        if (factors > 2)
            for (std::size_t axis = 0; axis < 3; ++axis) largest_[axis] = (factors - 1) * (n_[axis] - 1) + 1;
    }

    std::int64_t scratch_bytes(std::int64_t n_batch) const override {
        return (shape_.n_outputs * sum_size(n_batch) + 2 * partial_size(n_batch)) *
               static_cast<std::int64_t>(sizeof(R));
    }

    void run(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
             void* scratch, cudaStream_t stream) const override {
        Call call{fields, sums.front().extents[0], {}, stream};
        R* const memory = static_cast<R*>(scratch);
        for (int k = 0; k < 2; ++k)
            call.partial[k] =
                memory + shape_.n_outputs * sum_size(call.n_batch) + k * partial_size(call.n_batch);
        const bool apart = overlap(fields, sums);
        std::vector<Factor<R>> targets;
        for (std::size_t output = 0; output < sums.size(); ++output)
            targets.push_back(
                apart ? row_major(memory + static_cast<std::int64_t>(output) * sum_size(call.n_batch), n_out_,
                                  call.n_batch)
                      : rows_of<R>(sums[output]));
        for (std::size_t output = 0; output < sums.size(); ++output)
            add_output(call, static_cast<int>(output), targets[output]);
        for (std::size_t output = 0; apart && output < sums.size(); ++output)
            copy(call, read(targets[output]), R{1}, rows_of<R>(sums[output]), false);
    }

  private:
    /// The planes of one series.
    template <class Element>
    using Factor = std::array<RowArray<Element>, planes>;

    struct Call {
        std::span<const SeriesArray<const T>> fields;
        std::int64_t n_batch;
        R* partial[2];
        cudaStream_t stream;
    };

    std::int64_t sum_size(std::int64_t n_batch) const {
        return aligned_size(planes * n_batch * size_of(n_out_));
    }
    std::int64_t partial_size(std::int64_t n_batch) const {
        return aligned_size(planes * n_batch * size_of(largest_));
    }

    /// Whether a sum and a field have memory in common, or might.
    static bool overlap(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums) {
        const auto range = [](const auto& array) {
            std::int64_t low = 0, high = 0;
            for (std::size_t axis = 0; axis < 4; ++axis) {
                const auto reach = (array.extents[axis] - 1) * array.strides[axis];
                (reach < 0 ? low : high) += reach;
            }
            const auto first = reinterpret_cast<std::intptr_t>(array.data);
            constexpr std::int64_t unit = sizeof(T);
            return std::pair(first + low * unit, first + high * unit);
        };
        for (const auto& field : fields)
            for (const auto& sum : sums) {
                const auto f = range(field), s = range(sum);
                if (f.first <= s.second && s.first <= f.second) return true;
            }
        return false;
    }

    template <class Element, class Array>
    Factor<Element> rows_of(const Array& array) const {
        Factor<Element> rows;
        for (int p = 0; p < planes; ++p) {
            auto& row = rows[static_cast<std::size_t>(p)];
            const auto plane = plane_of(array, p);
            row.data = plane.data;
            row.batch_stride = plane.strides[0];
            for (int axis = 0; axis < shape_.dimensions; ++axis) {
                row.strides[3 - shape_.dimensions + axis] = plane.strides[axis + 1];
                row.n[3 - shape_.dimensions + axis] = array.extents[static_cast<std::size_t>(axis + 1)];
            }
            row.is_plain = array.convention == ChebyshevConvention::plain;
        }
        return rows;
    }
    /// Primed, [plane, batch, n].
    static Factor<R> row_major(R* data, const Extents& n, std::int64_t n_batch) {
        Factor<R> rows;
        for (auto& row : rows) {
            row = {data, size_of(n), {n[1] * n[2], n[2], 1}, {n[0], n[1], n[2]}, false};
            data += n_batch * size_of(n);
        }
        return rows;
    }
    static Factor<const R> read(const Factor<R>& rows) {
        Factor<const R> result;
        for (std::size_t p = 0; p < rows.size(); ++p) {
            const auto& row = rows[p];
            result[p] = {row.data,
                         row.batch_stride,
                         {row.strides[0], row.strides[1], row.strides[2]},
                         {row.n[0], row.n[1], row.n[2]},
                         row.is_plain};
        }
        return result;
    }

    void add_output(const Call& call, int output, const Factor<R>& target) const {
        bool adds = false;
        for (const auto& term : shape_.terms) {
            if (term.output != output) continue;
            add_term(call, term, target, adds);
            adds = true;
        }
        if (!adds) copy(call, Factor<const R>{}, R{0}, target, false);
    }

    void add_term(const Call& call, const ChebyshevTerm& term, const Factor<R>& target, bool adds) const {
        const auto field = [&](std::size_t f) {
            return rows_of<const R>(call.fields[static_cast<std::size_t>(term.factors[f])]);
        };
        const auto weight = static_cast<R>(term.weight);
        const auto n_factors = term.factors.size();
        auto left = field(0);
        if (n_factors == 1) return copy(call, left, weight, target, adds);
        for (std::size_t f = 1; f + 1 < n_factors; ++f) {
            Extents n{};
            for (std::size_t axis = 0; axis < 3; ++axis) n[axis] = left[0].n[axis] + n_[axis] - 1;
            const auto product = row_major(call.partial[f % 2], n, call.n_batch);
            multiply(call, left, field(f), R{1}, product, false);
            left = read(product);
        }
        multiply(call, left, field(n_factors - 1), weight, target, adds);
    }

    void multiply(const Call& call, const Factor<const R>& a, const Factor<const R>& b, R weight,
                  const Factor<R>& out, bool adds) const {
        const R half_each = R{1} / static_cast<R>(1 << shape_.dimensions);
        const auto run = [&](int p, int q, R sign, int target, bool more) {
            const auto at = [](const auto& factor, int plane) {
                return factor[static_cast<std::size_t>(plane)];
            };
            const DirectLaunch<R> launch{
                at(a, p), at(b, q), at(out, target), shape_.dimensions, more, sign * weight * half_each, 32};
            run_pairs(launch, call.n_batch, call.stream);
        };
        run(0, 0, R{1}, 0, adds);
        if constexpr (planes == 2) {
            run(1, 1, R{-1}, 0, true);
            run(0, 1, R{1}, 1, adds);
            run(1, 0, R{1}, 1, true);
        }
    }

    void copy(const Call& call, const Factor<const R>& in, R weight, const Factor<R>& out, bool adds) const {
        const auto size = call.n_batch * size_of(n_out_);
        for (std::size_t p = 0; p < out.size(); ++p) {
            const CopyLaunch<R> launch{in[p], out[p], shape_.dimensions, adds, weight, size};
            copy_coefficients<<<static_cast<unsigned>((size + copy_threads - 1) / copy_threads), copy_threads,
                                0, call.stream>>>(launch);
            core::check_launch("copying coefficients");
        }
    }

    ProductShape shape_;
    Extents n_, n_out_;
    Extents largest_{0, 0, 0};  ///< of products of all factors of a term but one
};

}  // namespace

template <class T>
std::unique_ptr<Method<T>> make_direct(const ProductShape& shape, const Extents& extents_out) {
    return std::make_unique<DirectMethod<T>>(shape, extents_out);
}

template std::unique_ptr<Method<float>> make_direct(const ProductShape&, const Extents&);
template std::unique_ptr<Method<double>> make_direct(const ProductShape&, const Extents&);
template std::unique_ptr<Method<std::complex<float>>> make_direct(const ProductShape&, const Extents&);
template std::unique_ptr<Method<std::complex<double>>> make_direct(const ProductShape&, const Extents&);

}  // namespace zonal::chebyshev::cuda
