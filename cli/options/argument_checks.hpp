#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

/// What can be wrong with the words of a command line before any value is read.
namespace zonal::cli {

/// The name nearest to `word` in keystrokes, or the only one that begins with it; empty where none is near.
std::string nearest_name(const std::string& word, const std::vector<std::string>& names);

/// Throws UsageError for a word that is no subcommand, with the one that may have been meant.
void require_subcommand(const CLI::App& root, const std::string& word);

/// Throws UsageError for options that the subcommand has not, with the one that may have been meant, and for
/// an angle whose unit is an argument of its own ("--fwhm 60 arcmin"). words: those behind the subcommand.
void check_options(const CLI::App& subcommand, const std::vector<std::string>& words);

/// CLI11's message in this program's words.
std::string plain_message(const CLI::ParseError& error);

}  // namespace zonal::cli
