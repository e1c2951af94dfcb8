#include "plot/markup.hpp"

namespace zonal::plot {

namespace {

/// Length in bytes of the valid UTF-8 character at `i`, 0 where there is none. RFC 3629, section 4.
std::size_t utf8_length(const std::string& text, std::size_t i) {
    const auto byte = [&](std::size_t k) {
        return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u;
    };
    const auto is_tail = [&](std::size_t k) { return (byte(k) & 0xC0u) == 0x80u; };
    const unsigned first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
    if (first >= 0xC2 && first <= 0xDF) return is_tail(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = first == 0xED && byte(1) > 0x9F;
        return is_tail(1) && is_tail(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && byte(1) < 0x90;
        const bool too_large = first == 0xF4 && byte(1) > 0x8F;
        return is_tail(1) && is_tail(2) && is_tail(3) && !overlong && !too_large ? 4 : 0;
    }
    return 0;
}

std::string valid_utf8(const std::string& text) {
    std::string valid;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_length(text, i);
        valid += length > 0 ? text.substr(i, length) : "?";
        i += length > 0 ? length : 1;
    }
    return valid;
}

}  // namespace

std::vector<TextRun> parse_markup(const std::string& markup) {
    using Level = TextRun::Level;
    const std::string text = valid_utf8(markup);
    std::vector<TextRun> runs;
    const auto append = [&](const std::string& piece, Level level) {
        if (piece.empty()) return;
        if (!runs.empty() && runs.back().level == level)
            runs.back().text += piece;
        else
            runs.push_back({piece, level});
    };
    std::size_t i = 0;
    while (i < text.size()) {
        const bool opens = (text[i] == '_' || text[i] == '^') && i + 1 < text.size() && text[i + 1] == '{';
        const std::size_t close = opens ? text.find('}', i) : std::string::npos;
        if (close != std::string::npos) {
            append(text.substr(i + 2, close - i - 2), text[i] == '_' ? Level::subscript : Level::superscript);
            i = close + 1;
        } else {
            append(text.substr(i, 1), Level::base);
            ++i;
        }
    }
    return runs;
}

}  // namespace zonal::plot
