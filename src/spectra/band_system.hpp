#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "zonal/spectra/bins.hpp"
#include "zonal/view.hpp"

namespace zonal::bands {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// One kind of spectra that no other mixes with: P = K^-1 B C~, where C~ has the mean M C.
class BandSystem {
  public:
    /// matrix: M without transfer, [lmax_sky + 1, lmax_sky + 1], of which rows up to the bins' lmax are used.
    /// transfer: [lmax_sky + 1], which multiplies the columns of M. n_low: degrees from 0 on that have bands
    /// of their own.
    BandSystem(const Bins& bins, const RowMatrix& matrix, const std::vector<double>& transfer,
               std::int64_t n_low);

    /// Singular values of K with its rows and columns in one scale. The smallest is 0 where K is singular.
    double largest() const { return largest_; }
    double smallest() const { return smallest_; }

    /// K^-1 B, [band, l], and K^-1 B M, [band, l']: without the low degrees' own.
    RowMatrix decoupling() const;
    RowMatrix windows() const;

  private:
    Bins bins_;
    std::int64_t n_low_;
    RowMatrix binned_;   ///< B M
    RowMatrix inverse_;  ///< K^-1
    double largest_ = 0, smallest_ = 0;
};

}  // namespace zonal::bands
