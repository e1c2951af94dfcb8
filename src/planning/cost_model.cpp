#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "core/parallel.hpp"
#include "planning/size_shares.hpp"
#include "sht/rings/resampling_cpu.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal {
namespace {

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown CPU";
}

PixelCost ConvolutionCosts::*costs_of(PixelMethod method, Precision precision) {
    const bool is_single = precision == Precision::float32;
    if (method == PixelMethod::ring_fft)
        return is_single ? &ConvolutionCosts::ring_fft_single : &ConvolutionCosts::ring_fft_double;
    return is_single ? &ConvolutionCosts::pixel_sum_single : &ConvolutionCosts::pixel_sum_double;
}

/// All but what a call takes.
void share_among_threads(int threads, ConvolutionCosts& costs) {
    for (auto* transform : {&costs.smoothing, &costs.iteration}) {
        transform->legendre_flop /= threads;
        transform->pixel /= threads;
    }
    for (auto* sum :
         {&costs.ring_fft_double, &costs.ring_fft_single, &costs.pixel_sum_double, &costs.pixel_sum_single})
        for (auto* cost : {&sum->kernel_value, &sum->row_product, &sum->mode_product, &sum->pixel_product,
                           &sum->uneven_product, &sum->pixel_row, &sum->pixel_weight, &sum->fft_pixel})
            *cost /= threads;
}

}  // namespace

// A ring gets nothing from orders above mlim (docs/how-it-works/methods.md, Pruning), for spin 0 mlim = t.
TransformWork transform_work(const Grid& grid, std::int64_t lmax, Device device) {
    if (lmax < 0) throw InvalidArgument("lmax", lmax, "must be 0 or more");
    TransformWork work;
    const auto l = static_cast<double>(lmax);
    for (const auto& ring : grid.rings()) {
        const double turning = l * ring.sin_theta;
        const double bound = turning + 11 * std::cbrt(turning * ring.cos_theta * ring.cos_theta) + 6;
        const double orders = std::min(std::floor(bound), l) + 1;
        // sum over m < orders of the degrees l = m .. lmax, for half a pair
        work.legendre_flops += 3 * (orders * (l + 1) - orders * (orders - 1) / 2);
        work.pixels += static_cast<double>(ring.n_pixels);
    }
    if (device.kind() == Device::Kind::cpu)
        work.legendre_flops = sht::cheapest_rings(work.legendre_flops, (grid.n_rings() + 1) / 2, lmax, lmax,
                                                  ShtOptions().accuracy)
                                  .work;
    return work;
}

const PixelCost& ConvolutionCosts::pixels(PixelMethod method, Precision precision) const {
    return this->*costs_of(method, precision);
}

PixelCost& ConvolutionCosts::pixels(PixelMethod method, Precision precision) {
    return this->*costs_of(method, precision);
}

std::string machine_fingerprint(int threads) {
    auto text = fmt::format("{}, {}, {} threads", cpu_model(), simd_target(), core::resolve_threads(threads));
    if (const auto device = resolve_device(Device::automatic()); device.kind() != Device::Kind::cpu)
        text += ", " + to_string(device);
    return text;
}

bool has_costs(const CostModel& costs, Device device) {
    return std::any_of(costs.devices.begin(), costs.devices.end(),
                       [&](const auto& known) { return known.device == device; });
}

CostModel default_cost_model(int threads) {
    // What calibrate() found for one thread; for Q and U, on another machine, over what it found for spin 0.
    DeviceCosts costs;
    auto& scalar = costs.scalar;
    scalar.smoothing = scalar.iteration = {.legendre_flop = 3.6e-11, .pixel = 1.96e-8};
    scalar.ring_fft_double = {.kernel_value = 2.0e-8,
                              .mode_product = 7.3e-10,
                              .pixel_product = 1.2e-10,
                              .uneven_product = 1.2e-10,
                              .pixel_row = 8.3e-10,
                              .fft_pixel = 4.1e-9};
    scalar.ring_fft_single = {.kernel_value = 2.0e-8,
                              .mode_product = 4.0e-10,
                              .pixel_product = 2.2e-11,
                              .uneven_product = 2.2e-11,
                              .pixel_row = 7.4e-10,
                              .fft_pixel = 3.4e-9};
    scalar.pixel_sum_double = {.pixel_product = 3.5e-11, .uneven_product = 3.5e-11, .pixel_row = 1.2e-9};
    scalar.pixel_sum_single = {.pixel_product = 1.1e-11, .uneven_product = 1.1e-11, .pixel_row = 7.9e-10};
    auto& polarization = costs.polarization;
    polarization.smoothing = polarization.iteration = {.legendre_flop = 1.0e-10, .pixel = 5.9e-8};
    polarization.ring_fft_double = {.kernel_value = 4.0e-8,
                                    .mode_product = 1.3e-9,
                                    .pixel_product = 1.2e-10,
                                    .uneven_product = 1.2e-10,
                                    .pixel_row = 1.1e-9,
                                    .fft_pixel = 4.4e-9};
    polarization.ring_fft_single = {.kernel_value = 2.4e-8,
                                    .mode_product = 4.9e-10,
                                    .pixel_product = 2.2e-11,
                                    .uneven_product = 2.2e-11,
                                    .pixel_row = 1.6e-9,
                                    .fft_pixel = 3.7e-9};
    polarization.pixel_sum_double = {
        .pixel_product = 3.5e-11, .uneven_product = 3.5e-11, .pixel_row = 1.6e-9};
    polarization.pixel_sum_single = {
        .pixel_product = 1.1e-11, .uneven_product = 1.1e-11, .pixel_row = 1.7e-9};
    share_among_threads(core::resolve_threads(threads), costs.scalar);
    share_among_threads(core::resolve_threads(threads), costs.polarization);
    return {"default", {costs}};
}

double predicted_seconds(const SizeCost& cost, double n_pixels) {
    const auto shares = split::size_shares(cost.n_pixels, n_pixels);
    return std::inner_product(shares.begin(), shares.end(), cost.seconds.begin(), 0.0);
}

double predicted_seconds(const TransformCost& cost, const TransformWork& work) {
    return cost.call + cost.legendre_flop * work.legendre_flops + cost.pixel * work.pixels +
           predicted_seconds(cost.others, work.pixels);
}

double ring_values(const PixelConvolutionWork& work, std::int64_t n_pixels) {
    return work.kernel_values / std::sqrt(static_cast<double>(n_pixels));
}

double predicted_seconds(const PixelCost& cost, const PixelConvolutionWork& work, std::int64_t n_pixels,
                         std::int64_t n_maps) {
    const double rows = cost.kernel_value * work.kernel_values + cost.row_product * work.row_products;
    const double discs = cost.pixel_product * (work.pixel_products - work.uneven_products) +
                         cost.uneven_product * work.uneven_products + cost.pixel_row * work.pixel_rows +
                         cost.pixel_weight * work.pixel_weights + cost.longest_sum * work.longest_sum;
    const double each = cost.mode_product * work.mode_products + cost.fft_pixel * work.fft_pixels +
                        cost.ring_value * ring_values(work, n_pixels) + discs + cost.map +
                        predicted_seconds(cost.others, static_cast<double>(n_pixels));
    const std::int64_t passes = (n_maps + work.maps_per_pass - 1) / work.maps_per_pass;
    return cost.call + rows * static_cast<double>(passes) + each * static_cast<double>(n_maps);
}

}  // namespace zonal
