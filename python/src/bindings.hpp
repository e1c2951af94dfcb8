#pragma once

#include <nanobind/nanobind.h>

/// Each theme of the extension adds its classes and functions to the module. Arrays that these take have the
/// type and the layout that the library wants; what a user may pass is the business of the Python files.
namespace zonal::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_grids(nb::module_& module);
void bind_transforms(nb::module_& module);
void bind_points(nb::module_& module);
void bind_beams(nb::module_& module);
void bind_beam_cubes(nb::module_& module);
void bind_lensing(nb::module_& module);
void bind_vector_fields(nb::module_& module);
void bind_ring_modes(nb::module_& module);
void bind_deflection(nb::module_& module);
void bind_distributed(nb::module_& module);
void bind_kernels(nb::module_& module);
void bind_convolutions(nb::module_& module);
void bind_plans(nb::module_& module);
void bind_smoothing(nb::module_& module);
void bind_skies(nb::module_& module);
/// After bind_skies, whose options it takes.
void bind_resampling(nb::module_& module);
void bind_coefficients(nb::module_& module);
void bind_coupling(nb::module_& module);
void bind_band_files(nb::module_& module);
void bind_band_powers(nb::module_& module);
void bind_covariance(nb::module_& module);
void bind_correlations(nb::module_& module);
void bind_catalogues(nb::module_& module);
void bind_purification(nb::module_& module);
void bind_masks(nb::module_& module);
void bind_files(nb::module_& module);
void bind_healpix(nb::module_& module);
void bind_pixel_scalars(nb::module_& module);
void bind_splits(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_chebyshev(nb::module_& module);
void bind_gwrm(nb::module_& module);
/// Only where the headers of XLA were there to build it.
void bind_xla(nb::module_& module);

}  // namespace zonal::python
