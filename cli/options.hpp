#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parse.hpp"

/// The kinds of options that subcommands are made of. The variables must outlive the app. Values are checked
/// when the command line is read; UsageError names option, value and range. A default is stated by
/// ->default_str().
namespace zonal::cli {

/// label: what the value is called in the help, "FILE".
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& label,
                      const std::string& description);

/// A required argument without a name, "IN".
CLI::Option* add_argument(CLI::App& app, const std::string& name, std::string& value,
                          const std::string& description);

struct IntegerRange {
    std::int64_t minimum;
    std::int64_t maximum;
};
CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int64_t& value, IntegerRange range,
                         const std::string& description);
CLI::Option* add_integer(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                         IntegerRange range, const std::string& description);

struct NumberRange {
    double minimum;
    double maximum;
};
CLI::Option* add_number(CLI::App& app, const std::string& name, double& value, NumberRange range,
                        const std::string& description);

CLI::Option* add_angle(CLI::App& app, const std::string& name, std::optional<Angle>& value,
                       const std::string& description);

/// "a,b,c" or the option several times.
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                      const std::string& label, const std::string& description);

/// Throws UsageError unless `text` is one of the names.
[[noreturn]] void reject_choice(const std::string& option, const std::string& text,
                                const std::vector<std::string>& names);

/// One of several names, as `--mask-mode zero|renormalize|error`.
template <class Enum, class Value = Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const std::vector<std::pair<std::string, Enum>>& choices,
                        const std::string& description) {
    std::string label;
    std::vector<std::string> names;
    for (const auto& [choice, unused] : choices) {
        label += (label.empty() ? "" : "|") + choice;
        names.push_back(choice);
    }
    const auto store = [name, names, choices, &value](const std::string& text) {
        for (const auto& [choice, meaning] : choices)
            if (text == choice) {
                value = meaning;
                return;
            }
        reject_choice(name, text, names);
    };
    return app.add_option_function<std::string>(name, store, description)->type_name(label);
}

}  // namespace zonal::cli
