#pragma once

#include <string>

#include "zonal/io/solution.hpp"

namespace zonal::cli {

/// By the name: a FITS file of the series, or CSV: t, the axes and the fields in columns, at equally spaced
/// points. Replaces what is at `path` only where options say so. Throws IoError.
void write_series_or_table(const std::string& path, const io::SolutionFile& file,
                           const io::WriteOptions& options);

/// Fields against t; with space, the first field against x at several times, or at t1 for several parameters.
void plot_solution(const std::string& path, const gwrm::Solution& solution, const std::string& title);

}  // namespace zonal::cli
