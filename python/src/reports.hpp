#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/typing.h>

#include "arrays.hpp"
#include "zonal/convolution.hpp"

namespace zonal::python {

inline std::string to_string(Precision precision) {
    return precision == Precision::float32 ? "float32" : "float64";
}

/// A class of results whose fields are read-only. It shows all of them and can be pickled and copied.
template <class T>
class Report {
  public:
    /// Values of fields by their names.
    using State = nb::typed<nb::dict, nb::str, nb::any>;

    Report(nb::module_& module, const char* name, const char* doc)
        : class_(module, name, doc),
          fields_(std::make_shared<Fields>()),
          line_(std::make_shared<std::function<std::string(const T&)>>()) {
        class_.def("__getstate__", [fields = fields_](const T& report) { return state_of(report, *fields); });
        class_.def("__setstate__", [fields = fields_](T& report, const State& state) {
            new (&report) T{};
            for (const auto& field : *fields) field.set(report, state[field.name]);
        });
        class_.def("__repr__", [fields = fields_, line = line_](nb::handle self) {
            const auto& report = nb::cast<const T&>(self);
            return *line ? line_of(self.type(), (*line)(report))
                         : text_of(self.type(), state_of(report, *fields));
        });
    }

    template <class Member>
    Report& field(const char* name, Member T::*member, const char* doc = "") {
        class_.def_ro(name, member, doc);
        fields_->push_back(
            {name, [member](const T& report) { return nb::cast(report.*member); },
             [member](T& report, const nb::object& value) { report.*member = nb::cast<Member>(value); }});
        return *this;
    }

    /// A read-only property that follows from the fields.
    template <class Value>
    Report& method(const char* name, Value (T::*member)() const, const char* doc) {
        class_.def_prop_ro(name, member, doc);
        return *this;
    }

    /// What repr() shows between the brackets, in place of all fields, and what print() shows.
    Report& text(std::string (T::*line)() const, std::string (T::*paragraph)() const) {
        *line_ = std::mem_fn(line);
        class_.def("__str__", paragraph);
        return *this;
    }

    /// A field of an enumeration, which Python knows by its texts. values: all of them.
    template <class Enumeration>
    Report& choice(const char* name, Enumeration T::*member, std::vector<Enumeration> values,
                   const char* doc = "") {
        const auto text = [member](const T& report) { return text_of_choice(report.*member); };
        class_.def_prop_ro(name, text, doc);
        fields_->push_back({name, [text](const T& report) { return nb::cast(text(report)); },
                            [member, values = std::move(values)](T& report, const nb::object& value) {
                                const auto wanted = nb::cast<std::string>(value);
                                for (const auto& one : values)
                                    if (text_of_choice(one) == wanted) report.*member = one;
                            }});
        return *this;
    }

    /// A field of a device, which Python knows by its name.
    Report& device(const char* name, Device T::*member, const char* doc = "") {
        const auto text = [member](const T& report) { return text_of_choice(report.*member); };
        class_.def_prop_ro(name, text, doc);
        fields_->push_back({name, [text](const T& report) { return nb::cast(text(report)); },
                            [member](T& report, const nb::object& value) {
                                report.*member = parse_device(nb::cast<std::string>(value));
                            }});
        return *this;
    }

  private:
    struct Field {
        const char* name;
        std::function<nb::object(const T&)> get;
        std::function<void(T&, const nb::object&)> set;
    };
    using Fields = std::vector<Field>;

    template <class Enumeration>
    static std::string text_of_choice(Enumeration value) {
        return to_string(value);
    }

    static State state_of(const T& report, const Fields& fields) {
        State state;
        for (const auto& field : fields) state[field.name] = field.get(report);
        return state;
    }

    static nb::str line_of(nb::handle type, const std::string& line) {
        return nb::str("<{}.{}: {}>").format(type.attr("__module__"), type.attr("__name__"), line);
    }

    /// Numbers have six digits, and lists of more than four things their length alone.
    static nb::str text_of(nb::handle type, const State& state) {
        constexpr std::size_t longest = 4;
        std::string text = nb::str("<{}.{}:").format(type.attr("__module__"), type.attr("__name__")).c_str();
        const char* separator = " ";
        for (const auto [name, value] : state) {
            text += separator + nb::cast<std::string>(name) + "=";
            separator = ", ";
            if (nb::isinstance<nb::float_>(value))
                text += nb::str("{:.6g}").format(value).c_str();
            else if (nb::isinstance<nb::list>(value) && nb::len(value) > longest)
                text += "[" + std::to_string(nb::len(value)) + " of them]";
            else
                text += nb::repr(value).c_str();
        }
        return nb::str((text + ">").c_str());
    }

    nb::class_<T> class_;
    std::shared_ptr<Fields> fields_;
    std::shared_ptr<std::function<std::string(const T&)>> line_;  ///< empty: repr() shows all fields
};

}  // namespace zonal::python
