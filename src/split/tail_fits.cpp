#include "split/tail_fits.hpp"

#include <algorithm>
#include <utility>

#include "core/dense_matrix.hpp"
#include "core/threads/abandonable.hpp"
#include "split/split_progress.hpp"

namespace zonal::split {
namespace {

using Matrix = Eigen::MatrixXd;

/// Rows of a block: a solution factorises up to this many beside R, the preparation R once for every block.
constexpr std::int64_t block_rows = 128;

/// R of the QR decomposition of [above; below]. above: R of others
Matrix triangle_of(Matrix above, Matrix below) {
    const std::int64_t n = above.cols();
    return core::abandonable(n, [above = std::move(above), below = std::move(below)]() mutable {
        add_rows_to_triangle(above, below);
        return std::move(above);
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
    factors->triangles.resize(n_blocks + 1);
    factors->triangles.back() = Matrix::Zero(n_unknowns + 1, n_unknowns + 1);
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
    const std::int64_t whole_blocks = (n_rows + block_rows - 1) / block_rows;
    const auto n_blocks = static_cast<double>(whole_blocks);
    const double values = (static_cast<double>(n_rows) + (n_blocks + 1) * columns) * columns;
    // A block is factorised beside its triangle. A solution has a triangle, a copy of it, and what its
    // decomposition takes.
    const double block = columns + block_rows, solution = 8 * columns;
    return sizeof(double) * (values + columns * std::max(block, n_solutions * solution));
}

TailFits::~TailFits() = default;
TailFits::TailFits(TailFits&&) noexcept = default;
TailFits& TailFits::operator=(TailFits&&) noexcept = default;

TailFits::Solution TailFits::solve(std::int64_t l_cut, double cutoff) const {
    const Matrix triangle = factors_->triangle(l_cut + 1);
    const auto n = triangle.cols() - 1;
    const auto solution =
        core::abandonable(n, [a = Matrix(triangle.topLeftCorner(n, n).triangularView<Eigen::Upper>()),
                              b = Eigen::VectorXd(triangle.col(n).head(n)),
                              cutoff] { return truncated_solution(a, b, cutoff); });
    return {{solution.x.begin(), solution.x.end()}, solution.rank};
}

}  // namespace zonal::split
