// Times of the transforms with all data on the device, as JSON: best of --runs after two uncounted runs, and
// of as many more the times of the stages.
//
//   sht_cuda [--runs 10] [--accuracy 1e-13] GRID:SIZE:LMAX:SPIN[:MAPS]...     such as healpix:2048:4096:0
//   gauss:4096:4095:0
#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/cuda.cuh"
#include "cuda/device_timing.cuh"
#include "zonal/sht.hpp"

namespace {

using Complex = std::complex<double>;
using zonal::View;

struct Case {
    std::string grid;
    std::int64_t size, lmax;
    int spin;
    std::int64_t maps = 1;
};

Case parse(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> parts;
    for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
    if (parts.size() < 4) throw std::invalid_argument(text + ": must be GRID:SIZE:LMAX:SPIN[:MAPS]");
    Case result{parts[0], std::stoll(parts[1]), std::stoll(parts[2]), std::stoi(parts[3])};
    if (parts.size() > 4) result.maps = std::stoll(parts[4]);
    return result;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Timing {
    double seconds = 1e30, legendre = 1e30, resampling = 1e30, rings = 1e30;
};

template <class Work>
Timing best_of(int runs, zonal::ShtWorkspace& workspace, const Work& work) {
    Timing best;
    workspace.measure_stages(false);
    for (int run = -2; run < runs; ++run) {  // the first loads kernels, the second makes a graph
        const double start = now();
        work();
        if (run >= 0) best.seconds = std::min(best.seconds, now() - start);
    }
    workspace.measure_stages(true);
    for (int run = 0; run < runs; ++run) {
        work();
        best.legendre = std::min(best.legendre, workspace.stage_seconds().legendre);
        best.resampling = std::min(best.resampling, workspace.stage_seconds().resampling);
        best.rings = std::min(best.rings, workspace.stage_seconds().rings);
    }
    return best;
}

void print(const char* name, const Timing& t, double flops, double peak) {
    std::printf(R"(,
   "%s": {"seconds": %.6g, "legendre_seconds": %.6g, "resampling_seconds": %.6g, "rings_seconds": %.6g, "legendre_share_of_peak": %.4g})",
                name, t.seconds, t.legendre, t.resampling, t.rings, flops / t.legendre / peak);
}

void measure(const Case& c, int runs, double accuracy, double peak) {
    zonal::ShtOptions options;
    options.accuracy = accuracy;
    options.lmax = c.lmax;
    options.spin = c.spin;
    options.device = zonal::Device::cuda(0);
    const auto grid =
        c.grid == "healpix" ? zonal::Grid::healpix(c.size) : zonal::Grid::gauss_legendre(c.size, 2 * c.size);
    // The arrays first: the plan fits what it needs for work into the memory that is left.
    const int components = c.spin == 0 ? 1 : 2;
    const zonal::AlmLayout layout(c.lmax);
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    std::vector<Complex> host(c.maps * components * layout.size());
    for (Complex& a : host) a = {normal(engine), normal(engine)};
    for (std::int64_t row = 0; row < c.maps * components; ++row)
        for (std::int64_t l = 0; l <= c.lmax; ++l) {
            Complex& a = host[row * layout.size() + l];
            a = l < c.spin ? 0 : a.real();
        }
    const zonal::core::DeviceArray<Complex> alm(host), back(static_cast<std::int64_t>(host.size()));
    const zonal::core::DeviceArray<double> map(c.maps * components * grid.n_pixels());

    const double start = now();
    const zonal::ShtPlan plan(grid, options);
    const double plan_seconds = now() - start;
    zonal::ShtWorkspace workspace = plan.make_workspace(c.maps);
    const auto space = zonal::MemorySpace::cuda;
    const View<const Complex, 3> in(alm.data(), {c.maps, components, layout.size()}, space);
    const View<Complex, 3> out(back.data(), {c.maps, components, layout.size()}, space);
    const View<double, 3> pixels(map.data(), {c.maps, components, grid.n_pixels()}, space);
    const Timing synthesis =
        best_of(runs, workspace, [&] { plan.synthesize<double>(in, pixels, workspace); });
    const Timing adjoint = best_of(runs, workspace, [&] { plan.quadrature<double>(pixels, out, workspace); });

    std::vector<Complex> found(host.size());
    zonal::core::check_cuda(cudaMemcpy(found.data(), back.data(), back.bytes(), cudaMemcpyDeviceToHost),
                            "copy");
    double error = 0;
    for (std::size_t k = 0; k < host.size(); ++k) error = std::max(error, std::abs(found[k] - host[k]));
    const double flops = plan.legendre_flops() * static_cast<double>(c.maps);
    std::printf(
        R"(  {"grid": "%s", "size": %lld, "lmax": %lld, "spin": %d, "maps": %lld, "plan_seconds": %.4g,
   "workspace_bytes": %lld, "legendre_flops": %.5g, "round_trip_error": %.3g)",
        c.grid.c_str(), static_cast<long long>(c.size), static_cast<long long>(c.lmax), c.spin,
        static_cast<long long>(c.maps), plan_seconds, static_cast<long long>(plan.workspace_bytes()), flops,
        error);
    print("synthesis", synthesis, flops, peak);
    print("adjoint", adjoint, flops, peak);
    std::printf("}");
}

}  // namespace

int main(int argc, char** argv) try {
    int runs = 10, first = 1;
    double accuracy = zonal::ShtOptions{}.accuracy;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (std::string(argv[first]) == "--runs") runs = std::atoi(argv[first + 1]);
        if (std::string(argv[first]) == "--accuracy") accuracy = std::atof(argv[first + 1]);
    }
    cudaDeviceProp device{};
    zonal::core::check_cuda(cudaGetDeviceProperties(&device, 0), "device");
    const double peak = zonal::bench::fma_peak(zonal::core::OwnStream().get());
    std::printf("{\"device\": \"%s\", \"fma_peak_flops\": %.5g, \"runs\": %d, \"results\": [\n", device.name,
                peak, runs);
    for (int k = first; k < argc; ++k) {
        if (k != first) std::printf(",\n");
        measure(parse(argv[k]), runs, accuracy, peak);
        std::fflush(stdout);
    }
    std::printf("\n]}\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
