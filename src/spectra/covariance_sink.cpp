#include "spectra/covariance_sink.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "core/parallel.hpp"

namespace zonal::masked {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows of a block that are made together, for a product of matrices.
constexpr std::int64_t slab = 32;

/// The part of W of one spectrum, without the values that have none of it.
struct Part {
    Part(const View<const double, 3>& values, std::int64_t spectrum) {
        const std::int64_t degrees = values.extent(2);
        for (std::int64_t v = 0; v < values.extent(0); ++v)
            for (std::int64_t l = 0; l < degrees; ++l)
                if (values(v, spectrum, l) != 0) {
                    numbers.push_back(v);
                    break;
                }
        weights.resize(std::ssize(numbers), degrees);
        for (std::int64_t k = 0; k < std::ssize(numbers); ++k)
            for (std::int64_t l = 0; l < degrees; ++l)
                weights(k, l) = values(numbers[static_cast<std::size_t>(k)], spectrum, l);
    }
    std::vector<std::int64_t> numbers;
    Rows weights;  ///< [number, l]
};

}  // namespace

WholeCovariance::WholeCovariance(View<double, 4> covariance, int threads)
    : covariance_(covariance), threads_(core::resolve_threads(threads)) {}

void WholeCovariance::add(int i, int j, std::int64_t last_l, const BlockRow& rows) {
    const std::int64_t degrees = covariance_.extent(1);
    std::vector<std::vector<double>> scratch(static_cast<std::size_t>(threads_));
    core::parallel_for(last_l + 1, threads_, [&](std::int64_t l, int thread) {
        auto& row = scratch[static_cast<std::size_t>(thread)];
        row.assign(static_cast<std::size_t>(degrees), 0.0);
        rows(l, row.data());
        for (std::int64_t p = 0; p < degrees; ++p) {
            const double value = row[static_cast<std::size_t>(p)];
            covariance_(i, l, j, p) += value;
            if (i != j) covariance_(j, p, i, l) += value;
        }
    });
}

ValueCovariance::ValueCovariance(View<const double, 3> values, View<double, 2> covariance, int threads)
    : values_(values), covariance_(covariance), threads_(core::resolve_threads(threads)) {}

void ValueCovariance::add(int i, int j, std::int64_t last_l, const BlockRow& rows) {
    const Part left(values_, i), right(values_, j);
    if (left.numbers.empty() || right.numbers.empty()) return;
    const std::int64_t degrees = values_.extent(2);
    Rows half(last_l + 1, std::ssize(right.numbers));  // Cov W_j^T
    std::vector<Rows> scratch(static_cast<std::size_t>(threads_));
    core::parallel_for((last_l + slab) / slab, threads_, [&](std::int64_t task, int thread) {
        const std::int64_t first = task * slab, n = std::min(slab, last_l + 1 - first);
        auto& block = scratch[static_cast<std::size_t>(thread)];
        block.setZero(n, degrees);
        for (std::int64_t l = 0; l < n; ++l) rows(first + l, block.row(l).data());
        half.middleRows(first, n).noalias() = block * right.weights.transpose();
    });
    core::parallel_for(std::ssize(left.numbers), threads_, [&](std::int64_t v, int) {
        const Eigen::RowVectorXd row = left.weights.row(v).head(last_l + 1) * half;
        for (std::int64_t w = 0; w < row.size(); ++w)
            covariance_(left.numbers[static_cast<std::size_t>(v)],
                        right.numbers[static_cast<std::size_t>(w)]) += row[w];
    });
    if (i == j) return;
    for (std::int64_t w = 0; w < std::ssize(right.numbers); ++w) {
        const Eigen::RowVectorXd row =
            half.col(w).transpose() * left.weights.leftCols(last_l + 1).transpose();
        for (std::int64_t v = 0; v < row.size(); ++v)
            covariance_(right.numbers[static_cast<std::size_t>(w)],
                        left.numbers[static_cast<std::size_t>(v)]) += row[v];
    }
}

}  // namespace zonal::masked
