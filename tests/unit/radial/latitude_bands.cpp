// Convolutions in latitude bands, on the CPU: the bands are those of CUDA devices.
#include "radial/bands/latitude_bands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "convolution_helpers.hpp"

namespace zonal::radial {
namespace {

using test::degree;
using test::options_of;
using test::random_map;

/// One ring for every band.
constexpr std::int64_t as_many_as_rings = std::int64_t{1} << 40;

/// Rings of any length, in no order, with gaps between them and others before.
Grid scattered_grid() {
    std::vector<Ring> rings;
    std::int64_t first = 5;
    for (int k = 0; k < 40; ++k) {
        const int place = (k * 17) % 40;
        const double theta = 0.02 + 0.078 * place;
        const std::int64_t n_pixels = 3 + (place * 37) % 29;
        rings.push_back(make_ring(theta, 0.3 * k, 0.01, n_pixels, first));
        first += n_pixels + (k % 4 == 0 ? 3 : 0);
    }
    return Grid(std::move(rings));
}

std::vector<std::int64_t> rings_from(std::int64_t first, std::int64_t end) {
    std::vector<std::int64_t> rings(static_cast<std::size_t>(end - first));
    std::iota(rings.begin(), rings.end(), first);
    return rings;
}

/// The pixel of the map that a pixel of a band's array is.
std::int64_t map_pixel(const PackedRings& rings, std::int64_t place) {
    for (const PixelRun& run : rings.runs)
        if (place >= run.place && place < run.place + run.n_pixels) return run.first + place - run.place;
    return -1;
}

/// First pixels, in the map, of a band's rings.
std::set<std::int64_t> first_pixels(const PackedRings& rings) {
    std::set<std::int64_t> pixels;
    for (const Ring& ring : rings.grid.rings()) pixels.insert(map_pixel(rings, ring.first_pixel));
    return pixels;
}

/// [map, pixel], band by band; 7 in pixels of no ring.
std::vector<double> convolved_in_bands(const std::vector<LatitudeBand>& bands, const RadialKernel& kernel,
                                       const Grid& grid_out, const std::vector<double>& maps,
                                       std::int64_t n_maps, const PixelConvolutionOptions& options) {
    const auto n_in = static_cast<std::int64_t>(maps.size()) / n_maps, n_out = grid_out.n_pixels();
    std::vector<double> convolved(static_cast<std::size_t>(n_maps * n_out), 7.0);
    for (const LatitudeBand& band : bands) {
        const std::int64_t band_in = band.input.grid.n_pixels(), band_out = band.output.grid.n_pixels();
        std::vector<double> in(static_cast<std::size_t>(n_maps * band_in), 1e300), out(n_maps * band_out);
        for (std::int64_t map = 0; map < n_maps; ++map)
            for (const PixelRun& run : band.input.runs)
                std::copy_n(maps.data() + map * n_in + run.first, run.n_pixels,
                            in.data() + map * band_in + run.place);
        PixelConvolutionPlan(band.input.grid, kernel, band.output.grid, options)
            .convolve<double>({in.data(), {n_maps, band_in}}, {out.data(), {n_maps, band_out}});
        for (std::int64_t map = 0; map < n_maps; ++map)
            for (const PixelRun& run : band.output.runs)
                std::copy_n(out.data() + map * band_out + run.place, run.n_pixels,
                            convolved.data() + map * n_out + run.first);
    }
    return convolved;
}

void expect_whole(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, std::int64_t n_maps,
                  std::initializer_list<std::int64_t> numbers_of_bands) {
    const auto maps = random_map(n_maps * grid.n_pixels());
    for (const PixelMethod method : {PixelMethod::pixel_sum, PixelMethod::ring_fft}) {
        const auto options = options_of(method, Precision::float64, 2);
        std::vector<double> whole(static_cast<std::size_t>(n_maps * grid_out.n_pixels()), 7.0);
        PixelConvolutionPlan(grid, kernel, grid_out, options)
            .convolve<double>({maps.data(), {n_maps, grid.n_pixels()}},
                              {whole.data(), {n_maps, grid_out.n_pixels()}});
        for (const std::int64_t n_bands : numbers_of_bands) {
            const auto bands = latitude_bands(grid, kernel.support(), grid_out, n_bands);
            const auto found = convolved_in_bands(bands, kernel, grid_out, maps, n_maps, options);
            // A band sums some tens of pixels, by the same values of the kernel, in another order.
            EXPECT_LT(test::largest_difference(found, whole), 4e-14 * test::largest(whole))
                << grid.name() << " to " << grid_out.name() << ", support " << kernel.support() << ", "
                << bands.size() << " bands, " << (method == PixelMethod::ring_fft ? "ring FFT" : "pixel sum");
        }
    }
}

TEST(LatitudeBands, GiveTheConvolutionOfTheWhole) {
    const RadialKernel narrow = RadialKernel::gaussian(4 * degree).truncated(11 * degree);
    for (const Grid& grid : {Grid::healpix(1), Grid::healpix(16), Grid::gauss_legendre(32, 65, 0.1),
                             Grid::clenshaw_curtis(31, 60), scattered_grid()})
        expect_whole(grid, narrow, grid, 1, {1, 2, 5, as_many_as_rings});
    expect_whole(Grid::healpix(8), narrow, Grid::gauss_legendre(20, 41), 3, {3, as_many_as_rings});
    expect_whole(Grid::gauss_legendre(20, 41), narrow, Grid::healpix(8), 3, {3, as_many_as_rings});
}

// Rings of one length are summed in one way wherever a band ends.
TEST(LatitudeBands, GiveTheSameBitsWhereRingsAreAlike) {
    const Grid grid = Grid::gauss_legendre(32, 65);
    const RadialKernel kernel = RadialKernel::gaussian(4 * degree).truncated(11 * degree);
    const auto map = random_map(grid.n_pixels());
    for (const PixelMethod method : {PixelMethod::pixel_sum, PixelMethod::ring_fft}) {
        const auto whole =
            test::convolved(grid, kernel, grid, map, options_of(method, Precision::float64, 2));
        for (const std::int64_t n_bands : {std::int64_t{3}, as_many_as_rings})
            EXPECT_EQ(convolved_in_bands(latitude_bands(grid, kernel.support(), grid, n_bands), kernel, grid,
                                         map, 1, options_of(method, Precision::float64, 2)),
                      whole);
    }
}

TEST(LatitudeBands, GiveTheConvolutionOfTheWholeForKernelsOfAnyWidth) {
    const Grid grid = Grid::healpix(8);
    for (const RadialKernel& kernel :
         {RadialKernel::gaussian(60 * degree), RadialKernel::top_hat(75 * degree),
          RadialKernel::top_hat(0.1 * degree), test::random_window(12, 2)})
        expect_whole(grid, kernel, grid, 1, {2, 4, as_many_as_rings});
}

TEST(LatitudeBands, GiveTheConvolutionOfSomeRings) {
    const Grid grid = Grid::healpix(16);
    const RadialKernel kernel = RadialKernel::gaussian(5 * degree).truncated(14 * degree);
    const Grid cap = grid.subset(rings_from(0, 9)), others = grid.subset({1, 20, 30, 31, 32, 45, 62});
    expect_whole(grid, kernel, cap, 2, {2, as_many_as_rings});
    expect_whole(grid, kernel, others, 2, {2, as_many_as_rings});
    expect_whole(cap, kernel, grid, 1, {3, as_many_as_rings});
    expect_whole(others, kernel, others, 1, {3, as_many_as_rings});
}

TEST(LatitudeBands, HoldEveryRingOfTheOutputOnce) {
    for (const Grid& grid : {Grid::healpix(16), Grid::gauss_legendre(21, 43), scattered_grid()})
        for (const std::int64_t n_bands : {std::int64_t{1}, std::int64_t{4}, as_many_as_rings}) {
            const auto bands = latitude_bands(grid, 0.2, grid, n_bands);
            EXPECT_LE(static_cast<std::int64_t>(bands.size()), n_bands);
            std::multiset<std::int64_t> found, all;
            for (const Ring& ring : grid.rings()) all.insert(ring.first_pixel);
            for (const LatitudeBand& band : bands) {
                EXPECT_FALSE(band.output.grid.has_other_pixels());
                for (const std::int64_t pixel : first_pixels(band.output)) found.insert(pixel);
            }
            EXPECT_EQ(found, all) << grid.name();
        }
}

TEST(LatitudeBands, HoldTheInputWithinTheSupport) {
    const Grid grid = Grid::healpix(16), other = scattered_grid();
    for (const double support : {0.01, 0.2, 1.7, 3.1})
        for (const LatitudeBand& band : latitude_bands(grid, support, other, 6)) {
            const auto found = first_pixels(band.input);
            EXPECT_EQ(static_cast<std::int64_t>(found.size()), band.input.grid.n_rings());
            std::int64_t n_within = 0;
            for (const Ring& ring : grid.rings()) {
                double distance = 4;
                for (const Ring& out : band.output.grid.rings())
                    distance = std::min(distance, std::abs(out.theta - ring.theta));
                if (distance <= support) {
                    ++n_within;
                    EXPECT_TRUE(found.contains(ring.first_pixel));
                }
                const bool is_beyond = distance > 1.0001 * support && found.size() > 1;
                EXPECT_FALSE(is_beyond && found.contains(ring.first_pixel));
            }
            EXPECT_GE(static_cast<std::int64_t>(found.size()), n_within);
        }
}

TEST(LatitudeBands, KeepMirroredRingsTogether) {
    for (const Grid& grid : {Grid::healpix(16), Grid::gauss_legendre(20, 41)})
        for (const LatitudeBand& band : latitude_bands(grid, 0.1, grid, as_many_as_rings))
            for (const PackedRings* part : {&band.input, &band.output}) {
                const auto& rings = part->grid.rings();
                for (std::size_t k = 0; k < rings.size(); ++k)
                    EXPECT_EQ(rings[k].cos_theta, -rings[rings.size() - 1 - k].cos_theta);
                EXPECT_LE(part->runs.size(), 2U);
            }
}

TEST(LatitudeBands, ShareTheWork) {
    const Grid grid = Grid::healpix(64);
    const auto bands = latitude_bands(grid, 0.1, grid, 4);
    ASSERT_EQ(bands.size(), 4U);
    double total = 0;
    for (const LatitudeBand& band : bands) total += band.cost;
    // A pair of rings, 512 of 49152 pixels, is not divided.
    for (const LatitudeBand& band : bands) EXPECT_NEAR(band.cost / total, 0.25, 1.5 * 512 / 49152);
}

TEST(LatitudeBands, PackRingsInTheOrderOfTheMap) {
    const Grid grid({make_ring(0.5, 0, 1, 4, 20), make_ring(0.7, 0, 1, 5, 3), make_ring(0.9, 0, 1, 6, 8),
                     make_ring(1.1, 0, 1, 2, 14)},
                    30);
    const PackedRings packed = pack_rings(grid, {0, 1, 2});
    EXPECT_EQ(packed.grid.n_pixels(), 15);
    EXPECT_EQ(packed.grid.rings()[0].first_pixel, 11);
    EXPECT_EQ(packed.grid.rings()[1].first_pixel, 0);
    EXPECT_EQ(packed.grid.rings()[2].first_pixel, 5);
    ASSERT_EQ(packed.runs.size(), 2U);
    EXPECT_EQ(packed.runs[0].first, 3);
    EXPECT_EQ(packed.runs[0].n_pixels, 11);
    EXPECT_EQ(packed.runs[1].first, 20);
    EXPECT_EQ(packed.runs[1].n_pixels, 4);
    EXPECT_EQ(packed.runs[1].place, 11);
}

TEST(LatitudeBands, TakeMemoryForTheirPartOfTheMap) {
    const Grid grid = Grid::healpix(128);
    std::int64_t before = bytes_of_copies(grid.n_pixels(), grid.n_pixels()) + 1;
    for (const std::int64_t n_bands : {1, 2, 4, 8, 16}) {
        BandMemory memory;
        for (const LatitudeBand& band : latitude_bands(grid, 0.05, grid, n_bands)) memory.add(band, 0, {});
        EXPECT_LT(memory.bytes(), before);
        before = memory.bytes();
        const double pixels = static_cast<double>(grid.n_pixels()) / static_cast<double>(n_bands);
        // Rings are up to sqrt(3/2) times as far apart near the poles as on the equator: bands of equal work
        // differ as much.
        EXPECT_LE(static_cast<double>(memory.output_pixels()), 1.25 * pixels + 2 * 512);
        // 0.05 rad on either side of either part of a band, a fortieth of the sphere at most.
        EXPECT_LE(memory.input_pixels(), memory.output_pixels() + grid.n_pixels() / 10);
    }
}

TEST(LatitudeBands, CountWorkspacesOfEachKindOnce) {
    const Grid grid = Grid::healpix(2);
    const auto bands = latitude_bands(grid, 0.5, grid, as_many_as_rings);
    ASSERT_GE(bands.size(), 3U);
    BandMemory memory;
    memory.add(bands[0], 0, {10, 300});
    memory.add(bands[1], 1, {5000});
    memory.add(bands[2], 0, {20, 100});
    std::int64_t most_in = 0, most_out = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        most_in = std::max(most_in, bands[k].input.grid.n_pixels());
        most_out = std::max(most_out, bands[k].output.grid.n_pixels());
    }
    EXPECT_EQ(memory.bytes(), 20 + 300 + 5000 + 2 * 8 * (most_in + most_out));
}

TEST(LatitudeBands, HaveRoomForBothOfQAndU) {
    const Grid grid = Grid::healpix(4);
    BandMemory one, two(2);
    for (const LatitudeBand& band : latitude_bands(grid, 0.3, grid, 3)) {
        one.add(band, 0, {});
        two.add(band, 0, {});
    }
    EXPECT_EQ(two.input_pixels(), 2 * one.input_pixels());
    EXPECT_EQ(two.output_pixels(), 2 * one.output_pixels());
    EXPECT_EQ(two.bytes(), 2 * one.bytes());
}

}  // namespace
}  // namespace zonal::radial
