#pragma once

#include <string>
#include <vector>

namespace zonal::plot {

/// A piece of a label: raised or lowered text in smaller type, or plain text on the base line.
struct TextRun {
    enum class Level { base, subscript, superscript };
    std::string text;  ///< UTF-8
    Level level = Level::base;
    bool operator==(const TextRun&) const = default;
};

/// Splits "C_{TT} [K^{2}]" at its sub- and superscripts. Underscores and carets without a brace stay as they
/// are: they are common in file names. Invalid UTF-8 and control characters become "?", which Cairo requires.
std::vector<TextRun> parse_markup(const std::string& markup);

/// A unit as FITS files spell it, typeset: "uK^2" gives "µK^{2}", "K_CMB" "K_{CMB}", "MJy sr-1" "MJy
/// sr^{−1}".
std::string pretty_unit(const std::string& unit);

}  // namespace zonal::plot
