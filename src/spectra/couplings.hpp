#pragma once

#include <cstdint>

#include "zonal/spectra/decoupling.hpp"
#include "zonal/view.hpp"

/// The two halves of decouple: what depends on the masks alone, and is most of the work, and the rest.
namespace zonal::bands {

/// The matrices M that spectra of a kind need, [1, matrix, l, l'], both up to lmax_sky: M00, M02, or M++ and
/// M--.
Array<double, 4> couplings_of(SpectraKind kind, View<const double, 1> mask_spectrum, std::int64_t lmax_sky,
                              int threads, Device device);

/// options: lmax_sky is that of the matrices.
Decoupling decoupled(const Bins& bins, SpectraKind kind, const Array<double, 4>& couplings,
                     const DecouplingOptions& options);

}  // namespace zonal::bands
