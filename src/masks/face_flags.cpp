#include "masks/face_flags.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "grids/batch/pixel_kernels.hpp"
#include "grids/healpix_pixel.hpp"
#include "zonal/healpix.hpp"

namespace zonal::masks {
namespace {

constexpr std::int64_t tile = 64;  ///< pixels along a square of which all parts lie in the first cache

}  // namespace

FaceFlags::FaceFlags(std::int64_t nside, const View<const std::uint8_t, 1>& masked, int threads)
    : nside_(nside), flags_(static_cast<std::size_t>(masked.size())) {
    const std::int64_t strips = (nside + tile - 1) / tile;
    core::parallel_for(12 * strips, threads, [&](std::int64_t task, int) {
        const std::int64_t face = task / strips, x_begin = task % strips * tile;
        const std::int64_t x_end = std::min(x_begin + tile, nside);
        for (std::int64_t y_begin = 0; y_begin < nside; y_begin += tile)
            for (std::int64_t x = x_begin; x < x_end; ++x)
                for (std::int64_t y = y_begin; y < std::min(y_begin + tile, nside); ++y)
                    flags_[static_cast<std::size_t>((face * nside + x) * nside + y)] =
                        masked[healpix::ring_of_row_pixel(nside, healpix::to_row_pixel(nside, {face, x, y}))];
    });
}

bool FaceFlags::is_on_rim(std::int64_t face, std::int64_t x, std::int64_t y) const {
    if (x > 0 && y > 0 && x + 1 < nside_ && y + 1 < nside_) {
        bool all = true;
        for (std::int64_t i = x - 1; i <= x + 1; ++i)
            for (std::int64_t j = y - 1; j <= y + 1; ++j) all = all && is_masked(face, i, j);
        return !all;
    }
    using healpix::Order;
    const auto pixel = healpix::xyf2pix(nside_, Order::ring, {face, x, y});
    for (const auto other : healpix::neighbours(nside_, Order::ring, pixel)) {
        if (other < 0) continue;
        const auto place = healpix::pix2xyf(nside_, Order::ring, other);
        if (!is_masked(place.face, place.x, place.y)) return true;
    }
    return false;
}

Points FaceFlags::rim(int threads) const {
    std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(12 * nside_));
    core::parallel_for(12 * nside_, threads, [&](std::int64_t task, int) {
        const std::int64_t face = task / nside_, x = task % nside_;
        auto& pixels = found[static_cast<std::size_t>(task)];
        for (std::int64_t y = 0; y < nside_; ++y)
            if (is_masked(face, x, y) && is_on_rim(face, x, y))
                pixels.push_back(
                    healpix::ring_of_row_pixel(nside_, healpix::to_row_pixel(nside_, {face, x, y})));
    });
    core::AlignedVector<std::int64_t> pixels;
    for (auto& some : found) {
        pixels.insert(pixels.end(), some.begin(), some.end());
        some = {};
    }
    Points points;
    points.resize(static_cast<std::int64_t>(pixels.size()));
    pixels.resize(points.x.size(), 0);  // whole vectors
    constexpr std::int64_t piece = 1 << 12;
    const std::int64_t padded = (points.size + 7) / 8 * 8;
    core::parallel_for((padded + piece - 1) / piece, threads, [&](std::int64_t task, int) {
        const std::int64_t first = task * piece;
        healpix::pix2vec_block(nside_, healpix::Order::ring, pixels.data() + first, points.x.data() + first,
                               points.y.data() + first, points.z.data() + first,
                               std::min(piece, padded - first));
    });
    return points;
}

}  // namespace zonal::masks
