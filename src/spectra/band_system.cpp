#include "spectra/band_system.hpp"

#include <fmt/core.h>

#include <Eigen/LU>
#include <cmath>

#include "zonal/error.hpp"

namespace zonal::bands {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The largest singular value by power iteration. Its error falls at least as 1 over their number, whatever
/// the spectrum is; what it is for is a number's magnitude.
double largest_singular_value(const MatrixXd& a) {
    constexpr int most = 300;
    constexpr double enough = 1e-4;
    const Index n = a.rows();
    VectorXd x(n);
    // No eigenvector of a matrix that somebody makes should be at right angles to it.
    for (Index i = 0; i < n; ++i) x(i) = 1 + 0.5 * std::sin(1.7 * static_cast<double>(i) + 0.3);
    double value = 0;
    for (int iteration = 0; iteration < most; ++iteration) {
        const double norm = x.norm();
        if (norm == 0 || !std::isfinite(norm)) return norm;
        const VectorXd image = a * (x / norm);
        const double found = image.norm();
        const bool is_done = std::abs(found - value) <= enough * found;
        value = found;
        if (is_done && iteration > 8) break;
        x = a.transpose() * image;
    }
    return value;
}

}  // namespace

BandSystem::BandSystem(const Bins& bins, const RowMatrix& matrix, const std::vector<double>& transfer,
                       std::int64_t n_low)
    : bins_(bins), n_low_(n_low) {
    const Index n = static_cast<Index>(n_low + bins.size()), n_sky = matrix.cols();
    const Eigen::Map<const Eigen::RowVectorXd> of_degrees(transfer.data(), n_sky);
    binned_ = RowMatrix::Zero(n, n_sky);
    // F_l and the transfer in the middle of a band: what K would be scaled by if they were constant there.
    VectorXd factors = VectorXd::Ones(n), transfers(n);
    for (Index low = 0; low < n_low; ++low) {
        binned_.row(low) = matrix.row(low);
        const double t = transfer[static_cast<std::size_t>(low)];
        transfers(low) = t == 0 ? 1 : t;  // K is singular where it is 0
    }
    for (std::int64_t b = 0; b < bins.size(); ++b) {
        const Band& band = bins.bands()[static_cast<std::size_t>(b)];
        const Index row = static_cast<Index>(n_low + b);
        double factor = 0, square = 0;
        for (std::int64_t l = band.first; l <= band.last(); ++l) {
            const double weight = band.weights[static_cast<std::size_t>(l - band.first)];
            const double t = transfer[static_cast<std::size_t>(l)];
            binned_.row(row) += weight * bins.factor(l) * matrix.row(static_cast<Index>(l));
            factor += weight * bins.factor(l);
            square += weight * t * t;
        }
        factors(row) = factor;
        transfers(row) = std::sqrt(square);
        if (!(transfers(row) > 0))
            throw InvalidArgument(
                "beam", fmt::format("is 0 for all degrees of band {} (l = {} to {}): leave out the band", b,
                                    band.first, band.last()));
    }
    binned_ = binned_.array().rowwise() * of_degrees.array();
    MatrixXd k(n, n);
    for (Index low = 0; low < n_low; ++low) k.col(low) = binned_.col(low);
    for (std::int64_t b = 0; b < bins.size(); ++b) {
        const Band& band = bins.bands()[static_cast<std::size_t>(b)];
        VectorXd sum = VectorXd::Zero(n);
        for (std::int64_t l = band.first; l <= band.last(); ++l)
            sum += binned_.col(static_cast<Index>(l)) / bins.factor(l);
        k.col(static_cast<Index>(n_low + b)) = sum;
    }
    const VectorXd columns = (factors.array() / transfers.array()).matrix();
    k = factors.cwiseInverse().asDiagonal() * k * columns.asDiagonal();
    largest_ = largest_singular_value(k);
    const MatrixXd inverse = k.partialPivLu().inverse();
    if (!(largest_ > 0) || !inverse.allFinite()) return;  // smallest_ is 0
    smallest_ = 1 / largest_singular_value(inverse);
    inverse_ = columns.asDiagonal() * inverse * factors.cwiseInverse().asDiagonal();
}

RowMatrix BandSystem::decoupling() const {
    const Index n_bands = static_cast<Index>(bins_.size());
    RowMatrix result = RowMatrix::Zero(n_bands, static_cast<Index>(bins_.lmax() + 1));
    const auto rows = inverse_.bottomRows(n_bands);
    result.leftCols(static_cast<Index>(n_low_)) = rows.leftCols(static_cast<Index>(n_low_));
    for (std::int64_t b = 0; b < bins_.size(); ++b) {
        const Band& band = bins_.bands()[static_cast<std::size_t>(b)];
        for (std::int64_t l = band.first; l <= band.last(); ++l)
            result.col(static_cast<Index>(l)) = band.weights[static_cast<std::size_t>(l - band.first)] *
                                                bins_.factor(l) * rows.col(static_cast<Index>(n_low_ + b));
    }
    return result;
}

RowMatrix BandSystem::windows() const {
    return inverse_.bottomRows(static_cast<Index>(bins_.size())) * binned_;
}

}  // namespace zonal::bands
