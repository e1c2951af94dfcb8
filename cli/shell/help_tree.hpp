#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

/// What the help text and the manual page have in common: the app's content in the order in which to show it.
namespace zonal::cli {

struct HelpOption {
    std::string name;         ///< "--fwhm ANGLE" or "IN"
    std::string description;  ///< ends with "(default: 3)" where there is one
};

struct HelpGroup {
    std::string title;
    std::vector<HelpOption> options;
};

/// Arguments first; hidden options left out.
std::vector<HelpGroup> help_groups(const CLI::App& app);

/// "zonal smooth IN OUT [options]"
std::string usage(const CLI::App& app, const std::string& name);

std::vector<const CLI::App*> help_subcommands(const CLI::App& app);

}  // namespace zonal::cli
