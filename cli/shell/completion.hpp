#pragma once

#include <CLI/App.hpp>
#include <string>

namespace zonal::cli {

/// A script that completes the program's subcommands, options and their values in a shell: "bash", "zsh" or
/// "fish". Throws UsageError for another.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace zonal::cli
