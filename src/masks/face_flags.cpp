#include "masks/face_flags.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "grids/batch/pixel_kernels.hpp"
#include "grids/healpix_pixel.hpp"
#include "masks/square.hpp"
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
        for (std::int64_t y_begin = 0; y_begin < nside; y_begin += tile) {
            const Square square{face, x_begin, y_begin, x_end, std::min(y_begin + tile, nside)};
            for_each_run(nside, square,
                         [&](std::int64_t pixel, std::int64_t x, std::int64_t y, std::int64_t n) {
                             auto at = (face * nside + x) * nside + y;
                             for (std::int64_t k = 0; k < n; ++k, at += nside - 1)
                                 flags_[static_cast<std::size_t>(at)] = masked[pixel + k];
                         });
        }
    });
}

/// At the edge of a face, whose pixels have neighbours in other faces.
bool FaceFlags::is_on_rim(std::int64_t face, std::int64_t x, std::int64_t y) const {
    using healpix::Order;
    const auto pixel = healpix::xyf2pix(nside_, Order::ring, {face, x, y});
    for (const auto other : healpix::neighbours(nside_, Order::ring, pixel)) {
        if (other < 0) continue;
        const auto place = healpix::pix2xyf(nside_, Order::ring, other);
        if (!is_masked(place.face, place.x, place.y)) return true;
    }
    return false;
}

void FaceFlags::find_rim(std::int64_t face, std::int64_t x, std::vector<std::int64_t>& pixels) const {
    const auto add = [&](std::int64_t y) {
        pixels.push_back(healpix::ring_of_row_pixel(nside_, healpix::to_row_pixel(nside_, {face, x, y})));
    };
    const auto add_at_edge = [&](std::int64_t y) {
        if (is_masked(face, x, y) && is_on_rim(face, x, y)) add(y);
    };
    if (x == 0 || x + 1 == nside_) {
        for (std::int64_t y = 0; y < nside_; ++y) add_at_edge(y);
        return;
    }
    // A pixel is inside if the three pixels across are masked at its own y and at both neighbouring y.
    const auto n = static_cast<std::size_t>(nside_);
    const auto* row = flags_.data() + (face * nside_ + x) * nside_;
    const auto *before = row - n, *after = row + n;
    std::vector<std::uint8_t> three(n);
    for (std::size_t y = 0; y < n; ++y) three[y] = (before[y] != 0) & (row[y] != 0) & (after[y] != 0);
    add_at_edge(0);
    for (std::size_t y = 1; y + 1 < n; ++y)
        if (row[y] != 0 && (three[y - 1] & three[y] & three[y + 1]) == 0) add(static_cast<std::int64_t>(y));
    add_at_edge(nside_ - 1);
}

Points FaceFlags::rim(int threads) const {
    std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(12 * nside_));
    core::parallel_for(12 * nside_, threads, [&](std::int64_t task, int) {
        find_rim(task / nside_, task % nside_, found[static_cast<std::size_t>(task)]);
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
