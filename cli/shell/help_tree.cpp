#include "shell/help_tree.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace zonal::cli {
namespace {

std::string option_name(const CLI::Option& option) {
    if (option.get_positional())
        return option.get_type_name().empty() ? option.get_name() : option.get_type_name();
    std::string name;
    for (const auto& letter : option.get_snames()) name += fmt::format("-{}, ", letter);
    name += "--" + option.get_lnames().front();
    if (option.get_expected_max() > 0 && !option.get_type_name().empty())
        name += " " + option.get_type_name();
    return name;
}

std::string option_description(const CLI::Option& option) {
    auto text = option.get_description();
    if (option.get_required() && !option.get_positional()) text += " (required)";
    if (!option.get_default_str().empty()) text += fmt::format(" (default: {})", option.get_default_str());
    return text;
}

}  // namespace

std::vector<HelpGroup> help_groups(const CLI::App& app) {
    std::vector<HelpGroup> groups;
    for (const auto* option : app.get_options()) {
        const auto& title = option->get_group();
        if (title.empty()) continue;  // hidden
        auto group =
            std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.title == title; });
        if (group == groups.end()) group = groups.insert(groups.end(), {title, {}});
        group->options.push_back({option_name(*option), option_description(*option)});
    }
    // What every subcommand has comes last.
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
        const auto rank = [](const std::string& title) {
            return title == "Arguments" ? 0 : title == "General" ? 2 : 1;
        };
        return rank(a.title) < rank(b.title);
    });
    return groups;
}

std::string usage(const CLI::App& app, const std::string& name) {
    auto text = name;
    for (const auto* option : app.get_options())
        if (option->get_positional()) {
            const auto option_text = option_name(*option);
            text += option->get_required() ? " " + option_text : fmt::format(" [{}]", option_text);
        }
    if (!help_subcommands(app).empty()) text += " SUBCOMMAND";
    return text + " [options]";
}

std::vector<const CLI::App*> help_subcommands(const CLI::App& app) {
    return app.get_subcommands({});
}

}  // namespace zonal::cli
