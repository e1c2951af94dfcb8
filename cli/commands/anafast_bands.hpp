#pragma once

#include <string>
#include <vector>

#include "options/analysis_options.hpp"
#include "options/common_options.hpp"
#include "options/decouple_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// Throws IoError for two files in different coordinates.
void require_same_system(const std::string& one, io::CoordinateSystem its, const std::string& other,
                         io::CoordinateSystem others);

/// zonal anafast --decouple: writes the band powers of one map, or of two with themselves and each other.
/// inputs: the paths of the maps.
void find_bands(const std::vector<std::string>& inputs, const MaskedAnalysis& analysis,
                const DecoupleOptions& options, const FileOptions& files, Session& session);

}  // namespace zonal::cli
