#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/parse.hpp"
#include "zonal/healpix.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/planning/planner.hpp"

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
/// Value: std::int64_t or its std::optional.
template <class Value>
CLI::Option* add_integer(CLI::App& app, const std::string& name, Value& value, IntegerRange range,
                         const std::string& description) {
    const auto store = [name, range, &value](const std::string& text) {
        value = parse_integer(name, text, range.minimum, range.maximum);
    };
    return app.add_option_function<std::string>(name, store, description)->type_name("N");
}

struct NumberRange {
    double minimum;
    double maximum;
};
/// Value: double or std::optional<double>.
template <class Value>
CLI::Option* add_number(CLI::App& app, const std::string& name, Value& value, NumberRange range,
                        const std::string& description) {
    const auto store = [name, range, &value](const std::string& text) {
        value = parse_number(name, text, range.minimum, range.maximum);
    };
    return app.add_option_function<std::string>(name, store, description)->type_name("X");
}

CLI::Option* add_angle(CLI::App& app, const std::string& name, std::optional<Angle>& value,
                       const std::string& description);
/// Any finite angle, such as a direction.
CLI::Option* add_signed_angle(CLI::App& app, const std::string& name, std::optional<Angle>& value,
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

/// The names of choices, and what they mean.
template <class Enum>
using Choices = std::vector<std::pair<std::string, Enum>>;
inline const Choices<healpix::Order> pixel_orders{{"ring", healpix::Order::ring},
                                                  {"nest", healpix::Order::nest}};
inline const Choices<FilePrecision> precisions{{"float", FilePrecision::float32},
                                               {"double", FilePrecision::float64}};
inline const Choices<ConvolutionReference> references{{"discrete", ConvolutionReference::discrete},
                                                      {"continuous", ConvolutionReference::continuous}};
inline const Choices<io::ClOrder> cl_orders{
    {"auto", io::ClOrder::automatic}, {"f90", io::ClOrder::f90}, {"healpy", io::ClOrder::healpy}};

/// The options under one heading of the help. Each takes, behind its description, its default as the help
/// states it; empty where there is none.
class OptionGroup {
  public:
    OptionGroup(CLI::App& app, std::string heading) : app_(app), heading_(std::move(heading)) {}

    CLI::Option* text(const std::string& name, std::string& value, const std::string& label,
                      const std::string& description, const std::string& by_default = "") const {
        return finish(add_text(app_, name, value, label, description), by_default);
    }
    template <class Value>
    CLI::Option* integer(const std::string& name, Value& value, IntegerRange range,
                         const std::string& description, const std::string& by_default = "") const {
        return finish(add_integer(app_, name, value, range, description), by_default);
    }
    CLI::Option* list(const std::string& name, std::vector<std::string>& values, const std::string& label,
                      const std::string& description, const std::string& by_default = "") const {
        return finish(add_list(app_, name, values, label, description), by_default);
    }
    template <class Value>
    CLI::Option* number(const std::string& name, Value& value, NumberRange range,
                        const std::string& description, const std::string& by_default = "") const {
        return finish(add_number(app_, name, value, range, description), by_default);
    }
    CLI::Option* angle(const std::string& name, std::optional<Angle>& value, const std::string& description,
                       const std::string& by_default = "") const {
        return finish(add_angle(app_, name, value, description), by_default);
    }
    CLI::Option* signed_angle(const std::string& name, std::optional<Angle>& value,
                              const std::string& description, const std::string& by_default = "") const {
        return finish(add_signed_angle(app_, name, value, description), by_default);
    }
    template <class Enum, class Value>
    CLI::Option* choice(const std::string& name, Value& value,
                        const std::vector<std::pair<std::string, Enum>>& choices,
                        const std::string& description, const std::string& by_default = "") const {
        return finish(add_choice<Enum>(app_, name, value, choices, description), by_default);
    }
    CLI::Option* flag(const std::string& name, bool& value, const std::string& description) const {
        return finish(app_.add_flag(name, value, description), "");
    }

    /// A flag that does something.
    CLI::Option* act(const std::string& name, const std::string& description,
                     const std::function<void()>& act) const {
        return finish(app_.add_flag_callback(name, act, description), "");
    }

  private:
    CLI::Option* finish(CLI::Option* option, const std::string& by_default) const {
        if (!by_default.empty()) option->default_str(by_default);
        return option->group(heading_);
    }

    CLI::App& app_;
    std::string heading_;
};

}  // namespace zonal::cli
