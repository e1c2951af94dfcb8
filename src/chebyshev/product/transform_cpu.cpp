#include <algorithm>
#include <vector>

#include "chebyshev/product/planes.hpp"
#include "chebyshev/product/product.hpp"
#include "chebyshev/product/product_cost.hpp"
#include "chebyshev/transform/cosine_kernels.hpp"
#include "core/parallel.hpp"

namespace zonal::chebyshev {
namespace {

/// Lines of the last axis that are transformed at once: enough rows for the matrix kernels.
constexpr std::int64_t line_block = 32;
/// Multiply-adds below which further threads, made three times, cost more than they save
/// (docs/decisions/parallel.md).
constexpr std::int64_t fewest_for_phases = 1 << 22;

/// Values of fields at points: field f's plane p begins at data + (f * n_planes + p) * distance.
template <class R>
struct FieldValues {
    const R* data;
    std::int64_t distance;
};

/// sum += weight * prod of the term's fields, at n points, a multiple of column_unit. n_planes: 2 for complex
/// values, of which the planes of sum lie n apart; scratch: [2 n_planes, n].
template <class R>
void add_term(const ChebyshevTerm& term, const FieldValues<R>& fields, int n_planes, std::int64_t n, R* sum,
              R* scratch) {
    const auto plane = [&](std::size_t factor, int p) {
        return fields.data +
               (static_cast<std::int64_t>(term.factors[factor]) * n_planes + p) * fields.distance;
    };
    const CosineLoops<R>& loops = cosine_loops<R>();
    const auto weight = static_cast<R>(term.weight);
    const auto n_factors = term.factors.size();
    if (n_factors == 1) {
        for (int p = 0; p < n_planes; ++p) loops.add(weight, plane(0, p), n, sum + p * n);
        return;
    }
    const R* left[2] = {plane(0, 0), plane(0, n_planes - 1)};
    for (std::size_t factor = 1; factor + 1 < n_factors; ++factor) {
        R* product = scratch + (factor % 2) * static_cast<std::size_t>(n_planes * n);
        loops.multiply(R{1}, left[0], plane(factor, 0), n, product);
        if (n_planes == 2) {
            loops.multiply_add(R{-1}, left[1], plane(factor, 1), n, product);
            loops.multiply(R{1}, left[0], plane(factor, 1), n, product + n);
            loops.multiply_add(R{1}, left[1], plane(factor, 0), n, product + n);
        }
        left[0] = product;
        left[1] = product + (n_planes - 1) * n;
    }
    loops.multiply_add(weight, left[0], plane(n_factors - 1, 0), n, sum);
    if (n_planes == 2) {
        loops.multiply_add(-weight, left[1], plane(n_factors - 1, 1), n, sum);
        loops.multiply_add(weight, left[0], plane(n_factors - 1, 1), n, sum + n);
        loops.multiply_add(weight, left[1], plane(n_factors - 1, 0), n, sum + n);
    }
}

/// Sums of products through values at Gauss points. The last axis is transformed first, line by line, then
/// (in 3-D) the one before; the first axis goes with the products in panels of a few columns: all fields to
/// values, products, back, so that no array of all values exists. In 1-D the lines are a batch.
template <class T>
class TransformProduct final : public ProductPlan<T> {
    using R = Real<T>;
    static constexpr int n_planes = is_complex<T> ? 2 : 1;

  public:
    TransformProduct(const ProductShape& shape, const std::array<std::int64_t, 3>& extents_out,
                     const ChebyshevProductOptions& options)
        : d_(shape.dimensions),
          threads_(options.threads),
          terms_(shape.terms),
          n_fields_(shape.n_fields),
          n_outputs_(shape.n_outputs) {
        for (int axis = 0; axis < d_; ++axis)
            transforms_.push_back(make_transform(shape, static_cast<std::size_t>(axis), extents_out));
        for (const auto& term : terms_)
            for (const int field : term.factors) used_[static_cast<std::size_t>(field)] = true;
        set_sizes();
    }

    void prepare(ChebyshevWorkspace::Storage& workspace, std::int64_t n_batch) const override {
        memory(workspace, slots(n_batch));
    }

    void execute(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
                 ChebyshevWorkspace::Storage& workspace) const override {
        const auto n_batch = sums.front().extents[0];
        const auto n_slots = slots(n_batch);
        R* base = memory(workspace, n_slots);
        const auto per_unit = d_ == 1 ? line_block : 1;
        const auto n_units = (n_batch + per_unit - 1) / per_unit;
        core::parallel_for(n_units, n_slots, [&](std::int64_t unit, int slot) {
            const auto first = unit * per_unit;
            Unit work{fields, sums, first, std::min(per_unit, n_batch - first)};
            work.threads = n_slots > 1 || unit_work_ < fewest_for_phases ? 1 : threads_;
            work.fields_memory = base + slot * unit_size_;
            work.sums_memory = work.fields_memory + fields_size_;
            work.thread_memory = base + n_slots * unit_size_ + slot * thread_size_;
            work.ffts = workspace.ffts.data() + slot;
            run(work);
        });
    }

  private:
    /// One series of the batch, or a block of lines, and its memory.
    struct Unit {
        std::span<const SeriesArray<const T>> fields;
        std::span<const SeriesArray<T>> sums;
        std::int64_t first, count;  ///< in the batch
        int threads = 1;
        R* fields_memory = nullptr;
        R* sums_memory = nullptr;
        R* thread_memory = nullptr;
        FftState* ffts = nullptr;
    };

    static CosineTransform<R> make_transform(const ProductShape& shape, std::size_t axis,
                                             const std::array<std::int64_t, 3>& extents_out) {
        using Algorithm = typename CosineTransform<R>::Algorithm;
        const auto n = shape.extents[axis], n_out = extents_out[axis];
        const auto points =
            fewest_points(static_cast<std::int64_t>(most_factors(shape)) * (n - 1), n_out - 1);
        const auto unit = static_cast<int>(axis) == shape.dimensions - 1 ? column_unit<R> : 1;
        const auto multiple = 2 * unit;
        const bool dense = points <= largest_dense<R>;
        const auto m = dense ? (points + multiple - 1) / multiple * multiple
                             : multiple / 2 * fft::good_length((2 * points + multiple - 1) / multiple);
        return {n, n_out, m / 2, shape.convention, dense ? Algorithm::dense : Algorithm::fft};
    }

    const CosineTransform<R>& last() const { return transforms_[static_cast<std::size_t>(d_ - 1)]; }

    void set_sizes() {
        const auto& first = transforms_.front();
        rows_ = d_ == 1 ? line_block : first.n_in();
        rows_out_ = d_ == 1 ? line_block : first.n_out();
        inner_ = 2 * last().half() * (d_ == 3 ? 2 * transforms_[1].half() : 1);
        fields_size_ = n_fields_ * n_planes * rows_ * inner_;
        unit_size_ = fields_size_ + n_outputs_ * n_planes * rows_out_ * inner_;
        const auto n_lines = d_ == 3 ? std::max(transforms_[1].n_in(), transforms_[1].n_out()) : 0;
        lines_size_ = n_lines * 2 * last().half();
        for (const auto& transform : transforms_)
            scratch_size_ = std::max(scratch_size_, transform.scratch_size(line_block));
        panel_rows_ = d_ == 1 ? 1 : 2 * first.half();
        panel_columns_ = d_ == 1 ? inner_ : column_block<R>;
        const auto n_panels = (d_ == 1 ? 0 : n_fields_) + 3;  // and one sum, and two to multiply in
        thread_size_ = scratch_size_ + lines_size_ + n_panels * n_planes * panel_rows_ * panel_columns_;
        unit_work_ = 2 * (n_fields_ + n_outputs_) * n_planes * rows_ * inner_ * first.n_in() / 4;
    }

    int slots(std::int64_t n_batch) const {
        const auto n_units = d_ == 1 ? (n_batch + line_block - 1) / line_block : n_batch;
        return n_units < threads_ || n_units * unit_work_ < fewest_for_phases ? 1 : threads_;
    }

    R* memory(ChebyshevWorkspace::Storage& workspace, int n_slots) const {
        if (static_cast<int>(workspace.ffts.size()) < threads_)
            workspace.ffts.resize(static_cast<std::size_t>(threads_));
        const auto size = n_slots * unit_size_ + threads_ * thread_size_;
        return core::scratch_view<R, 1>(workspace.memory, {size}).data();
    }

    void run(const Unit& unit) const {
        for_line_tasks(unit, n_fields_, rows_,
                       [&](int field, std::int64_t row, std::int64_t n_rows, int thread) {
                           if (used_[static_cast<std::size_t>(field)]) load(unit, field, row, n_rows, thread);
                       });
        if (d_ == 1)
            multiply_lines(unit);
        else
            core::parallel_for((inner_ + panel_columns_ - 1) / panel_columns_, unit.threads,
                               [&](std::int64_t panel, int thread) { multiply_panel(unit, panel, thread); });
        for_line_tasks(unit, n_outputs_, rows_out_,
                       [&](int output, std::int64_t row, std::int64_t n_rows, int thread) {
                           store(unit, output, row, n_rows, thread);
                       });
    }

    /// body(array, first row, rows, thread): rows in blocks of lines, or one slice of lines in 3-D.
    template <class Body>
    void for_line_tasks(const Unit& unit, int n_arrays, std::int64_t n_rows, const Body& body) const {
        const std::int64_t block = d_ == 3 ? 1 : line_block;
        const auto n = d_ == 1 ? unit.count : n_rows;
        const auto n_blocks = (n + block - 1) / block;
        core::parallel_for(n_arrays * n_blocks, unit.threads, [&](std::int64_t task, int thread) {
            const auto row = task % n_blocks * block;
            body(static_cast<int>(task / n_blocks), row, std::min(block, n - row), thread);
        });
    }

    CosineScratch<R> scratch(const Unit& unit, int thread, int axis) const {
        auto& ffts = unit.ffts[thread];
        return {unit.thread_memory + thread * thread_size_, &ffts.axes[static_cast<std::size_t>(axis)],
                &ffts.line};
    }
    R* lines(const Unit& unit, int thread) const {
        return unit.thread_memory + thread * thread_size_ + scratch_size_;
    }
    R* panels(const Unit& unit, int thread) const { return lines(unit, thread) + lines_size_; }

    R* field_rows(const Unit& unit, int field, int plane) const {
        return unit.fields_memory + (field * n_planes + plane) * rows_ * inner_;
    }
    R* sum_rows(const Unit& unit, int output, int plane) const {
        return unit.sums_memory + (output * n_planes + plane) * rows_out_ * inner_;
    }

    /// Values over all axes but the first.
    void load(const Unit& unit, int field, std::int64_t row, std::int64_t n_rows, int thread) const {
        const auto& array = unit.fields[static_cast<std::size_t>(field)];
        for (int plane = 0; plane < n_planes; ++plane) {
            const auto read = PlaneReader<T>(array, d_ == 1 ? unit.first + row : unit.first, plane);
            const auto& strides = read.strides();
            R* values = field_rows(unit, field, plane) + row * inner_;
            if (d_ < 3) {
                const auto line_stride = d_ == 1 ? array.strides[0] * n_planes : strides[1];
                const auto first = d_ == 1 ? 0 : row * line_stride;
                last().synthesize_lines(read.data() + first, line_stride, strides[2], n_rows, values,
                                        scratch(unit, thread, d_ - 1));
                continue;
            }
            const auto& middle = transforms_[1];
            const auto width = 2 * last().half();
            R* part = lines(unit, thread);
            for (std::int64_t j = 0; j < middle.n_in(); j += line_block)
                last().synthesize_lines(read.data() + row * strides[0] + j * strides[1], strides[1],
                                        strides[2], std::min(line_block, middle.n_in() - j), part + j * width,
                                        scratch(unit, thread, 2));
            middle.synthesize_columns(part, width, width, values, width, scratch(unit, thread, 1));
        }
    }

    void multiply_lines(const Unit& unit) const {
        const FieldValues<R> whole{unit.fields_memory, rows_ * inner_};
        for (int output = 0; output < n_outputs_; ++output)
            for (std::int64_t line = 0; line < unit.count; ++line) {
                R* sum = panels(unit, 0);
                std::fill_n(sum, n_planes * inner_, R{});
                for (const auto& term : terms_)
                    if (term.output == output)
                        add_term(term, {whole.data + line * inner_, whole.distance}, n_planes, inner_, sum,
                                 sum + n_planes * inner_);
                for (int plane = 0; plane < n_planes; ++plane)
                    std::copy_n(sum + plane * inner_, inner_, sum_rows(unit, output, plane) + line * inner_);
            }
    }

    void multiply_panel(const Unit& unit, std::int64_t panel, int thread) const {
        const auto first_column = panel * panel_columns_;
        const auto columns = std::min(panel_columns_, inner_ - first_column);
        const auto size = panel_rows_ * columns;
        const auto& transform = transforms_.front();
        R* values = panels(unit, thread);
        for (int field = 0; field < n_fields_; ++field)
            for (int plane = 0; used_[static_cast<std::size_t>(field)] && plane < n_planes; ++plane)
                transform.synthesize_columns(field_rows(unit, field, plane) + first_column, inner_, columns,
                                             values + (field * n_planes + plane) * size, columns,
                                             scratch(unit, thread, 0));
        R* sum = values + n_fields_ * n_planes * size;
        for (int output = 0; output < n_outputs_; ++output) {
            std::fill_n(sum, n_planes * size, R{});
            for (const auto& term : terms_)
                if (term.output == output)
                    add_term(term, {values, size}, n_planes, size, sum, sum + n_planes * size);
            for (int plane = 0; plane < n_planes; ++plane)
                transform.analyze_columns(sum + plane * size, columns, columns,
                                          sum_rows(unit, output, plane) + first_column, inner_,
                                          scratch(unit, thread, 0));
        }
    }

    void store(const Unit& unit, int output, std::int64_t row, std::int64_t n_rows, int thread) const {
        const auto& array = unit.sums[static_cast<std::size_t>(output)];
        for (int plane = 0; plane < n_planes; ++plane) {
            const auto write = PlaneWriter<T>(array, d_ == 1 ? unit.first + row : unit.first, plane);
            R* values = sum_rows(unit, output, plane) + row * inner_;
            if (d_ < 3) {
                const auto line_stride =
                    d_ == 1 ? array.strides[0] * n_planes : write.row(0, 1) - write.row(0, 0);
                last().analyze_lines(values, n_rows, write.row(0, d_ == 1 ? 0 : row), line_stride,
                                     write.stride(), scratch(unit, thread, d_ - 1));
                continue;
            }
            const auto& middle = transforms_[1];
            const auto width = 2 * last().half();
            R* part = lines(unit, thread);
            middle.analyze_columns(values, width, width, part, width, scratch(unit, thread, 1));
            for (std::int64_t j = 0; j < middle.n_out(); j += line_block)
                last().analyze_lines(part + j * width, std::min(line_block, middle.n_out() - j),
                                     write.row(row, j), write.row(0, 1) - write.row(0, 0), write.stride(),
                                     scratch(unit, thread, 2));
        }
    }

    int d_, threads_;
    std::vector<ChebyshevTerm> terms_;
    int n_fields_, n_outputs_;
    std::vector<CosineTransform<R>> transforms_;  ///< [axis]
    std::vector<bool> used_ = std::vector<bool>(static_cast<std::size_t>(n_fields_));
    std::int64_t rows_ = 0, rows_out_ = 0;  ///< of the first axis's coefficients, in 1-D lines
    std::int64_t inner_ = 0;                ///< values per row
    std::int64_t fields_size_ = 0, unit_size_ = 0, lines_size_ = 0, scratch_size_ = 0, thread_size_ = 0;
    std::int64_t panel_rows_ = 0, panel_columns_ = 0, unit_work_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<ProductPlan<T>> make_transform_product(const ProductShape& shape,
                                                       const std::array<std::int64_t, 3>& extents_out,
                                                       const ChebyshevProductOptions& options) {
    return std::make_unique<TransformProduct<T>>(shape, extents_out, options);
}

template std::unique_ptr<ProductPlan<float>> make_transform_product(const ProductShape&,
                                                                    const std::array<std::int64_t, 3>&,
                                                                    const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<double>> make_transform_product(const ProductShape&,
                                                                     const std::array<std::int64_t, 3>&,
                                                                     const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<std::complex<float>>> make_transform_product(
    const ProductShape&, const std::array<std::int64_t, 3>&, const ChebyshevProductOptions&);
template std::unique_ptr<ProductPlan<std::complex<double>>> make_transform_product(
    const ProductShape&, const std::array<std::int64_t, 3>&, const ChebyshevProductOptions&);

}  // namespace zonal::chebyshev
