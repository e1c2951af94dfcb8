#include "shell/option_names.hpp"

#include <string_view>

#include "shell/error.hpp"

namespace zonal::cli {
namespace {

/// Whether an argument may be named here: elsewhere the same words are those of a file.
bool names_argument(const std::string& text, std::size_t at) {
    const auto before = std::string_view(text).substr(0, at);
    for (const auto* word : {" and ", " with ", " keep ", " or ", "; ", "whatever "})
        if (before.ends_with(word)) return true;
    return at == end_of_rank(text);
}

std::string renamed(std::string text, const OptionNames& names) {
    for (const auto& [name, option] : names)
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + option.size())) {
            if (!names_argument(text, at)) continue;
            text.replace(at, name.size(), option);
        }
    return text;
}

}  // namespace

void with_option_names(const OptionNames& names, const std::function<void()>& work) {
    try {
        work();
    } catch (const InvalidArgument& error) {
        throw UsageError(renamed(error.what(), names));
    } catch (const ErrorNotKept& error) {
        throw CannotBeKept(renamed(error.what(), names));
    }
}

}  // namespace zonal::cli
