#include "shell/help.hpp"

#include <fmt/core.h>

#include <sstream>

#include "shell/help_tree.hpp"

namespace zonal::cli {
namespace {

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
    auto text = fmt::format(".TH ZONAL 1 \"\" \"zonal {}\" \"User Commands\"\n.SH NAME\nzonal \\- {}\n",
                            version, troff(app.get_description()));
    text += fmt::format(".SH SYNOPSIS\n.B {}\n", troff(usage(app, "zonal")));
    for (const auto& group : help_groups(app)) {
        text += fmt::format(".SH {}\n", group.title == "General" ? "OPTIONS" : troff(group.title));
        for (const auto& option : group.options)
            text += fmt::format(".TP\n.B {}\n{}\n", troff(option.name), troff(option.description));
    }
    for (const auto* subcommand : help_subcommands(app))
        text += man_section(*subcommand, "zonal " + subcommand->get_name());
    text += fmt::format(".SH NOTES\n{}\n", troff(app.get_footer()));
    return text;
}

}  // namespace zonal::cli
