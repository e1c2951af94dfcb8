#include <algorithm>
#include <vector>

#include "chebyshev/product/direct_math.hpp"
#include "chebyshev/product/direct_rows.hpp"
#include "chebyshev/product/planes.hpp"
#include "chebyshev/product/product.hpp"
#include "core/parallel.hpp"

namespace zonal::chebyshev {
namespace {

/// Multiply-adds below which a further thread costs more than it saves (20 us, docs/decisions/parallel.md).
constexpr std::int64_t fewest_for_row_threads = 1 << 19;

using Extents = std::array<std::int64_t, 3>;  ///< axes from the last one back: {row, .., ..}

/// Extents in the order that puts rows, the last axis, first.
Extents rows_first(int dimensions, const Extents& extents) {
    Extents turned{1, 1, 1};
    for (int axis = 0; axis < dimensions; ++axis)
        turned[static_cast<std::size_t>(dimensions - 1 - axis)] = extents[static_cast<std::size_t>(axis)];
    return turned;
}

std::int64_t n_rows(const Extents& n) {
    return n[1] * n[2];
}

/// A factor's coefficients as mirrored rows with zeros around: [n[2], n[1], row_length].
template <class R>
struct Rows {
    Extents n{1, 1, 1};
    const R* data = nullptr;

    std::int64_t length() const { return row_length<R>(n[0] - 1); }
    /// At its element of index 0.
    const R* row(std::int64_t j, std::int64_t l) const {
        return data + (fold(l) * n[1] + fold(j)) * length() + row_centre<R>(n[0] - 1);
    }
};

/// Multiply-adds of one product of real series.
std::int64_t work_of(const Extents& a, const Extents& b, const Extents& out) {
    std::int64_t work = 1;
    for (std::size_t axis = 0; axis < 3; ++axis)
        work *= std::min(out[axis], a[axis] + b[axis]) * (a[axis] + b[axis] - 1);
    return work;
}

/// Row (j, l) of weight * a b, added to `out`; `row`: scratch. All primed.
template <class R>
void add_product_row(const Rows<R>& a, const Rows<R>& b, std::int64_t j, std::int64_t l, R weight,
                     std::vector<RowPair<R>>& pairs, std::vector<R>& row, R* out, std::int64_t n_out) {
    std::fill(row.begin(), row.end(), R{});
    const auto outer = pair_range(l, a.n[2] - 1, b.n[2] - 1);
    const auto inner = pair_range(j, a.n[1] - 1, b.n[1] - 1);
    for (auto i2 = outer.first; i2 <= outer.last; ++i2) {
        pairs.clear();
        for (auto i1 = inner.first; i1 <= inner.last; ++i1)
            pairs.push_back({a.row(i1, i2), b.row(j - i1, l - i2)});
        add_row_products(pairs.data(), static_cast<std::int64_t>(pairs.size()), a.n[0] - 1, b.n[0] - 1,
                         row.data(), n_out);
    }
    for (std::int64_t k = 0; k < n_out; ++k) out[k] += weight * row[static_cast<std::size_t>(k)];
}

template <class T>
class DirectProduct final : public ProductPlan<T> {
    using R = Real<T>;
    static constexpr int n_planes = is_complex<T> ? 2 : 1;

  public:
    DirectProduct(const ProductShape& shape, const Extents& extents_out,
                  const ChebyshevProductOptions& options)
        : n_(rows_first(shape.dimensions, shape.extents)),
          n_out_(rows_first(shape.dimensions, extents_out)),
          threads_(options.threads) {
        const auto factors = most_factors(shape);
        for (std::size_t axis = 0; axis < 3; ++axis)
            largest_[axis] = static_cast<std::int64_t>(factors > 2 ? factors - 1 : 1) * (n_[axis] - 1) + 1;
        const auto largest_rows = n_rows(largest_) * row_length<R>(largest_[0] - 1);
        field_size_ = n_planes * n_rows(n_) * row_length<R>(n_[0] - 1);
        output_size_ = n_planes * n_rows(n_out_) * n_out_[0];
        partial_size_ = factors > 2 ? n_planes * (largest_rows + n_rows(largest_) * largest_[0]) : 0;
        item_size_ = shape.n_fields * field_size_ + shape.n_outputs * output_size_ + partial_size_;
    }

    void prepare(ChebyshevWorkspace::Storage& workspace, std::int64_t n_batch) const override {
        core::scratch_view<R, 1>(workspace.memory, {item_size_ * slots(n_batch)});
    }

    void execute(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
                 ChebyshevWorkspace::Storage& workspace) const override {
        const auto n_batch = sums.front().extents[0];
        const auto n_slots = slots(n_batch);
        R* memory = core::scratch_view<R, 1>(workspace.memory, {item_size_ * n_slots}).data();
        core::parallel_for(n_batch, static_cast<int>(n_slots), [&](std::int64_t item, int thread) {
            one(fields, sums, item, memory + thread * item_size_, n_slots > 1 ? 1 : threads_);
        });
    }

  private:
    /// Items of a batch at work at the same time.
    std::int64_t slots(std::int64_t n_batch) const {
        if (n_batch < threads_ || n_batch * work_of(n_, n_, n_out_) < fewest_for_row_threads) return 1;
        return threads_;
    }

    void one(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
             std::int64_t item, R* memory, int threads) const {
        std::vector<Rows<R>> rows(fields.size() * n_planes);
        for (std::size_t field = 0; field < fields.size(); ++field)
            for (int plane = 0; plane < n_planes; ++plane) {
                auto& target = rows[field * n_planes + static_cast<std::size_t>(plane)];
                target = {n_, memory};
                load_rows(fields[field], item, plane, memory);
                memory += field_size_ / n_planes;
            }
        const auto n_outputs = static_cast<std::int64_t>(sums.size());
        std::fill_n(memory, n_outputs * output_size_, R{});
        for (const auto& term : this->shape.terms)
            add_term(rows, term, memory + term.output * output_size_, memory + n_outputs * output_size_,
                     threads);
        for (std::int64_t output = 0; output < n_outputs; ++output)
            store(memory + output * output_size_, sums[static_cast<std::size_t>(output)], item);
    }

    /// Mirrored and primed.
    void load_rows(const SeriesArray<const T>& field, std::int64_t item, int plane, R* rows) const {
        const auto degree = n_[0] - 1;
        const PlaneReader<T> read(field, item, plane);
        for (std::int64_t l = 0; l < n_[2]; ++l)
            for (std::int64_t j = 0; j < n_[1]; ++j, rows += row_length<R>(degree)) {
                R* centre = rows + row_centre<R>(degree);
                copy_strided(read.row(l, j), read.stride(), n_[0], read.row_factor(l, j), centre, 1);
                centre[0] *= read.first();
                mirror_row(rows, degree);
            }
    }

    static void copy_strided(const R* from, std::int64_t from_stride, std::int64_t n, R factor, R* to,
                             std::int64_t to_stride) {
        if (from_stride == 1 && to_stride == 1)  // as a loop of its own, vector code
            for (std::int64_t k = 0; k < n; ++k) to[k] = factor * from[k];
        else
            for (std::int64_t k = 0; k < n; ++k) to[k * to_stride] = factor * from[k * from_stride];
    }

    /// From the elements from the middle on, the other half and the zeros around.
    static void mirror_row(R* row, std::int64_t degree) {
        R* centre = row + row_centre<R>(degree);
        std::fill(row, centre - degree, R{});
        std::fill(centre + degree + 1, row + row_length<R>(degree), R{});
        for (std::int64_t k = 1; k <= degree; ++k) centre[-k] = centre[k];
    }

    void add_term(const std::vector<Rows<R>>& fields, const ChebyshevTerm& term, R* out, R* partial,
                  int threads) const {
        const auto factor = [&](std::size_t f) {
            return &fields[static_cast<std::size_t>(term.factors[f]) * n_planes];
        };
        const auto weight = static_cast<R>(term.weight);
        const auto n_factors = term.factors.size();
        if (n_factors == 1) return add_copy(factor(0), weight, out);
        // All but the last factor's products are whole, so that nothing that is cut off comes back.
        Rows<R> left[2] = {factor(0)[0], factor(0)[n_planes - 1]};
        for (std::size_t f = 1; f + 1 < n_factors; ++f) {
            const auto product = product_extents(left[0].n, n_);
            R* values = partial + n_planes * n_rows(largest_) * row_length<R>(largest_[0] - 1);
            std::fill_n(values, n_planes * n_rows(product) * product[0], R{});
            multiply(left, factor(f), R{1}, values, product, threads);
            mirror(values, product, partial, left);
        }
        multiply(left, factor(n_factors - 1), weight, out, n_out_, threads);
    }

    static Extents product_extents(const Extents& a, const Extents& b) {
        return {a[0] + b[0] - 1, a[1] + b[1] - 1, a[2] + b[2] - 1};
    }

    /// values: [plane, n[2], n[1], n[0]] to mirrored rows.
    static void mirror(const R* values, const Extents& n, R* rows, Rows<R>* result) {
        const auto length = row_length<R>(n[0] - 1);
        for (int plane = 0; plane < n_planes; ++plane) {
            result[plane] = {n, rows};
            for (std::int64_t row = 0; row < n_rows(n); ++row, rows += length, values += n[0]) {
                std::copy_n(values, n[0], rows + row_centre<R>(n[0] - 1));
                mirror_row(rows, n[0] - 1);
            }
        }
    }

    void add_copy(const Rows<R>* field, R weight, R* out) const {
        for (int plane = 0; plane < n_planes; ++plane)
            for (std::int64_t l = 0; l < n_out_[2]; ++l)
                for (std::int64_t j = 0; j < n_out_[1]; ++j, out += n_out_[0]) {
                    if (l >= n_[2] || j >= n_[1]) continue;
                    const R* row = field[plane].row(j, l);
                    for (std::int64_t k = 0; k < std::min(n_[0], n_out_[0]); ++k) out[k] += weight * row[k];
                }
    }

    /// out += weight a b; out: [plane, n[2], n[1], n[0]]. In parallel over the rows of the output.
    void multiply(const Rows<R>* a, const Rows<R>* b, R weight, R* out, const Extents& n, int threads) const {
        const auto plane_size = n_rows(n) * n[0];
        // 2^-D, and what comes of the planes of complex factors.
        const R half = (n_dimensions() == 1 ? R(0.5) : n_dimensions() == 2 ? R(0.25) : R(0.125)) * weight;
        const auto n_threads = work_of(a->n, b->n, n) < fewest_for_row_threads ? 1 : threads;
        core::parallel_for(n_rows(n), n_threads, [&](std::int64_t task, int) {
            const auto j = task % n[1], l = task / n[1];
            R* row_out = out + task * n[0];
            std::vector<RowPair<R>> pairs;
            std::vector<R> row(static_cast<std::size_t>(output_row_length<R>(n[0])));
            add_product_row(a[0], b[0], j, l, half, pairs, row, row_out, n[0]);
            if constexpr (n_planes == 2) {
                add_product_row(a[1], b[1], j, l, -half, pairs, row, row_out, n[0]);
                add_product_row(a[0], b[1], j, l, half, pairs, row, row_out + plane_size, n[0]);
                add_product_row(a[1], b[0], j, l, half, pairs, row, row_out + plane_size, n[0]);
            }
        });
    }

    void store(const R* values, const SeriesArray<T>& output, std::int64_t item) const {
        for (int plane = 0; plane < n_planes; ++plane) {
            const PlaneWriter<T> write(output, item, plane);
            for (std::int64_t l = 0; l < n_out_[2]; ++l)
                for (std::int64_t j = 0; j < n_out_[1]; ++j, values += n_out_[0]) {
                    R* row = write.row(l, j);
                    copy_strided(values, 1, n_out_[0], write.row_factor(l, j), row, write.stride());
                    row[0] *= write.first();
                }
        }
    }

    int n_dimensions() const { return this->shape.dimensions; }

    Extents n_, n_out_, largest_{1, 1, 1};
    int threads_;
    std::int64_t field_size_ = 0, output_size_ = 0, partial_size_ = 0, item_size_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<ProductPlan<T>> make_direct_product(const ProductShape& shape,
                                                    const std::array<std::int64_t, 3>& extents_out,
                                                    const ChebyshevProductOptions& options) {
    return std::make_unique<DirectProduct<T>>(shape, extents_out, options);
}

template std::unique_ptr<ProductPlan<float>> make_direct_product(const ProductShape&, const Extents&,
                                                                 const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<double>> make_direct_product(const ProductShape&, const Extents&,
                                                                  const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<std::complex<float>>> make_direct_product(
    const ProductShape&, const Extents&, const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<std::complex<double>>> make_direct_product(
    const ProductShape&, const Extents&, const ChebyshevProductOptions&);

}  // namespace zonal::chebyshev
