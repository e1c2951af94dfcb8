#include <cmath>
#include <numeric>
#include <vector>

#include "core/constants.hpp"
#include "grids/batch/blocks.hpp"
#include "grids/batch/checks.hpp"
#include "zonal/grids/healpix_batch.hpp"

namespace zonal::healpix {

using Reals = ConstView<double, 1>;
using Pixels = ConstView<std::int64_t, 1>;

void check_element(std::int64_t nside, Pixels pixels, std::int64_t index) {
    const std::int64_t last = 12 * nside * nside - 1;
    if (pixels[index] < 0 || pixels[index] > last)
        throw InvalidArgument(
            fmt::format("pixels[{}]", index), pixels[index],
            fmt::format("must be from 0 to 12 nside^2 - 1 = {} for nside = {}", last, nside));
}

void check_element(Reals theta, Reals phi, std::int64_t index) {
    if (!(theta[index] >= 0 && theta[index] <= core::pi))
        throw InvalidArgument(fmt::format("theta[{}]", index), theta[index], "must be from 0 to pi");
    if (!std::isfinite(phi[index]))
        throw InvalidArgument(fmt::format("phi[{}]", index), phi[index], "must be finite");
}

namespace {

void check_vector(const Vector& vector, std::int64_t index) {
    const auto [x, y, z] = vector;
    if (!std::isfinite(x + y + z) && !(std::isfinite(x) && std::isfinite(y) && std::isfinite(z)))
        throw InvalidArgument(fmt::format("vector [{}]", index), fmt::format("({}, {}, {})", x, y, z),
                              "must be finite");
    if (x == 0 && y == 0 && z == 0)
        throw InvalidArgument(fmt::format("vector [{}]", index), "(0, 0, 0)", "must not be zero");
}

/// ring2nest and nest2ring.
void reorder(std::int64_t nside, Order order, Pixels pixels, View<std::int64_t, 1> reordered, int threads) {
    check_nside(nside, Order::nest);
    for_blocks(
        std::array{Named<const std::int64_t>{"pixels", pixels}},
        std::array{Named<std::int64_t>{"reordered", reordered}}, threads,
        [&](const auto& in, auto& out, std::int64_t n) {
            return reorder_block(nside, order, in[0].data(), out[0].data(), n);
        },
        [&](std::int64_t index) { check_element(nside, pixels, index); });
}

}  // namespace

void ang2pix(std::int64_t nside, Order order, Reals theta, Reals phi, View<std::int64_t, 1> pixels,
             int threads) {
    check_nside(nside, order);
    for_blocks(
        std::array{Named<const double>{"theta", theta}, Named<const double>{"phi", phi}},
        std::array{Named<std::int64_t>{"pixels", pixels}}, threads,
        [&](const auto& in, auto& out, std::int64_t n) {
            return ang2pix_block(nside, order, in[0].data(), in[1].data(), out[0].data(), n);
        },
        [&](std::int64_t index) { check_element(theta, phi, index); });
}

void vec2pix(std::int64_t nside, Order order, Reals x, Reals y, Reals z, View<std::int64_t, 1> pixels,
             int threads) {
    check_nside(nside, order);
    for_blocks(
        std::array{Named<const double>{"x", x}, Named<const double>{"y", y}, Named<const double>{"z", z}},
        std::array{Named<std::int64_t>{"pixels", pixels}}, threads,
        [&](const auto& in, auto& out, std::int64_t n) {
            return vec2pix_block(nside, order, in[0].data(), in[1].data(), in[2].data(), out[0].data(), n);
        },
        [&](std::int64_t index) {
            check_vector({x[index], y[index], z[index]}, index);
        });
}

void pix2ang(std::int64_t nside, Order order, Pixels pixels, View<double, 1> theta, View<double, 1> phi,
             int threads) {
    check_nside(nside, order);
    for_blocks(
        std::array{Named<const std::int64_t>{"pixels", pixels}},
        std::array{Named<double>{"theta", theta}, Named<double>{"phi", phi}}, threads,
        [&](const auto& in, auto& out, std::int64_t n) {
            return pix2ang_block(nside, order, in[0].data(), out[0].data(), out[1].data(), n);
        },
        [&](std::int64_t index) { check_element(nside, pixels, index); });
}

void pix2vec(std::int64_t nside, Order order, Pixels pixels, View<double, 1> x, View<double, 1> y,
             View<double, 1> z, int threads) {
    check_nside(nside, order);
    for_blocks(
        std::array{Named<const std::int64_t>{"pixels", pixels}},
        std::array{Named<double>{"x", x}, Named<double>{"y", y}, Named<double>{"z", z}}, threads,
        [&](const auto& in, auto& out, std::int64_t n) {
            return pix2vec_block(nside, order, in[0].data(), out[0].data(), out[1].data(), out[2].data(), n);
        },
        [&](std::int64_t index) { check_element(nside, pixels, index); });
}

void ring2nest(std::int64_t nside, Pixels pixels, View<std::int64_t, 1> nest, int threads) {
    reorder(nside, Order::ring, pixels, nest, threads);
}

void nest2ring(std::int64_t nside, Pixels pixels, View<std::int64_t, 1> ring, int threads) {
    reorder(nside, Order::nest, pixels, ring, threads);
}

void nest2ring_run(std::int64_t nside, std::int64_t first, std::span<std::int64_t> ring_pixels) {
    std::vector<std::int64_t> nest(ring_pixels.size());
    std::iota(nest.begin(), nest.end(), first);
    nest2ring(nside, {nest.data(), {std::ssize(nest)}}, {ring_pixels.data(), {std::ssize(nest)}}, 1);
}

}  // namespace zonal::healpix
