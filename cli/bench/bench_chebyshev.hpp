#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "options/common_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// Which sums a benchmark of Chebyshev series computes.
enum class ChebyshevTerms {
    product,  ///< of two series
    residual  ///< 31 products of 12 fields in 8 sums, of the shape of a resistive MHD residual
};

/// Options of `zonal bench chebyshev` that other benchmarks do not have.
struct ChebyshevBenchOptions {
    std::string shape;       ///< "200x200"
    std::int64_t batch = 0;  ///< 0: the default
    std::optional<ChebyshevTerms> terms;
    bool full = false;

    bool given() const { return !shape.empty() || batch > 0 || terms || full; }
};
void declare_options(CLI::App& app, ChebyshevBenchOptions& options);

/// method: auto, direct or transform; empty: auto. Throws UsageError.
void bench_chebyshev(const ChebyshevBenchOptions& options, const std::string& method, std::int64_t repeat,
                     const RunOptions& run, Session& session);

}  // namespace zonal::cli
