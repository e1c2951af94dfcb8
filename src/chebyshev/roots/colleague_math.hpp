#pragma once

#include <cmath>
#include <cstdint>

#include "core/complex_math.hpp"

/// Colleague matrices (Good 1961) and their eigenvalues by the QR algorithm, for CUDA, a team of threads for
/// each matrix, and for the tests on the CPU, where a team is one thread.
///
/// x T_k = (T_{k-1} + T_{k+1}) / 2 for k = 0 .. K - 1 is a matrix, in which T_K at a root of sum_k a_k T_k is
/// -sum_{k<K} (a_k / a_K) T_k; rows and columns of T_0 are scaled by sqrt(2), so that all but the last row is
/// symmetric. With the highest degree first, as here, the matrix is upper Hessenberg.
namespace zonal::chebyshev {

/// x T_i has so much of T_j, i and j < K, a_K left aside.
ZONAL_HOST_DEVICE inline double colleague_coupling(std::int64_t i, std::int64_t j) {
    if (i - j != 1 && j - i != 1) return 0;
    return i == 0 || j == 0 ? 0.70710678118654752440 : 0.5;
}
/// What a_j / a_K is multiplied with before x T_{K-1} has it less of T_j.
ZONAL_HOST_DEVICE inline double colleague_factor(std::int64_t degree, std::int64_t j) {
    if (degree == 1) return 1;
    return j == 0 ? 0.70710678118654752440 : 0.5;
}
/// Exponent of 2 by which a row is to be divided and the column multiplied, so that both are nearly of the
/// same size (Parlett & Reinsch 1969); 0 where that gains little. Sums of magnitudes off the diagonal.
ZONAL_HOST_DEVICE inline int balancing_exponent(double column, double row) {
    if (!(column > 0 && row > 0)) return 0;
    const int exponent = static_cast<int>(lround(log2(row / column) / 2));
    const bool gains = ldexp(column, exponent) + ldexp(row, -exponent) < 0.95 * (column + row);
    return gains ? exponent : 0;
}

/// One thread of a team of one.
struct SingleThread {
    int rank() const { return 0; }
    int size() const { return 1; }
    void meet() const {}
    double sum(double value) const { return value; }
    /// Smallest k < count for which condition(k), or count.
    template <class Condition>
    std::int64_t first_where(std::int64_t count, const Condition& condition) const {
        std::int64_t k = 0;
        while (k < count && !condition(k)) ++k;
        return k;
    }
};

/// (c, s; -conj(s), c) takes (a, b) to (r, 0).
struct Rotation {
    double c = 1;
    core::Complex s;

    ZONAL_HOST_DEVICE static Rotation of(core::Complex a, core::Complex b) {
        const double size_a = magnitude(a), size_b = magnitude(b), r = hypot(size_a, size_b);
        if (r == 0) return {};
        if (size_a == 0) return {0, (1 / size_b) * conjugate(b)};
        return {size_a / r, (1 / size_a) * a * ((1 / r) * conjugate(b))};
    }
    ZONAL_HOST_DEVICE void apply(core::Complex& a, core::Complex& b) const {
        const core::Complex first = c * a + s * b;
        b = c * b - conjugate(s) * a;
        a = first;
    }
    ZONAL_HOST_DEVICE Rotation of_columns() const { return {c, conjugate(s)}; }
};

/// Every thread of the team calls every function, with the same arguments.
template <class Team>
class HessenbergMatrix {
  public:
    using Complex = core::Complex;

    /// elements: size(n) of them
    ZONAL_HOST_DEVICE HessenbergMatrix(Team team, Complex* elements, std::int64_t n)
        : team_(team), elements_(elements), n_(n) {}
    /// Odd row lengths, so that elements of a column lie in different banks of shared memory.
    ZONAL_HOST_DEVICE static std::int64_t size(std::int64_t n) { return n * (n | 1); }

    /// a: [n + 1], plain coefficients
    ZONAL_HOST_DEVICE void set_colleague(const Complex* a) {
        const Complex inverse = reciprocal(a[n_]);
        for (std::int64_t k = team_.rank(); k < n_ * n_; k += team_.size()) {
            const std::int64_t i = n_ - 1 - k / n_, j = n_ - 1 - k % n_;  // degrees
            Complex value{colleague_coupling(i, j), 0};
            if (i == n_ - 1) value = value - colleague_factor(n_, j) * (a[j] * inverse);
            at(k / n_, k % n_) = value;
        }
        team_.meet();
    }

    /// A small a_K makes the first row large, against which the others' rounding would count.
    ZONAL_HOST_DEVICE void balance() {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::int64_t i = 0; i < n_; ++i) {
                double column = 0, row = 0;
                for (std::int64_t k = team_.rank(); k < n_; k += team_.size()) {
                    if (k == i) continue;
                    column += magnitude(at(k, i));
                    row += magnitude(at(i, k));
                }
                const int exponent = balancing_exponent(team_.sum(column), team_.sum(row));
                if (exponent == 0) continue;
                changed = true;
                team_.meet();
                for (std::int64_t k = team_.rank(); k < n_; k += team_.size()) {
                    if (k == i) continue;
                    at(k, i) = ldexp(1.0, exponent) * at(k, i);
                    at(i, k) = ldexp(1.0, -exponent) * at(i, k);
                }
                team_.meet();
            }
        }
    }

    /// Leaves the eigenvalues on the diagonal (Golub & Van Loan 2013, section 7.5: shifted QR steps with
    /// deflation). False where they do not converge.
    ZONAL_HOST_DEVICE bool diagonalize() {
        constexpr int most_steps = 60;  // for one eigenvalue; 2 to 3 are usual
        std::int64_t last = n_ - 1;
        for (int step = 0; last > 0;) {
            const std::int64_t first =
                last - team_.first_where(last, [&](std::int64_t k) { return is_small(last - k); });
            if (first == last) {
                --last;
                step = 0;
                continue;
            }
            if (++step > most_steps) return false;
            qr_step(first, last, shift(last, step));
        }
        return true;
    }
    ZONAL_HOST_DEVICE Complex diagonal(std::int64_t k) const { return elements_[k * (n_ | 1) + k]; }

  private:
    ZONAL_HOST_DEVICE Complex& at(std::int64_t i, std::int64_t j) { return elements_[i * (n_ | 1) + j]; }

    /// Whether the element left of the diagonal in row k may be taken for 0.
    ZONAL_HOST_DEVICE bool is_small(std::int64_t k) {
        constexpr double eps = 0x1p-53;
        double size = magnitude(at(k, k)) + magnitude(at(k - 1, k - 1));
        if (size == 0) size = magnitude(at(k - 1, k));
        return magnitude(at(k, k - 1)) <= eps * size;
    }

    /// The eigenvalue of the last two rows and columns that is nearer to the last element (Wilkinson); now
    /// and then another, as there are matrices that would be left as they are.
    ZONAL_HOST_DEVICE Complex shift(std::int64_t last, int step) {
        const Complex corner = at(last, last);
        if (step % 10 == 0) return corner + Complex{magnitude(at(last, last - 1)), 0};
        const Complex product = at(last - 1, last) * at(last, last - 1);
        const Complex half = 0.5 * (at(last - 1, last - 1) - corner),
                      root = square_root(half * half + product);
        const Complex one = half + root, other = half - root;
        const Complex larger = magnitude(one) > magnitude(other) ? one : other;
        if (magnitude(larger) == 0) return corner;
        return corner - product * reciprocal(larger);
    }

    /// H - shift = Q R becomes R Q + shift in rows and columns first .. last. Columns follow two rotations
    /// behind the rows, so that a team need not meet between the two.
    ZONAL_HOST_DEVICE void qr_step(std::int64_t first, std::int64_t last, Complex shift) {
        team_.meet();
        add_to_diagonal(first, last, Complex{} - shift);
        Rotation now, before, two_before;
        for (std::int64_t k = first; k <= last + 1; ++k) {
            two_before = before, before = now;
            if (k < last) now = Rotation::of(at(k, k), at(k + 1, k));
            team_.meet();
            if (k < last)
                for (std::int64_t j = k + team_.rank(); j <= last; j += team_.size())
                    now.apply(at(k, j), at(k + 1, j));
            if (k >= first + 2) {
                const Rotation columns = two_before.of_columns();
                for (std::int64_t i = first + team_.rank(); i < k; i += team_.size())
                    columns.apply(at(i, k - 2), at(i, k - 1));
            }
            team_.meet();
        }
        add_to_diagonal(first, last, shift);
    }
    ZONAL_HOST_DEVICE void add_to_diagonal(std::int64_t first, std::int64_t last, Complex value) {
        for (std::int64_t k = first + team_.rank(); k <= last; k += team_.size()) at(k, k) = at(k, k) + value;
        team_.meet();
    }

    Team team_;
    Complex* elements_;
    std::int64_t n_;
};

}  // namespace zonal::chebyshev
