#include "zonal/sky/integral.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/interruption.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace {

void require_size(const char* name, std::int64_t size, const Grid& grid) {
    if (size != grid.n_pixels())
        throw InvalidArgument(
            name, fmt::format("{} pixels: must be {} for {}", size, grid.n_pixels(), grid.name()));
}

double known(double value) {
    return is_unseen_value(value) ? 0 : value;
}

double require_number(double sum) {
    if (std::isnan(sum)) throw InvalidArgument("map", "has NaN, or infinite values of both signs");
    return sum;
}

/// The area of each pixel of a map, 0 of those in no ring.
std::vector<double> areas_of(const Grid& grid) {
    std::vector<double> areas(static_cast<std::size_t>(grid.n_pixels()));
    for (const Ring& ring : grid.rings())
        std::fill_n(areas.begin() + ring.first_pixel, ring.n_pixels, ring.weight);
    return areas;
}

void require_pixels(ConstView<std::int64_t, 1> pixels, const Grid& grid) {
    std::vector<bool> taken(static_cast<std::size_t>(grid.n_pixels()));
    core::RarePoll poll;
    for (std::int64_t i = 0; i < pixels.size(); ++i) {
        poll();
        if (pixels[i] < 0 || pixels[i] >= grid.n_pixels())
            throw InvalidArgument(fmt::format("pixels[{}]", i), pixels[i],
                                  fmt::format("must be from 0 to {}", grid.n_pixels() - 1));
        if (taken[static_cast<std::size_t>(pixels[i])])
            throw InvalidArgument(fmt::format("pixels[{}]", i), pixels[i], "occurs twice");
        taken[static_cast<std::size_t>(pixels[i])] = true;
    }
}

}  // namespace

double integral(ConstView<double, 1> map, const Grid& grid) {
    require_size("map", map.size(), grid);
    double sum = 0;
    const core::InterruptionPoll poll;
    for (const Ring& ring : grid.rings()) {  // a sum for each ring, whose rounding then adds up less
        poll();
        double of_ring = 0;
        for (std::int64_t i = 0; i < ring.n_pixels; ++i) of_ring += known(map[ring.first_pixel + i]);
        sum += ring.weight * of_ring;
    }
    return require_number(sum);
}

double integral(ConstView<double, 1> map, const Grid& grid, ConstView<std::int64_t, 1> pixels) {
    require_size("map", map.size(), grid);
    require_pixels(pixels, grid);
    const std::vector<double> areas = areas_of(grid);
    double sum = 0;
    core::RarePoll poll;
    for (std::int64_t i = 0; i < pixels.size(); ++i) {
        poll();
        sum += areas[static_cast<std::size_t>(pixels[i])] * known(map[pixels[i]]);
    }
    return require_number(sum);
}

void credible_levels(ConstView<double, 1> map, const Grid& grid, View<double, 1> levels) {
    require_size("map", map.size(), grid);
    require_size("levels", levels.size(), grid);
    const std::vector<double> areas = areas_of(grid);
    const auto density = [&](std::int64_t pixel) {
        return areas[static_cast<std::size_t>(pixel)] > 0 ? known(map[pixel]) : 0;  // 0 in no ring
    };
    core::RarePoll poll;
    for (std::int64_t pixel = 0; pixel < map.size(); ++pixel) {
        poll();
        if (!(density(pixel) >= 0 && std::isfinite(density(pixel))))
            throw InvalidArgument(fmt::format("map[{}]", pixel), map[pixel],
                                  "must be finite and not negative");
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(map.size()));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        poll();
        const double of_a = density(a), of_b = density(b);
        return of_a > of_b || (of_a == of_b && a < b);
    });
    double sum = 0;
    for (const std::int64_t pixel : order) {
        poll();
        sum += areas[static_cast<std::size_t>(pixel)] * density(pixel);
        levels[pixel] = sum;
    }
    if (!(sum > 0 && std::isfinite(sum)))
        throw InvalidArgument("map", fmt::format("its integral is {}: must be above 0 and finite", sum));
    for (std::int64_t pixel = 0; pixel < levels.size(); ++pixel) levels[pixel] /= sum;
}

}  // namespace zonal
