#include "grids/batch/blocks.hpp"
#include "grids/batch/checks.hpp"
#include "grids/healpix_pixel.hpp"
#include "zonal/grids/healpix_batch.hpp"

namespace zonal::healpix {
namespace {

using Reals = ConstView<double, 1>;
using Pixels = ConstView<std::int64_t, 1>;

/// Four pixels and weights for each direction of a block.
struct alignas(64) BlockWeights {
    std::array<std::array<std::int64_t, block_size>, 4> pixels;
    std::array<std::array<double, block_size>, 4> weights;
};

/// Calls body(found, begin, count) for blocks of directions.
template <class Body>
void for_interpolated_blocks(std::int64_t nside, Order order, Reals theta, Reals phi, int threads,
                             const Body& body) {
    check_nside(nside, order);
    for_input_blocks(
        std::array{Named<const double>{"theta", theta}, Named<const double>{"phi", phi}}, threads,
        [&](const auto& in, std::int64_t begin, std::int64_t count, std::int64_t padded) {
            BlockWeights found;
            if (!interpolation_block(nside, order, in[0].data(), in[1].data(), found.pixels[0].data(),
                                     found.weights[0].data(), block_size, padded))
                return false;
            body(found, begin, count);
            return true;
        },
        [&](std::int64_t index) { check_element(theta, phi, index); });
}

/// Throws InvalidArgument unless the array has rows of n elements in host memory.
template <class T>
void check_rows(std::string_view name, const View<T, 2>& array, std::int64_t rows, std::int64_t n) {
    if (array.extent(0) != rows || array.extent(1) != n)
        throw InvalidArgument(std::string(name), fmt::format("shape [{}, {}]: must be [{}, {}]",
                                                             array.extent(0), array.extent(1), rows, n));
    if (array.space() != MemorySpace::host && n > 0)
        throw InvalidArgument(std::string(name), "must be in host memory");
}

void check_coordinate(std::string_view name, Pixels values, std::int64_t index, std::int64_t last) {
    if (values[index] < 0 || values[index] > last)
        throw InvalidArgument(fmt::format("{}[{}]", name, index), values[index],
                              fmt::format("must be from 0 to {}", last));
}

}  // namespace

Interpolation interpolation_weights(std::int64_t nside, Order order, const Angles& angles) {
    check_nside(nside, order);
    struct alignas(64) {
        std::array<double, kernel_multiple> theta, phi;
        std::array<std::array<std::int64_t, kernel_multiple>, 4> pixels;
        std::array<std::array<double, kernel_multiple>, 4> weights;
    } block;
    block.theta.fill(angles.theta);
    block.phi.fill(angles.phi);
    // One element: one vector, which the arrays fill.
    if (!interpolation_block(nside, order, block.theta.data(), block.phi.data(), block.pixels[0].data(),
                             block.weights[0].data(), kernel_multiple, 1))
        to_direction(angles);  // says what is wrong with them
    Interpolation result;
    for (std::size_t k = 0; k < 4; ++k) {
        result.pixels[k] = block.pixels[k][0];
        result.weights[k] = block.weights[k][0];
    }
    return result;
}

void interpolation_weights(std::int64_t nside, Order order, Reals theta, Reals phi,
                           View<std::int64_t, 2> pixels, View<double, 2> weights, int threads) {
    check_rows("pixels", pixels, 4, theta.size());
    check_rows("weights", weights, 4, theta.size());
    for_interpolated_blocks(nside, order, theta, phi, threads,
                            [&](const BlockWeights& found, std::int64_t begin, std::int64_t count) {
                                for (std::size_t row = 0; row < 4; ++row)
                                    for (std::int64_t k = 0; k < count; ++k) {
                                        pixels(row, begin + k) = found.pixels[row][k];
                                        weights(row, begin + k) = found.weights[row][k];
                                    }
                            });
}

template <class T>
void interpolate(Order order, View<const T, 2> maps, Reals theta, Reals phi, View<double, 2> values,
                 int threads) {
    const std::int64_t nside = nside_of(maps.extent(1)), n_maps = maps.extent(0);
    check_rows("maps", maps, n_maps, maps.extent(1));
    check_rows("values", values, n_maps, theta.size());
    for_interpolated_blocks(nside, order, theta, phi, threads,
                            [&](const BlockWeights& found, std::int64_t begin, std::int64_t count) {
                                for (std::int64_t map = 0; map < n_maps; ++map)
                                    for (std::int64_t k = 0; k < count; ++k) {
                                        double sum = 0;
                                        for (std::size_t row = 0; row < 4; ++row)
                                            sum += found.weights[row][k] *
                                                   static_cast<double>(maps(map, found.pixels[row][k]));
                                        values(map, begin + k) = sum;
                                    }
                            });
}

template void interpolate(Order, View<const float, 2>, Reals, Reals, View<double, 2>, int);
template void interpolate(Order, View<const double, 2>, Reals, Reals, View<double, 2>, int);

void neighbours(std::int64_t nside, Order order, Pixels pixels, View<std::int64_t, 2> around, int threads) {
    check_nside(nside, order);
    check_rows("around", around, 8, pixels.size());
    for_input_blocks(
        std::array{Named<const std::int64_t>{"pixels", pixels}}, threads,
        [&](const auto& in, std::int64_t begin, std::int64_t count, std::int64_t padded) {
            BlockRows<std::int64_t, 8> found;
            if (!neighbours_block(nside, order, in[0].data(), found.rows[0].data(), block_size, padded))
                return false;
            for (std::size_t row = 0; row < 8; ++row)
                for (std::int64_t k = 0; k < count; ++k) around(row, begin + k) = found.rows[row][k];
            return true;
        },
        [&](std::int64_t index) { check_element(nside, pixels, index); });
}

void pix2xyf(std::int64_t nside, Order order, Pixels pixels, View<std::int64_t, 1> x, View<std::int64_t, 1> y,
             View<std::int64_t, 1> face, int threads) {
    check_nside(nside, order);
    for_blocks(
        std::array{Named<const std::int64_t>{"pixels", pixels}},
        std::array{Named<std::int64_t>{"x", x}, Named<std::int64_t>{"y", y},
                   Named<std::int64_t>{"face", face}},
        threads,
        [&](const auto& in, auto& out, std::int64_t n) {
            return pix2xyf_block(nside, order, in[0].data(), out[0].data(), out[1].data(), out[2].data(), n);
        },
        [&](std::int64_t index) { check_element(nside, pixels, index); });
}

void xyf2pix(std::int64_t nside, Order order, Pixels x, Pixels y, Pixels face, View<std::int64_t, 1> pixels,
             int threads) {
    check_nside(nside, order);
    for_blocks(
        std::array{Named<const std::int64_t>{"x", x}, Named<const std::int64_t>{"y", y},
                   Named<const std::int64_t>{"face", face}},
        std::array{Named<std::int64_t>{"pixels", pixels}}, threads,
        [&](const auto& in, auto& out, std::int64_t n) {
            return xyf2pix_block(nside, order, in[0].data(), in[1].data(), in[2].data(), out[0].data(), n);
        },
        [&](std::int64_t index) {
            check_coordinate("x", x, index, nside - 1);
            check_coordinate("y", y, index, nside - 1);
            check_coordinate("face", face, index, 11);
        });
}

}  // namespace zonal::healpix
