#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "tool/pixel_reference.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// Transforms of the request's maps, of spin 0 or Q and U.
ShtPlan transform_of(const ConvolutionRequest& request, std::int64_t lmax, Device device);

/// alm: [1, component, coefficient]. Returns [component, pixel].
std::vector<double> synthesize(const ShtPlan& plan, const Array<std::complex<double>, 3>& alm);

/// Draws random alm, [1, component, coefficient], of the spectrum of spin 0, or those of E and B, up to the
/// layout's lmax.
Array<std::complex<double>, 3> draw_alm(const std::vector<std::vector<double>>& spectra,
                                        const AlmLayout& layout, std::uint64_t seed, int threads);

/// The request's whole kernel's window on these alm, synthesised on all rings.
ReferenceMap in_harmonic_space(const ConvolutionRequest& request, const ShtPlan& plan,
                               Array<std::complex<double>, 3> alm, const std::string& description);

}  // namespace zonal::cli
