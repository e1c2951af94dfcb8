#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "zonal/chebyshev.hpp"
#include "zonal/chebyshev/calculus.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"
#include "zonal/gwrm/problem.hpp"
#include "zonal/memory.hpp"
#include "zonal/progress.hpp"

/// The generalized weighted residual method: initial-value problems solved in Chebyshev series in time, space
/// and parameters (Scheffel 2012; docs/how-it-works/gwrm.md).
namespace zonal::gwrm {

/// How the algebraic equations of an interval are solved.
enum class Solver {
    automatic,      ///< newton for few unknowns, else newton_krylov
    newton,         ///< dense Jacobian, LU
    newton_krylov,  ///< GMRES, preconditioned by the linear part
    sir             ///< semi-implicit root solver: damped Newton steps, R = 0.95 halved while it converges
};

/// How a problem is solved.
struct SolveOptions {
    double t0 = 0, t1 = 1;
    std::int64_t time_modes = 12;  ///< the highest Chebyshev mode in time, K
    /// Length of the time intervals. 0 chooses it by the decay of the highest modes and Newton's convergence.
    double interval = 0;
    /// Relative to the largest value of a field. Intervals of automatic length are so short that the highest
    /// modes in time are below it, and the root solver works to a hundredth of it.
    double tolerance = 1e-12;
    HighestMode highest_mode = HighestMode::projection;  ///< or tau
    Solver solver = Solver::automatic;
    int max_iterations = 20;  ///< of the root solver, in each interval; SIR gets eight times as many
    std::int64_t max_intervals = 100'000;
    /// Whether to estimate errors, by one Newton step on a finer box in each interval
    /// (docs/how-it-works/gwrm.md).
    bool estimate_error = true;
    int threads = 1;  ///< of products on the CPU; 0: available_cpus()
    /// Where the coefficients are from the start of an interval to its end. automatic chooses a CUDA device
    /// if one can be used and is the faster one for this number of unknowns, else the CPU.
    Device device = Device::automatic();
    Progress progress;
    /// Told of the memory of the host that linear solves take, before they do.
    MemoryCheck check_memory = require_memory;
};

/// The root solver did not converge, or intervals became too short. The message says where and how.
class NotConverged : public Error {
  public:
    NotConverged(const std::string& message, double t0, double t1, double residual)
        : Error(message), t0_(t0), t1_(t1), residual_(residual) {}
    /// The interval.
    double t0() const { return t0_; }
    double t1() const { return t1_; }
    /// The last one, largest coefficient.
    double residual() const { return residual_; }

  private:
    double t0_, t1_, residual_;
};

/// What solving took.
struct SolveReport {
    std::int64_t intervals = 0;
    std::int64_t rejected = 0;           ///< intervals that had to be shorter
    std::int64_t iterations = 0;         ///< steps of the root solver
    std::int64_t linear_iterations = 0;  ///< of GMRES
    double residual = 0;  ///< largest coefficient of the residual of the solution, over all intervals
    Device device = Device::cpu();  ///< the device that was used
};

/// Series of every field on every time interval.
class Solution {
  public:
    /// One time interval.
    struct Piece {
        Interval time;
        std::vector<double> coefficients;  ///< [field, subdomain, k_0, k_1, k_2], plain
        std::vector<double> errors;  ///< [field], the largest estimated error at the end of the interval
    };
    Solution(const Problem& problem, std::int64_t time_modes);
    /// One that was solved before and kept, as in a file (zonal/io/solution.hpp). pieces: at least one, each
    /// from the end of the one before, with errors in all or in none. Throws InvalidArgument.
    Solution(std::vector<std::string> names, std::vector<Axis> axes, std::int64_t time_modes,
             std::vector<Piece> pieces, const SolveReport& report = {});

    int n_fields() const { return static_cast<int>(names_.size()); }
    const std::vector<std::string>& names() const { return names_; }
    const std::vector<Axis>& axes() const { return axes_; }
    std::int64_t time_modes() const { return extents_[0] - 1; }
    const std::vector<Piece>& pieces() const { return pieces_; }
    const SolveReport& report() const { return report_; }
    double t0() const { return pieces_.front().time.lower; }
    double t1() const { return pieces_.back().time.upper; }

    /// Returns t0 and n equally spaced times in each interval, the last of which is its end.
    std::vector<double> times(int n) const;

    /// Value of a field anywhere in the box. Throws InvalidArgument.
    double operator()(int field, const Point& point) const;
    /// Estimates the largest error of a field, over space and parameters, at the end of the interval that
    /// holds t. NaN without SolveOptions::estimate_error, infinite where it could not be found.
    double error(int field, double t) const;
    /// Estimated largest error at t1.
    double error(int field) const { return error(field, t1()); }

    /// The series of a field on one time interval and subdomain; D = 1 + axes().size().
    template <int D>
    ChebyshevSeries<double, D, ChebyshevConvention::plain> series(int field, std::int64_t interval,
                                                                  int subdomain = 0) const {
        const auto* first = block(field, interval, subdomain, D);
        typename View<double, D>::Extents extents{};
        ChebyshevDomain<D> domain{};
        for (int axis = 0; axis < D; ++axis) {
            extents[axis] = extents_.at(static_cast<std::size_t>(axis));
            domain[axis] = interval_of(axis, interval, subdomain);
        }
        ChebyshevSeries<double, D, ChebyshevConvention::plain> result(extents, domain);
        std::copy(first, first + result.size(), result.data());
        return result;
    }

  private:
    friend class Chain;
    const double* block(int field, std::int64_t interval, int subdomain, int dimensions) const;
    Interval interval_of(int axis, std::int64_t interval, int subdomain) const;
    std::int64_t find(double t) const;

    std::vector<std::string> names_;
    std::vector<Axis> axes_;
    std::array<std::int64_t, 3> extents_{1, 1, 1};
    std::vector<Piece> pieces_;
    SolveReport report_;
};

/// Solves a problem from t0 to t1. Throws InvalidArgument, NotConverged, Cancelled, and BackendUnavailable
/// where options.device is a CUDA device that cannot be used.
Solution solve(const Problem& problem, const SolveOptions& options = {});

}  // namespace zonal::gwrm
