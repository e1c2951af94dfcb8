#include "planning/way_seconds.hpp"

#include <algorithm>
#include <cmath>

#include "planning/request.hpp"

namespace zonal::planning {

double exposed_seconds(double stage, double exchange, std::int64_t n_chunks) {
    // One chunk has nothing beside it; of the others the longer of stage and exchange counts.
    const double alone = 1 / static_cast<double>(n_chunks);
    return alone * exchange + (1 - alone) * std::max(0.0, exchange - stage);
}

namespace {

/// Whether costs say how maps are convolved, rather than how a method does it.
bool chooses_method(const ConvolutionRequest& request) {
    return request.method == ConvolutionMethod::automatic || request.method == ConvolutionMethod::split;
}

/// The work of a sum over pixels on the CPU where a share of them is filled. Filled pixels take about 40
/// times their share of it where they are few, and a tenth comes to that for weights and empty rings
/// (docs/decisions/pixel-sum.md).
PixelConvolutionWork of_filled(double filled, const DeviceCosts& device,
                               const PixelConvolutionOptions& options, PixelConvolutionWork work) {
    if (options.method != PixelMethod::pixel_sum || device.device.kind() != Device::Kind::cpu) return work;
    const double scale = std::min(1., 0.1 + 40 * filled);
    for (double* products :
         {&work.pixel_products, &work.uneven_products, &work.pixel_rows, &work.pixel_weights})
        *products *= scale;
    return work;
}

}  // namespace

WayPredictor::WayPredictor(const ConvolutionRequest& request, const split::PlannedKernel& kernel,
                           const SkyPart& part)
    : request_(request),
      kernel_(kernel),
      ranks_(part),
      chooses_method_(chooses_method(request)),
      whole_(request.grid),
      part_(chooses_method_ ? part : whole_),
      messages_(part_.message_costs()) {}

WaySeconds WayPredictor::harmonic(const DeviceCosts& device, std::int64_t lmax, int iterations) const {
    auto work = transform_work(request_.grid, lmax, device.device);
    const auto share = part_.transform_share(lmax, spin_of(request_));
    work.legendre_flops *= share.legendre;
    const Grid& transformed = part_.patch() ? request_.grid : part_.grid();
    work.pixels = 0;
    for (const Ring& ring : transformed.rings()) work.pixels += static_cast<double>(ring.n_pixels);
    const double exchange = messages_.seconds(share.traffic);
    WaySeconds seconds;
    const auto add = [&](const TransformCost& cost, std::int64_t times) {  // cost: of two transforms
        const double legendre = cost.legendre_flop * work.legendre_flops / 2;
        const double exposed = 2 * exposed_seconds(legendre, exchange, share.n_chunks);
        seconds.all += static_cast<double>(times) * (predicted_seconds(cost, work) + exposed);
        seconds.exchange += static_cast<double>(times) * exposed;
    };
    const auto& costs = kernel_.costs(device);
    add(costs.smoothing, request_.n_maps);
    add(costs.iteration, request_.n_maps * iterations);
    return seconds;
}

/// work_on(grids): the work of one map.
template <class Work>
WaySeconds WayPredictor::of_pixels(double support, const PixelCost& cost, const Work& work_on) const {
    const Grid& whole = request_.grid;
    const auto halo = part_.halo_share(support);
    // The costs take the root of a map's pixels for the number of its rings, of which a rank has a share.
    const double share = static_cast<double>(part_.grid().n_rings()) / static_cast<double>(whole.n_rings());
    const auto n_pixels = std::llround(static_cast<double>(whole.n_pixels()) * share * share);
    const double exchange =
        static_cast<double>(request_.n_maps * n_components(request_)) * messages_.seconds(halo.traffic);
    const double work = predicted_seconds(cost, work_on({halo.grid, halo.grid_out}),
                                          std::max<std::int64_t>(n_pixels, 1), request_.n_maps);
    return {work + exchange, exchange};
}

WaySeconds WayPredictor::sums(const DeviceCosts& device, double support,
                              const PixelConvolutionOptions& options) const {
    return of_pixels(
        std::min(support, kernel_.support()), kernel_.costs(device).pixels(options.method, options.precision),
        [&](const split::SumGrids& grids) {
            return of_filled(request_.filled, device, options, kernel_.work(support, grids, options));
        });
}

WaySeconds WayPredictor::sums_of_profile(const DeviceCosts& device, const RadialKernel& profile,
                                         const PixelConvolutionOptions& options) const {
    return of_pixels(profile.support(), kernel_.costs(device).pixels(options.method, options.precision),
                     [&](const split::SumGrids& grids) {
                         return of_filled(request_.filled, device, options,
                                          kernel_.work_of_profile(profile, grids, options));
                     });
}

WaySeconds WayPredictor::slowest(const WaySeconds& here) const {
    const auto all = ranks_.gather(here.all);
    if (!chooses_method_) return {all[0]};
    const auto exchange = ranks_.gather(here.exchange);
    const auto rank = std::max_element(all.begin(), all.end()) - all.begin();
    return {all[static_cast<std::size_t>(rank)], exchange[static_cast<std::size_t>(rank)]};
}

}  // namespace zonal::planning
