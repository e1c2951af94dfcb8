#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zonal::cli {

/// How another program has ended.
struct ChildResult {
    bool started = false;
    int exit_code = 0;     ///< 128 + N for a program that signal N has ended
    std::string output;    ///< all of its standard output
    std::string errors{};  ///< and of its standard error
};

/// Runs a program, whose path or name in PATH comes first, and waits for it. It reads the input, one part
/// after the other, from a file, ends with this process, however that ends, and hears no signal of the
/// terminal: throws Cancelled once one has asked this process to stop.
ChildResult run_child(const std::vector<std::string>& command, const std::vector<std::string_view>& input);

}  // namespace zonal::cli
