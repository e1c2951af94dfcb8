#include "tool/pixel_reference.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "zonal/convolution.hpp"

namespace zonal::cli {
namespace {

std::vector<std::int64_t> all_rings(const Grid& grid) {
    std::vector<std::int64_t> rings(static_cast<std::size_t>(grid.n_rings()));
    for (std::size_t i = 0; i < rings.size(); ++i) rings[i] = static_cast<std::int64_t>(i);
    return rings;
}

/// At most about `count` rings: places where methods change their ways first, then even steps.
std::vector<std::int64_t> probe_rings(const Grid& grid, std::int64_t count) {
    const auto n = grid.n_rings();
    if (n <= count) return all_rings(grid);
    std::set<std::int64_t> rings{0, 1, n / 2, n - 1};
    // Where HEALPix' caps end.
    const auto most = std::max_element(grid.rings().begin(), grid.rings().end(),
                                       [](const Ring& a, const Ring& b) { return a.n_pixels < b.n_pixels; });
    const auto edge = most - grid.rings().begin();
    for (const auto ring : {edge - 1, edge, edge + 1, n - 1 - edge, n / 2 - 1, n / 2 + 1})
        rings.insert(std::clamp<std::int64_t>(ring, 0, n - 1));
    const auto more = count - static_cast<std::int64_t>(rings.size());
    for (std::int64_t i = 0; i < more; ++i) rings.insert((2 * i + 1) * n / (2 * more));
    return {rings.begin(), rings.end()};
}

/// Its rings, and what it is. n_components: of a map, each of which is made of each.
ReferenceMap choose_rings(const Grid& grid, double support, double n_components) {
    // Multiply-adds that take seconds on one core; fewer rings than 12 would say little.
    constexpr double work = 4e9;
    constexpr std::int64_t fewest = 12, enough = 256;
    const double share = (1 - std::cos(support)) / 2;
    const auto n_pixels = static_cast<double>(grid.n_pixels());
    const double ring_pixels = n_pixels / static_cast<double>(grid.n_rings());
    const double products = std::max(1.0, share * n_pixels) * n_components * n_components;
    const auto count =
        static_cast<std::int64_t>(std::clamp<double>(work / (products * ring_pixels), fewest, enough));
    ReferenceMap reference;
    reference.rings = probe_rings(grid, count);
    reference.description =
        fmt::format("sum over pixels in double, {} of {} rings", reference.rings.size(), grid.n_rings());
    return reference;
}

PixelConvolutionOptions reference_options(int threads) {
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.threads = threads;
    options.device = Device::cpu();
    return options;
}

}  // namespace

ReferenceMap discrete_reference(const Grid& grid, const RadialKernel& kernel, View<const double, 1> map,
                                int threads) {
    auto reference = choose_rings(grid, kernel.support(), 1);
    reference.values.resize(static_cast<std::size_t>(map.size()));
    const PixelConvolutionPlan plan(grid, kernel, grid.subset(reference.rings), reference_options(threads));
    plan.convolve<double>({map.data(), {1, map.size()}}, {reference.values.data(), {1, map.size()}});
    return reference;
}

ReferenceMap discrete_reference(const Grid& grid, const PolarizationKernel& kernel, View<const double, 1> map,
                                int threads) {
    auto reference = choose_rings(grid, kernel.support(), 2);
    reference.values.resize(static_cast<std::size_t>(map.size()));
    const PolarizationConvolutionPlan plan(grid, kernel, grid.subset(reference.rings),
                                           reference_options(threads));
    const View<double, 3>::Extents extents{1, 2, grid.n_pixels()};
    plan.convolve<double>({map.data(), extents}, {reference.values.data(), extents});
    return reference;
}

template <class T>
ConvolutionError error_of(const Grid& grid, View<const T, 1> result, const ReferenceMap& reference) {
    double difference = 0, power = 0;
    ConvolutionError error;
    double largest = 0;
    const auto add = [&](const Ring& ring, std::int64_t first) {
        for (auto pixel = first; pixel < first + ring.n_pixels; ++pixel) {
            const double right = reference.values[static_cast<std::size_t>(pixel)];
            const double off = static_cast<double>(result[pixel]) - right;
            difference += ring.weight * off * off;
            power += ring.weight * right * right;
            error.maximum = std::max(error.maximum, std::abs(off));
            largest = std::max(largest, std::abs(right));
        }
    };
    for (std::int64_t component = 0; component < result.size(); component += grid.n_pixels())
        for (const auto index : reference.rings) {
            const auto& ring = grid.rings()[static_cast<std::size_t>(index)];
            add(ring, component + ring.first_pixel);
        }
    error.maximum /= largest;
    error.rms = std::sqrt(difference / power);
    return error;
}

template ConvolutionError error_of(const Grid&, View<const float, 1>, const ReferenceMap&);
template ConvolutionError error_of(const Grid&, View<const double, 1>, const ReferenceMap&);

}  // namespace zonal::cli
