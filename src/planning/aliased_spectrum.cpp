#include "planning/aliased_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace zonal::split {
namespace {

/// What a map's power at l adds at l', over what it would add as white noise on the pixels: by (l + l') /
/// nside, the sum of a part that does not depend on nside and of one that falls with nside^2. About twice
/// what was found in error, as single skies differ.
struct Aliasing {
    double degrees, constant, falling;
};
constexpr Aliasing measured[] = {{2, 1e-14, 0.2}, {2.5, 1e-13, 0.3}, {3, 1e-11, 0.6}, {3.5, 1e-8, 1.5},
                                 {4, 1e-5, 5},    {4.25, 2e-3, 30},  {4.5, 0.3, 60},  {5, 0.5, 60},
                                 {5.5, 2, 60},    {6, 3, 60}};

double aliasing(double degrees, double nside) {
    const auto of = [&](double constant, double falling) { return constant + falling / (nside * nside); };
    const auto above = std::find_if(std::begin(measured), std::end(measured),
                                    [&](const Aliasing& one) { return one.degrees > degrees; });
    if (above == std::begin(measured)) return of(above->constant, above->falling);
    const Aliasing& below = *std::prev(above);
    if (above == std::end(measured)) return of(below.constant, below.falling);
    const double share = (degrees - below.degrees) / (above->degrees - below.degrees);
    const auto between = [&](double a, double b) { return a * std::pow(b / a, share); };
    return of(between(below.constant, above->constant), between(below.falling, above->falling));
}

/// Degrees that are taken together.
struct Band {
    double middle, power;
};

std::vector<Band> bands_of(const std::vector<double>& c_l, std::int64_t width) {
    std::vector<Band> bands;
    const std::int64_t size = std::ssize(c_l);
    for (std::int64_t first = 0; first < size; first += width) {
        const std::int64_t end = std::min(first + width, size);
        double power = 0;
        for (std::int64_t l = first; l < end; ++l) power += static_cast<double>(2 * l + 1) * c_l[l];
        if (power > 0) bands.push_back({static_cast<double>(first + end - 1) / 2, power});
    }
    return bands;
}

}  // namespace

std::vector<double> aliased_spectrum(const std::vector<double>& c_l, double nside) {
    constexpr double bands_per_nside = 32, highest = 6;
    const double n_pixels = 12 * nside * nside;
    const auto width = std::max<std::int64_t>(1, static_cast<std::int64_t>(nside / bands_per_nside));
    const auto bands = bands_of(c_l, width);
    const auto size = std::max<std::int64_t>(std::ssize(c_l), static_cast<std::int64_t>(highest * nside) + 1);
    std::vector<double> seen(c_l);
    seen.resize(static_cast<std::size_t>(size), c_l.back());
    for (std::int64_t first = 0; first < size; first += width) {
        const std::int64_t end = std::min(first + width, size);
        const double middle = static_cast<double>(first + end - 1) / 2;
        double more = 0;
        for (const Band& band : bands)
            more += band.power / n_pixels * aliasing((middle + band.middle) / nside, nside);
        for (std::int64_t l = first; l < end; ++l) seen[l] += more;
    }
    return seen;
}

}  // namespace zonal::split
