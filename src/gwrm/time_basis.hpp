#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/chebyshev/calculus.hpp"

namespace zonal::gwrm {

/// What the integral in time, Int, becomes when it is made diagonal, Int = V L V^-1, of conjugate pairs one
/// each; or triangular, Int = Q T Q^H, where V is ill-conditioned. With Y = R to, solved column by column,
/// X = Re(Y from). Matrices are column-major.
struct TimeBasis {
    TimeBasis(std::int64_t n_modes, HighestMode mode);

    using Numbers = std::vector<std::complex<double>>;
    std::int64_t n_modes, n_systems = 0;
    bool is_diagonal;
    Numbers to;        ///< [n_modes, n_systems]
    Numbers from;      ///< [n_systems, n_modes]
    Numbers triangle;  ///< T, [n_systems, n_systems]; where the basis is diagonal L alone, [n_systems]

    std::complex<double> eigenvalue(std::int64_t j) const {
        return triangle[static_cast<std::size_t>(is_diagonal ? j : j * n_systems + j)];
    }
};

/// [k, k'], column-major: the coefficients of the integral from the lower end of an interval of half width 1.
std::vector<double> time_integral_matrix(std::int64_t n, HighestMode mode);

}  // namespace zonal::gwrm
