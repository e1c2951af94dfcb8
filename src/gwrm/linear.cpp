#include "gwrm/linear.hpp"

#include <fmt/format.h>

#include <Eigen/Jacobi>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dense_eigen.hpp"
#include "zonal/error.hpp"

namespace zonal::gwrm {
namespace {

using Matrix = Eigen::MatrixXd;
using ComplexMatrix = Eigen::MatrixXcd;
using Vector = Eigen::VectorXd;

/// Below so many roundings of the largest pivot a pivot is taken for 0.
constexpr double smallest_pivot = 1e-3 * std::numeric_limits<double>::epsilon();

template <class Lu>
bool has_small_pivot(const Lu& lu) {
    const auto pivots = lu.matrixLU().diagonal().cwiseAbs().eval();
    return pivots.size() > 0 && !(pivots.minCoeff() > smallest_pivot * pivots.maxCoeff());
}

}  // namespace

struct DenseInverse::Factors {
    Eigen::PartialPivLU<Matrix> lu;
};

DenseInverse::DenseInverse(System& system) {
    const auto& shape = system.shape();
    const auto n = shape.size(), per_field = shape.per_field();
    std::vector<double> units(static_cast<std::size_t>(n * n)), images(units.size());
    const auto place = [&](std::int64_t vector, std::int64_t i) {
        return static_cast<std::size_t>((i / per_field * n + vector) * per_field + i % per_field);
    };
    for (std::int64_t i = 0; i < n; ++i) units[place(i, i)] = 1;
    system.apply_jacobian(units.data(), n, images.data());
    Matrix matrix(n, n);
    for (std::int64_t vector = 0; vector < n; ++vector)
        for (std::int64_t i = 0; i < n; ++i) matrix(i, vector) = images[place(vector, i)];
    factors_ = std::make_unique<Factors>(Factors{Eigen::PartialPivLU<Matrix>(matrix)});
}

DenseInverse::~DenseInverse() = default;

bool DenseInverse::is_singular() const {
    return has_small_pivot(factors_->lu);
}

void DenseInverse::solve(const std::vector<double>& b, std::vector<double>& x) const {
    const auto n = static_cast<Eigen::Index>(b.size());
    x.resize(b.size());
    Eigen::Map<Vector>(x.data(), n) = factors_->lu.solve(Eigen::Map<const Vector>(b.data(), n));
}

/// Y = R to, solved column by column, and X = Re(Y from).
struct TimeBasis::Factors {
    ComplexMatrix to, from;
    ComplexMatrix triangle;  ///< L as a column, or T
    bool is_diagonal;

    std::complex<double> eigenvalue(Eigen::Index j) const {
        return is_diagonal ? triangle(j, 0) : triangle(j, j);
    }
};

namespace {

/// V's condition is 5e8 with 21 modes and 2e10 with 25, 3e13 with 33: as a preconditioner it need not be
/// exact.
constexpr std::int64_t most_diagonal_modes = 25;

[[noreturn]] void fail_to_converge(Eigen::Index n_modes) {
    throw Error(fmt::format("the eigenvalues of the integral over {} time modes did not converge", n_modes));
}

TimeBasis::Factors diagonal_basis(const Matrix& integral) {
    const auto [converged, values, v] = real_eigen(integral, true);
    if (!converged) fail_to_converge(integral.rows());
    const ComplexMatrix inverse = v.partialPivLu().inverse();
    std::vector<Eigen::Index> kept;
    for (Eigen::Index j = 0; j < v.cols(); ++j)
        if (values[j].imag() >= 0) kept.push_back(j);
    const auto n = static_cast<Eigen::Index>(kept.size());
    TimeBasis::Factors factors{ComplexMatrix(v.rows(), n), ComplexMatrix(n, v.rows()), ComplexMatrix(n, 1),
                               true};
    for (Eigen::Index i = 0; i < n; ++i) {
        const auto j = kept[static_cast<std::size_t>(i)];
        const double count = values[j].imag() > 0 ? 2 : 1;
        factors.to.col(i) = inverse.row(j).transpose();
        factors.from.row(i) = count * v.col(j).transpose();
        factors.triangle(i, 0) = values[j];
    }
    return factors;
}

TimeBasis::Factors triangular_basis(const Matrix& integral) {
    const auto schur = complex_schur(integral.cast<std::complex<double>>(), true);
    if (!schur.converged) fail_to_converge(integral.rows());
    return {schur.unitary.conjugate(), schur.unitary.transpose(), schur.triangle, false};
}

}  // namespace

TimeBasis::TimeBasis(std::int64_t n_modes, HighestMode mode) {
    const auto integral = time_integral_matrix(n_modes, mode);
    const Eigen::Map<const Matrix> matrix(integral.data(), n_modes, n_modes);
    factors_ = std::make_unique<const Factors>(n_modes <= most_diagonal_modes ? diagonal_basis(matrix)
                                                                              : triangular_basis(matrix));
}

TimeBasis::~TimeBasis() = default;

struct FrozenInverse::Factors {
    Shape shape;
    const TimeBasis::Factors* basis;
    double half_width;
    Matrix integrated;                                   ///< M; empty where the basis is diagonal
    std::vector<Eigen::PartialPivLU<ComplexMatrix>> lu;  ///< of B - lambda M

    /// Position of time mode 0 of a spatial unknown.
    std::int64_t offset(std::int64_t s) const {
        return s / shape.spatial_block() * shape.block() + s % shape.spatial_block();
    }
    /// Of a triangular basis: what the columns behind k give to it.
    void add_columns_behind(Eigen::Index k, ComplexMatrix& y) const {
        const auto behind = y.cols() - 1 - k;
        if (basis->is_diagonal || behind == 0) return;
        const Eigen::VectorXcd sum =
            half_width * (y.rightCols(behind) * basis->triangle.row(k).tail(behind).transpose());
        y.col(k) += integrated * sum;
    }
};

FrozenInverse::FrozenInverse(System& system, const TimeBasis& basis, const double* a) {
    factors_ = std::make_unique<Factors>();
    auto& f = *factors_;
    f.shape = system.shape();
    f.basis = &basis.factors();
    f.half_width = system.time().half_width();
    const auto n = f.shape.spatial();
    std::vector<double> constant, integrated;
    system.frozen_matrices(a, constant, integrated);
    const Eigen::Map<const Matrix> b(constant.data(), n, n), m(integrated.data(), n, n);
    if (!f.basis->is_diagonal) f.integrated = m;
    const auto n_systems = f.basis->to.cols();
    f.lu.reserve(static_cast<std::size_t>(n_systems));
    ComplexMatrix matrix(n, n);
    for (Eigen::Index j = 0; j < n_systems; ++j) {
        const auto lambda = f.half_width * f.basis->eigenvalue(j);
        matrix.real() = b - lambda.real() * m;
        matrix.imag() = -lambda.imag() * m;
        f.lu.emplace_back(matrix);
    }
}

FrozenInverse::~FrozenInverse() = default;
FrozenInverse::FrozenInverse(FrozenInverse&&) noexcept = default;
FrozenInverse& FrozenInverse::operator=(FrozenInverse&&) noexcept = default;

bool FrozenInverse::is_singular() const {
    for (const auto& lu : factors_->lu)
        if (has_small_pivot(lu)) return true;
    return false;
}

void FrozenInverse::solve(const std::vector<double>& b, std::vector<double>& x) const {
    const auto& f = *factors_;
    const auto n = f.shape.spatial(), n_modes = f.shape.extents[0], stride = f.shape.spatial_block();
    Matrix right(n, n_modes);
    for (std::int64_t s = 0; s < n; ++s)
        for (std::int64_t k = 0; k < n_modes; ++k)
            right(s, k) = b[static_cast<std::size_t>(f.offset(s) + k * stride)];
    const auto& to = f.basis->to;
    ComplexMatrix y(n, to.cols());
    y.real() = right * to.real();
    y.imag() = right * to.imag();
    for (auto k = y.cols() - 1; k >= 0; --k) {
        f.add_columns_behind(k, y);
        y.col(k) = f.lu[static_cast<std::size_t>(k)].solve(y.col(k)).eval();
    }
    const auto& from = f.basis->from;
    right = y.real() * from.real() - y.imag() * from.imag();
    x.resize(b.size());
    for (std::int64_t s = 0; s < n; ++s)
        for (std::int64_t k = 0; k < n_modes; ++k)
            x[static_cast<std::size_t>(f.offset(s) + k * stride)] = right(s, k);
}

GmresResult gmres(const LinearMap& a, const LinearMap& preconditioner, const std::vector<double>& b,
                  double tolerance, int max_iterations, std::vector<double>& x) {
    const auto n = static_cast<Eigen::Index>(b.size());
    const auto vector = [n](const std::vector<double>& v) { return Eigen::Map<const Vector>(v.data(), n); };
    std::vector<double> image, next;
    preconditioner(b, next);
    const double norm = vector(next).norm();
    x.assign(b.size(), 0.0);
    if (norm == 0 || !std::isfinite(norm)) return {0, norm == 0 ? 0 : norm};
    // Room for as many steps as are mostly needed; more when they are.
    Eigen::Index room = std::min(max_iterations, 12);
    Matrix basis(n, room + 1), hessenberg = Matrix::Zero(room + 1, room);
    Vector g = Vector::Zero(max_iterations + 1);
    std::vector<Eigen::JacobiRotation<double>> rotations(static_cast<std::size_t>(max_iterations));
    basis.col(0) = vector(next) / norm;
    g[0] = norm;
    std::vector<double> direction(b.size());
    int j = 0;
    while (j < max_iterations && std::abs(g[j]) > tolerance * norm) {
        if (j == room) {
            room = std::min<Eigen::Index>(max_iterations, 2 * room);
            basis.conservativeResize(n, room + 1);
            hessenberg.conservativeResizeLike(Matrix::Zero(room + 1, room));
        }
        Eigen::Map<Vector>(direction.data(), n) = basis.col(j);
        a(direction, image);
        preconditioner(image, next);
        Vector w = vector(next);
        // Gram-Schmidt twice: once loses orthogonality.
        for (int pass = 0; pass < 2; ++pass) {
            const Vector part = basis.leftCols(j + 1).transpose() * w;
            w -= basis.leftCols(j + 1) * part;
            hessenberg.col(j).head(j + 1) += part;
        }
        hessenberg(j + 1, j) = w.norm();
        if (!std::isfinite(hessenberg(j + 1, j))) return {j, std::numeric_limits<double>::infinity()};
        if (hessenberg(j + 1, j) > 0) basis.col(j + 1) = w / hessenberg(j + 1, j);
        for (int i = 0; i < j; ++i)
            hessenberg.col(j).applyOnTheLeft(i, i + 1, rotations[static_cast<std::size_t>(i)].adjoint());
        auto& rotation = rotations[static_cast<std::size_t>(j)];
        rotation.makeGivens(hessenberg(j, j), hessenberg(j + 1, j));
        hessenberg.col(j).applyOnTheLeft(j, j + 1, rotation.adjoint());
        g.applyOnTheLeft(j, j + 1, rotation.adjoint());
        ++j;
    }
    const Vector y = hessenberg.topLeftCorner(j, j).triangularView<Eigen::Upper>().solve(g.head(j));
    Eigen::Map<Vector>(x.data(), n) = basis.leftCols(j) * y;
    return {j, std::abs(g[j]) / norm};
}

}  // namespace zonal::gwrm
