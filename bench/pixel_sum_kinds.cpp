// The sum over pixels on the CPU with all kinds of pairs of rings, without the filters of equal rings,
// without the tables of square ones, and without both: pixel_sum_kinds NSIDE FWHM_PIXELS [float|double]
// [RUNS] [THREADS] prints JSON. What each kind gains decides whether it stays (docs/decisions/pixel-sum.md).
// And how many times as long it takes to spread the pixels of a map of which one in N is filled, in HEALPix's
// caps and belt.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "radial/pixel_sum/passes.hpp"
#include "zonal/kernel.hpp"

namespace zonal {
namespace {

struct Case {
    std::int64_t nside;
    double fwhm_pixels;
    int runs, threads;
};

template <class T>
double seconds_of(const radial::PixelSumSchedule& schedule, const std::vector<T>& map, std::vector<T>& out,
                  int threads, radial::FewPixels few = radial::few_pixels<T>) {
    const auto n = static_cast<std::int64_t>(map.size());
    std::vector<radial::SumScratch<T>> scratch;
    const auto start = std::chrono::steady_clock::now();
    const Progress none;
    radial::PassRunner<T> runner(schedule, 1, threads, scratch, none);
    runner.run(radial::SumPass<T>{schedule, schedule.kernel(), View<const T, 2>(map.data(), {1, n}),
                                  View<T, 2>(out.data(), {1, n})},
               few);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Prints the time of spreading over that of summing over all pixels.
template <class T>
void measure_few(const Case& c, const Grid& whole, const radial::SumKernel& kernel, double accuracy,
                 const std::vector<T>& full, std::vector<T>& out) {
    for (const bool is_belt : {false, true}) {
        std::vector<std::int64_t> rings;
        for (auto ring = is_belt ? c.nside : 0; ring < (is_belt ? 3 * c.nside : c.nside - 1); ++ring)
            rings.push_back(ring);
        const Grid grid = whole.subset(rings);
        const radial::PixelSumSchedule schedule(grid, kernel, grid, accuracy);
        std::printf(R"(, "%s": {)", is_belt ? "belt" : "caps");
        for (const int one_in : {4, 8, 16, 32, 64, 128, 256, 1024}) {
            std::vector<T> map = full;
            std::mt19937_64 engine(2);
            for (T& value : map)
                if (engine() % static_cast<unsigned>(one_in) != 0) value = 0;
            const radial::FewPixels never{grid.n_pixels() + 1, grid.n_pixels() + 1}, always{1, 1};
            double summed = 1e9, spread = 1e9;
            for (int run = 0; run < c.runs; ++run) {
                summed = std::min(summed, seconds_of(schedule, map, out, c.threads, never));
                spread = std::min(spread, seconds_of(schedule, map, out, c.threads, always));
            }
            std::printf(R"(%s"%d": %.3g)", one_in == 4 ? "" : ", ", one_in, spread / summed);
        }
        std::printf("}");
    }
}

template <class T>
void measure(const Case& c, const char* precision) {
    const Grid grid = Grid::healpix(c.nside);
    const double accuracy = sizeof(T) == 4 ? 3e-8 : 1e-12;
    const double pixel = std::sqrt(4 * std::numbers::pi / static_cast<double>(grid.n_pixels()));
    const double fwhm = c.fwhm_pixels * pixel;
    const radial::SumKernel kernel(RadialKernel::gaussian(fwhm).truncated(1.5 * fwhm), accuracy);
    std::vector<T> map(static_cast<std::size_t>(grid.n_pixels())), out(map.size());
    std::mt19937_64 engine(1);
    for (T& value : map) value = static_cast<T>(static_cast<double>(engine() >> 11) * 0x1p-53 - 0.5);
    constexpr int n = 4;
    const char* const names[n] = {"all", "no_equal", "no_square", "general"};
    std::vector<radial::PixelSumSchedule> schedules;
    for (const auto& used : {radial::UsedKinds{true, true}, {false, true}, {true, false}, {false, false}})
        schedules.emplace_back(grid, kernel, grid, accuracy, used);
    std::vector<double> seconds[n];
    for (int run = -1; run < c.runs; ++run)
        for (int k = 0; k < n; ++k) {
            const double once = seconds_of(schedules[static_cast<std::size_t>(k)], map, out, c.threads);
            if (run >= 0) seconds[k].push_back(once);
        }
    std::printf(R"({"nside": %lld, "fwhm_pixels": %g, "precision": "%s", "threads": %d, "runs": %d)",
                static_cast<long long>(c.nside), c.fwhm_pixels, precision, c.threads, c.runs);
    for (int k = 0; k < n; ++k) {
        std::sort(seconds[k].begin(), seconds[k].end());
        std::printf(R"(, "%s_seconds": %.4g)", names[k], seconds[k][seconds[k].size() / 2]);
    }
    measure_few(c, grid, kernel, accuracy, map, out);
    std::printf("}\n");
}

int run(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: pixel_sum_kinds NSIDE FWHM_PIXELS [float|double] [RUNS] [THREADS]\n");
        return 2;
    }
    const Case c{std::atoll(argv[1]), std::atof(argv[2]), argc > 4 ? std::atoi(argv[4]) : 5,
                 argc > 5 ? std::atoi(argv[5]) : 2};
    if (argc > 3 && std::string(argv[3]) == "float")
        measure<float>(c, "float");
    else
        measure<double>(c, "double");
    return 0;
}

}  // namespace
}  // namespace zonal

int main(int argc, char** argv) {
    return zonal::run(argc, argv);
}
