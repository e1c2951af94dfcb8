#include "shell/help.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace zonal::cli {
namespace {

struct HelpOption {
    std::string name;         ///< "--fwhm ANGLE" or "IN"
    std::string description;  ///< ends with "(default: 3)" where there is one
};

struct HelpGroup {
    std::string title;
    std::vector<HelpOption> options;
};

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

/// The options in the order in which to show them: arguments first, hidden ones left out.
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

constexpr std::size_t line_width = 100;
constexpr std::size_t name_width = 24;

/// The words of text in lines of at most `width` characters, all but the first indented.
std::string wrap(const std::string& text, std::size_t indent, std::size_t width) {
    std::istringstream words(text);
    std::string result, word;
    std::size_t column = 0;
    while (words >> word) {
        if (column > 0 && column + 1 + word.size() > width) {
            result += '\n';
            result.append(indent, ' ');
            column = 0;
        }
        if (column > 0) result += " ";
        column += word.size() + (column > 0 ? 1 : 0);
        result += word;
    }
    return result;
}

std::string entry(const std::string& name, const std::string& description) {
    const auto indent = name_width + 4;
    const auto text = wrap(description, indent, line_width - indent);
    if (name.size() <= name_width) return fmt::format("  {:<{}}  {}\n", name, name_width, text);
    return fmt::format("  {}\n{:{}}{}\n", name, "", indent, text);
}

/// Characters that troff would take for its own.
std::string troff(const std::string& text) {
    std::string result;
    for (const char character : text) {
        if (character == '\\')
            result += "\\e";
        else if (character == '-')
            result += "\\-";
        else if ((character == '.' || character == '\'') && (result.empty() || result.back() == '\n'))
            result += std::string("\\&") + character;
        else
            result += character;
    }
    return result;
}

std::string man_section(const CLI::App& app, const std::string& name) {
    auto text = fmt::format(".SH {}\n{}\n.PP\n.nf\n.B {}\n.fi\n", troff(app.get_name()),
                            troff(app.get_description()), troff(usage(app, name)));
    for (const auto& group : help_groups(app)) {
        text += fmt::format(".SS {}\n", troff(group.title));
        for (const auto& option : group.options)
            text += fmt::format(".TP\n.B {}\n{}\n", troff(option.name), troff(option.description));
    }
    if (!app.get_footer().empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", troff(app.get_footer()));
    return text;
}

}  // namespace

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

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
    auto text =
        fmt::format("{}\n\nUsage: {}\n", wrap(app->get_description(), 0, line_width), usage(*app, name));
    const auto subcommands = help_subcommands(*app);
    if (!subcommands.empty()) text += "\nSubcommands:\n";
    for (const auto* subcommand : subcommands) {
        const auto& description = subcommand->get_description();
        text += entry(subcommand->get_name(), description.substr(0, description.find('.')));
    }
    for (const auto& group : help_groups(*app)) {
        text += fmt::format("\n{}:\n", group.title);
        for (const auto& option : group.options) text += entry(option.name, option.description);
    }
    if (!app->get_footer().empty()) text += fmt::format("\n{}\n", app->get_footer());
    return text;
}

std::string man_page(const CLI::App& app, const std::string& version) {
    const auto& name = app.get_name();
    auto title = name;
    std::transform(title.begin(), title.end(), title.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    auto text = fmt::format(".TH {} 1 \"\" \"zonal {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                            troff(title), version, troff(name), troff(app.get_description()));
    text += fmt::format(".SH SYNOPSIS\n.B {}\n", troff(usage(app, name)));
    for (const auto& group : help_groups(app)) {
        text += fmt::format(".SH {}\n", group.title == "General" ? "OPTIONS" : troff(group.title));
        for (const auto& option : group.options)
            text += fmt::format(".TP\n.B {}\n{}\n", troff(option.name), troff(option.description));
    }
    for (const auto* subcommand : help_subcommands(app))
        text += man_section(*subcommand, name + " " + subcommand->get_name());
    text += fmt::format(".SH NOTES\n{}\n", troff(app.get_footer()));
    return text;
}

}  // namespace zonal::cli
