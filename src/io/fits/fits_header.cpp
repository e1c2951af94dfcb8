#include "io/fits/fits_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

struct QuotedValue {
    std::string text;
    std::size_t end;  ///< behind the closing quote
};

/// 'it''s ' -> it's, without trailing blanks. begin: behind the opening quote.
QuotedValue read_quoted(std::string_view card, std::size_t begin) {
    std::string text;
    std::size_t at = begin;
    while (at < card.size()) {
        if (card[at] == '\'') {
            if (at + 1 >= card.size() || card[at + 1] != '\'') break;
            ++at;
        }
        text += card[at++];
    }
    return {trim_right(text), std::min(at + 1, card.size())};
}

std::string comment_after(std::string_view card, std::size_t from) {
    const auto slash = card.find('/', from);
    return slash == std::string_view::npos ? std::string() : trim(card.substr(slash + 1));
}

std::variant<bool, std::int64_t, double, std::string> parse_value(const std::string& token) {
    if (token == "T") return true;
    if (token == "F") return false;
    if (const auto integer = parse_integer(token)) return *integer;
    if (const auto number = parse_number(token)) return *number;
    return token;
}

[[noreturn]] void reject(const HeaderCard& card, const char* wanted) {
    throw InvalidArgument(describe(card), fmt::format("must be {}", wanted));
}

/// A finite number, which some writers put in quotes.
std::optional<double> number_in(const HeaderCard& card) {
    std::optional<double> number;
    if (const auto* value = std::get_if<double>(&card.value)) number = *value;
    if (const auto* text = std::get_if<std::string>(&card.value)) number = parse_number(trim(*text));
    return number && std::isfinite(*number) ? number : std::nullopt;
}

bool is_blank(const HeaderCard& card) {
    const auto* text = std::get_if<std::string>(&card.value);
    return text && text->empty();
}

}  // namespace

void FitsHeader::add(std::string_view card) {
    ++n_cards_;
    if (card.size() < 10 || card.substr(8, 2) != "= ") return;
    // Bytes outside printable ASCII are forbidden in headers; they must not reach the user's terminal either.
    std::string clean(card);
    for (char& byte : clean) {
        if (byte < ' ' || byte > '~') byte = '?';
    }
    HeaderCard parsed;
    parsed.key = trim_right(std::string_view(clean).substr(0, 8));
    const auto begin = clean.find_first_not_of(' ', 10);
    if (begin != std::string::npos && clean[begin] == '\'') {
        auto quoted = read_quoted(clean, begin + 1);
        parsed.value = std::move(quoted.text);
        parsed.comment = comment_after(clean, quoted.end);
    } else {
        parsed.value = parse_value(trim(std::string_view(clean).substr(10, clean.find('/', 10) - 10)));
        parsed.comment = comment_after(clean, 10);
    }
    index_.emplace(parsed.key, cards_.size());
    cards_.push_back(std::move(parsed));
    positions_.push_back(n_cards_);
}

void FitsHeader::require_position(const std::string& key, std::int64_t position) const {
    const auto found = index_.find(key);
    if (found == index_.end()) throw InvalidArgument(fmt::format("{} is missing", key));
    if (positions_[found->second] != position) {
        throw InvalidArgument(
            fmt::format("{} is card {}: must be card {}", key, positions_[found->second], position));
    }
}

const HeaderCard* FitsHeader::find(const std::string& key) const {
    const auto found = index_.find(key);
    if (found == index_.end() || is_blank(cards_[found->second])) return nullptr;
    return &cards_[found->second];
}

std::optional<std::int64_t> FitsHeader::integer(const std::string& key) const {
    const auto* card = find(key);
    if (!card) return {};
    if (const auto* value = std::get_if<std::int64_t>(&card->value)) return *value;
    if (const auto number = number_in(*card);
        number && std::abs(*number) < 0x1p53 && *number == std::floor(*number))
        return static_cast<std::int64_t>(*number);
    reject(*card, "an integer");
}

std::optional<double> FitsHeader::number(const std::string& key) const {
    const auto* card = find(key);
    if (!card) return {};
    if (const auto* value = std::get_if<std::int64_t>(&card->value)) return static_cast<double>(*value);
    if (const auto value = number_in(*card)) return *value;
    reject(*card, "a number");
}

std::optional<bool> FitsHeader::logical(const std::string& key) const {
    const auto* card = find(key);
    if (!card) return {};
    if (const auto* value = std::get_if<bool>(&card->value)) return *value;
    if (const auto* text = std::get_if<std::string>(&card->value)) {
        const auto word = to_upper(trim(*text));
        if (word == "T" || word == "TRUE" || word == ".T." || word == ".TRUE.") return true;
        if (word == "F" || word == "FALSE" || word == ".F." || word == ".FALSE.") return false;
    }
    reject(*card, "T or F");
}

std::optional<std::string> FitsHeader::text(const std::string& key) const {
    const auto* card = find(key);
    if (!card) return {};
    if (const auto* value = std::get_if<std::string>(&card->value)) return *value;
    if (const auto* value = std::get_if<bool>(&card->value)) return *value ? "T" : "F";
    if (const auto* value = std::get_if<std::int64_t>(&card->value)) return fmt::format("{}", *value);
    return fmt::format("{}", std::get<double>(card->value));
}

std::string describe(const HeaderCard& card) {
    return std::visit(
        [&](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::string>)
                return fmt::format("{} = '{}'", card.key, value);
            if constexpr (std::is_same_v<Value, bool>)
                return fmt::format("{} = {}", card.key, value ? "T" : "F");
            return fmt::format("{} = {}", card.key, value);
        },
        card.value);
}

}  // namespace zonal::io
