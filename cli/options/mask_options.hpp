#pragma once

#include <CLI/App.hpp>
#include <string>

#include "options/map_input.hpp"
#include "shell/session.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// --mask, --mask-field and --mask-mode: which pixels count.
struct MaskOptions {
    std::string file;
    std::string field = "0";
    MaskMode mode = MaskMode::zero;
    double threshold = 0;      ///< of renormalize; 0: not given
    bool fill_masked = false;  ///< keep the computed values of masked pixels

    MaskRule rule() const { return {mode, threshold > 0 ? threshold : default_mask_threshold, fill_masked}; }
};

/// modes: renormalize only makes sense where a map comes out.
enum class MaskModes { zero_or_error, all };
void add_mask_options(CLI::App& app, MaskOptions& options, MaskModes modes);
/// --mask-mode and --fill-masked alone, for commands that know no mask but UNSEEN. filled: what the second
/// does.
void add_unseen_options(CLI::App& app, MaskOptions& options, const std::string& filled);

/// The mask of a map, [pixel] in ring order, from 0 (masked) to 1; empty where no file is given. Throws
/// IoError for a mask of other pixels or coordinates than the map's, and for values outside 0 to 1.
Array<double, 1> read_mask(const MaskOptions& options, const SkyMap& map, Session& session);
/// The same of one column of a file, which the report does not name.
Array<double, 1> read_mask_file(const std::string& file, const std::string& field, const SkyMap& map,
                                Session& session);

/// Throws IoError for masked or UNSEEN pixels with MaskMode::error.
void check_known(const MaskOptions& options, const SkyMap& map, View<const double, 1> mask,
                 const Session& session);

}  // namespace zonal::cli
