#include "split/tail_fits.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/dense_matrix.hpp"
#include "core/threads/abandonable.hpp"
#include "split/split_progress.hpp"

namespace zonal::split {
namespace {

using Matrix = Eigen::MatrixXd;

/// Rows of a block: a solution factorises up to this many beside R, the preparation R once for every block.
constexpr std::int64_t block_rows = 128;

/// R of the QR decomposition of [above; below], as many rows as columns or fewer.
Matrix triangle_of(const Matrix& above, const Matrix& below) {
    Matrix stacked(above.rows() + below.rows(), below.cols());
    stacked << above, below;
    const auto n = stacked.cols();
    return core::abandonable(n, [stacked = std::move(stacked)]() mutable -> Matrix {
        const Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(stacked);
        const auto rows = std::min(stacked.rows(), stacked.cols());
        return stacked.topRows(rows).triangularView<Eigen::Upper>();
    });
}

}  // namespace

struct TailFits::Factors {
    Matrix rows;                    ///< [l, unknowns, then the target]
    std::vector<Matrix> triangles;  ///< of the rows from block b on; empty behind the last

    /// Triangle of the rows from l = first on.
    Matrix triangle(std::int64_t first) const {
        const auto b = first / block_rows;
        if (b * block_rows == first) return triangles[b];
        const auto end = std::min<std::int64_t>((b + 1) * block_rows, rows.rows());
        return triangle_of(triangles[b + 1], rows.middleRows(first, end - first));
    }
};

TailFits::TailFits(View<const double, 2> rows, View<const double, 1> target, const Progress& progress) {
    auto factors = std::make_unique<Factors>();
    const auto n_rows = rows.extent(0), n_unknowns = rows.extent(1);
    factors->rows.resize(n_rows, n_unknowns + 1);
    for (std::int64_t l = 0; l < n_rows; ++l) {
        for (std::int64_t c = 0; c < n_unknowns; ++c) factors->rows(l, c) = rows(l, c);
        factors->rows(l, n_unknowns) = target[l];
    }
    const auto n_blocks = (n_rows + block_rows - 1) / block_rows;
    factors->triangles.assign(n_blocks + 1, Matrix(0, n_unknowns + 1));
    for (auto b = n_blocks - 1; b >= 0; --b) {
        report(progress, static_cast<double>(n_blocks - 1 - b) / static_cast<double>(n_blocks));
        const auto first = b * block_rows, count = std::min(block_rows, n_rows - first);
        factors->triangles[b] =
            triangle_of(factors->triangles[b + 1], factors->rows.middleRows(first, count));
    }
    factors_ = std::move(factors);
}

double TailFits::bytes(std::int64_t n_rows, std::int64_t n_unknowns, int n_solutions) {
    const auto columns = static_cast<double>(n_unknowns + 1);
    double values = static_cast<double>(n_rows) * columns;
    for (std::int64_t first = 0; first < n_rows; first += block_rows)
        values += static_cast<double>(std::min(n_rows - first, n_unknowns + 1)) * columns;
    // A block is factorised beside its triangle; a solution has a triangle, a copy of it, and what the
    // decomposition needs.
    const double block = 2 * columns + block_rows, solution = 10 * columns;
    return sizeof(double) * (values + columns * std::max(block, n_solutions * solution));
}

TailFits::~TailFits() = default;
TailFits::TailFits(TailFits&&) noexcept = default;
TailFits& TailFits::operator=(TailFits&&) noexcept = default;

TailFits::Solution TailFits::solve(std::int64_t l_cut, double cutoff) const {
    const Matrix triangle = factors_->triangle(l_cut + 1);
    const auto n = triangle.cols() - 1;
    const auto [u, sigma, v] =
        core::abandonable(n, [a = Matrix(triangle.leftCols(n))] { return dense_svd(a); });
    const auto rank = (sigma.array() > cutoff * sigma[0]).count();
    const Eigen::VectorXd target = triangle.col(n);
    const Eigen::VectorXd x =
        v.leftCols(rank) * (u.leftCols(rank).transpose() * target).cwiseQuotient(sigma.head(rank));
    return {{x.begin(), x.end()}, static_cast<int>(rank)};
}

}  // namespace zonal::split
