#include "planning/certificate/map_certificate.hpp"

#include <algorithm>
#include <cmath>

#include "planning/request.hpp"
#include "zonal/mask.hpp"

namespace zonal::planning {
namespace {

bool is_unseen(View<const double, 2> rows, std::int64_t pixel) {
    for (std::int64_t row = 0; row < rows.extent(0); ++row)
        if (is_unseen_value(rows(row, pixel))) return true;
    return false;
}

/// sqrt(sum w |f|^2) over the pixels that are seen, with f times share(ring, pixel).
template <class Share>
double norm_of(const Grid& grid, View<const double, 2> rows, const Share& share) {
    double sum = 0;
    for (std::size_t r = 0; r < grid.rings().size(); ++r) {
        const auto& ring = grid.rings()[r];
        for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel) {
            if (is_unseen(rows, pixel)) continue;
            const double factor = share(r, pixel);
            for (std::int64_t row = 0; row < rows.extent(0); ++row)
                sum += ring.weight * std::pow(factor * rows(row, pixel), 2);
        }
    }
    return std::sqrt(sum);
}

}  // namespace

double certify(const ConvolutionRequest& reference, const ConvolutionChoice& applied,
               const ConvolutionOptions& options, View<const double, 2> maps, View<const double, 1> mask,
               View<const double, 2> convolved) {
    const auto bound = bound_of(reference, applied, options);
    const auto n = n_components(reference);
    const auto share = [&](std::size_t ring, std::int64_t pixel) {
        double factor = mask.size() > 0 ? mask[pixel] : 1;
        if (!options.ring_weights.empty()) factor *= options.ring_weights[ring];
        if (options.pixel_weights.size() > 0) factor *= options.pixel_weights[pixel];
        return factor;
    };
    double largest = 0;
    for (std::int64_t row = 0; row < maps.extent(0); row += n) {
        const double in = norm_of(reference.grid, maps.slice(row, n), share);
        const double out =
            norm_of(reference.grid, convolved.slice(row, n), [](std::size_t, std::int64_t) { return 1.0; });
        largest = std::max(largest, certified_error(bound, in, out));
    }
    return largest;
}

}  // namespace zonal::planning
