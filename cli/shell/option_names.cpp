#include "shell/option_names.hpp"

#include <string_view>

#include "shell/error.hpp"

namespace zonal::cli {
namespace {

/// Puts an option's name where one of the names stands at this place.
void rename_at(std::size_t at, std::string& text, const OptionNames& names) {
    for (const auto& [name, option] : names)
        if (std::string_view(text).substr(at).starts_with(name)) {
            text.replace(at, name.size(), option);
            return;
        }
}

/// An error's argument gets the option's name; its requirement, which may name files, stays as it is. A
/// message about no single argument names some at its beginning and behind a semicolon.
std::string renamed(ArgumentFacts facts, const OptionNames& names) {
    if (facts.argument.empty()) {
        auto& text = facts.requirement;
        rename_at(0, text, names);
        for (auto at = text.find("; "); at != std::string::npos; at = text.find("; ", at + 2))
            rename_at(at + 2, text, names);
        return facts.message();
    }
    auto named = facts.argument + (facts.value ? " = " : ": ");
    rename_at(0, named, names);
    return facts.origin + named + (facts.value ? *facts.value + ": " : "") + facts.requirement;
}

}  // namespace

void with_option_names(const OptionNames& names, const std::function<void()>& work) {
    try {
        work();
    } catch (const InvalidArgument& error) {
        throw UsageError(renamed(error.facts(), names));
    } catch (const ErrorNotKept& error) {
        throw CannotBeKept(renamed(error.facts(), names));
    }
}

}  // namespace zonal::cli
