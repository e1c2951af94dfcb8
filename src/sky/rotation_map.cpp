// Rotation of maps through their alm.
#include <algorithm>
#include <cmath>

#include "core/interruption.hpp"
#include "sht/analysis/field_math.hpp"
#include "sht/progress_part.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/map_analysis.hpp"

namespace zonal {
namespace {

/// R^T v
healpix::Vector turn_back(const RotationMatrix& rotation, const healpix::Vector& v) {
    healpix::Vector result = {};
    for (std::size_t column = 0; column < 3; ++column)
        for (std::size_t row = 0; row < 3; ++row) result[column] += rotation[row][column] * v[row];
    return result;
}

/// Marks the pixels of `to` whose direction, turned back, lies in a pixel of `from` that is unseen_value in
/// this row.
void carry_unseen(const SkyMap& from, View<const double, 1> from_row, const RotationMatrix& rotation,
                  const SkyMap& to, View<double, 1> to_row) {
    if (count_bad_pixels(from_row).unseen == 0) return;
    const core::InterruptionPoll poll;
    for (const auto& ring : to.grid().rings()) {
        poll();
        for (std::int64_t i = 0; i < ring.n_pixels; ++i) {
            const double phi = sht::longitude(ring.phi_0, i, ring.n_pixels);
            const auto v = turn_back(
                rotation, {ring.sin_theta * std::cos(phi), ring.sin_theta * std::sin(phi), ring.cos_theta});
            const auto pixel = from.nside() > 0
                                   ? healpix::vec2pix(from.nside(), healpix::Order::ring, v)
                                   : nearest_pixel(from.grid(), std::atan2(std::hypot(v[0], v[1]), v[2]),
                                                   std::atan2(v[1], v[0]));
            if (is_unseen_value(from_row[pixel])) to_row[ring.first_pixel + i] = unseen_value;
        }
    }
}

}  // namespace

RotatedMap rotate(const SkyMap& map, const EulerAngles& angles, const MapAnalysisOptions& options,
                  bool fill_masked) {
    auto analysis = options;
    analysis.mmax = -1;  // a rotation fills all orders
    analysis.progress = sht::part_of(options.progress, 0, 0.6);
    auto [alm, report] = analyze(map, analysis);
    rotate_alm<double>(alm.layout, angles, alm.alm.view(),
                       {options.threads, sht::part_of(options.progress, 0.6, 0.8)});
    RotatedMap result{SkyMap(map, map.header().pixelization), alm.layout.lmax(), std::move(report)};
    result.map.make_full_sky();  // the pixels of a partial sky go elsewhere
    result.map.header().coordinates = CoordinateSystem::unknown;
    synthesize(alm, result.map, {options.threads, options.device, sht::part_of(options.progress, 0.8, 1)});
    for (std::int64_t row = 0; row < map.rows().extent(0) && !fill_masked; ++row)
        carry_unseen(map, map.rows()[row], rotation_matrix(angles), result.map, result.map.rows()[row]);
    return result;
}

}  // namespace zonal
