#include <algorithm>
#include <string>

#include "chebyshev/product/product_cost.hpp"
#include "chebyshev/product/product_cuda.cuh"
#include "chebyshev/series_lines.hpp"
#include "chebyshev/transform/cosine_transform_cuda.cuh"
#include "core/cuda.cuh"
#include "zonal/chebyshev/product.hpp"
#include "zonal/error.hpp"

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

namespace {

using Extents = std::array<std::int64_t, 3>;

/// A call's series go through in parts whose values take no more than this: longer parts gain nothing, as the
/// device is busy, and take memory.
constexpr std::int64_t most_scratch_bytes = std::int64_t{1} << 30;

std::int64_t size_of(const Extents& n) {
    return n[0] * n[1] * n[2];
}

CosineAxis make_axis(const ProductShape& shape, const Extents& extents_out, std::int64_t n_batch,
                     std::size_t axis) {
    using Algorithm = CosineAxis::Algorithm;
    const auto n = shape.extents[axis], n_out = extents_out[axis];
    const auto points = fewest_points(static_cast<std::int64_t>(most_factors(shape)) * (n - 1), n_out - 1);
    const double n_lines =
        static_cast<double>(n_batch) * shape.n_fields * static_cast<double>(size_of(shape.extents) / n);
    return {n, n_out, points, shape.convention,
            points <= largest_dense_on_cuda(n_lines) ? Algorithm::dense : Algorithm::fft};
}

/// Sums of products through values at Gauss points: axis by axis from the last to the first all fields to
/// values, products, and the sums back, from the first to the last. A lone product of real series multiplies
/// where the first axis's values come about.
template <class T>
class TransformMethod final : public Method<T> {
    using R = Real<T>;
    static constexpr int planes = n_planes<T>;

  public:
    TransformMethod(const ProductShape& shape, const Extents& extents_out, std::int64_t n_batch)
        : d_(shape.dimensions), n_outputs_(shape.n_outputs), n_(shape.extents), n_out_(extents_out) {
        prepare_cosine_kernels<R>();
        for (int axis = 0; axis < d_; ++axis)
            axes_.push_back(make_axis(shape, extents_out, n_batch, static_cast<std::size_t>(axis)));
        std::vector<int> places(static_cast<std::size_t>(shape.n_fields), -1);
        for (const auto& term : shape.terms)
            for (const int field : term.factors) place_of(field, places);
        if (!is_complex<T> && n_outputs_ == 1 && shape.terms.size() == 1 &&
            shape.terms.front().factors.size() == 2) {
            is_pair_ = true;
            weight_ = shape.terms.front().weight;
            for (std::size_t f = 0; f < 2; ++f)
                pair_[f] = static_cast<std::size_t>(
                    places[static_cast<std::size_t>(shape.terms.front().factors[f])]);
        }
        terms_ = std::make_unique<TermTable>(shape, places);
        set_sizes();
    }

    std::int64_t scratch_bytes(std::int64_t n_batch) const override {
        const auto count = std::min(n_batch, part());
        return values_bytes(count) + axis_bytes(count);
    }

    void run(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
             void* scratch, cudaStream_t stream) const override {
        const auto n_batch = sums.front().extents[0];
        for (std::int64_t first = 0; first < n_batch; first += part()) {
            Part work{first, std::min(part(), n_batch - first), {}, stream};
            work.buffers[0] = static_cast<R*>(scratch);
            work.buffers[1] = work.buffers[0] + buffer_size(std::min(n_batch, part()));
            work.axis_scratch = static_cast<char*>(scratch) + values_bytes(std::min(n_batch, part()));
            run_part(fields, sums, work);
        }
    }

  private:
    using Planes = std::vector<Plane<const R>>;

    /// Series of a batch that go through together; of the two buffers, `next` is free.
    struct Part {
        std::int64_t first, count;
        R* buffers[2];
        cudaStream_t stream;
        void* axis_scratch = nullptr;
        int next = 0;
    };

    void place_of(int field, std::vector<int>& places) {
        auto& place = places[static_cast<std::size_t>(field)];
        if (place >= 0) return;
        place = static_cast<int>(used_.size());
        used_.push_back(static_cast<std::size_t>(field));
    }

    /// What the buffers must hold of one series of a batch, at the largest of the steps.
    void set_sizes() {
        const auto n_fields = static_cast<std::int64_t>(used_.size());
        Extents n = n_;
        for (int axis = d_ - 1; axis >= 0; --axis) {
            n[static_cast<std::size_t>(axis)] = at(axis).points();
            const bool multiplies = axis == 0 && is_pair_;
            size_ = std::max(size_, planes * (multiplies ? 1 : n_fields) * size_of(n));
        }
        size_ = std::max(size_, planes * n_outputs_ * size_of(n));
        for (int axis = 0; axis < d_; ++axis) {
            n[static_cast<std::size_t>(axis)] = at(axis).n_out();
            size_ = std::max(size_, planes * n_outputs_ * size_of(n));
        }
    }
    std::int64_t buffer_size(std::int64_t n_batch) const { return aligned_size(n_batch * size_); }
    std::int64_t values_bytes(std::int64_t n_batch) const {
        return 2 * buffer_size(n_batch) * static_cast<std::int64_t>(sizeof(R));
    }
    /// What the axes' transforms take: a buffer's lines, and as many again for a product's other factor.
    std::int64_t axis_bytes(std::int64_t n_batch) const {
        std::int64_t bytes = 0;
        for (const auto& axis : axes_)
            bytes = std::max(bytes, axis.scratch_bytes(2 * n_batch * size_ / axis.points()));
        return bytes;
    }
    std::int64_t part() const {
        return std::max<std::int64_t>(
            1, most_scratch_bytes / (2 * size_ * static_cast<std::int64_t>(sizeof(R))));
    }
    const CosineAxis& at(int axis) const { return axes_[static_cast<std::size_t>(axis)]; }

    /// Arrays [array, batch, n] in the free buffer.
    std::vector<Plane<R>> next_arrays(Part& work, std::size_t count, const Extents& n) const {
        std::vector<Plane<R>> arrays;
        R* const data = work.buffers[work.next];
        work.next ^= 1;
        for (std::size_t k = 0; k < count; ++k)
            arrays.push_back(
                row_major_plane(data + static_cast<std::int64_t>(k) * work.count * size_of(n), n));
        return arrays;
    }
    static Planes to_read(const std::vector<Plane<R>>& arrays) {
        Planes result;
        for (const auto& array : arrays) {
            result.push_back({array.data, {}});
            std::copy_n(array.strides, 4, result.back().strides);
        }
        return result;
    }

    void run_part(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
                  Part& work) const {
        Planes current;
        for (const std::size_t field : used_)
            for (int plane = 0; plane < planes; ++plane)
                current.push_back(plane_of(fields[field], plane, work.first));
        Extents n = n_;
        for (int axis = d_ - 1; axis >= 0; --axis) synthesize_axis(axis, n, current, work);
        if (!is_pair_) current = add_terms_of(n, current, work);
        for (int axis = 0; axis < d_; ++axis) {
            const AxisColumns columns{d_, axis, n, work.count};
            n[static_cast<std::size_t>(axis)] = at(axis).n_out();
            std::vector<Plane<R>> target;
            if (axis < d_ - 1) {
                target = next_arrays(work, current.size(), n);
            } else {
                for (const auto& sum : sums)
                    for (int plane = 0; plane < planes; ++plane)
                        target.push_back(plane_of(sum, plane, work.first));
            }
            at(axis).template analyze<R>(current, target, columns, work.axis_scratch, work.stream);
            current = to_read(target);
        }
    }

    void synthesize_axis(int axis, Extents& n, Planes& current, Part& work) const {
        const AxisColumns columns{d_, axis, n, work.count};
        n[static_cast<std::size_t>(axis)] = at(axis).points();
        const bool multiplies = axis == 0 && is_pair_;
        const auto target = next_arrays(work, multiplies ? 1 : current.size(), n);
        if (multiplies)
            at(axis).template synthesize_product<R>(current[pair_[0]], current[pair_[1]], weight_,
                                                    target.front(), columns, work.axis_scratch, work.stream);
        else
            at(axis).template synthesize<R>(current, target, columns, work.axis_scratch, work.stream);
        current = to_read(target);
    }

    Planes add_terms_of(const Extents& n, const Planes& current, Part& work) const {
        const auto target = next_arrays(work, static_cast<std::size_t>(n_outputs_ * planes), n);
        const R* const values = current.empty() ? nullptr : current.front().data;
        const TermsLaunch<R> launch{terms_->records.data(), terms_->first.data(), values, target.front().data,
                                    work.count * size_of(n)};
        const dim3 grid(static_cast<unsigned>((launch.n_points + terms_threads - 1) / terms_threads),
                        static_cast<unsigned>(n_outputs_));
        add_terms<R, is_complex<T>><<<grid, terms_threads, 0, work.stream>>>(launch);
        core::check_launch("sums of products");
        return to_read(target);
    }

    int d_, n_outputs_;
    Extents n_, n_out_;
    std::vector<CosineAxis> axes_;
    std::vector<std::size_t> used_;  ///< fields that are in terms
    bool is_pair_ = false;
    std::size_t pair_[2] = {0, 0};  ///< among used_
    double weight_ = 1;
    std::unique_ptr<TermTable> terms_;
    std::int64_t size_ = 1;
};

}  // namespace

template <class T>
std::unique_ptr<Method<T>> make_transform(const ProductShape& shape, const Extents& extents_out,
                                          std::int64_t n_batch) {
    return std::make_unique<TransformMethod<T>>(shape, extents_out, n_batch);
}

template std::unique_ptr<Method<float>> make_transform(const ProductShape&, const Extents&, std::int64_t);
template std::unique_ptr<Method<double>> make_transform(const ProductShape&, const Extents&, std::int64_t);
template std::unique_ptr<Method<std::complex<float>>> make_transform(const ProductShape&, const Extents&,
                                                                     std::int64_t);
template std::unique_ptr<Method<std::complex<double>>> make_transform(const ProductShape&, const Extents&,
                                                                      std::int64_t);

}  // namespace zonal::chebyshev::cuda
