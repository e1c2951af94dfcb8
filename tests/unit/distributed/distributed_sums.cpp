#include <gmock/gmock.h>

#include <limits>
#include <numeric>
#include <type_traits>

#include "distributed/pixel_ranges.hpp"
#include "distributed/rank_sky.hpp"
#include "distributed/sums/halo.hpp"
#include "distributed_sums_helpers.hpp"

// DistributedConvolutionPlan, and what brings its halo.
namespace zonal::test {
namespace {

const Grid grid = Grid::healpix(32);

// Sums over the discs of pixels may be made in another order near the end of a rank's rings: they have fewer
// than 400 terms, whose absolute values add up to the largest pixel at most and which round as in a random
// walk. Sums of maps of floats are made in double precision and rounded once.
template <class Kernel, class T>
double tolerance_of(PixelMethod method, const RankSums<Kernel, T>&) {
    if (method == PixelMethod::ring_fft) return 0;
    return std::numeric_limits<T>::epsilon() * (std::is_same_v<T, float> ? 1 : 20);
}

TEST(DistributedSums, AreThoseOfOneProcess) {
    for_all_sums(grid, [](const auto& sums, PixelMethod method) {
        for (const int n_ranks : {1, 2, 3, 5})
            sums.expect_of(Devices(static_cast<std::size_t>(n_ranks), Device::cpu()),
                           tolerance_of(method, sums),
                           n_ranks == 3 ? std::vector{1.0, 3.0, 2.0} : std::vector<double>());
    });
}

TEST(DistributedSums, ReachTheWholeSkyAndNothing) {
    const auto options = rank_sum_options(PixelMethod::ring_fft);
    for (const auto& kernel : {RadialKernel::gaussian(0.6), RadialKernel::top_hat(0.001)})
        RankSums<RadialKernel, double>(grid, kernel, options, 1).expect_of(Devices(3, Device::cpu()), 0);
}

/// On three ranks.
template <class Work>
void expect_on_all(const std::string& message, const Work& work) {
    EXPECT_THAT(on_ranks(3,
                         [&](const Communicator& ranks) {
                             const DistributedSky sky(ranks, grid, 64, 64, 1);
                             work(sky);
                         }),
                testing::Each(testing::HasSubstr(message)));
}

TEST(DistributedSums, ThrowOnAllRanksWhatIsWrongOnOne) {
    const auto kernel = RadialKernel::gaussian(0.1).truncated(0.3);
    const auto call = [&](const DistributedSky& sky, std::int64_t n_maps, std::int64_t more_pixels,
                          const Progress& progress = {}) {
        DistributedPixelConvolutionPlan plan(sky, kernel);
        const auto n = sky.grid().n_pixels();
        Array<double, 2> maps({n_maps, n + more_pixels}), convolved({n_maps, n});
        const auto convolve = [&] { plan.convolve<double>(maps.view(), convolved.view(), progress); };
        const auto error = thrown_by(convolve);
        // The plan can be used again.
        Array<double, 2> others({1, n}), results({1, n});
        plan.convolve<double>(others.view(), results.view());
        if (error) std::rethrow_exception(error);
    };
    const auto is_last = [](const DistributedSky& sky) { return sky.ranks().rank() == 2; };
    expect_on_all("rank 2: maps: axis 2 (pixel)",
                  [&](const auto& sky) { call(sky, 2, is_last(sky) ? 1 : 0); });
    expect_on_all("all must make the same calls",
                  [&](const auto& sky) { call(sky, is_last(sky) ? 2 : 1, 0); });
    expect_on_all("rank 2: convolution: cancelled", [&](const auto& sky) {
        call(sky, 1, 0, [&, last = is_last(sky)](double) { return !last; });
    });
    expect_on_all("all must make the same calls", [&](const auto& sky) {
        DistributedPixelConvolutionPlan(sky, is_last(sky) ? kernel.scaled(2) : kernel);
    });
    expect_on_all("rank 2: devices: has 1 devices: must be empty", [&](const auto& sky) {
        PixelConvolutionOptions options;
        if (is_last(sky)) options.devices = {Device::cpu()};
        DistributedPixelConvolutionPlan(sky, kernel, options);
    });
    expect_on_all("rank 2: maps: is in device memory: a rank on the CPU needs host memory",
                  [&](const auto& sky) {
                      DistributedPixelConvolutionPlan plan(sky, kernel);
                      const auto n = sky.grid().n_pixels();
                      Array<double, 2> maps({1, n}), convolved({1, n});
                      const View<const double, 2> there(maps.data(), {1, n},
                                                        is_last(sky) ? MemorySpace::cuda : MemorySpace::host);
                      plan.convolve<double>(there, convolved.view());
                  });
}

TEST(DistributedSums, HaveTheSkysThreadsAndDevice) {
    const auto errors = on_ranks(2, [](const Communicator& ranks) {
        const DistributedSky sky(ranks, grid, 64, 64, 1 + ranks.rank());
        PixelConvolutionOptions options;
        options.threads = 7;
        const DistributedPolarizationConvolutionPlan plan(sky, PolarizationKernel::gaussian(0.5), options);
        EXPECT_EQ(plan.options().threads, 1 + ranks.rank());
        EXPECT_EQ(plan.options().device, Device::cpu());
        EXPECT_EQ(plan.sky().grid().n_pixels(), sky.grid().n_pixels());
    });
    EXPECT_THAT(errors, testing::Each(""));
}

TEST(Halo, IsTheSameHoweverManyRowsTravelAtOnce) {
    const auto errors = on_ranks(3, [](const Communicator& ranks) {
        const distributed::RankSky sky(ranks, grid, 64, 64, 1, {}, Device::cpu());
        Array<double, 3> maps({3, 2, sky.grid().n_pixels()});
        for (std::int64_t row = 0; row < 6; ++row)
            for (std::int64_t p = 0; p < maps.extent(2); ++p)
                maps(row / 2, row % 2, p) = static_cast<double>(row * grid.n_pixels() + sky.whole_pixel(p));
        const auto pixels = distributed::gather_ranges(ranks, sky.pixels());
        for (const std::int64_t bytes : {1, 200000, 1 << 28}) {
            const distributed::RankHalo halo(ranks, grid, pixels, sky.devices(), 0.4, sky.grid(), nullptr,
                                             bytes);
            HaloMemory memory;
            const auto reached = halo.begin(std::as_const(maps).view(), memory)->wait();
            ASSERT_EQ(reached.extent(2), halo.outer()->in.n_pixels());
            const Grid& outer = halo.outer()->out;
            std::vector<std::int64_t> rings(static_cast<std::size_t>(outer.n_rings()));
            std::iota(rings.begin(), rings.end(), 0);
            const auto expected = radial::pack_rings(grid, radial::rings_within(grid, 0.4, outer, rings));
            ASSERT_EQ(expected.grid.n_pixels(), reached.extent(2));
            for (std::int64_t row = 0; row < 6; ++row)
                for (const auto& run : expected.runs)
                    for (std::int64_t p = 0; p < run.n_pixels; ++p)
                        ASSERT_EQ(reached(row / 2, row % 2, run.place + p),
                                  static_cast<double>(row * grid.n_pixels() + run.first + p));
        }
    });
    EXPECT_THAT(errors, testing::Each(""));
}

// What travels between GPUs, run by run.
TEST(Halo, HasTheSameRunsOnBothSides) {
    for (const Grid& all : {Grid::healpix(32), Grid::gauss_legendre(60, 121)}) {
        std::vector<std::int64_t> bounds{0, 3, 20, all.n_rings() / 2, all.n_rings() - 20, all.n_rings()};
        std::vector<std::vector<PixelRange>> pixels(3);
        for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
            const auto first_of = [&](std::int64_t ring) {
                return ring == all.n_rings() ? all.n_pixels()
                                             : all.rings()[static_cast<std::size_t>(ring)].first_pixel;
            };
            pixels[std::min<std::size_t>(k, 4 - k)].push_back({first_of(bounds[k]), first_of(bounds[k + 1])});
        }
        for (const double support : {0.02, 0.1, 0.5, 3.2})
            for (std::size_t to = 0; to < 3; ++to)
                for (std::size_t from = 0; from < 3; ++from) {
                    const Devices devices(3, Device::cuda(0));
                    const auto sent = distributed::halo_copies(all, pixels, devices, from, support).sent[to],
                               received =
                                   distributed::halo_copies(all, pixels, devices, to, support).received[from];
                    ASSERT_EQ(sent.size(), received.size()) << support;
                    for (std::size_t k = 0; k < sent.size(); ++k)
                        EXPECT_EQ(sent[k].n_pixels, received[k].n_pixels);
                }
    }
}

}  // namespace
}  // namespace zonal::test
