#include "shell/option_names.hpp"

#include <cctype>
#include <utility>

#include "shell/error.hpp"

namespace zonal::cli {
namespace {

/// An option and a word stand as on the command line, numbers as everywhere: "--method split: ...", "--lmax =
/// 9000: ...". For an argument with a part in brackets, "beam (temperature)", the option stands in front.
std::string message_of(ArgumentFacts facts, const OptionNames& names) {
    const auto whole = facts.argument.substr(0, facts.argument.find(" ("));
    const auto option = names.find(whole);
    if (option == names.end()) return facts.message();
    const bool is_part = whole.size() < facts.argument.size();
    facts.argument = is_part ? option->second + ": " + facts.argument : option->second;
    const bool is_word = facts.value && !facts.value->empty() && std::isalpha(facts.value->front()) != 0;
    if (is_word) facts.argument += " " + *std::exchange(facts.value, std::nullopt);
    return facts.message();
}

}  // namespace

void with_option_names(const OptionNames& names, const std::function<void()>& work) {
    try {
        work();
    } catch (const InvalidArgument& error) {
        throw UsageError(message_of(error.facts(), names));
    } catch (const ErrorNotKept& error) {
        throw CannotBeKept(message_of(error.facts(), names));
    }
}

}  // namespace zonal::cli
