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

/// Marks the pixels of these rows of `to` whose direction, turned back, lies in a pixel of `from` that is
/// unseen_value in one of them: a row of spin 0, or Q and U, which turn into each other.
void carry_unseen(const SkyMap& from, const RotationMatrix& rotation, std::int64_t first_row,
                  std::int64_t n_rows, SkyMap& to) {
    const auto from_rows = from.rows().slice(first_row, n_rows);
    const auto to_rows = to.rows().slice(first_row, n_rows);
    const auto is_unseen = [&](std::int64_t pixel) {
        bool any = false;
        for (std::int64_t row = 0; row < n_rows; ++row) any |= is_unseen_value(from_rows(row, pixel));
        return any;
    };
    std::int64_t n_unseen = 0;
    for (std::int64_t row = 0; row < n_rows; ++row) n_unseen += count_bad_pixels(from_rows[row]).unseen;
    if (n_unseen == 0) return;
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
            if (!is_unseen(pixel)) continue;
            for (std::int64_t row = 0; row < n_rows; ++row) to_rows(row, ring.first_pixel + i) = unseen_value;
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
    if (fill_masked) return result;
    const auto rotation = rotation_matrix(angles);
    for (const auto& group : map.groups()) {
        const std::int64_t n_spin = group.fields == Fields::scalars ? 0 : 2;
        const auto first_spin = group.first_row + group.n_rows - n_spin;
        for (auto row = group.first_row; row < first_spin; ++row)
            carry_unseen(map, rotation, row, 1, result.map);
        if (n_spin > 0) carry_unseen(map, rotation, first_spin, n_spin, result.map);
    }
    return result;
}

}  // namespace zonal
