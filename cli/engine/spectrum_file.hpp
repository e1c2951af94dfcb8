#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shell/session.hpp"
#include "zonal/window.hpp"

namespace zonal::cli {

/// C_l of TT from a file, to the last l that it has; the notes of reading go to the session. option: such as
/// "--input-cl", for messages. Throws UsageError where the file has no TT, and IoError.
std::vector<double> read_tt(const std::string& option, const std::string& path, Session& session);

/// The same of EE and BB, {EE, BB}: BB is 0 where the file has none. Throws UsageError where there is no EE.
std::vector<std::vector<double>> read_ee_and_bb(const std::string& option, const std::string& path,
                                                Session& session);

/// values for l = 0 .. lmax by fit_length, whose errors become UsageErrors that name the option and --extend.
std::vector<double> fit_to_lmax(const std::vector<double>& values, std::int64_t lmax, Extension extension,
                                const std::string& option);

}  // namespace zonal::cli
