#include "zonal/sky/synfast.hpp"

namespace zonal {

SimulatedSky synfast(const SkySpectra& spectra, const Pixelization& pixelization,
                     const SynfastOptions& options) {
    const bool polarized = !spectra.ee.empty();
    const auto lmax = options.lmax < 0 ? default_smoothing_lmax(make_grid(pixelization)) : options.lmax;
    check_spectra(spectra, lmax, polarized);
    const AlmLayout layout(lmax, options.mmax < 0 ? lmax : options.mmax);
    MapAlm alm{layout, Array<std::complex<double>, 2>({polarized ? 3 : 1, layout.size()})};
    realize<double>(spectra, options.seed, layout, alm.alm.view(), options.threads);
    if (options.beam) apply_beam<double>(layout, *options.beam, alm.alm.view());
    SimulatedSky sky{new_sky_map(pixelization, polarized), std::move(alm)};
    synthesize(sky.alm, sky.map, {options.threads, options.device, options.progress});
    return sky;
}

}  // namespace zonal
