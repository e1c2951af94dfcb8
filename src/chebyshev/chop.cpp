#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "chebyshev/host_copy.hpp"
#include "zonal/chebyshev/roots.hpp"
#include "zonal/error.hpp"

namespace zonal::chebyshev {
namespace {

/// Largest of all magnitudes from each on, relative to the first. Aurentz & Trefethen (2017), step 1.
std::vector<double> envelope(const std::vector<double>& magnitudes) {
    std::vector<double> m(magnitudes);
    for (std::size_t k = m.size() - 1; k-- > 0;) m[k] = std::max(m[k], m[k + 1]);
    const double largest = m.front();
    for (double& value : m) value /= largest;
    return m;
}

/// Where the envelope first becomes flat for its height: returns {plateau, end of it}, 1-based, or {0, 0}.
/// Step 2: j2 = round(1.25 j + 5); flat when env(j2) / env(j) > 3 (1 - log env(j) / log tolerance).
std::pair<std::size_t, std::size_t> find_plateau(const std::vector<double>& env, double tolerance) {
    for (std::size_t j = 2; j <= env.size(); ++j) {
        const auto j2 = static_cast<std::size_t>(std::lround(1.25 * static_cast<double>(j) + 5));
        if (j2 > env.size()) return {0, 0};
        const double e1 = env[j - 1], e2 = env[j2 - 1];
        if (e1 == 0 || e2 / e1 > 3 * (1 - std::log(e1) / std::log(tolerance))) return {j - 1, j2};
    }
    return {0, 0};
}

/// Step 3: the lowest point of the envelope up to the plateau's end, tilted so that fewer are preferred.
std::size_t lowest_point(std::vector<double> env, std::size_t plateau, std::size_t j2, double tolerance) {
    if (env[plateau - 1] == 0) return plateau;
    const double floor = std::pow(tolerance, 7.0 / 6);
    const auto above = static_cast<std::size_t>(
        std::count_if(env.begin(), env.end(), [&](double value) { return value >= floor; }));
    if (above < j2) {
        j2 = above + 1;
        env[j2 - 1] = floor;
    }
    std::size_t best = 1;
    double lowest = INFINITY;
    for (std::size_t j = 1; j <= j2; ++j) {
        const double tilt = -std::log10(tolerance) / 3 * static_cast<double>(j - 1);
        const double value = std::log10(env[j - 1]) + (j2 > 1 ? tilt / static_cast<double>(j2 - 1) : 0);
        if (value < lowest) {
            lowest = value;
            best = j;
        }
    }
    return std::max<std::size_t>(best - 1, 1);
}

}  // namespace

std::int64_t chop_length(const std::vector<double>& magnitudes, double tolerance) {
    if (!(tolerance > 0 && tolerance < 1))
        throw InvalidArgument("tolerance", tolerance, "must be above 0 and below 1");
    for (const double magnitude : magnitudes)
        if (!std::isfinite(magnitude))
            throw InvalidArgument("f", fmt::format("a coefficient is {}: all must be finite", magnitude));
    auto n = magnitudes.size();
    while (n > 1 && magnitudes[n - 1] == 0) --n;
    constexpr std::size_t fewest = 17;  // in which a plateau can be told (Aurentz & Trefethen 2017)
    if (magnitudes.size() < fewest || n == 1) return static_cast<std::int64_t>(n);
    const auto env = envelope(magnitudes);
    const auto [plateau, j2] = find_plateau(env, tolerance);
    if (plateau == 0) return static_cast<std::int64_t>(n);
    return static_cast<std::int64_t>(std::min(n, lowest_point(env, plateau, j2, tolerance)));
}

template <class T>
std::vector<double> magnitudes(const SeriesArray<const T>& f, int axis, void* cuda_stream) {
    require_axis(axis, f.dimensions);
    const HostCopy<T> copy(f, cuda_stream);
    const auto& here = copy.array();
    std::vector<double> largest(static_cast<std::size_t>(f.extents[axis + 1]));
    for_each_line(here, here, axis + 1, [&](std::int64_t first, std::int64_t) {
        for (std::size_t k = 0; k < largest.size(); ++k) {
            const double value =
                std::abs(here.data[first + static_cast<std::int64_t>(k) * here.strides[axis + 1]]);
            if (!(value <= largest[k])) largest[k] = value;  // NaN stays
        }
    });
    return largest;
}

template std::vector<double> magnitudes(const SeriesArray<const float>&, int, void*);
template std::vector<double> magnitudes(const SeriesArray<const double>&, int, void*);
template std::vector<double> magnitudes(const SeriesArray<const std::complex<float>>&, int, void*);
template std::vector<double> magnitudes(const SeriesArray<const std::complex<double>>&, int, void*);

}  // namespace zonal::chebyshev
