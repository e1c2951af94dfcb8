#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "zonal/chebyshev.hpp"

namespace zonal::chebyshev {

/// One thread's FFTs: one for each axis, as lengths differ, and a line.
struct FftState {
    std::array<fft::ComplexFft, 3> axes;
    std::vector<std::complex<double>> line;
};

/// Scratch memory of a call: [scratch_size()], and an FFT.
template <class R>
struct CosineScratch {
    R* memory;
    fft::ComplexFft* fft;
    std::vector<std::complex<double>>* line;
};

/// Between coefficients of an axis and its values at 2 half Gauss points, the DCT-III and DCT-II:
///   v_j = sum'_k a_k T_k(x_j),  c_k = 1 / half sum_j v_j T_k(x_j).
/// As T_k(-x) = (-1)^k T_k(x), sums over even and over odd k at half of the points make all values, which
/// halves the work. Values are [v_0 .. v_{half-1}, v_{2 half - 1} .. v_half], an order in which both halves
/// are vectors. Dense matrices, or FFTs of two lines at once. R: float or double.
template <class R>
class CosineTransform {
  public:
    enum class Algorithm { dense, fft };

    CosineTransform() = default;
    /// n_in, n_out: coefficients, each at most 2 half; half: a multiple of column_unit where lines are
    /// transformed.
    CosineTransform(std::int64_t n_in, std::int64_t n_out, std::int64_t half, ChebyshevConvention convention,
                    Algorithm algorithm);

    std::int64_t half() const { return half_; }
    std::int64_t n_in() const { return n_in_; }
    std::int64_t n_out() const { return n_out_; }
    /// For n_lines lines at once, or any number of columns.
    std::int64_t scratch_size(std::int64_t n_lines) const;

    /// coefficients: n_lines lines of n_in, of any strides; values: [line, 2 half]
    void synthesize_lines(const R* coefficients, std::int64_t line_stride, std::int64_t stride,
                          std::int64_t n_lines, R* values, const CosineScratch<R>& scratch) const;
    /// values: [line, 2 half], overwritten; coefficients: n_lines lines of n_out, of any strides
    void analyze_lines(R* values, std::int64_t n_lines, R* coefficients, std::int64_t line_stride,
                       std::int64_t stride, const CosineScratch<R>& scratch) const;
    /// coefficients: [n_in, column], values: [2 half, column], rows the given strides apart; n_columns: a
    /// multiple of column_unit
    void synthesize_columns(const R* coefficients, std::int64_t row_stride, std::int64_t n_columns, R* values,
                            std::int64_t value_stride, const CosineScratch<R>& scratch) const;
    /// values: [2 half, column], overwritten; coefficients: [n_out, column]
    void analyze_columns(R* values, std::int64_t value_stride, std::int64_t n_columns, R* coefficients,
                         std::int64_t row_stride, const CosineScratch<R>& scratch) const;

  private:
    /// Even and odd k of the cosine matrix, [rows, columns] row-major.
    struct Parity {
        core::AlignedVector<R> even, odd;
    };
    void make_matrices();
    void make_roots();
    void synthesize_pair(const R* first, const R* second, std::int64_t stride, R* first_values,
                         R* second_values, std::int64_t value_stride, const CosineScratch<R>& scratch) const;
    void analyze_pair(const R* first_values, const R* second_values, std::int64_t value_stride, R* first,
                      R* second, std::int64_t stride, const CosineScratch<R>& scratch) const;

    std::int64_t n_in_ = 0, n_out_ = 0, half_ = 0, padded_out_ = 0;
    Algorithm algorithm_ = Algorithm::dense;
    double first_in_ = 0, first_out_ = 0;      ///< weights of a_0 and c_0
    Parity synthesis_rows_;                    ///< [half, k / 2]
    Parity synthesis_columns_;                 ///< [k / 2, half]
    Parity analysis_rows_;                     ///< [k / 2, half]
    Parity analysis_columns_;                  ///< [half, k / 2], the latter padded
    std::vector<std::complex<double>> roots_;  ///< exp(i pi k / 4 half)
};

}  // namespace zonal::chebyshev
