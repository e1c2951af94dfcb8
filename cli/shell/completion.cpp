#include "shell/completion.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "options/options.hpp"
#include "shell/help.hpp"

namespace zonal::cli {
namespace {

/// What can stand behind an option, as its label in the help tells.
struct Values {
    bool expected = false;
    bool files = false;
    std::vector<std::string> words;  ///< to type as they stand
};

/// "NAME", "X,X,...": to be replaced by a value, unlike "zero" and "G".
bool stands_for_values(const std::string& part) {
    constexpr std::string_view names[] = {"FILE", "N", "X", "NAME", "ENERGY"};
    return part.find_first_of(".,:=") != std::string::npos ||
           std::find(std::begin(names), std::end(names), part) != std::end(names);
}

Values values_of(const CLI::Option& option) {
    Values values;
    values.expected = option.get_expected_max() > 0;
    const auto label = values.expected ? option.get_type_name() : "";
    std::vector<std::string> parts;
    std::istringstream text(label);
    for (std::string part; std::getline(text, part, '|');) parts.push_back(part);
    values.files = std::find(parts.begin(), parts.end(), "FILE") != parts.end();
    if (parts.size() < 2) return values;
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(values.words),
                 [](const auto& part) { return !stands_for_values(part); });
    return values;
}

/// An option that the help shows, but for arguments.
struct Completed {
    std::vector<std::string> names;  ///< "-h", "--help"
    std::string label;
    std::string description;
    Values values;
    bool repeats;
};

/// What a menu has room for.
std::string in_short(const std::string& description) {
    auto text = description.substr(0, std::min(description.find("; "), description.find(". ")));
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::vector<Completed> completed_options(const CLI::App& app) {
    std::vector<Completed> result;
    for (const auto* option : app.get_options()) {
        if (option->get_group().empty() || option->get_positional()) continue;
        std::vector<std::string> names;
        names.reserve(option->get_snames().size() + 1);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
        names.push_back("--" + option->get_lnames().front());
        result.push_back({names, option->get_type_name(), in_short(option->get_description()),
                          values_of(*option), option->get_items_expected_max() > 1});
    }
    return result;
}

std::string names_of(const std::vector<Completed>& options) {
    std::vector<std::string> all;
    for (const auto& option : options) all.insert(all.end(), option.names.begin(), option.names.end());
    return fmt::format("{}", fmt::join(all, " "));
}

/// Text with a backslash before each of these characters.
std::string escaped(const std::string& text, std::string_view special) {
    std::string result;
    for (const char character : text) {
        if (special.find(character) != std::string_view::npos) result += '\\';
        result += character;
    }
    return result;
}

/// In single quotes, for bash and zsh.
std::string single_quoted(const std::string& text) {
    std::string result = "'";
    for (const char character : text)
        result += character == '\'' ? std::string("'\\''") : std::string(1, character);
    return result + "'";
}

/// What is offered behind each option that expects a value, and where none does.
std::string bash_case(const CLI::App& app) {
    std::string text;
    const auto options = completed_options(app);
    for (const auto& option : options)
        if (option.values.expected)
            text += fmt::format("                {}) words='{}'{} ;;\n", fmt::join(option.names, " | "),
                                fmt::join(option.values.words, " "), option.values.files ? "" : " files=no");
    return text + fmt::format("                *) [[ $word == -* ]] && words='{}' ;;\n", names_of(options));
}

std::string bash_script(const CLI::App& app) {
    const auto& name = app.get_name();
    std::string cases;
    std::vector<std::string> first;
    for (const auto* command : help_subcommands(app)) {
        first.push_back(command->get_name());
        cases += fmt::format("        {})\n            case $option in\n{}            esac ;;\n",
                             command->get_name(), bash_case(*command));
    }
    return fmt::format(R"script(# Completions of {0} for bash, as "{0} --completion bash" prints them.
_{0}() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]}}
    local words='' files=yes
    if [[ $word == = ]]; then
        word=''
    elif [[ $option == = ]]; then
        option=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    if ((COMP_CWORD == 1)); then
        command='' files=no
    fi
    case $command in
        '') words='{1}'
            [[ $word == -* ]] && words='{2}' ;;
{3}        *)
            case $option in
{4}            esac ;;
    esac
    # Where words stays empty, the shell itself completes names of files.
    [[ $files == yes ]] || compopt +o bashdefault +o default 2>/dev/null
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o bashdefault -o default -F _{0} {0}
)script",
                       name, fmt::join(first, " "), names_of(completed_options(app)), cases, bash_case(app));
}

/// What _arguments offers for a value: ":label:action".
std::string zsh_action(const Completed& option) {
    const auto& values = option.values;
    if (!values.expected) return "";
    const auto words = fmt::format("{}", fmt::join(values.words, " "));
    const std::string files = values.files ? "_files" : " ";
    const auto action = words.empty()  ? files
                        : values.files ? " _zonal_words_or_files " + words
                                       : "(" + words + ")";
    return fmt::format(":{}:{}", escaped(option.label, ":\\"), action);
}

/// The specifications that _arguments takes.
std::string zsh_options(const CLI::App& app, const std::string& indent) {
    std::string text;
    for (const auto& option : completed_options(app))
        for (const auto& name : option.names)
            text += fmt::format(
                "{}{} \\\n", indent,
                single_quoted(fmt::format("{}{}{}[{}]{}", option.repeats ? "*" : "", name,
                                          option.values.expected && name.size() > 2 ? "=" : "",
                                          escaped(option.description, "[]:\\"), zsh_action(option))));
    return text;
}

std::string zsh_script(const CLI::App& app) {
    const auto& name = app.get_name();
    std::string commands, cases;
    for (const auto* command : help_subcommands(app)) {
        commands += fmt::format("                {}\n", single_quoted(command->get_name() + ":" +
                                                                      in_short(command->get_description())));
        cases += fmt::format(
            "                {})\n                    _arguments \\\n{}                        "
            "'*:file:_files' ;;\n",
            command->get_name(), zsh_options(*command, "                        "));
    }
    return fmt::format(R"script(#compdef {0}
# Completions of {0} for zsh, as "{0} --completion zsh" prints them.
_zonal_words_or_files() {{
    _alternative "words:word:($*)" 'files:file:_files'
}}
_{0}() {{
    local context state line curcontext="$curcontext"
    _arguments -C \
{1}        '1:subcommand:->command' \
        '*::argument:->argument'
    case $state in
        command)
            local -a commands=(
{2}            )
            _describe subcommand commands ;;
        argument)
            case $words[1] in
{3}            esac ;;
    esac
}}
if [ "$funcstack[1]" = _{0} ]; then
    _{0} "$@"
else
    compdef _{0} {0}
fi
)script",
                       name, zsh_options(app, "        "), commands, cases);
}

std::string fish_quoted(const std::string& text) {
    return "'" + escaped(text, "'\\") + "'";
}

std::string fish_options(const CLI::App& app, const std::string& condition) {
    std::string text;
    for (const auto& option : completed_options(app)) {
        const auto& values = option.values;
        text += condition;
        for (const auto& name : option.names)
            text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        // -r: a value is expected; -x: and it is no file.
        if (values.expected) text += values.files ? " -r -F" : " -x";
        if (!values.words.empty()) text += fmt::format(" -a '{}'", fmt::join(values.words, " "));
        text += fmt::format(" -d {}\n", fish_quoted(option.description));
    }
    return text;
}

std::string fish_script(const CLI::App& app) {
    const auto& name = app.get_name();
    auto text = fmt::format(R"script(# Completions of {0} for fish, as "{0} --completion fish" prints them.
function __{0}_command
    set -l words (commandline -opc) none
    test "$words[2]" = $argv[1]
end
)script",
                            name);
    const auto first = fmt::format("complete -c {0} -n '__{0}_command none'", name);
    text += first + " -f\n";
    for (const auto* command : help_subcommands(app))
        text += fmt::format("{} -a {} -d {}\n", first, command->get_name(),
                            fish_quoted(in_short(command->get_description())));
    text += fish_options(app, first);
    for (const auto* command : help_subcommands(app))
        text += fish_options(
            *command, fmt::format("complete -c {0} -n '__{0}_command {1}'", name, command->get_name()));
    return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
    if (shell == "bash") return bash_script(app);
    if (shell == "zsh") return zsh_script(app);
    if (shell == "fish") return fish_script(app);
    reject_choice("--completion", shell, {"bash", "zsh", "fish"});
}

}  // namespace zonal::cli
