#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "options/parse.hpp"
#include "shell/session.hpp"
#include "tool/map_run.hpp"
#include "tool/pixel_reference.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

struct RadialBenchOptions {
    MapRunOptions maps;
    std::optional<ConvolutionMethod> method;  ///< required
    std::optional<Angle> fwhm, cut;           ///< the former is required
    double error = 1e-5;
    bool single = false;
    std::string weights = "none", spectrum_file;
    std::optional<ConvolutionReference> reference;
};

/// What all runs are made of.
struct RadialProblem {
    ConvolutionRequest request;          ///< grid and the whole Gaussian, of spin 0 or of Q and U
    double cut = 0;                      ///< rad, where the Gaussian ends
    Array<std::complex<double>, 3> alm;  ///< [1, component, coefficient] of the input
    std::vector<double> map;             ///< [component, pixel]
    std::vector<double> ring_factor;     ///< --weights, one of the two or neither
    std::vector<double> pixel_factor;
};

/// Reports the kernel and its cut. Throws UsageError and IoError.
RadialProblem make_problem(const RadialBenchOptions& options, const MapRun& run, Session& session);

/// [component, pixel]: the map times its weights, as the sums over pixels take it.
std::vector<double> weighted(const RadialProblem& problem);

/// The answer that `wanted` asks for, to a map: [component, pixel].
ReferenceMap find_reference(const MapRun& run, ConvolutionReference wanted, const RadialProblem& problem,
                            const std::vector<double>& input);

}  // namespace zonal::cli
