#include "zonal/sky/synfast.hpp"

#include "sky/sky_part.hpp"

namespace zonal {
namespace {

AlmLayout layout_for(const Pixelization& pixelization, const SynfastOptions& options) {
    if (options.part) return options.part->layout();
    return WholeSky(make_grid(pixelization)).layout(options.lmax, options.mmax);
}

}  // namespace

SimulatedSky synfast(const SkySpectra& spectra, const Pixelization& pixelization,
                     const SynfastOptions& options) {
    const bool polarized = !spectra.ee.empty();
    const auto layout = layout_for(pixelization, options);
    check_spectra(spectra, layout.lmax(), polarized);
    MapAlm alm{layout, Array<std::complex<double>, 2>({polarized ? 3 : 1, layout.size()})};
    realize<double>(spectra, options.seed, layout, alm.alm.view(), options.threads);
    if (options.beam) apply_beam<double>(layout, *options.beam, alm.alm.view());
    SimulatedSky sky{new_sky_map(pixelization, polarized, "", FilePrecision::float64,
                                 CoordinateSystem::unknown, options.part),
                     std::move(alm)};
    synthesize(sky.alm, sky.map, {options.threads, options.device, options.progress});
    return sky;
}

}  // namespace zonal
