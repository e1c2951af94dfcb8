#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/beams/displaced.hpp"
#include "zonal/view.hpp"

/// Which method makes the signals of beams in less time.
namespace zonal {

/// What work of beams takes, in seconds on one core; by default as measured with AVX2 at 2.45 GHz
/// (docs/decisions/displaced-kernels.md).
struct BeamCosts {
    double degree = 0.08e-9;  ///< the sums over degrees of a field: times (lmax + 1)^3
    double sample = 20e-9;    ///< Fourier transforms of a field: a sample
    double place = 100e-9;    ///< finding the samples and weights of a point
    double value = 12e-9;     ///< a field's value at a point, besides
    double product = 0.2e-9;  ///< one of its W^2 samples
    double displace = 30e-9;  ///< moving a pointing to a kernel
    double fit = 0.8e-3;      ///< fitting kernels to a beam: times lmax + 1
};

/// Counted work of a sky and its pointings.
struct BeamWork {
    double fields = 0, samples = 0, degrees = 0;  ///< real fields, their samples, and (lmax + 1)^3 of each
    double places = 0, values = 0;                ///< points, and values of fields there
    double products = 0;                          ///< samples that the values are sums of
    double displacements = 0, fits = 0;           ///< kernels of all pointings; lmax + 1 of each beam
    double seconds(const BeamCosts& costs) const;
};

BeamWork work_of(const BeamConvolver& convolver);
/// The work of all these detectors, each of which takes the same pointings.
BeamWork work_of(const std::vector<DisplacedConvolver>& detectors);

/// A method, and what it needs.
struct BeamChoice {
    BeamMethod method = BeamMethod::harmonic;   ///< never automatic
    std::optional<BeamConvolver> harmonic;      ///< unless the method is displaced
    std::vector<DisplacedConvolver> displaced;  ///< [detector], if it is
    /// s, as predicted: infinite where the method does not keep the error or was not looked at.
    double harmonic_seconds = 0, displaced_seconds = 0;
};

/// Chooses for this sky, [component, coefficient], and options.n_pointings. `automatic` takes displaced
/// kernels where they keep options.error, as bounded for the sky's own spectrum in the share of its rms d
/// (DisplacedConvolver::bound), and cost less; it does so for T without a half-wave plate. Displaced kernels
/// are the CPU's: on a GPU `automatic` is harmonic. An automatic device is the CPU for kernels, between which
/// and orders the costs of the CPU then decide, and for orders it is the first GPU, if there is one.
/// Throws InvalidArgument as BeamConvolver does, and for `displaced` where that does not hold or does not
/// apply; and BackendUnavailable.
template <class T>
BeamChoice choose_beam_method(const AlmLayout& layout, View<const std::complex<double>, 3> beams,
                              View<const std::complex<T>, 2> sky, const BeamOptions& options,
                              BeamMethod method = BeamMethod::automatic, const BeamCosts& costs = {});

}  // namespace zonal
