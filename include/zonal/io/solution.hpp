#pragma once

#include <string>
#include <vector>

#include "zonal/gwrm.hpp"
#include "zonal/io/header.hpp"

namespace zonal::io {

/// A number that a problem was solved with, such as nu = 0.1.
struct SolutionParameter {
    std::string name{};
    double value = 0;
    bool operator==(const SolutionParameter&) const = default;
};

/// A solution of an initial-value problem and how it was found.
struct SolutionFile {
    gwrm::Solution solution;
    std::string problem{};  ///< its name; empty: none
    std::vector<SolutionParameter> parameters{};
    HighestMode highest_mode = HighestMode::projection;  ///< or tau
    double tolerance = 0;                                ///< that was asked for
    std::vector<HeaderCard> cards{};                     ///< others
};

/// FITS: a binary table SOLUTION with one row a time interval, T_LOWER, T_UPPER, ERRORS (where they were
/// estimated) and COEFFICIENTS, 8-byte floats, so that what is read evaluates to the same numbers. Names of
/// problem, parameters, axes and fields must be 1 to 40 characters of ASCII. Throws InvalidArgument, IoError.
void write_solution(const std::string& path, const SolutionFile& file, const WriteOptions& options = {});

/// CSV: t, the axes and the fields in columns, at equally spaced points; without space at 16 points of each
/// time interval. Throws IoError.
void write_solution_table(const std::string& path, const gwrm::Solution& solution,
                          const WriteOptions& options = {});

/// Throws IoError.
SolutionFile read_solution(const std::string& path);

}  // namespace zonal::io
