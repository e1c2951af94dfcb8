#include <fmt/core.h>

#include <string_view>

#include "plot/markup.hpp"

namespace zonal::plot {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::size_t count_while(std::string_view text, bool (*belongs)(char)) {
    std::size_t n = 0;
    while (n < text.size() && belongs(text[n])) ++n;
    return n;
}

/// Length of a prefix that means micro and stands before a unit: the "u" of "uK", the "mu" of "muK".
std::size_t micro_prefix(std::string_view rest) {
    for (const std::string_view prefix : {"micro-", "micro", "mu", "u"}) {
        if (!rest.starts_with(prefix)) continue;
        const std::string_view after = rest.substr(prefix.size());
        const std::string_view symbol = after.substr(0, count_while(after, is_letter));
        for (const std::string_view known : {"K", "Jy", "G", "V", "W", "Hz", "m", "s", "rad", "arcsec"})
            if (symbol == known) return prefix.size();
    }
    return 0;
}

/// Length of an exponent, with its sign and digits: "^2", "**2", "^{-1}", "^(2)", and after a letter "-1".
std::size_t exponent(std::string_view rest, bool after_letter, std::string_view& sign,
                     std::string_view& digits) {
    std::size_t i = rest.starts_with("**") ? 2 : rest.starts_with('^') ? 1 : 0;
    const bool has_caret = i > 0;
    const bool has_bracket = has_caret && i < rest.size() && (rest[i] == '{' || rest[i] == '(');
    i += has_bracket;
    const bool is_negative = i < rest.size() && rest[i] == '-';
    if (!has_caret && !(is_negative && after_letter)) return 0;
    i += is_negative;
    digits = rest.substr(i, count_while(rest.substr(i), is_digit));
    sign = is_negative ? "−" : "";
    i += digits.size();
    const bool is_closed = i < rest.size() && (rest[i] == '}' || rest[i] == ')');
    if (digits.empty() || has_bracket != (has_bracket && is_closed)) return 0;
    return i + has_bracket;
}

bool ends_with_unit(std::string_view text) {
    return text.ends_with("K") || text.ends_with("Jy") || text.ends_with("sr");
}

/// The typeset form of what `rest` starts with, after `text`; `used` bytes of it, 0 for a plain character.
std::string next_mark(std::string_view text, std::string_view rest, std::size_t& used) {
    const char before = text.empty() ? ' ' : text.back();
    const bool word_starts = !is_letter(before) && !is_digit(before) && before != '_';
    if (used = word_starts ? micro_prefix(rest) : 0; used > 0) return "µ";
    std::string_view sign, digits;
    if (used = exponent(rest, is_letter(before) || before == '}', sign, digits); used > 0)
        return fmt::format("^{{{}{}}}", sign, digits);
    if (ends_with_unit(text) && is_digit(rest[0]) &&
        (rest.size() == 1 || (!is_letter(rest[1]) && !is_digit(rest[1])))) {
        used = 1;  // "K2"
        return fmt::format("^{{{}}}", rest[0]);
    }
    const std::size_t letters = rest[0] == '_' ? count_while(rest.substr(1), is_letter) : 0;
    if (letters > 0) {
        used = 1 + letters;
        return fmt::format("_{{{}}}", rest.substr(1, letters));
    }
    used = rest[0] == ',' && rest.size() > 1 && rest[1] != ' ' ? 1 : 0;
    return ", ";
}

}  // namespace

std::string pretty_unit(const std::string& unit) {
    const auto first = unit.find_first_not_of(' ');
    if (first == std::string::npos) return "";
    std::string_view rest = std::string_view(unit).substr(first, unit.find_last_not_of(' ') + 1 - first);
    std::string text;
    while (!rest.empty()) {
        std::size_t used = 0;
        if (const std::string mark = next_mark(text, rest, used); used > 0) {
            text += mark;
        } else {
            text += rest.front();
            used = 1;
        }
        rest.remove_prefix(used);
    }
    return text;
}

}  // namespace zonal::plot
