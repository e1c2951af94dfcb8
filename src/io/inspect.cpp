#include "zonal/io/inspect.hpp"

#include "io/fits/fits_scan.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/tables/spectrum_names.hpp"
#include "io/tables/text_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace zonal::io {
namespace {

HduSummary summarise(const Hdu& hdu) {
    HduSummary summary;
    summary.number = hdu.number;
    summary.name = hdu.name;
    summary.type = hdu.type == HduType::image ? "IMAGE" : hdu.type_name;
    summary.kind = kind_of(hdu);
    summary.shape = hdu.axes;
    if (hdu.type == HduType::binary_table || hdu.type == HduType::ascii_table) summary.shape = {hdu.rows};
    for (const auto& column : hdu.columns)
        summary.columns.push_back({column.name, column.format, column.unit});
    summary.cards = hdu.header.cards();
    return summary;
}

FileKind kind_of_text(const TextTable& table) {
    const bool named = std::any_of(table.header.begin(), table.header.end(), [](const std::string& word) {
        return spectrum_from_name(word.substr(word.find(':') + 1), false).has_value();
    });
    return named && table.columns.size() > 1 ? FileKind::spectrum : FileKind::window;
}

}  // namespace

FileSummary inspect(const std::string& path) {
    const FileBytes file(path);
    FileSummary summary;
    summary.fits = file.starts_like_fits();
    if (!summary.fits) {
        summary.kind = kind_of_text(read_text_table(file));
        return summary;
    }
    const FitsScan scan = scan_fits(file);
    for (const auto& hdu : scan.hdus) {
        summary.hdus.push_back(summarise(hdu));
        if (summary.kind == FileKind::other) summary.kind = summary.hdus.back().kind;
    }
    if (summary.kind == FileKind::other)
        for (const auto& hdu : scan.hdus)
            if (const auto why = why_no_map(hdu); !why.empty())
                summary.notes.push_back(fmt::format("{}: {} {}", path, hdu.label(), why));
    for (const auto& hdu : scan.hdus)
        if (!hdu.refusal.empty())
            summary.notes.push_back(fmt::format("{}: {} {}", path, hdu.label(), hdu.refusal));
    if (!scan.problem.empty()) summary.notes.push_back(path + ": " + scan.problem);
    return summary;
}

std::string to_string(FileKind kind) {
    constexpr std::array<const char*, 8> names{"map",     "alm",      "spectrum", "window",
                                               "weights", "solution", "bands",    "other"};
    return names.at(static_cast<std::size_t>(kind));
}

}  // namespace zonal::io
