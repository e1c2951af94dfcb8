#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace zonal::cli {

/// What --help prints: subcommands, options in their groups with labels and defaults, examples (the footer).
class HelpFormatter : public CLI::FormatterBase {
  public:
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// "zonal smooth IN OUT [options]"
std::string usage(const CLI::App& app, const std::string& name);

std::vector<const CLI::App*> help_subcommands(const CLI::App& app);

/// What --help prints of all subcommands, as a manual page for man(1).
std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace zonal::cli
