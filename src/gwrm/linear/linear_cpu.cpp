#include "gwrm/linear/inverses.hpp"

#include <Eigen/LU>
#include <complex>
#include <vector>

#include "core/interruption.hpp"
#include "gwrm/time_basis.hpp"

namespace zonal::gwrm {
namespace {

using Matrix = Eigen::MatrixXd;
using ComplexMatrix = Eigen::MatrixXcd;

template <class Lu>
bool is_singular_lu(const Lu& lu) {
    const auto pivots = lu.matrixLU().diagonal().cwiseAbs().eval();
    return pivots.size() > 0 && has_small_pivot(pivots.minCoeff(), pivots.maxCoeff());
}

Matrix matrix_of(const VectorPlaces& place, const double* columns) {
    Matrix matrix(place.n, place.n);
    for (std::int64_t vector = 0; vector < place.n; ++vector)
        for (std::int64_t i = 0; i < place.n; ++i) matrix(i, vector) = columns[place(vector, i)];
    return matrix;
}

/// LU factors.
class DenseInverse final : public Inverse {
  public:
    DenseInverse(const VectorPlaces& place, const double* columns) : lu_(matrix_of(place, columns)) {}

    bool is_singular() const override { return is_singular_lu(lu_); }
    void solve(const double* b, double* x) override {
        Eigen::Map<Eigen::VectorXd>(x, lu_.rows()) =
            lu_.solve(Eigen::Map<const Eigen::VectorXd>(b, lu_.rows()));
    }

  private:
    Eigen::PartialPivLU<Matrix> lu_;
};

/// LU factors of B - lambda M.
class FrozenInverse final : public Inverse {
  public:
    FrozenInverse(const Shape& shape, const TimeBasis& basis, double half_width, const double* constant,
                  const double* integrated)
        : shape_(shape), basis_(basis), half_width_(half_width) {
        const auto n = shape.spatial();
        const VectorPlaces place{n, n / shape.n_fields};
        const auto b = matrix_of(place, constant);
        auto m = matrix_of(place, integrated);
        lu_.reserve(static_cast<std::size_t>(basis.n_systems));
        ComplexMatrix matrix(n, n);
        const core::InterruptionPoll poll;
        for (std::int64_t j = 0; j < basis.n_systems; ++j) {
            poll();
            const auto lambda = half_width * basis.eigenvalue(j);
            matrix.real() = b - lambda.real() * m;
            matrix.imag() = -lambda.imag() * m;
            lu_.emplace_back(matrix);
        }
        if (!basis.is_diagonal) integrated_ = std::move(m);
    }

    bool is_singular() const override {
        for (const auto& lu : lu_)
            if (is_singular_lu(lu)) return true;
        return false;
    }

    void solve(const double* b, double* x) override {
        const auto n = shape_.spatial(), n_modes = shape_.extents[0];
        const TimeSeries series{shape_.spatial_block(), shape_.block()};
        Matrix right(n, n_modes);
        for (std::int64_t s = 0; s < n; ++s)
            for (std::int64_t k = 0; k < n_modes; ++k) right(s, k) = b[series(s, k)];
        const Numbers to(basis_.to.data(), n_modes, basis_.n_systems);
        ComplexMatrix y(n, to.cols());
        y.real() = right * to.real();
        y.imag() = right * to.imag();
        for (auto k = y.cols() - 1; k >= 0; --k) {
            add_columns_behind(k, y);
            y.col(k) = lu_[static_cast<std::size_t>(k)].solve(y.col(k)).eval();
        }
        const Numbers from(basis_.from.data(), basis_.n_systems, n_modes);
        right = y.real() * from.real() - y.imag() * from.imag();
        for (std::int64_t s = 0; s < n; ++s)
            for (std::int64_t k = 0; k < n_modes; ++k) x[series(s, k)] = right(s, k);
    }

  private:
    using Numbers = Eigen::Map<const ComplexMatrix>;

    /// Adds what the columns behind k give to column k, where the basis is triangular.
    void add_columns_behind(Eigen::Index k, ComplexMatrix& y) const {
        const auto behind = y.cols() - 1 - k;
        if (basis_.is_diagonal || behind == 0) return;
        const Numbers triangle(basis_.triangle.data(), basis_.n_systems, basis_.n_systems);
        const Eigen::VectorXcd sum =
            half_width_ * (y.rightCols(behind) * triangle.row(k).tail(behind).transpose());
        y.col(k) += integrated_ * sum;
    }

    Shape shape_;
    const TimeBasis& basis_;
    double half_width_;
    Matrix integrated_;  ///< M; empty where the basis is diagonal
    std::vector<Eigen::PartialPivLU<ComplexMatrix>> lu_;
};

}  // namespace

std::unique_ptr<Inverse> make_dense_inverse(const VectorPlaces& place, const double* columns) {
    return std::make_unique<DenseInverse>(place, columns);
}

std::unique_ptr<Inverse> make_frozen_inverse(const Shape& shape, const TimeBasis& basis, double half_width,
                                             const double* constant, const double* integrated) {
    return std::make_unique<FrozenInverse>(shape, basis, half_width, constant, integrated);
}

}  // namespace zonal::gwrm
