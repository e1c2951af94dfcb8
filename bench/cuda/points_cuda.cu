// Times of transforms at points with all data on the device, as JSON: medians of --runs after two uncounted
// runs, of the points' plan, of both directions and of their stages, and the share of the peak of
// multiply-adds in double precision that the sums at points take.
//
//   points_cuda [--runs 5] [--error 1e-5] LMAX:POINTS:SPIN[:shuffled]...     spin 02: I, Q and U
//
// The points are the first ones of a HEALPix grid that has as many, in its order or shuffled.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/cuda.cuh"
#include "cuda/device_timing.cuh"
#include "zonal/grid.hpp"
#include "zonal/points/transform.hpp"

namespace {

using Complex = std::complex<double>;
using zonal::Device;
using zonal::MemorySpace;
using zonal::View;
using zonal::core::DeviceArray;

struct Case {
    std::int64_t lmax, n_points;
    std::string spin;
    bool shuffled = false;
};

Case parse(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> parts;
    for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
    if (parts.size() < 3) throw std::invalid_argument(text + ": must be LMAX:POINTS:SPIN[:shuffled]");
    return {std::stoll(parts[0]), static_cast<std::int64_t>(std::stod(parts[1])), parts[2], parts.size() > 3};
}

struct Angles {
    std::vector<double> theta, phi;
};

Angles angles_of(const Case& c) {
    std::int64_t nside = 1;
    while (12 * nside * nside < c.n_points) nside *= 2;
    const auto grid = zonal::Grid::healpix(nside);
    std::vector<std::int64_t> order(static_cast<std::size_t>(c.n_points));
    std::iota(order.begin(), order.end(), 0);
    if (c.shuffled) std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    std::vector<double> theta, phi;
    for (const auto& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            theta.push_back(ring.theta);
            phi.push_back(ring.phi_0 +
                          2 * std::acos(-1.0) * static_cast<double>(k) / static_cast<double>(ring.n_pixels));
        }
    Angles angles;
    for (const std::int64_t i : order) {
        angles.theta.push_back(theta[static_cast<std::size_t>(i)]);
        angles.phi.push_back(phi[static_cast<std::size_t>(i)]);
    }
    return angles;
}

/// One spin's samples, alm and values.
struct Field {
    Field(const zonal::PointOptions& options, std::int64_t n_points)
        : samples(options),
          array(samples.make_array()),
          alm(samples.components() * samples.layout().size()),
          values(samples.components() * n_points),
          n_points(n_points) {
        std::mt19937_64 engine(1);
        std::normal_distribution<double> normal;
        std::vector<Complex> host(static_cast<std::size_t>(alm.size()));
        for (std::int64_t k = 0; k < alm.size(); ++k) {
            const bool is_real = k % samples.layout().size() <= options.lmax;
            host[static_cast<std::size_t>(k)] = {normal(engine), is_real ? 0 : normal(engine)};
        }
        zonal::core::check_cuda(cudaMemcpy(alm.data(), host.data(), static_cast<std::size_t>(alm.bytes()),
                                           cudaMemcpyHostToDevice),
                                "copy");
    }
    View<Complex, 3> alm_view() const {
        return {alm.data(), {1, samples.components(), samples.layout().size()}, MemorySpace::cuda};
    }
    View<double, 3> value_view() const {
        return {values.data(), {1, samples.components(), n_points}, MemorySpace::cuda};
    }

    zonal::SphereSamples samples;
    zonal::SampleArray array;
    DeviceArray<Complex> alm;
    DeviceArray<double> values;
    std::int64_t n_points;
};

void measure(const Case& c, double error, int runs, double peak) {
    const Angles host = angles_of(c);
    const DeviceArray<double> theta(host.theta), phi(host.phi);
    const View<const double, 1> thetas(theta.data(), {c.n_points}, MemorySpace::cuda),
        phis(phi.data(), {c.n_points}, MemorySpace::cuda);
    std::vector<Field> fields;
    for (const char spin : c.spin)
        fields.emplace_back(zonal::PointOptions{.lmax = c.lmax,
                                                .spin = spin - '0',
                                                .error = error,
                                                .n_points = c.n_points,
                                                .device = Device::cuda()},
                            c.n_points);
    const auto& samples = fields.front().samples;
    const double plan_seconds =
        zonal::bench::wall_seconds(runs, [&] { const zonal::PointPlan plan(samples, thetas, phis); });
    const zonal::PointPlan plan(samples, thetas, phis);
    const auto timed = [&](const auto& work) {
        return zonal::bench::wall_seconds(runs, [&] {
            for (Field& field : fields) work(field);
        });
    };
    const auto synthesize = [&](Field& f) { f.samples.synthesize<double>(f.alm_view(), f.array); };
    const auto interpolate = [&](Field& f) { plan.interpolate<double>(f.array, f.value_view()); };
    const auto spread = [&](Field& f) { plan.spread<double>(f.value_view(), f.array); };
    const auto adjoint = [&](Field& f) { f.samples.adjoint<double>(f.array, f.alm_view()); };
    const double of_samples = timed(synthesize), of_values = timed(interpolate),
                 of_both = timed([&](Field&f) {
                     synthesize(f);
                     interpolate(f);
                 });
    const double of_spread = timed(spread), of_adjoint = timed(adjoint), of_transpose = timed([&](Field&f) {
                                                                             spread(f);
                                                                             adjoint(f);
                                                                         });
    const auto width = static_cast<double>(samples.width());
    double flops = 0;
    for (const Field& field : fields)
        flops += 2 * width * width * static_cast<double>(field.samples.components() * c.n_points);
    std::printf(R"(  {"lmax": %lld, "points": %lld, "spins": "%s", "shuffled": %s, "error": %g, "bound": %.3g,
   "n_samples": %lld, "width": %lld, "plan_seconds": %.4g,
   "synthesis": {"seconds": %.5g, "samples_seconds": %.5g, "points_seconds": %.5g, "points_share_of_peak": %.3g},
   "adjoint": {"seconds": %.5g, "points_seconds": %.5g, "samples_seconds": %.5g, "points_share_of_peak": %.3g}})",
                static_cast<long long>(c.lmax), static_cast<long long>(c.n_points), c.spin.c_str(),
                c.shuffled ? "true" : "false", error, samples.bound(),
                static_cast<long long>(samples.n_samples()), static_cast<long long>(samples.width()),
                plan_seconds, of_both, of_samples, of_values, flops / of_values / peak, of_transpose,
                of_spread, of_adjoint, flops / of_spread / peak);
}

}  // namespace

int main(int argc, char** argv) try {
    int runs = 5, first = 1;
    double error = 1e-5;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (std::string(argv[first]) == "--runs") runs = std::atoi(argv[first + 1]);
        if (std::string(argv[first]) == "--error") error = std::atof(argv[first + 1]);
    }
    const double peak = zonal::bench::fma_peak(zonal::core::OwnStream().get());
    std::printf(" {\"fma_peak_flops\": %.4g, \"runs\": %d, \"results\": [\n", peak, runs);
    for (int k = first; k < argc; ++k) {
        if (k != first) std::printf(",\n");
        measure(parse(argv[k]), error, runs, peak);
        std::fflush(stdout);
    }
    std::printf("\n ]}\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
