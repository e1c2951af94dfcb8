#include "shell/option_names.hpp"

#include "shell/error.hpp"

namespace zonal::cli {
namespace {

std::string message_of(ArgumentFacts facts, const OptionNames& names) {
    if (const auto option = names.find(facts.argument); option != names.end())
        facts.argument = option->second;
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
