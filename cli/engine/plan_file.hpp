#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shell/session.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {

/// A way to convolve that was chosen once, and what for: what a request must be to go that way.
struct SavedPlan {
    std::string source;   ///< the file, for messages
    std::string machine;  ///< machine_fingerprint where it was made
    std::string costs;    ///< CostModel::fingerprint that it was chosen by
    std::string grid;     ///< Grid::name
    std::string kernel;   ///< its name, for messages
    int spin = 0;         ///< 2: of Q and U
    /// At plan_angles(), 1/sr; of Q and U K+ and then K-.
    std::vector<double> profile;
    std::int64_t lmax = 0;
    /// Of the maps' c_l (and c_bb); "white" for none.
    std::string spectrum;
    double error = 0;
    ConvolutionReference reference = ConvolutionReference::discrete;
    std::int64_t n_maps = 1;
    /// Window and spline of a split are in the file: to fit them anew takes a second, and another machine
    /// might round to another split.
    ConvolutionChoice choice;
};

/// Where kernels are compared, rad: 0 to pi, densest at 0, so that kernels of arcminutes have some.
std::vector<double> plan_angles();

SavedPlan make_plan(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const CostModel& costs);

/// JSON (docs/file-formats.md); appears complete or not at all. Throws IoError.
void write_plan(const std::string& path, const SavedPlan& plan, bool overwrite);

/// Throws IoError, which names the field, for what is not a plan or of a later version.
SavedPlan read_plan(const std::string& path);

/// Throws UsageError where the plan is not of this grid.
void require_grid(const SavedPlan& plan, const Grid& grid);

/// Throws UsageError, which names the field, its value in the file and what the request has, where the plan
/// was made for another grid, kernel, lmax, spectrum or reference, or for a larger error; IoError where its
/// split is not as good as it says.
void require_match(const SavedPlan& plan, const ConvolutionRequest& request);

}  // namespace zonal::cli
