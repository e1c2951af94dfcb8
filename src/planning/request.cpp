#include "planning/request.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/constants.hpp"
#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_regions.hpp"
#include "zonal/healpix.hpp"

namespace zonal {
namespace planning {
namespace {

void check_polarization(const ConvolutionRequest& request) {
    if (!request.polarization) return;
    if (request.lmax >= 0 && request.lmax < 2)
        throw InvalidArgument("lmax", request.lmax, "must be 2 or more for Q and U");
    if (request.polarization->band_limit() < 0)
        throw InvalidArgument("polarization", "is truncated, and must be the whole kernel");
    if (request.method == ConvolutionMethod::split && !can_be_split(request))
        throw InvalidArgument(
            "method", "split",
            "kernels whose windows of E and B differ cannot be split: must be auto, ring-fft or pixel-sum");
}

}  // namespace

void check(const ConvolutionRequest& request) {
    if (request.lmax < -1)
        throw InvalidArgument("lmax", request.lmax, "must be 0 or more, or -1 for what the grid holds");
    check_polarization(request);
    if (!(request.error > 0 && request.error < 1))
        throw InvalidArgument("error", request.error, "must be above 0 and below 1");
    if (const auto gain = request.gain; gain && !(*gain > 0 && std::isfinite(*gain)))
        throw InvalidArgument("gain", *gain, "must be above 0 and finite");
    if (request.n_maps < 1) throw InvalidArgument("n_maps", request.n_maps, "must be at least 1");
    if (!(request.filled >= 0 && request.filled <= 1))
        throw InvalidArgument("filled", request.filled, "must be from 0 to 1");
    if (request.support != 0) checked_width("support", request.support);
    if (request.theta_cut != 0) checked_width("theta_cut", request.theta_cut);
}

std::vector<std::vector<double>> windows_of(const ConvolutionRequest& request, std::int64_t lmax) {
    if (!request.polarization) return {request.kernel.window(lmax)};
    auto [gradient, curl] = request.polarization->windows(lmax);
    return {std::move(gradient), std::move(curl)};
}

namespace {

/// The sum of the kernel's values at the centres of the pixels within its support.
double sum_around(const RadialKernel& kernel, std::int64_t nside, std::int64_t pixel) {
    using healpix::Order;
    const auto centre = healpix::pix2vec(nside, Order::ring, pixel);
    std::vector<double> theta;
    const auto angles = healpix::pix2ang(nside, Order::ring, pixel);
    for (const auto& range : healpix::query_disc(nside, angles, kernel.support()))
        for (auto other = range.first; other < range.end; ++other) {
            const auto v = healpix::pix2vec(nside, Order::ring, other);
            const double chord = std::hypot(v[0] - centre[0], v[1] - centre[1], v[2] - centre[2]);
            theta.push_back(2 * std::asin(std::min(1.0, chord / 2)));
        }
    double sum = 0;
    for (const double value : kernel.profile(theta)) sum += value;
    return sum;
}

}  // namespace

double defect_of_sums(const ConvolutionRequest& request, std::int64_t nside) {
    constexpr double reach = 20;  // pixels: what is further out is smooth
    const double pixel = std::sqrt(core::pi / 3) / static_cast<double>(nside);
    // For Q and U, K+ has the peak; K- is 0 there, where directions do not differ.
    const auto* kernel = request.polarization ? request.polarization->plus() : &request.kernel;
    if (kernel == nullptr) return 0;
    const auto near = kernel->truncated(std::min({reach * pixel, kernel->support(), core::pi}));
    const double area = pixel * pixel, integral = near.window(0)[0];
    double scale = 0;
    for (const auto& window : windows_of(request, 4 * nside))
        for (const double value : window) scale = std::max(scale, std::abs(value));
    if (!(scale > 0)) return 0;
    double largest = 0;
    // Next to a pole, where the caps end, and between.
    for (const std::int64_t ring : {std::int64_t{0}, nside / 2, nside - 1, 3 * nside / 2, 2 * nside - 1})
        largest = std::max(
            largest,
            std::abs(area * sum_around(near, nside, healpix::ring(nside, ring).first_pixel) - integral));
    return largest / scale;
}

}  // namespace planning

std::string to_string(ConvolutionMethod method) {
    switch (method) {
        case ConvolutionMethod::pixel_sum:
            return "pixel-sum";
        case ConvolutionMethod::ring_fft:
            return "ring-fft";
        case ConvolutionMethod::harmonic:
            return "harmonic";
        case ConvolutionMethod::split:
            return "split";
        default:
            return "auto";
    }
}

std::string to_string(ConvolutionReference reference) {
    return reference == ConvolutionReference::discrete ? "discrete" : "continuous";
}

ConvolutionReference default_reference(const ConvolutionRequest& request) {
    using enum ConvolutionMethod;
    const bool is_continuous =
        request.method == harmonic || (request.method == automatic &&
                                       (request.polarization || request.kernel.implementation().is_window()));
    return is_continuous ? ConvolutionReference::continuous : ConvolutionReference::discrete;
}

bool can_be_split(const ConvolutionRequest& request) {
    return !request.polarization || request.polarization->minus() == nullptr;
}

bool planning::ends_with_step(const ConvolutionRequest& request) {
    constexpr double nothing = 1e-12;  // of the peak
    const auto has_step = [](const RadialKernel* part) {
        return part != nullptr && part->support() < core::pi &&
               std::abs(part->profile(part->support())) > nothing * std::abs(part->profile(0));
    };
    if (!request.polarization) return has_step(&request.kernel);
    return has_step(request.polarization->plus()) || has_step(request.polarization->minus());
}

}  // namespace zonal
