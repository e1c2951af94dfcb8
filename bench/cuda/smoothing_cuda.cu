// Times of smoothing scalar maps on a GPU, from page-locked and from pageable host memory and back, as JSON:
// best of --runs after one uncounted run, with a plan that was made before and with one made each time;
// beside them the bare copies of the maps to the device and back.
//
//   smoothing_cuda [--runs 10] NSIDE:LMAX[:ITER[:MAPS]]...     such as 2048:4096
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "core/cuda.cuh"
#include "zonal/sky/smoothing.hpp"

namespace {

using zonal::View;

struct Case {
    std::int64_t nside, lmax, iterations = 0, maps = 1;
};

Case parse(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::int64_t> parts;
    for (std::string part; std::getline(in, part, ':');) parts.push_back(std::stoll(part));
    if (parts.size() < 2) throw std::invalid_argument(text + ": must be NSIDE:LMAX[:ITER[:MAPS]]");
    Case result{parts[0], parts[1]};
    if (parts.size() > 2) result.iterations = parts[2];
    if (parts.size() > 3) result.maps = parts[3];
    return result;
}

template <class Work>
double best_of(int runs, const Work& work) {
    work();
    double best = 1e30;
    for (int run = 0; run < runs; ++run) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best =
            std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

struct PageLocked {
    explicit PageLocked(std::int64_t size) {
        zonal::core::check_cuda(cudaMallocHost(&data, size * sizeof(double)), "page-locked memory");
    }
    ~PageLocked() { cudaFreeHost(data); }
    PageLocked(const PageLocked&) = delete;
    double* data = nullptr;
};

double bare_copies(int runs, const double* from, double* to, std::int64_t size) {
    const zonal::core::DeviceArray<double> there(size);
    return best_of(runs, [&] {
        zonal::core::check_cuda(cudaMemcpy(there.data(), from, there.bytes(), cudaMemcpyHostToDevice),
                                "copy");
        zonal::core::check_cuda(cudaMemcpy(to, there.data(), there.bytes(), cudaMemcpyDeviceToHost), "copy");
    });
}

void measure(const Case& c, int runs) {
    const auto grid = zonal::Grid::healpix(c.nside);
    const std::int64_t size = c.maps * grid.n_pixels();
    const PageLocked in(size), out(size);
    std::mt19937_64 engine(1);
    for (std::int64_t p = 0; p < size; ++p) in.data[p] = static_cast<double>(engine() >> 11) * 0x1p-53 - 0.5;
    std::vector<double> pageable_in(in.data, in.data + size), pageable_out(size);

    zonal::SmoothingOptions options;
    options.lmax = c.lmax;
    options.iterations = static_cast<int>(c.iterations);
    options.device = zonal::Device::cuda(0);
    const auto beam = zonal::gaussian_beam(2e-3, c.lmax);
    const auto view = [&](auto* data) {
        return View<std::remove_pointer_t<decltype(data)>, 2>(data, {c.maps, grid.n_pixels()});
    };
    zonal::SmoothingPlan plan(grid, zonal::Fields::scalars, beam, grid, options);
    const auto smooth = [&](const double* from, double* to) {
        plan.smooth<double>(view(from), {}, view(to));
    };
    const double locked = best_of(runs, [&] { smooth(in.data, out.data); });
    const double pageable = best_of(runs, [&] { smooth(pageable_in.data(), pageable_out.data()); });
    const double once = best_of(runs, [&] {
        zonal::smooth<double>(grid, view(static_cast<const double*>(in.data)), zonal::Fields::scalars, {},
                              beam, grid, view(out.data), options);
    });
    std::printf(
        R"(  {"nside": %lld, "lmax": %lld, "iterations": %lld, "maps": %lld, "bare_copies_seconds": %.6g,
   "page_locked_seconds": %.6g, "pageable_seconds": %.6g, "page_locked_with_plan_seconds": %.6g})",
        static_cast<long long>(c.nside), static_cast<long long>(c.lmax), static_cast<long long>(c.iterations),
        static_cast<long long>(c.maps), bare_copies(runs, in.data, out.data, size), locked, pageable, once);
}

}  // namespace

int main(int argc, char** argv) try {
    int runs = 10, first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2)
        if (std::string(argv[first]) == "--runs") runs = std::atoi(argv[first + 1]);
    std::printf("{\"runs\": %d, \"results\": [\n", runs);
    for (int k = first; k < argc; ++k) {
        if (k != first) std::printf(",\n");
        measure(parse(argv[k]), runs);
        std::fflush(stdout);
    }
    std::printf("\n]}\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
