#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "options/common_options.hpp"
#include "options/parse.hpp"
#include "options/radial_options.hpp"
#include "shell/session.hpp"
#include "zonal/grid.hpp"

namespace zonal::cli {

/// Options of `zonal bench radial` that other benchmarks do not have.
struct RadialBenchOptions {
    std::optional<Angle> fwhm, cut;
    std::optional<ConvolutionMethod> method;
    std::optional<Precision> precision;
    std::optional<Reference> reference;
    std::string weights, spectrum_file;
    double error = 0;  ///< 0: the default

    bool given() const {
        return fwhm || cut || method || precision || reference || !weights.empty() ||
               !spectrum_file.empty() || error > 0;
    }
};
void declare_options(CLI::App& app, RadialBenchOptions& options);

/// On which maps, and how often.
struct RadialBenchRun {
    Grid grid;
    std::int64_t nside;  ///< 0: not HEALPix
    std::int64_t spin;   ///< 0, or 2: each map is Q and U
    std::int64_t lmax, maps, repeat, iterations;
    RunOptions run;
};

/// Convolves band-limited maps with a Gaussian and reports times and errors. Throws UsageError.
void bench_radial(const RadialBenchOptions& options, const RadialBenchRun& run, Session& session);

}  // namespace zonal::cli
