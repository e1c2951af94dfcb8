#include "options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shell/error.hpp"

namespace zonal::cli {
namespace {

/// Throws for "--beam --overwrite", which would otherwise read a file of the name --overwrite.
void require_value(const std::string& name, const std::string& text) {
    const bool is_option = text.size() > 2 && text.starts_with("--") && text[2] >= 'a' && text[2] <= 'z';
    if (is_option && name.starts_with("--"))
        throw UsageError(fmt::format("{}: its value is missing before {}", name, printable(text)));
}

}  // namespace

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& label,
                      const std::string& description) {
    const auto store = [name, &value](const std::string& text) {
        if (text.empty()) throw UsageError(fmt::format("{}: must not be empty", name));
        require_value(name, text);
        value = text;
    };
    return app.add_option_function<std::string>(name, store, description)->type_name(label);
}

CLI::Option* add_argument(CLI::App& app, const std::string& name, std::string& value,
                          const std::string& description) {
    return add_text(app, name, value, "", description)->required()->group("Arguments");
}

CLI::Option* add_angle(CLI::App& app, const std::string& name, std::optional<Angle>& value,
                       const std::string& description) {
    const auto store = [name, &value](const std::string& text) { value = parse_angle(name, text); };
    return app.add_option_function<std::string>(name, store, description)->type_name("ANGLE");
}

CLI::Option* add_signed_angle(CLI::App& app, const std::string& name, std::optional<Angle>& value,
                              const std::string& description) {
    const auto store = [name, &value](const std::string& text) { value = parse_signed_angle(name, text); };
    return app.add_option_function<std::string>(name, store, description)->type_name("ANGLE");
}

CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                      const std::string& label, const std::string& description) {
    const auto store = [name, &values](const std::vector<std::string>& texts) {
        for (const auto& text : texts) {
            require_value(name, text);
            for (auto& element : parse_list(name, text)) values.push_back(std::move(element));
        }
    };
    // One value each time: otherwise the arguments behind the option would be taken for more values.
    return app.add_option_function<std::vector<std::string>>(name, store, description)
        ->allow_extra_args(false)
        ->type_name(label);
}

void reject_choice(const std::string& option, const std::string& text,
                   const std::vector<std::string>& names) {
    throw UsageError(
        fmt::format("{} = {}: must be one of {}", option, printable(text), fmt::join(names, ", ")));
}

}  // namespace zonal::cli
