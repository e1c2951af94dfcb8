#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gwrm/system.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::gwrm {

struct RootResult {
    bool converged = false;
    int iterations = 0, linear_iterations = 0;
    double residual = 0;  ///< largest coefficient of F at a
    std::string reason;   ///< why it did not converge
};

/// Solves the equations of one box after the other; what one has factorised serves the next, too.
class RootSolver {
  public:
    RootSolver(System& system, const SolveOptions& options);
    ~RootSolver();

    /// F(a) = 0 from the a given, to steps of options.tolerance relative to the largest coefficient of a
    /// field.
    RootResult solve(double* a);
    /// d = F'(a)^-1 b at the system's point, where GMRES solves to the tolerance, relative to the
    /// preconditioned b. False where it cannot.
    bool solve_linearised(const double* a, const double* b, double tolerance, double* d);

    /// Bytes of the host that linear solves take.
    struct Memory {
        double kept;     ///< from one to the next
        double passing;  ///< beside that, while factors are made
    };
    Memory memory() const;

  private:
    class Steps;
    RootResult newton(double* a);
    RootResult sir(double* a);
    std::vector<double> largest_of_fields(const double* a);
    double largest_residual(const double* a);
    double relative_size(const double* d, const double* a);
    void subtract(double weight, const double* d, double* a);

    System& system_;
    SolveOptions options_;
    std::unique_ptr<Steps> steps_;
    Vector residual_, step_, trial_;
};

/// The solver that `automatic` stands for, for this number of unknowns.
Solver resolve_solver(Solver solver, std::int64_t unknowns);
std::string to_string(Solver solver);

}  // namespace zonal::gwrm
