#include "tool/harmonic_reference.hpp"

#include "planning/request.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {

using planning::spin_of;
using planning::windows_of;

ShtPlan transform_of(const ConvolutionRequest& request, std::int64_t lmax, Device device) {
    ShtOptions options;
    options.lmax = lmax;
    options.spin = spin_of(request);
    options.threads = request.threads;
    options.device = device;
    return {request.grid, options};
}

std::vector<double> synthesize(const ShtPlan& plan, const Array<std::complex<double>, 3>& alm) {
    const auto n = alm.extent(1), n_pixels = plan.grid().n_pixels();
    std::vector<double> map(static_cast<std::size_t>(n * n_pixels));
    plan.synthesize<double>(alm.view(), {map.data(), {1, n, n_pixels}});
    return map;
}

ReferenceMap in_harmonic_space(const ConvolutionRequest& request, const ShtPlan& plan,
                               Array<std::complex<double>, 3> alm, const std::string& description) {
    const auto windows = windows_of(request, plan.options().lmax);
    for (std::int64_t c = 0; c < alm.extent(1); ++c)
        multiply_alm<double>(plan.layout(), windows[static_cast<std::size_t>(c)], alm.view()[0][c]);
    ReferenceMap reference;
    for (std::int64_t ring = 0; ring < request.grid.n_rings(); ++ring) reference.rings.push_back(ring);
    reference.values = synthesize(plan, alm);
    reference.description = description;
    return reference;
}

}  // namespace zonal::cli
