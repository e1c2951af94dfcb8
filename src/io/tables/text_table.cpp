#include "io/tables/text_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

constexpr std::size_t max_columns = 1000;
// A word of a hostile file must not become a message of a megabyte.
constexpr std::size_t longest_quote = 40;

std::string quote(const std::string& word) {
    std::string text = word.substr(0, longest_quote);
    std::replace_if(
        text.begin(), text.end(), [](char byte) { return byte < ' ' || byte > '~'; }, '?');
    return text;
}

[[noreturn]] void fail(const FileBytes& file, std::int64_t line, const std::string& reason) {
    throw IoError(fmt::format("{}: line {}: {}", file.path(), line, reason));
}

void add_row(const FileBytes& file, std::int64_t line, const std::vector<std::string>& words,
             TextTable& table) {
    if (table.columns.empty()) {
        if (words.size() > max_columns) fail(file, line, fmt::format("more than {} columns", max_columns));
        table.columns.resize(words.size());
        table.first_line = line;
    }
    if (words.size() != table.columns.size()) {
        fail(file, line, fmt::format("{} numbers: {} expected", words.size(), table.columns.size()));
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto number = parse_number(words[i]);
        if (!number) fail(file, line, fmt::format("'{}': must be a number", quote(words[i])));
        table.columns[i].push_back(*number);
    }
}

}  // namespace

TextTable read_text_table(const FileBytes& file) {
    const std::string text = read_text(file);
    TextTable table;
    std::int64_t line_number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const std::string line = trim(std::string_view(text).substr(at, end - at));
        at = end + 1;
        ++line_number;
        if (line.starts_with('#')) {
            auto words = split(std::string_view(line).substr(1));
            if (table.columns.empty() && !words.empty()) table.header = std::move(words);
        } else if (!line.empty()) {
            add_row(file, line_number, split(line), table);
        }
    }
    if (table.columns.empty() || table.columns[0].empty()) throw IoError(file.path() + ": holds no numbers");
    return table;
}

std::int64_t first_multipole(const std::vector<double>& multipoles) {
    constexpr double largest = 1e9;
    for (std::size_t i = 0; i < multipoles.size(); ++i) {
        const double l = multipoles[i];
        const double expected = i == 0 ? std::round(l) : multipoles[0] + static_cast<double>(i);
        if (!(l >= 0 && l <= largest) || l != expected) {
            throw InvalidArgument(
                fmt::format("l = {} in row {}: multipoles must be consecutive integers >= 0", l, i + 1));
        }
    }
    return multipoles.empty() ? 0 : static_cast<std::int64_t>(multipoles[0]);
}

}  // namespace zonal::io
