#include "planning/certificate/analysis_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/constants.hpp"
#include "planning/certificate/disc_discrepancy.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal::planning {
namespace {

using core::pi;
using Matrix = std::vector<std::vector<double>>;
using Vector = std::vector<double>;

using core::infinite;

/// Norms of the blocks of 1 - S^T W S between bands of degrees, each `band` nside wide, plus 5 %: the largest
/// of every nside from 1 to 7, and of every one from 8 to 32 and 64, for spin 0 and 2, and 128 for spin 0
/// (bench/healpix_spectrum.py). A measured law above nside 32.
constexpr double band = 0.3;
constexpr std::size_t n_bands = 8;
constexpr double on_coarse_healpix[n_bands][n_bands] = {
    {0.007, 0.013, 0.021, 0.029, 0.031, 0.021, 0.131, 0.03},
    {0.013, 0.026, 0.018, 0.038, 0.091, 0.049, 0.036, 0.042},
    {0.021, 0.018, 0.034, 0.027, 0.05, 0.044, 0.055, 0.056},
    {0.029, 0.038, 0.027, 0.117, 0.052, 0.053, 0.119, 0.088},
    {0.031, 0.091, 0.05, 0.052, 0.108, 0.06, 0.083, 0.065},
    {0.021, 0.049, 0.044, 0.053, 0.06, 0.077, 0.058, 0.129},
    {0.131, 0.036, 0.055, 0.119, 0.083, 0.058, 0.516, 0.097},
    {0.03, 0.042, 0.056, 0.088, 0.065, 0.129, 0.097, 0.203},
};
constexpr double on_healpix[n_bands][n_bands] = {
    {0.006, 0.008, 0.011, 0.012, 0.017, 0.015, 0.019, 0.018},
    {0.008, 0.013, 0.014, 0.019, 0.022, 0.025, 0.024, 0.033},
    {0.011, 0.014, 0.025, 0.022, 0.027, 0.033, 0.036, 0.048},
    {0.012, 0.019, 0.022, 0.028, 0.029, 0.037, 0.038, 0.048},
    {0.017, 0.022, 0.027, 0.029, 0.044, 0.038, 0.048, 0.055},
    {0.015, 0.025, 0.033, 0.037, 0.038, 0.049, 0.047, 0.061},
    {0.019, 0.024, 0.036, 0.038, 0.048, 0.047, 0.06, 0.064},
    {0.018, 0.033, 0.048, 0.048, 0.055, 0.061, 0.064, 0.144},
};

/// Bounds, [i][j], of the norms of the blocks of 1 - S^T W S between bands of degrees up to lmax.
struct Couplings {
    Matrix norm;
    double width;  ///< degrees of a band

    std::size_t band_of(std::int64_t l) const {
        const auto last = norm.size() - 1;
        constexpr double rounding = 1e-9;
        for (std::size_t i = 0; i < last; ++i)
            if (static_cast<double>(l) <= width * static_cast<double>(i + 1) + rounding) return i;
        return last;
    }
};

/// Returns no bands where there are no bounds.
Couplings couplings_of(const Grid& grid, std::int64_t lmax) {
    constexpr std::int64_t fine = 8;
    const double least = smallest_eigenvalue(grid, lmax);
    if (!(least > 0)) return {{}, 0};
    const auto nside = grid.healpix_nside_of_rings();
    if (nside == 0) return {Matrix(1, Vector(1, 1 - least)), infinite};  // exact but for rounding
    Couplings found{Matrix(n_bands), band * static_cast<double>(nside)};
    const auto& known = nside < fine ? on_coarse_healpix : on_healpix;
    const auto n = found.band_of(lmax) + 1;
    found.norm.resize(n);
    for (std::size_t i = 0; i < n; ++i) found.norm[i].assign(known[i], known[i] + n);
    return found;
}

Vector times(const Matrix& matrix, const Vector& x) {
    Vector product(matrix.size(), 0);
    for (std::size_t i = 0; i < matrix.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j) product[i] += matrix[i][j] * x[j];
    return product;
}

/// Returns x = (1 - couplings)^-1 of these values, none of which is negative, by elimination. If all pivots
/// are positive, so are the sums 1 + couplings + couplings^2 + ..., whose limit this is.
Vector solved(const Matrix& couplings, Vector x) {
    const auto n = x.size();
    Matrix matrix = couplings;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) matrix[i][j] = (i == j ? 1 : 0) - matrix[i][j];
    for (std::size_t k = 0; k < n; ++k) {
        if (!(matrix[k][k] > 0)) return Vector(n, infinite);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = matrix[i][k] / matrix[k][k];
            for (std::size_t j = k; j < n; ++j) matrix[i][j] -= factor * matrix[k][j];
            x[i] -= factor * x[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) x[k] -= matrix[k][j] * x[j];
        x[k] /= matrix[k][k];
    }
    return x;
}

double square(const Vector& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return sum;
}

/// Returns the largest values of the windows in each band up to `last`.
Vector largest_in_bands(const Couplings& couplings, const Windows& windows, std::int64_t last) {
    Vector largest(couplings.norm.size(), 0);
    for (std::int64_t l = 0; l <= last; ++l) {
        double& one = largest[couplings.band_of(l)];
        one = std::max(one, largest_of(windows, l, l));
    }
    return largest;
}

/// Returns the rms over grid_out of alm whose bands have these norms.
double rms_of(const Grid& grid, const Grid& grid_out, const Couplings& couplings, const Vector& alm,
              std::int64_t lmax) {
    double raised = largest_eigenvalue(grid_out, lmax) * square(alm);
    const auto nside = grid_out.healpix_nside_of_rings();
    if (nside > 0 && nside == grid.healpix_nside_of_rings()) {
        const auto mixed = times(couplings.norm, alm);
        double sum = square(alm);
        for (std::size_t i = 0; i < alm.size(); ++i) sum += alm[i] * mixed[i];
        raised = std::min(raised, sum);
    }
    return std::sqrt(raised / (4 * pi));
}

}  // namespace

// With A = S^T W S and e = a - a_k, A e = r, so that e = r + (1 - A) e. In norms of bands,
// |e_i| <= |r_i| + sum_j H_ij |e_j|, where H_ij bounds the block of 1 - A. As the spectral radius of H is
// below 1 and H is not negative, |e_i| <= x_i with (1 - H) x = |r|. Then |B e| <= |B r| + |B H x| in each
// band, and e - r = (1 - A) e is what a correction leaves.
double windowed_residual(const Grid& grid, const Grid& grid_out, const Windows& windows, const Windows& power,
                         int corrections) {
    const auto lmax = std::ssize(power.front()) - 1;
    const auto couplings = couplings_of(grid, lmax);
    if (couplings.norm.empty()) return infinite;
    Vector residual(couplings.norm.size(), 0), windowed(couplings.norm.size(), 0);
    for (std::size_t c = 0; c < power.size(); ++c) {
        if (std::ssize(windows[c]) <= lmax) return infinite;
        for (std::int64_t l = 0; l <= lmax; ++l) {
            const auto i = couplings.band_of(l);
            residual[i] += power[c][l];
            windowed[i] += windows[c][l] * windows[c][l] * power[c][l];
        }
    }
    for (double& one : residual) one = std::sqrt(one);
    auto left = solved(couplings.norm, residual);
    for (int i = 0; i < std::max(1, corrections); ++i) left = times(couplings.norm, left);
    const auto largest = largest_in_bands(couplings, windows, lmax);
    for (std::size_t i = 0; i < left.size(); ++i)
        left[i] = largest[i] * left[i] + (corrections == 0 ? std::sqrt(windowed[i]) : 0);
    return rms_of(grid, grid_out, couplings, left, lmax);
}

}  // namespace zonal::planning
