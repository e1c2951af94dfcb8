#include "tool/harmonic_reference.hpp"

#include <algorithm>

#include "planning/request.hpp"
#include "zonal/sky/realization.hpp"
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

Array<std::complex<double>, 3> draw_alm(const std::vector<std::vector<double>>& spectra,
                                        const AlmLayout& layout, std::uint64_t seed, int threads) {
    const bool has_spin = spectra.size() == 2;
    SkySpectra sky;
    (has_spin ? sky.ee : sky.tt) = spectra[0];
    if (has_spin) sky.bb = spectra[1];
    const std::int64_t n_drawn = has_spin ? 3 : 1, n_components = std::ssize(spectra);
    Array<std::complex<double>, 2> drawn({n_drawn, layout.size()});
    realize<double>(sky, seed, layout, drawn.view(), threads);
    Array<std::complex<double>, 3> alm({1, n_components, layout.size()});
    std::copy_n(drawn.view()[n_drawn - n_components].data(), alm.size(), alm.data());
    return alm;
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
