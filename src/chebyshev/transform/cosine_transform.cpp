#include "chebyshev/transform/cosine_transform.hpp"

#include "chebyshev/transform/cosine_kernels.hpp"
#include "chebyshev/transform/cosine_math.hpp"

namespace zonal::chebyshev {
namespace {

std::int64_t n_even(std::int64_t n) {
    return (n + 1) / 2;
}
std::int64_t n_odd(std::int64_t n) {
    return n / 2;
}

template <class R>
std::int64_t padded(std::int64_t n) {
    return (n + column_unit<R> - 1) / column_unit<R> * column_unit<R>;
}

}  // namespace

template <class R>
CosineTransform<R>::CosineTransform(std::int64_t n_in, std::int64_t n_out, std::int64_t half,
                                    ChebyshevConvention convention, Algorithm algorithm)
    : n_in_(n_in),
      n_out_(n_out),
      half_(half),
      padded_out_(padded<R>(n_even(n_out))),
      algorithm_(algorithm),
      first_in_(convention == ChebyshevConvention::primed ? 0.5 : 1),
      first_out_(convention == ChebyshevConvention::primed ? 1 : 0.5) {
    if (algorithm == Algorithm::dense)
        make_matrices();
    else
        make_roots();
}

template <class R>
void CosineTransform<R>::make_matrices() {
    const CosineTable cosine(2 * half_);
    const auto fill = [](Parity& parity, std::int64_t rows, std::int64_t n_k, std::int64_t pitch,
                         bool k_along_columns, const auto& value) {
        for (const std::int64_t odd : {0, 1}) {
            auto& matrix = odd ? parity.odd : parity.even;
            const auto n = odd ? n_odd(n_k) : n_even(n_k);
            matrix.assign(static_cast<std::size_t>(k_along_columns ? rows * pitch : n * rows), R{});
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < rows; ++j)
                    matrix[static_cast<std::size_t>(k_along_columns ? j * pitch + i : i * rows + j)] =
                        static_cast<R>(value(2 * i + odd, j));
        }
    };
    const auto synthesis = [&](std::int64_t k, std::int64_t j) {
        return cosine.gauss(k, j) * (k == 0 ? first_in_ : 1);
    };
    const auto analysis = [&](std::int64_t k, std::int64_t j) {
        return cosine.gauss(k, j) * (k == 0 ? first_out_ : 1) / static_cast<double>(half_);
    };
    fill(synthesis_rows_, half_, n_in_, n_even(n_in_), true, synthesis);
    fill(synthesis_columns_, half_, n_in_, 0, false, synthesis);
    fill(analysis_rows_, half_, n_out_, 0, false, analysis);
    fill(analysis_columns_, half_, n_out_, padded_out_, true, analysis);
}

template <class R>
void CosineTransform<R>::make_roots() {
    const CosineTable cosine(2 * half_);
    for (std::int64_t k = 0; k < 2 * half_; ++k) roots_.emplace_back(cosine(k), cosine(2 * half_ - k));
}

template <class R>
std::int64_t CosineTransform<R>::scratch_size(std::int64_t n_lines) const {
    return std::max(half_, n_even(n_in_)) * column_block<R> + 2 * n_lines * padded_out_;
}

template <class R>
void CosineTransform<R>::synthesize_lines(const R* coefficients, std::int64_t line_stride,
                                          std::int64_t stride, std::int64_t n_lines, R* values,
                                          const CosineScratch<R>& scratch) const {
    if (algorithm_ == Algorithm::fft) {
        for (std::int64_t line = 0; line < n_lines; line += 2) {
            const auto other = std::min(line + 1, n_lines - 1);
            synthesize_pair(coefficients + line * line_stride, coefficients + other * line_stride, stride,
                            values + line * 2 * half_, values + other * 2 * half_, 1, scratch);
        }
        return;
    }
    cosine_loops<R>().multiply_matrices({n_lines, n_even(n_in_), half_, coefficients, line_stride, 2 * stride,
                                         synthesis_columns_.even.data(), half_, values, 2 * half_,
                                         scratch.memory});
    cosine_loops<R>().multiply_matrices({n_lines, n_odd(n_in_), half_, coefficients + stride, line_stride,
                                         2 * stride, synthesis_columns_.odd.data(), half_, values + half_,
                                         2 * half_, scratch.memory});
    for (std::int64_t line = 0; line < n_lines; ++line, values += 2 * half_)
        cosine_loops<R>().add_and_subtract(values, values + half_, half_);
}

template <class R>
void CosineTransform<R>::analyze_lines(R* values, std::int64_t n_lines, R* coefficients,
                                       std::int64_t line_stride, std::int64_t stride,
                                       const CosineScratch<R>& scratch) const {
    if (algorithm_ == Algorithm::fft) {
        for (std::int64_t line = 0; line < n_lines; line += 2) {
            const auto other = std::min(line + 1, n_lines - 1);
            analyze_pair(values + line * 2 * half_, values + other * 2 * half_, 1,
                         coefficients + line * line_stride, coefficients + other * line_stride, stride,
                         scratch);
        }
        return;
    }
    for (std::int64_t line = 0; line < n_lines; ++line)
        cosine_loops<R>().add_and_subtract(values + line * 2 * half_, values + (2 * line + 1) * half_, half_);
    R* sums = scratch.memory + half_ * column_block<R>;
    for (const std::int64_t odd : {0, 1}) {
        const auto& matrix = odd ? analysis_columns_.odd : analysis_columns_.even;
        cosine_loops<R>().multiply_matrices({n_lines, half_, padded_out_, values + odd * half_, 2 * half_, 1,
                                             matrix.data(), padded_out_, sums, padded_out_, scratch.memory});
        for (std::int64_t line = 0; line < n_lines; ++line)
            for (std::int64_t k = odd; k < n_out_; k += 2)
                coefficients[line * line_stride + k * stride] = sums[line * padded_out_ + k / 2];
    }
}

template <class R>
void CosineTransform<R>::synthesize_columns(const R* coefficients, std::int64_t row_stride,
                                            std::int64_t n_columns, R* values, std::int64_t value_stride,
                                            const CosineScratch<R>& scratch) const {
    if (algorithm_ == Algorithm::fft) {
        for (std::int64_t p = 0; p < n_columns; p += 2)
            synthesize_pair(coefficients + p, coefficients + p + 1, row_stride, values + p, values + p + 1,
                            value_stride, scratch);
        return;
    }
    cosine_loops<R>().multiply_matrices({half_, n_even(n_in_), n_columns, synthesis_rows_.even.data(),
                                         n_even(n_in_), 1, coefficients, 2 * row_stride, values, value_stride,
                                         scratch.memory});
    cosine_loops<R>().multiply_matrices({half_, n_odd(n_in_), n_columns, synthesis_rows_.odd.data(),
                                         n_even(n_in_), 1, coefficients + row_stride, 2 * row_stride,
                                         values + half_ * value_stride, value_stride, scratch.memory});
    for (std::int64_t j = 0; j < half_; ++j)
        cosine_loops<R>().add_and_subtract(values + j * value_stride, values + (half_ + j) * value_stride,
                                           n_columns);
}

template <class R>
void CosineTransform<R>::analyze_columns(R* values, std::int64_t value_stride, std::int64_t n_columns,
                                         R* coefficients, std::int64_t row_stride,
                                         const CosineScratch<R>& scratch) const {
    if (algorithm_ == Algorithm::fft) {
        for (std::int64_t p = 0; p < n_columns; p += 2)
            analyze_pair(values + p, values + p + 1, value_stride, coefficients + p, coefficients + p + 1,
                         row_stride, scratch);
        return;
    }
    for (std::int64_t j = 0; j < half_; ++j)
        cosine_loops<R>().add_and_subtract(values + j * value_stride, values + (half_ + j) * value_stride,
                                           n_columns);
    cosine_loops<R>().multiply_matrices({n_even(n_out_), half_, n_columns, analysis_rows_.even.data(), half_,
                                         1, values, value_stride, coefficients, 2 * row_stride,
                                         scratch.memory});
    cosine_loops<R>().multiply_matrices({n_odd(n_out_), half_, n_columns, analysis_rows_.odd.data(), half_, 1,
                                         values + half_ * value_stride, value_stride,
                                         coefficients + row_stride, 2 * row_stride, scratch.memory});
}

namespace {

LinePairValue pair_of(const std::complex<double>& z) {
    return {z.real(), z.imag()};
}

}  // namespace

/// Two real lines are the real and imaginary part of one.
template <class R>
void CosineTransform<R>::synthesize_pair(const R* first, const R* second, std::int64_t stride,
                                         R* first_values, R* second_values, std::int64_t value_stride,
                                         const CosineScratch<R>& scratch) const {
    const auto m = 2 * half_;
    scratch.fft->prepare(m);
    scratch.line->resize(static_cast<std::size_t>(m));
    auto* line = scratch.line->data();
    const auto load = [&](std::int64_t k) -> LinePairValue {
        if (k >= n_in_) return {0, 0};
        return {static_cast<double>(first[k * stride]), static_cast<double>(second[k * stride])};
    };
    line[0] = {load(0).re * first_in_, load(0).im * first_in_};
    for (std::int64_t k = 1; k < m; ++k) {
        const auto mode = synthesis_mode(load(k), load(m - k), pair_of(roots_[static_cast<std::size_t>(k)]));
        line[k] = {mode.re, mode.im};
    }
    scratch.fft->backward(line);
    // x_{2i} is line[i], x_{2i+1} line[m-1-i]; x_j goes to row j, or from the middle on to the other half.
    for (std::int64_t j = 0; j < m; ++j) {
        const auto value = line[j % 2 == 0 ? j / 2 : m - 1 - j / 2];
        const auto row = j < half_ ? j : half_ + m - 1 - j;
        first_values[row * value_stride] = static_cast<R>(value.real());
        second_values[row * value_stride] = static_cast<R>(value.imag());
    }
}

template <class R>
void CosineTransform<R>::analyze_pair(const R* first_values, const R* second_values,
                                      std::int64_t value_stride, R* first, R* second, std::int64_t stride,
                                      const CosineScratch<R>& scratch) const {
    const auto m = 2 * half_;
    scratch.fft->prepare(m);
    scratch.line->resize(static_cast<std::size_t>(m));
    auto* line = scratch.line->data();
    for (std::int64_t j = 0; j < m; ++j) {
        const auto row = j < half_ ? j : half_ + m - 1 - j;
        line[j % 2 == 0 ? j / 2 : m - 1 - j / 2] = {static_cast<double>(first_values[row * value_stride]),
                                                    static_cast<double>(second_values[row * value_stride])};
    }
    scratch.fft->forward(line);
    for (std::int64_t k = 0; k < n_out_; ++k) {
        const double weight = (k == 0 ? first_out_ : 1) / static_cast<double>(m);
        const auto mode = analysis_mode(pair_of(line[k]), pair_of(line[(m - k) % m]),
                                        pair_of(roots_[static_cast<std::size_t>(k)]), weight);
        first[k * stride] = static_cast<R>(mode.re);
        second[k * stride] = static_cast<R>(mode.im);
    }
}

template class CosineTransform<float>;
template class CosineTransform<double>;

}  // namespace zonal::chebyshev
