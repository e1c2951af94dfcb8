#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/progress.hpp"
#include "zonal/view.hpp"

namespace zonal::split {

/// The least-squares problems min |A x - y| over the rows l > l_cut of one A and y, for any l_cut.
///
/// They share their factorisations: with R_b from A = Q R of the rows from block b on, made from the last
/// block upwards, the rows above l_cut are R_{b+1} and the rest of one block.
class TailFits {
  public:
    struct Solution {
        std::vector<double> x;
        int rank;  ///< singular values that are kept
    };

    /// rows: [l, unknown], target: [l], both weighted. Throws Cancelled.
    TailFits(View<const double, 2> rows, View<const double, 1> target, const Progress& progress = {});
    ~TailFits();
    TailFits(TailFits&&) noexcept;
    TailFits& operator=(TailFits&&) noexcept;

    /// The memory that it takes to make, and what it keeps with n_solutions at a time.
    static double bytes(std::int64_t n_rows, std::int64_t n_unknowns, int n_solutions);

    /// By the singular value decomposition, without the singular values below cutoff times the largest.
    Solution solve(std::int64_t l_cut, double cutoff) const;

  private:
    struct Factors;
    std::unique_ptr<const Factors> factors_;
};

}  // namespace zonal::split
