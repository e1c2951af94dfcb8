#pragma once

#include <cstdint>
#include <functional>

#include "zonal/view.hpp"

namespace zonal::masked {

/// Fills row [lmax + 1], l', of a block of a covariance for a degree l.
using BlockRow = std::function<void(std::int64_t l, double* row)>;

/// Where blocks of the covariance of pseudo-spectra go.
class CovarianceSink {
  public:
    CovarianceSink() = default;
    CovarianceSink(const CovarianceSink&) = delete;
    CovarianceSink& operator=(const CovarianceSink&) = delete;
    virtual ~CovarianceSink() = default;
    /// Adds block (i, j), i <= j, and the transposed one. rows: for l from 0 to last_l, called from any
    /// thread.
    virtual void add(int i, int j, std::int64_t last_l, const BlockRow& rows) = 0;
};

/// The whole of it: [spectrum, lmax + 1, spectrum, lmax + 1].
class WholeCovariance final : public CovarianceSink {
  public:
    WholeCovariance(View<double, 4> covariance, int threads);
    void add(int i, int j, std::int64_t last_l, const BlockRow& rows) override;

  private:
    View<double, 4> covariance_;
    int threads_;
};

/// W Cov W^T.
class ValueCovariance final : public CovarianceSink {
  public:
    /// values: W, [value, spectrum, lmax + 1].
    ValueCovariance(View<const double, 3> values, View<double, 2> covariance, int threads);
    void add(int i, int j, std::int64_t last_l, const BlockRow& rows) override;

  private:
    View<const double, 3> values_;
    View<double, 2> covariance_;
    int threads_;
};

}  // namespace zonal::masked
