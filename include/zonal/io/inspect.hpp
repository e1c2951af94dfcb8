#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"

namespace zonal::io {

enum class FileKind { map, alm, spectrum, window, weights, solution, bands, other };
/// "map" and so on.
std::string to_string(FileKind kind);

/// One column of a table.
struct ColumnSummary {
    std::string name{};
    std::string format{};  ///< TFORM: "1024E"
    std::string unit{};
};

/// What one HDU of a file holds.
struct HduSummary {
    int number = 0;  ///< 0 is the primary HDU
    std::string name{};
    std::string type{};                 ///< "BINTABLE", "TABLE", "IMAGE" or what XTENSION says
    FileKind kind = FileKind::other;    ///< what Zonal would read it as
    std::vector<std::int64_t> shape{};  ///< image: NAXIS1, NAXIS2, ...; table: rows
    std::vector<ColumnSummary> columns{};
    std::vector<HeaderCard> cards{};  ///< all value cards
};

/// What a file holds.
struct FileSummary {
    /// What the first HDU is that Zonal can read; text with named columns is a spectrum, other numbers a
    /// window.
    FileKind kind = FileKind::other;
    bool fits = false;  ///< else text
    std::vector<HduSummary> hdus{};
    std::vector<std::string> notes{};  ///< such as why HDUs behind a damaged one are not listed
};

/// Reads headers only. Throws IoError when the file is neither FITS nor text.
FileSummary inspect(const std::string& path);

}  // namespace zonal::io
