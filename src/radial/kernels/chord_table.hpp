#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/host_device.hpp"
#include "core/multiply_add.hpp"
#include "zonal/kernel.hpp"

/// A kernel's profile as polynomials in u = chord^2 = 4 sin^2(theta/2), so that neither a distance nor a
/// value needs a trigonometric function. The pieces are equally long in the chord (beyond the equator, in the
/// chord to the antipode, 4 - u), as profiles that oscillate do so as functions of theta near both poles.
namespace zonal::radial {

/// Degree of the pieces: enough that the table of a Gaussian stays in the first-level cache at 1e-13.
inline constexpr int table_degree = 5;

/// What kernels on either side read; T: float or double. Piece k < n_half covers u / step^2 from k^2 to
/// (k+1)^2; piece n_half + k, where there are such, the same of 4 - u for u > 2.
template <class T>
struct ChordTableView {
    const T* coefficients;  ///< [n_pieces][table_degree + 1], 1/sr, lowest power first; see evaluate()
    int n_pieces;           ///< n_half, or 2 n_half where the kernel reaches beyond theta = pi/2
    int n_half;
    float inverse_step;      ///< pieces per unit of chord
    T inverse_step_squared;  ///< its square
    T end;                   ///< zero for u above; more than 4 where the kernel covers the sphere
};

/// K at chord^2 = u >= 0, in powers of v = u / step^2 - (k^2 + k + 1/2), from -(k + 1/2) to k + 1/2 over
/// piece k. The index may come from a single-precision root: a polynomial holds a little beyond its piece.
template <class T>
ZONAL_HOST_DEVICE inline T evaluate(const ChordTableView<T>& table, T u) {
    using core::multiply_add;
    if (!(u <= table.end)) return 0;
    const bool southern = u > T(2);
    T w = southern ? T(4) - u : u;
    w = w > T(0) ? w : T(0);
    int k = static_cast<int>(sqrtf(static_cast<float>(w)) * table.inverse_step);
    k = k < table.n_half ? k : table.n_half - 1;
    const T* c = table.coefficients + (table_degree + 1) * (southern ? table.n_half + k : k);
    const T piece = static_cast<T>(k), middle = multiply_add(piece, piece + T(1), T(0.5));
    const T v = multiply_add(w, table.inverse_step_squared, -middle);
    T value = c[table_degree];
    for (int power = table_degree - 1; power >= 0; --power) value = multiply_add(value, v, c[power]);
    return value;
}

class ChordTable {
  public:
    /// Pieces enough that the largest error is below `accuracy` times the largest value, or as many as still
    /// help (a profile with kinks, or noise above the accuracy) up to 2^20: error() says what was reached.
    /// What lies beyond the last value of accuracy/100 of the largest counts as zero.
    /// accuracy: 1e-15 to 1e-2, or InvalidArgument.
    ChordTable(const RadialKernel& kernel, double accuracy);

    /// [n_pieces][table_degree + 1], in 1/sr.
    template <class T>
    const std::vector<T>& coefficients() const {
        if constexpr (std::is_same_v<T, float>)
            return single_coefficients_;
        else
            return coefficients_;
    }
    /// The table on this machine; it must live as long.
    template <class T>
    ChordTableView<T> view() const {
        return view(coefficients<T>().data());
    }
    /// The table with its coefficients somewhere else.
    template <class T>
    ChordTableView<T> view(const T* coefficients) const;

    std::int64_t n_pieces() const;
    /// chord^2 beyond which K is zero; at most 4.
    double end() const { return end_; }
    /// The same as a colatitude, rad.
    double theta_end() const;
    /// The largest value's size, 1/sr.
    double peak() const { return peak_; }
    /// The largest difference from the kernel that was found, relative to its largest value.
    double error() const { return error_; }
    /// An angle, rad, and what the table is wrong by there, and the kernel's |value|, 1/sr.
    struct Check {
        double theta, error, value;
    };
    /// Returns where the table was compared with the kernel that it was made of, in no order.
    std::vector<Check> checks(const RadialKernel& kernel) const;

  private:
    /// More pieces until error() is below the accuracy, or as long as they help.
    void refine(const RadialKernel& kernel, double accuracy, std::int64_t most);
    /// Fits n_half pieces, sets error().
    void fit(const RadialKernel& kernel, std::int64_t n_half);
    double largest_error(const RadialKernel& kernel);

    std::vector<double> coefficients_;
    std::vector<float> single_coefficients_;
    std::int64_t n_half_ = 0;
    double inverse_step_ = 0, end_ = 0, peak_ = 0, error_ = 0;
};

}  // namespace zonal::radial
