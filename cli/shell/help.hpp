#pragma once

#include <CLI/App.hpp>
#include <string>

namespace zonal::cli {

/// What --help prints: subcommands, options in their groups with labels and defaults, examples (the footer).
class HelpFormatter : public CLI::FormatterBase {
  public:
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// The same as a manual page, for man(1).
std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace zonal::cli
