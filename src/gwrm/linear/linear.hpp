#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "gwrm/system.hpp"
#include "gwrm/time_basis.hpp"

namespace zonal::gwrm {

/// Returns the inverse of F'(a), assembled by products with unit vectors. The system's point is where its
/// residual was last computed.
std::unique_ptr<Inverse> dense_inverse(System& system);

/// Returns the inverse of F' with D' frozen at the mean over time of a, B x - M x Int^T = r: one spatial
/// system B - lambda M for each eigenvalue of Int.
std::unique_ptr<Inverse> frozen_inverse(System& system, const TimeBasis& basis, const double* a);

using LinearMap = std::function<void(const double* from, double* to)>;

struct GmresResult {
    int iterations = 0;
    double reduction = 0;  ///< of the preconditioned residual
};

/// Solves A x = b from x = 0, preconditioned from the left, without restart (Saad 2003, algorithm 9.4 and
/// section 6.5.3). Vectors stay where the backend has them; the host gets the Hessenberg matrix.
class Gmres {
  public:
    Gmres(Backend& backend, std::int64_t n) : backend_(backend), n_(n), image_(backend, n) {}

    GmresResult solve(const LinearMap& a, const LinearMap& preconditioner, const double* b, double tolerance,
                      int max_iterations, double* x);
    /// Numbers that a solve keeps for the next one, unless it needs more steps than most.
    std::int64_t usual_numbers() const { return (usual_steps + 2) * n_; }

  private:
    static constexpr int usual_steps = 12;
    double* vector(std::int64_t j) { return basis_.data() + j * n_; }
    void make_room(std::int64_t n_vectors, std::int64_t n_kept);
    double norm(std::int64_t j);
    /// Makes vector j orthogonal to those before, of length 1: column[0 .. j - 1] is what it had of them,
    /// column[j] its length then.
    void orthogonalise(std::int64_t j, std::vector<double>& column);

    Backend& backend_;
    std::int64_t n_;
    Vector image_, basis_, coefficients_;
};

}  // namespace zonal::gwrm
