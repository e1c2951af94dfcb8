#include <fmt/core.h>

#include <optional>

#include "io/tables/spectrum_names.hpp"
#include "io/tables/spectrum_read.hpp"
#include "io/tables/text.hpp"
#include "io/tables/text_table.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

// Spectra may begin at l = 2, not somewhere far out: the multipoles below are filled with zeros.
constexpr std::int64_t largest_first_l = 100;

/// CLASS numbers its columns: "1:l 2:TT".
std::string without_number(const std::string& word) {
    const auto colon = word.find(':');
    const bool numbered = colon != std::string::npos && parse_integer(word.substr(0, colon)).has_value();
    return numbered ? word.substr(colon + 1) : word;
}

bool is_multipole(const std::string& word) {
    const std::string key = to_upper(word);
    return key == "L" || key == "ELL" || key == "MULTIPOLE";
}

/// The header's last words, one a column. CLASS separates number and name: "1: l" also occurs.
std::vector<std::string> column_names(const FileBytes& file, const TextTable& table) {
    std::vector<std::string> names;
    for (const auto& word : table.header) {
        if (const auto name = without_number(word); !name.empty()) names.push_back(name);
    }
    if (names.size() != table.columns.size()) {
        throw IoError(
            fmt::format("{}: line {} has {} columns, the '#' line above it names {}: a line like '# l TT EE "
                        "BB TE' must name each",
                        file.path(), table.first_line, table.columns.size(), names.size()));
    }
    return names;
}

}  // namespace

SpectrumFile read_text_spectrum(const FileBytes& file) {
    const TextTable table = read_text_table(file);
    const auto names = column_names(file, table);
    SpectrumFile result;
    result.source = file.path();
    std::int64_t first_l = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (is_multipole(names[i])) {
            first_l = first_multipole(file, table.columns[i]);
            continue;
        }
        const auto spectrum = spectrum_from_name(names[i], false);
        if (!spectrum) {
            result.notes.push_back(
                fmt::format("{}: column '{}' is no known spectrum: left out", file.path(), names[i]));
            continue;
        }
        result.spectra.push_back({*spectrum, "", table.columns[i]});
    }
    try {
        settle_names(result.spectra);
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", file.path(), error.what()));
    }
    if (first_l > largest_first_l) {
        throw IoError(
            fmt::format("{}: begins at l = {}: must be at most {}", file.path(), first_l, largest_first_l));
    }
    if (first_l > 0)
        result.notes.push_back(fmt::format("{}: C_l below l = {} taken as 0", file.path(), first_l));
    for (auto& spectrum : result.spectra) {
        spectrum.values.insert(spectrum.values.begin(), static_cast<std::size_t>(first_l), 0.0);
    }
    return result;
}

}  // namespace zonal::io
