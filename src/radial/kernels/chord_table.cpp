#include "radial/kernels/chord_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

constexpr std::size_t n_nodes = table_degree + 1;
using Polynomial = std::array<double, n_nodes>;

/// Errors are looked for in at most this many pieces, enough that a pattern of misses is unlikely.
constexpr std::int64_t n_checked_pieces = 4096;
constexpr std::int64_t max_pieces = std::int64_t{1} << 20;
/// With kinks the pieces that hold one converge slowly, and more would leave the caches.
constexpr std::int64_t max_pieces_with_kinks = std::int64_t{1} << 16;

double chord_squared(double theta) {
    const double chord = 2 * std::sin(theta / 2);
    return chord * chord;
}

double theta_of(double chord_squared) {
    if (chord_squared > 2) return std::numbers::pi - theta_of(std::max(4 - chord_squared, 0.0));
    return 2 * std::asin(std::sqrt(chord_squared) / 2);
}

/// The Chebyshev nodes of a piece, s_i = cos((2i+1) pi / 12) in [-1, 1].
Polynomial chebyshev_nodes() {
    Polynomial s;
    for (std::size_t i = 0; i < n_nodes; ++i)
        s[i] = std::cos((2 * static_cast<double>(i) + 1) * std::numbers::pi / (2 * n_nodes));
    return s;
}

/// row j, column i: what the value at node i adds to the coefficient of s^j of the interpolating polynomial,
/// whose Chebyshev coefficients are 2/6 sum_i f_i T_n(s_i), half that for n = 0.
std::array<Polynomial, n_nodes> interpolation_matrix() {
    // T_n in powers of s
    static_assert(n_nodes == 6);
    constexpr std::array<Polynomial, n_nodes> chebyshev{{{1, 0, 0, 0, 0, 0},
                                                         {0, 1, 0, 0, 0, 0},
                                                         {-1, 0, 2, 0, 0, 0},
                                                         {0, -3, 0, 4, 0, 0},
                                                         {1, 0, -8, 0, 8, 0},
                                                         {0, 5, 0, -20, 0, 16}}};
    std::array<Polynomial, n_nodes> matrix{};
    for (std::size_t n = 0; n < n_nodes; ++n) {
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const double angle = (2 * static_cast<double>(i) + 1) * std::numbers::pi / (2 * n_nodes);
            const double weight = (n == 0 ? 1.0 : 2.0) / n_nodes * std::cos(static_cast<double>(n) * angle);
            for (std::size_t j = 0; j < n_nodes; ++j) matrix[j][i] += weight * chebyshev[n][j];
        }
    }
    return matrix;
}

/// u (or 4 - u) in steps^2 at s in [-1, 1] of piece k.
double position(std::int64_t k, double s) {
    const auto piece = static_cast<double>(k);
    return piece * (piece + 1) + 0.5 + s * (piece + 0.5);
}

bool has_kinks(const RadialKernel& kernel) {
    return kernel.implementation().breaks().size() > 2;
}

}  // namespace

ChordTable::ChordTable(const RadialKernel& kernel, double accuracy) {
    if (!(accuracy >= 1e-15 && accuracy <= 1e-2))
        throw InvalidArgument("accuracy", accuracy, "must be from 1e-15 to 1e-2");
    const auto extent = find_extent(kernel, accuracy / 100);
    end_ = chord_squared(extent.theta);
    peak_ = extent.peak;
    const std::int64_t most = has_kinks(kernel) ? max_pieces_with_kinks : max_pieces;
    // Four radians of the fastest oscillation in a piece are too many: the first fit tells how many suffice.
    constexpr double first_phase = 4;
    const double chord = std::sqrt(std::min(end_, 2.0));
    const double first = std::ceil(chord * kernel.implementation().bandwidth() / first_phase);
    auto n = static_cast<std::int64_t>(std::clamp(first, 4.0, static_cast<double>(most)));
    fit(kernel, n);
    refine(kernel, accuracy, most);
    single_coefficients_.assign(coefficients_.begin(), coefficients_.end());
}

void ChordTable::refine(const RadialKernel& kernel, double accuracy, std::int64_t most) {
    // With kinks the error falls in leaps; at the level of rounding it does not fall any more.
    const int n_vain_attempts = has_kinks(kernel) ? 8 : 2;
    constexpr double least_growth = 1.3, largest_growth = 12, margin = 1.03;
    ChordTable best = *this;
    for (int vain = 0; best.error_ > accuracy && n_half_ < most && vain < n_vain_attempts;) {
        const double growth = margin * std::pow(error_ / accuracy, 1.0 / n_nodes);
        const double pieces = static_cast<double>(n_half_) * std::clamp(growth, least_growth, largest_growth);
        fit(kernel, std::min(most, static_cast<std::int64_t>(std::ceil(pieces))));
        if (error_ < best.error_) {
            best = *this;
            vain = 0;
        } else {
            ++vain;
        }
    }
    *this = std::move(best);
}

void ChordTable::fit(const RadialKernel& kernel, std::int64_t n_half) {
    static const auto matrix = interpolation_matrix();
    n_half_ = n_half;
    const double step = std::sqrt(std::min(end_, 2.0)) / static_cast<double>(n_half);
    inverse_step_ = 1 / step;
    const bool reaches_south = end_ > 2;
    const std::int64_t n_pieces = reaches_south ? 2 * n_half : n_half;

    std::vector<double> theta;
    theta.reserve(static_cast<std::size_t>(n_pieces) * n_nodes);
    for (std::int64_t piece = 0; piece < n_pieces; ++piece)
        for (const double s : chebyshev_nodes()) {
            const double angle = theta_of(position(piece % n_half, s) * step * step);
            theta.push_back(piece < n_half ? angle : std::numbers::pi - angle);
        }
    // The smooth continuation beyond the support, where the last piece of the south needs it.
    std::vector<double> value(theta.size());
    kernel.implementation().profile(theta, value);

    coefficients_.assign(value.size(), 0.0);
    for (std::int64_t piece = 0; piece < n_pieces; ++piece) {
        const double* f = value.data() + piece * static_cast<std::int64_t>(n_nodes);
        double* c = coefficients_.data() + piece * static_cast<std::int64_t>(n_nodes);
        double scale = 1;
        for (std::size_t j = 0; j < n_nodes; ++j) {
            for (std::size_t i = 0; i < n_nodes; ++i) c[j] += matrix[j][i] * f[i];
            c[j] *= scale;
            scale /= static_cast<double>(piece % n_half) + 0.5;
        }
    }
    error_ = largest_error(kernel);
}

double ChordTable::largest_error(const RadialKernel& kernel) {
    double largest = 0;
    for (const auto& point : checks(kernel)) {
        largest = std::max(largest, point.error);
        peak_ = std::max(peak_, point.value);
    }
    return peak_ > 0 ? largest / peak_ : 0;
}

std::vector<ChordTable::Check> ChordTable::checks(const RadialKernel& kernel) const {
    const double step_squared = 1 / (inverse_step_ * inverse_step_);
    const std::int64_t stride = (n_pieces() + n_checked_pieces - 1) / n_checked_pieces;
    std::vector<double> u, theta;
    for (std::int64_t piece = 0; piece < n_pieces(); piece += stride)
        for (std::size_t j = 0; j <= n_nodes; ++j) {
            // Between the nodes an interpolation errs most at cos(j pi / 6).
            const double s = std::cos(static_cast<double>(j) * std::numbers::pi / n_nodes);
            const double w = position(piece % n_half_, s) * step_squared;
            u.push_back(std::min(piece < n_half_ ? w : 4 - w, end_));
            theta.push_back(theta_of(u.back()));
        }
    if (has_kinks(kernel))  // a narrow feature may lie between the pieces that are looked at
        for (const double edge : kernel.implementation().breaks())
            if (const double w = chord_squared(edge); w < end_) {
                u.push_back(w);
                theta.push_back(edge);
            }
    std::vector<double> value(theta.size());
    kernel.implementation().profile(theta, value);
    std::vector<Check> checks;
    checks.reserve(u.size());
    for (std::size_t i = 0; i < u.size(); ++i)
        checks.push_back({theta[i], std::abs(evaluate(view<double>(), u[i]) - value[i]), std::abs(value[i])});
    return checks;
}

std::int64_t ChordTable::n_pieces() const {
    return static_cast<std::int64_t>(coefficients_.size() / n_nodes);
}

double ChordTable::theta_end() const {
    return theta_of(end_);
}

template <class T>
ChordTableView<T> ChordTable::view(const T* coefficients) const {
    // Rounding may put the antipode a little beyond 4.
    constexpr double beyond_sphere = 5;
    return {coefficients,
            static_cast<int>(n_pieces()),
            static_cast<int>(n_half_),
            static_cast<float>(inverse_step_),
            static_cast<T>(inverse_step_ * inverse_step_),
            static_cast<T>(end_ >= 4 ? beyond_sphere : end_)};
}

template ChordTableView<float> ChordTable::view(const float*) const;
template ChordTableView<double> ChordTable::view(const double*) const;

}  // namespace zonal::radial
