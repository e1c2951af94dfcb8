#include <fmt/core.h>

#include <array>
#include <cmath>

#include "core/interruption.hpp"
#include "sht/analysis/field_math.hpp"
#include "sht/analysis/mask_dipole.hpp"
#include "sht/array_checks.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

using Vector4 = std::array<double, 4>;
using Matrix4 = std::array<Vector4, 4>;

// area, right side, matrix
constexpr std::int64_t n_sums = 1 + 4 + 16;

/// 1 and the direction n of each pixel of a ring: visit(pixel, (1, x, y, z)).
template <class Visit>
void for_each_pixel(const Ring& ring, const Visit& visit) {
    for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
        const double phi = sht::longitude(ring.phi_0, k, ring.n_pixels);
        visit(ring.first_pixel + k,
              Vector4{1, ring.sin_theta * std::cos(phi), ring.sin_theta * std::sin(phi), ring.cos_theta});
    }
}

bool holds_number(double value) {
    return std::isfinite(value) && !is_unseen_value(value);
}

/// Solves the leading n x n part of a symmetric positive matrix by Cholesky. Throws when pixels do not
/// determine it.
Vector4 solve(const Matrix4& matrix, const Vector4& right_side, int n) {
    Matrix4 factor{};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = matrix[i][j];
            for (int k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
            // A pivot this small is rounding: fewer independent pixels than terms.
            if (i == j && !(sum > 1e-12 * matrix[i][i]))
                throw InvalidArgument("map",
                                      "too few good pixels to fit a monopole and dipole outside the mask");
            factor[i][j] = i == j ? std::sqrt(sum) : sum / factor[j][j];
        }
    Vector4 x = right_side;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) x[i] -= factor[i][k] * x[k];
        x[i] /= factor[i][i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) x[i] -= factor[k][i] * x[k];
        x[i] /= factor[i][i];
    }
    return x;
}

}  // namespace

template <class T>
Array<double, 2> sht::monopole_dipole_sums(const Grid& grid, View<const T, 1> map, View<const T, 1> mask) {
    sht::check_extent("map", map, 0, "pixel", grid.n_pixels());
    sht::check_host("map", map);
    if (mask.size() > 0) {
        sht::check_extent("mask", mask, 0, "pixel", grid.n_pixels());
        sht::check_host("mask", mask);
    }
    Array<double, 2> sums({grid.n_rings(), n_sums});
    const core::InterruptionPoll poll;
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
        poll();
        const Ring& ring = grid.rings()[static_cast<std::size_t>(r)];
        const auto of_ring = sums.view()[r];
        of_ring[0] = ring.weight * static_cast<double>(ring.n_pixels);
        for_each_pixel(ring, [&](std::int64_t pixel, const Vector4& basis) {
            const auto value = static_cast<double>(map[pixel]);
            const double kept = mask.size() > 0 ? static_cast<double>(mask[pixel]) : 1;
            if (!(kept >= 0))
                throw InvalidArgument("mask",
                                      fmt::format("value {} at pixel {}: must not be negative", kept, pixel));
            if (kept == 0 || !holds_number(value)) return;
            for (int i = 0; i < 4; ++i) {
                of_ring[1 + i] += ring.weight * kept * basis[i] * value;
                for (int j = 0; j < 4; ++j)
                    of_ring[5 + 4 * i + j] += ring.weight * kept * basis[i] * basis[j];
            }
        });
    }
    return sums;
}

MonopoleDipole sht::fit_to_sums(const std::vector<double>& sums, FitTerms terms) {
    Matrix4 normal{};
    Vector4 right_side{};
    for (std::size_t i = 0; i < 4; ++i) {
        right_side[i] = sums[1 + i];
        for (std::size_t j = 0; j < 4; ++j) normal[i][j] = sums[5 + 4 * i + j];
    }
    const auto x = solve(normal, right_side, terms == FitTerms::monopole ? 1 : 4);
    MonopoleDipole fit{x[0], {}, normal[0][0] / sums[0]};
    if (terms == FitTerms::monopole_and_dipole) fit.dipole = {x[1], x[2], x[3]};
    return fit;
}

template <class T>
MonopoleDipole fit_monopole_dipole(const Grid& grid, View<const T, 1> map, View<const T, 1> mask,
                                   FitTerms terms) {
    const auto sums = sht::monopole_dipole_sums<T>(grid, map, mask);
    return sht::fit_to_sums(sht::sum_rows(sums.view()), terms);
}

template <class T>
void subtract_monopole_dipole(const Grid& grid, const MonopoleDipole& fit, View<T, 1> map) {
    sht::check_extent("map", map, 0, "pixel", grid.n_pixels());
    sht::check_host("map", map);
    const core::InterruptionPoll poll;
    for (const Ring& ring : grid.rings()) {
        poll();
        for_each_pixel(ring, [&](std::int64_t pixel, const Vector4& basis) {
            const auto value = static_cast<double>(map[pixel]);
            if (!holds_number(value)) return;
            double model = fit.monopole;
            for (int i = 0; i < 3; ++i) model += fit.dipole[i] * basis[i + 1];
            map[pixel] = static_cast<T>(value - model);
        });
    }
}

#define ZONAL_INSTANTIATE(T)                                                                                \
    template Array<double, 2> sht::monopole_dipole_sums(const Grid&, View<const T, 1>, View<const T, 1>);   \
    template MonopoleDipole fit_monopole_dipole(const Grid&, View<const T, 1>, View<const T, 1>, FitTerms); \
    template void subtract_monopole_dipole(const Grid&, const MonopoleDipole&, View<T, 1>);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal
