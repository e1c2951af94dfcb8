#pragma once

#include <cstdint>
#include <vector>

#include "gwrm/root.hpp"
#include "gwrm/system.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::gwrm {

/// Estimates the error of a chain of intervals by one Newton step on a finer box in each of them. The step
/// begins at the solution, and at the better initial value to which the steps before have led: error = F'^-1
/// F. So errors go from one interval to the next as the equations carry them.
class ErrorEstimate {
  public:
    ErrorEstimate(const Problem& problem, const Shape& shape, const SolveOptions& options, Backend& backend);

    /// The largest error of each field at the end of the next interval, whose solution is a. Infinite from
    /// the first interval on for which the step cannot be found.
    std::vector<double> after(Interval time, const double* a);

  private:
    std::vector<double> largest_values(const Vector& a);
    std::vector<double> with_uncertainty(std::vector<double> errors);

    Backend& backend_;
    Shape shape_;
    System system_;
    RootSolver solver_;
    Vector u0_, start_, residual_, error_, end_error_;
    std::vector<double> scales_;  ///< [field], the largest value at the end of an interval so far
    int intervals_ = 0;
    bool lost_ = false;
};

}  // namespace zonal::gwrm
