#include "zonal/sky/realization.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "sky/realization_philox.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// Lower triangular factor L of one degree's matrix C = L L^T; rows and columns T, E, B.
using Factor = std::array<std::array<double, 3>, 3>;

// Spectra stored in float are off by 6e-8 of themselves, so that a fully correlated E leaves a pivot of a few
// times that on either side of 0.
constexpr double rounding_of_spectra = 1e-6;

[[noreturn]] void throw_not_positive(std::int64_t l, const Factor& matrix) {
    throw InvalidArgument(
        "spectra",
        fmt::format(
            "the matrix at l = {} is not positive (TT {:g}, EE {:g}, BB {:g}, TE {:g}, TB {:g}, EB {:g})", l,
            matrix[0][0], matrix[1][1], matrix[2][2], matrix[1][0], matrix[2][0], matrix[2][1]));
}

/// Cholesky for positive semi-definite matrices: a pivot of 0 makes a column of 0.
Factor factorize(const Factor& matrix, std::int64_t l) {
    Factor factor{};
    for (int j = 0; j < 3; ++j)
        for (int i = j; i < 3; ++i) {
            double sum = matrix[i][j];
            for (int k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
            const double rounding = rounding_of_spectra * std::sqrt(matrix[i][i] * matrix[j][j]);
            if (i == j) {
                if (!(sum >= -rounding)) throw_not_positive(l, matrix);
                factor[j][j] = sum > rounding ? std::sqrt(sum) : 0;
            } else if (factor[j][j] > 0) {
                factor[i][j] = sum / factor[j][j];
            } else if (!(std::abs(sum) <= std::sqrt(rounding_of_spectra * matrix[i][i] * matrix[j][j]))) {
                throw_not_positive(l, matrix);
            }
        }
    return factor;
}

double value_at(const char* name, const std::vector<double>& spectrum, std::int64_t l) {
    if (spectrum.empty()) return 0;
    if (l >= static_cast<std::int64_t>(spectrum.size()))
        throw InvalidArgument("spectra",
                              fmt::format("{} ends at l = {}: must reach lmax", name, spectrum.size() - 1));
    if (!std::isfinite(spectrum[l]))
        throw InvalidArgument("spectra",
                              fmt::format("{} = {} at l = {}: must be finite", name, spectrum[l], l));
    return spectrum[l];
}

/// Factors for l = 0 .. lmax. Without polarization E and B are 0.
std::vector<Factor> factorize(const SkySpectra& spectra, std::int64_t lmax, bool polarized) {
    std::vector<Factor> factors(lmax + 1);
    for (std::int64_t l = 0; l <= lmax; ++l) {
        Factor matrix{};
        matrix[0][0] = value_at("TT", spectra.tt, l);
        if (polarized && l >= 2) {
            matrix[1][1] = value_at("EE", spectra.ee, l);
            matrix[2][2] = value_at("BB", spectra.bb, l);
            matrix[1][0] = value_at("TE", spectra.te, l);
            matrix[2][0] = value_at("TB", spectra.tb, l);
            matrix[2][1] = value_at("EB", spectra.eb, l);
        }
        for (int i = 0; i < 3; ++i)
            if (matrix[i][i] < 0) throw_not_positive(l, matrix);
        factors[l] = factorize(matrix, l);
    }
    return factors;
}

double uniform(std::uint32_t low, std::uint32_t high, int add) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 11;
    return static_cast<double>(bits + static_cast<std::uint64_t>(add)) * 0x1p-53;
}

/// Two independent standard normal numbers (Box and Muller 1958), for this seed and counter.
std::complex<double> gaussian_pair(std::uint64_t seed, const std::array<std::uint32_t, 4>& counter) {
    const auto words =
        sht::philox4x32(counter, {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    // u is never 0, so its logarithm is finite; the longest radius is 8.6.
    const double u = uniform(words[0], words[1], 1), v = uniform(words[2], words[3], 0);
    const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi * v;
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// g / sqrt(2), of unit variance as a complex number; real for m = 0.
std::complex<double> unit_coefficient(std::uint64_t seed, std::int64_t l, std::int64_t m,
                                      std::uint32_t component) {
    const auto g = gaussian_pair(
        seed, {static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(m), component, realization_scheme});
    return m == 0 ? std::complex<double>(g.real()) : g * (1 / std::numbers::sqrt2);
}

}  // namespace

void check_spectra(const SkySpectra& spectra, std::int64_t lmax, bool polarized) {
    factorize(spectra, lmax, polarized);
}

template <class T>
void realize(const SkySpectra& spectra, std::uint64_t seed, const AlmLayout& layout,
             View<std::complex<T>, 2> alm, int threads) {
    const auto components = alm.extent(0);
    if (components != 1 && components != 3)
        throw InvalidArgument(
            "alm", fmt::format("axis 0 (component) has length {}: must be 1 (T) or 3 (T, E, B)", components));
    sht::check_extent("alm", alm, 1, "coefficient", layout.size());
    sht::check_host("alm", alm);
    const auto factors = factorize(spectra, layout.lmax(), components == 3);
    core::parallel_for(layout.n_orders(), core::resolve_threads(threads), [&](std::int64_t i, int) {
        const std::int64_t m = layout.order(i), offset = layout.offset(m);
        for (auto l = m; l <= layout.lmax(); ++l) {
            std::array<std::complex<double>, 3> g;
            for (std::int64_t c = 0; c < components; ++c)
                g[c] = unit_coefficient(seed, l, m, static_cast<std::uint32_t>(c));
            for (std::int64_t c = 0; c < components; ++c) {
                std::complex<double> sum = 0;
                for (std::int64_t k = 0; k <= c; ++k) sum += factors[l][c][k] * g[k];
                alm(c, offset + l) = std::complex<T>(sum);
            }
        }
    });
}

template void realize(const SkySpectra&, std::uint64_t, const AlmLayout&, View<std::complex<float>, 2>, int);
template void realize(const SkySpectra&, std::uint64_t, const AlmLayout&, View<std::complex<double>, 2>, int);

template <class T>
void white_noise(std::uint64_t seed, View<T, 1> values, int threads) {
    sht::check_host("values", values);
    constexpr std::int64_t pairs_of_task = 1 << 14;
    const std::int64_t n_pairs = (values.size() + 1) / 2;
    const auto n_tasks = (n_pairs + pairs_of_task - 1) / pairs_of_task;
    core::parallel_for(n_tasks, core::resolve_threads(threads), [&](std::int64_t task, int) {
        const auto end = std::min(n_pairs, (task + 1) * pairs_of_task);
        for (auto k = task * pairs_of_task; k < end; ++k) {
            const auto bits = static_cast<std::uint64_t>(k);
            const auto g =
                gaussian_pair(seed, {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32),
                                     0, white_noise_scheme});
            values[2 * k] = static_cast<T>(g.real());
            if (2 * k + 1 < values.size()) values[2 * k + 1] = static_cast<T>(g.imag());
        }
    });
}

template void white_noise(std::uint64_t, View<float, 1>, int);
template void white_noise(std::uint64_t, View<double, 1>, int);

}  // namespace zonal
