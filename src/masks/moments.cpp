#include "zonal/masks/moments.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace masks {
namespace {

void require_size(const char* name, const View<const double, 1>& mask, const Grid& grid) {
    if (mask.size() != grid.n_pixels())
        throw InvalidArgument(
            name, fmt::format("{} pixels: must be {} for {}", mask.size(), grid.n_pixels(), grid.name()));
}

double known(double value) {
    return is_unseen_value(value) ? 0 : value;
}

}  // namespace
}  // namespace masks

std::array<double, 4> mask_moments(const Grid& grid, View<const double, 1> mask, View<const double, 1> other,
                                   int threads) {
    masks::require_size("mask", mask, grid);
    if (other.size() != 0) masks::require_size("other", other, grid);
    std::vector<std::array<double, 4>> of_rings(static_cast<std::size_t>(grid.n_rings()));
    core::parallel_for(grid.n_rings(), core::resolve_threads(threads), [&](std::int64_t r, int) {
        const Ring& ring = grid.rings()[static_cast<std::size_t>(r)];
        auto& sums = of_rings[static_cast<std::size_t>(r)];
        for (auto p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p) {
            const double value = masks::known(mask[p]) * (other.size() == 0 ? 1 : masks::known(other[p]));
            if (!std::isfinite(value))
                throw InvalidArgument("mask", fmt::format("pixel {} is {}: must be finite", p, value));
            double power = ring.weight;
            for (auto& sum : sums) sum += power *= value;
        }
    });
    std::array<double, 4> moments{};
    double area = 0;
    for (std::size_t r = 0; r < of_rings.size(); ++r) {
        area += grid.rings()[r].weight * static_cast<double>(grid.rings()[r].n_pixels);
        for (std::size_t k = 0; k < moments.size(); ++k) moments[k] += of_rings[r][k];
    }
    for (auto& moment : moments) moment /= area;
    return moments;
}

}  // namespace zonal
