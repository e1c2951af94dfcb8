#include "gwrm/time_basis.hpp"

#include <fmt/core.h>

#include <Eigen/LU>

#include "core/dense_matrix.hpp"
#include "core/threads/abandonable.hpp"
#include "gwrm/shape.hpp"
#include "zonal/error.hpp"

namespace zonal::gwrm {
namespace {

using Matrix = Eigen::MatrixXd;
using Complex = std::complex<double>;
using ComplexMatrix = Eigen::MatrixXcd;

/// V's condition is 5e8 with 21 modes and 2e10 with 25, 3e13 with 33: as a preconditioner it need not be
/// exact.
constexpr std::int64_t most_diagonal_modes = 25;

TimeBasis::Numbers numbers_of(const ComplexMatrix& matrix) {
    return {matrix.data(), matrix.data() + matrix.size()};
}

[[noreturn]] void fail_to_converge(Eigen::Index n_modes) {
    throw Error(fmt::format("the eigenvalues of the integral over {} time modes did not converge", n_modes));
}

/// A column each, of a matrix of single eigenvalues. All from one Schur form: they err as those of one
/// matrix, which their inverse would magnify otherwise.
ComplexMatrix eigenvectors(const RealSchur& schur) {
    const auto& t = schur.triangle;
    const auto n = t.rows();
    ComplexMatrix vectors = ComplexMatrix::Zero(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
        const auto value = schur.values[static_cast<std::size_t>(j)];
        if (value.imag() < 0) {
            vectors.col(j) = vectors.col(j - 1).conjugate();
            continue;
        }
        auto x = vectors.col(j);
        x[j] = 1;
        if (value.imag() > 0) x[j + 1] = (value - t(j, j)) / t(j, j + 1);
        const auto size = value.imag() > 0 ? 2 : 1;
        if (j == 0) continue;
        ComplexMatrix above = t.topLeftCorner(j, j).cast<Complex>();
        above.diagonal().array() -= value;
        x.head(j) = above.partialPivLu().solve(-(t.block(0, j, j, size) * x.segment(j, size)));
    }
    vectors.colwise().normalize();
    return schur.orthogonal * vectors;
}

void make_diagonal(const Matrix& integral, TimeBasis& basis) {
    const auto schur = hessenberg_schur(integral, true);
    if (!schur.converged) fail_to_converge(integral.rows());
    const auto& values = schur.values;
    const auto v = eigenvectors(schur);
    const ComplexMatrix inverse = v.partialPivLu().inverse();
    std::vector<std::size_t> kept;
    for (std::size_t j = 0; j < values.size(); ++j)
        if (values[j].imag() >= 0) kept.push_back(j);
    const auto n = static_cast<Eigen::Index>(kept.size());
    ComplexMatrix to(v.rows(), n), from(n, v.rows());
    for (Eigen::Index i = 0; i < n; ++i) {
        const auto k = kept[static_cast<std::size_t>(i)];
        const auto j = static_cast<Eigen::Index>(k);
        const bool is_pair = values[k].imag() > 0;
        // Rounding makes the rows of a pair less conjugate than their sum is right.
        to.col(i) = (inverse.row(j) + inverse.row(is_pair ? j + 1 : j).conjugate()).transpose() / 2;
        from.row(i) = (is_pair ? 2 : 1) * v.col(j).transpose();
        basis.triangle.push_back(values[k]);
    }
    basis.n_systems = n;
    basis.to = numbers_of(to);
    basis.from = numbers_of(from);
}

void make_triangular(const Matrix& integral, TimeBasis& basis) {
    const auto schur = core::abandonable(integral.rows(), [matrix = ComplexMatrix(integral.cast<Complex>())] {
        return hessenberg_schur(matrix, true);
    });
    if (!schur.converged) fail_to_converge(integral.rows());
    basis.n_systems = basis.n_modes;
    basis.to = numbers_of(schur.unitary.conjugate());
    basis.from = numbers_of(schur.unitary.transpose());
    basis.triangle = numbers_of(schur.triangle);
}

}  // namespace

TimeBasis::TimeBasis(std::int64_t n_modes, HighestMode mode)
    : n_modes(n_modes), is_diagonal(n_modes <= most_diagonal_modes) {
    const auto integral = time_integral_matrix(n_modes, mode);
    const Eigen::Map<const Matrix> matrix(integral.data(), n_modes, n_modes);
    if (is_diagonal)
        make_diagonal(matrix, *this);
    else
        make_triangular(matrix, *this);
}

std::vector<double> time_integral_matrix(std::int64_t n, HighestMode mode) {
    std::vector<double> units(static_cast<std::size_t>(n * n)), matrix(units.size());
    for (std::int64_t k = 0; k < n; ++k) units[static_cast<std::size_t>(k * n + k)] = 1;
    Shape shape;
    shape.extents = {n, 1, 1};
    chebyshev::integrate<double>(shape.blocks(std::as_const(units).data(), n), 0, 1.0, mode,
                                 shape.blocks(matrix.data(), n));
    return matrix;
}

}  // namespace zonal::gwrm
