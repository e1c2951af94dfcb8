#include "planning/certificate/map_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "planning/request.hpp"
#include "zonal/mask.hpp"

namespace zonal::planning {
namespace {

/// What the pixels of maps are multiplied by before they are convolved.
struct PixelFactors {
    View<const double, 1> mask;
    const ConvolutionOptions& options;

    double operator()(std::size_t ring, std::int64_t pixel) const {
        double factor = mask.size() > 0 ? mask[pixel] : 1;
        if (!options.ring_weights.empty()) factor *= options.ring_weights[ring];
        if (options.pixel_weights.size() > 0) factor *= options.pixel_weights[pixel];
        return factor;
    }
};
struct NoFactors {
    double operator()(std::size_t, std::int64_t) const { return 1; }
};

/// sum |f|^2 over the pixels of a ring that every row has, with f times its factor.
template <class Factors>
double ring_sum(View<const double, 2> rows, const Ring& ring, std::size_t r, const Factors& factors) {
    double sum = 0;
    for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel) {
        double square = 0;
        bool is_seen = true;
        for (std::int64_t row = 0; row < rows.extent(0); ++row) {
            const double value = rows(row, pixel);
            is_seen = is_seen && !is_unseen_value(value);
            square += value * value;
        }
        const double factor = factors(r, pixel);
        if (is_seen) sum += factor * factor * square;
    }
    return sum;
}

/// sqrt(sum w |f|^2). Rings are added up in their order, whatever the number of threads.
template <class Factors>
double norm_of(const ConvolutionRequest& request, View<const double, 2> rows, const Factors& factors) {
    const auto& rings = request.grid.rings();
    std::vector<double> sums(rings.size());
    core::parallel_for(std::ssize(rings), core::resolve_threads(request.threads), [&](std::int64_t r, int) {
        const auto index = static_cast<std::size_t>(r);
        sums[index] = rings[index].weight * ring_sum(rows, rings[index], index, factors);
    });
    return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace

double certify(const ConvolutionRequest& reference, const ConvolutionChoice& applied,
               const ConvolutionOptions& options, View<const double, 2> maps, View<const double, 1> mask,
               View<const double, 2> convolved) {
    const auto bound = bound_of(reference, applied, options);
    const auto n = n_components(reference);
    double largest = 0;
    for (std::int64_t row = 0; row < maps.extent(0); row += n) {
        const bool is_plain =
            mask.size() == 0 && options.ring_weights.empty() && options.pixel_weights.size() == 0;
        const double in = is_plain ? norm_of(reference, maps.slice(row, n), NoFactors{})
                                   : norm_of(reference, maps.slice(row, n), PixelFactors{mask, options});
        const double out = norm_of(reference, convolved.slice(row, n), NoFactors{});
        largest = std::max(largest, certified_error(bound, in, out));
    }
    return largest;
}

}  // namespace zonal::planning
