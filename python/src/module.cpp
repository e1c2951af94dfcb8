#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "call.hpp"
#include "zonal/device.hpp"
#include "zonal/memory.hpp"

NB_MODULE(_core, module) {
    // Daemon threads still hold objects when the interpreter ends, which is no leak that users can act upon.
    nanobind::set_leak_warnings(false);
    zonal::simd_target();  // fails where the kernels are for another processor
    module.attr("version") = ZONAL_VERSION;
    nanobind::module_::import_("atexit").attr("register")(
        nanobind::cpp_function(&zonal::python::end_calls_of_other_threads));
    zonal::python::bind_errors(module);
    module.def("require_memory", &zonal::require_memory);
    zonal::python::bind_devices(module);
    zonal::python::bind_grids(module);
    zonal::python::bind_transforms(module);
    zonal::python::bind_points(module);
    zonal::python::bind_beams(module);
    zonal::python::bind_beam_cubes(module);
    zonal::python::bind_lensing(module);
    zonal::python::bind_vector_fields(module);
    zonal::python::bind_ring_modes(module);
    zonal::python::bind_deflection(module);
    zonal::python::bind_distributed(module);
    zonal::python::bind_kernels(module);
    zonal::python::bind_convolutions(module);
    zonal::python::bind_plans(module);
    zonal::python::bind_smoothing(module);
    zonal::python::bind_skies(module);
    zonal::python::bind_resampling(module);
    zonal::python::bind_coefficients(module);
    zonal::python::bind_coupling(module);
    zonal::python::bind_band_files(module);
    zonal::python::bind_band_powers(module);
    zonal::python::bind_covariance(module);
    zonal::python::bind_correlations(module);
    zonal::python::bind_catalogues(module);
    zonal::python::bind_purification(module);
    zonal::python::bind_masks(module);
    zonal::python::bind_files(module);
    zonal::python::bind_healpix(module);
    zonal::python::bind_pixel_scalars(module);
    zonal::python::bind_splits(module);
    zonal::python::bind_tables(module);
    zonal::python::bind_chebyshev(module);
    zonal::python::bind_gwrm(module);
#ifdef ZONAL_WITH_XLA
    zonal::python::bind_xla(module);
#endif
}
