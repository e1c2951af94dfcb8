#include "options/argument_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "options/parse.hpp"
#include "shell/error.hpp"
#include "shell/help.hpp"
#include "zonal/angle.hpp"

namespace zonal::cli {
namespace {

/// Keystrokes between two words: letters added, left out, replaced or swapped with their neighbours.
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            auto& here = distance[i][j];
            if (i == 0 || j == 0) {
                here = i + j;
                continue;
            }
            const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
            here =
                std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, distance[i - 1][j - 1] + replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here = std::min(here, distance[i - 2][j - 2] + 1);
        }
    return distance[a.size()][b.size()];
}

/// " did you mean --fwhm?", or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
    const auto near = nearest_name(word, names);
    return near.empty() ? "" : fmt::format(" did you mean {}?", near);
}

bool is_long_option(const std::string& word) {
    return word.size() > 2 && word.starts_with("--") &&
           std::isalpha(static_cast<unsigned char>(word[2])) != 0;
}

/// "--fwhm", "60", "arcmin"
void reject_apart_unit(const CLI::App& app, const std::string& word, const std::string* value,
                       const std::string* unit) {
    const auto* option = app.get_option_no_throw(word);
    if (option == nullptr || option->get_type_name() != "ANGLE" || value == nullptr || unit == nullptr)
        return;
    const bool is_number = !value->empty() && (std::isdigit(static_cast<unsigned char>(value->back())) != 0 ||
                                               value->back() == '.');
    if (is_number && angle_unit(*unit))
        throw UsageError(fmt::format("{0} {1} {2}: number and unit are one argument: {0} {1}{2}", word,
                                     printable(*value), *unit));
}

/// What stands before the first of these words, and behind it.
std::pair<std::string, std::string> split_at(const std::string& text, const std::string& words) {
    const auto position = text.find(words);
    if (position == std::string::npos) return {text, ""};
    return {text.substr(0, position), text.substr(position + words.size())};
}

std::vector<std::string> long_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

/// "-fwhm", and "--input sky.fits"
void reject_other_spelling(const CLI::App& subcommand, const std::string& word, const std::string& command) {
    if (word.starts_with('-') && !word.starts_with("--") && word.size() > 2 &&
        subcommand.get_option_no_throw("-" + word) != nullptr)
        throw UsageError(fmt::format("{0}: is not an option of {1}; did you mean -{0}? {1} --help lists them",
                                     word, command));
    constexpr std::string_view of_files[] = {"--in",      "--infile", "--input", "--out",
                                             "--outfile", "--output", "-i",      "-o"};
    const auto name = word.substr(0, word.find('='));
    if (std::find(std::begin(of_files), std::end(of_files), name) != std::end(of_files) &&
        subcommand.get_option_no_throw(name) == nullptr)
        throw UsageError(
            fmt::format("{0}: is not an option of {1}: files stand without one: {2}; {1} --help lists them",
                        name, command, usage(subcommand, command)));
}

}  // namespace

std::string nearest_name(const std::string& word, const std::vector<std::string>& names) {
    constexpr std::size_t longest = 40;  // no name is as long
    if (word.size() > longest || word.empty()) return {};
    const auto begins = [&](const std::string& name) { return name.starts_with(word); };
    if (std::count_if(names.begin(), names.end(), begins) == 1)
        return *std::find_if(names.begin(), names.end(), begins);
    std::string best;
    // A third of the letters may be wrong.
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const auto& name : names)
        if (const auto distance = edit_distance(word, name); distance < least) {
            least = distance;
            best = name;
        }
    return best;
}

void require_subcommand(const CLI::App& root, const std::string& word) {
    std::vector<std::string> names;
    for (const auto* subcommand : help_subcommands(root)) names.push_back(subcommand->get_name());
    if (word.empty())
        throw UsageError(
            fmt::format("a subcommand is missing: {0} SUBCOMMAND [options], with {1}; {0} "
                        "--help explains them",
                        root.get_name(), fmt::join(names, ", ")));
    if (word.starts_with('-'))
        throw UsageError(fmt::format(
            "{0}: options come after the subcommand: {1} SUBCOMMAND [options];{2} {1} --help explains",
            printable(word), root.get_name(), suggestion(word, long_names(root))));
    if (root.get_option_no_throw("--" + word) != nullptr)
        throw UsageError(
            fmt::format("{0}: is not a subcommand; did you mean {1} --{0}? {1} --help lists them", word,
                        root.get_name()));
    if (std::find(names.begin(), names.end(), word) == names.end())
        throw UsageError(fmt::format("{}: is not a subcommand;{} {} --help lists them", printable(word),
                                     suggestion(word, names), root.get_name()));
}

void check_options(const CLI::App& subcommand, const std::vector<std::string>& words) {
    const auto names = long_names(subcommand);
    const auto command = subcommand.get_parent()->get_name() + " " + subcommand.get_name();
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        reject_other_spelling(subcommand, words[i], command);
        if (!is_long_option(words[i])) continue;
        const auto equals = words[i].find('=');
        const auto name = words[i].substr(0, equals);
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw UsageError(fmt::format("{}: is not an option of {};{} {} --help lists them",
                                         printable(name), command, suggestion(name, names), command));
        const auto at = [&](std::size_t k) { return k < words.size() ? &words[k] : nullptr; };
        const auto own = equals == std::string::npos ? std::string() : words[i].substr(equals + 1);
        if (equals == std::string::npos)
            reject_apart_unit(subcommand, name, at(i + 1), at(i + 2));
        else
            reject_apart_unit(subcommand, name, &own, at(i + 1));
    }
}

std::string plain_message(const CLI::ParseError& error) {
    std::string text = error.what();
    const auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
    if (kind == CLI::ExitCodes::ArgumentMismatch) {
        const auto [name, problem] = split_at(text, ": ");
        return name + (problem.ends_with("missing") ? ": its value is missing" : ": is given more than once");
    }
    if (kind == CLI::ExitCodes::ExtrasError)
        return split_at(text, "expected: ").second + ": nothing is expected here";
    if (kind == CLI::ExitCodes::ExcludesError) {
        const auto [first, second] = split_at(text, " excludes ");
        return fmt::format("{} and {} exclude each other", first, second);
    }
    if (kind == CLI::ExitCodes::RequiresError) {
        const auto [option, needed] = split_at(text, " requires ");
        return fmt::format("{}: only with {}", option, needed);
    }
    return text;
}

}  // namespace zonal::cli
