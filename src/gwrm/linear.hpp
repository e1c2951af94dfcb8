#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "gwrm/system.hpp"

namespace zonal::gwrm {

/// LU factors of F'(a), assembled by products with unit vectors.
class DenseInverse {
  public:
    /// The system's point is where its residual was last computed.
    explicit DenseInverse(System& system);
    ~DenseInverse();
    /// Whether a pivot is so small that the factors mean nothing.
    bool is_singular() const;
    void solve(const std::vector<double>& b, std::vector<double>& x) const;

  private:
    struct Factors;
    std::unique_ptr<Factors> factors_;
};

/// What the integral in time, Int, becomes when it is made diagonal, Int = V L V^-1, of conjugate pairs one
/// each; or triangular, Int = Q T Q^H, where V is ill-conditioned. Immutable.
class TimeBasis {
  public:
    TimeBasis(std::int64_t n_modes, HighestMode mode);
    ~TimeBasis();

    struct Factors;
    const Factors& factors() const { return *factors_; }

  private:
    std::unique_ptr<const Factors> factors_;
};

/// The inverse of F' with D' frozen at the mean over time, B x - M x Int^T = r: one spatial system B - lambda
/// M for each eigenvalue of Int.
class FrozenInverse {
  public:
    FrozenInverse(System& system, const TimeBasis& basis, const double* a);
    ~FrozenInverse();
    FrozenInverse(FrozenInverse&&) noexcept;
    FrozenInverse& operator=(FrozenInverse&&) noexcept;
    bool is_singular() const;
    void solve(const std::vector<double>& b, std::vector<double>& x) const;

  private:
    struct Factors;
    std::unique_ptr<Factors> factors_;
};

using LinearMap = std::function<void(const std::vector<double>& from, std::vector<double>& to)>;

struct GmresResult {
    int iterations = 0;
    double reduction = 0;  ///< of the preconditioned residual
};

/// Solves A x = b from x = 0, preconditioned from the left, without restart (Saad 2003, algorithm 9.4 and
/// section 6.5.3).
GmresResult gmres(const LinearMap& a, const LinearMap& preconditioner, const std::vector<double>& b,
                  double tolerance, int max_iterations, std::vector<double>& x);

}  // namespace zonal::gwrm
