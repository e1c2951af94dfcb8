#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zonal/planning/planner.hpp"

namespace zonal {

/// A choice of plan_convolution and what it was made for, to be kept and followed again: io::write_plan and
/// io::read_plan keep it in a file.
struct SavedPlan {
    std::string source;   ///< the file that it was read from, for messages
    std::string machine;  ///< machine_fingerprint where it was made
    std::string costs;    ///< CostModel::fingerprint that it was chosen by
    std::string grid;     ///< Grid::name
    std::string kernel;   ///< RadialKernel::name, for messages
    int spin = 0;         ///< 0, or 2 for Q and U
    /// The kernel at plan_angles(), 1/sr; for Q and U K+ and then K-.
    std::vector<double> profile;
    std::int64_t lmax = 0;
    std::vector<double> c_l, c_bb;  ///< ConvolutionRequest's
    double error = 0;               ///< ConvolutionRequest's
    std::optional<double> gain;     ///< ConvolutionRequest's
    ConvolutionReference reference = ConvolutionReference::discrete;
    std::int64_t n_maps = 1;
    /// Holds window and spline of a split: to fit them anew takes a second, and another machine might round
    /// to another split.
    ConvolutionChoice choice;
};

/// Returns the angles where kernels are compared, rad: 129 from 0 to pi, densest at 0, so that kernels of
/// arcminutes have some.
std::vector<double> plan_angles();

SavedPlan make_plan(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const CostModel& costs);

/// Throws InvalidArgument where the plan was made for another grid.
void require_grid(const SavedPlan& plan, const Grid& grid);

/// Throws InvalidArgument, which names the field, its value in the plan and the request's, where the plan was
/// made for another grid, kernel, lmax, spectrum or reference, or for a larger error. Throws IoError where
/// the plan, by the planner's own estimates, does not keep the request's error.
void require_match(const SavedPlan& plan, const ConvolutionRequest& request);

}  // namespace zonal
