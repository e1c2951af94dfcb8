#pragma once

#include <string>
#include <vector>

#include "io/fits/file_bytes.hpp"
#include "zonal/error.hpp"

namespace zonal::io {

/// Numbers in columns. Lines that begin with '#' are comments.
struct TextTable {
    std::vector<std::string> header;           ///< words of the last comment line above the first number
    std::vector<std::vector<double>> columns;  ///< all of the same length
    std::int64_t first_line = 0;               ///< line (from 1) of the first number, for messages
};

/// Throws IoError "path: line 7: ..." for lines of unequal length, words that are no numbers, no numbers at
/// all.
TextTable read_text_table(const FileBytes& file);

/// The multipoles of a table: consecutive integers. Returns the first one; throws InvalidArgument otherwise.
std::int64_t first_multipole(const std::vector<double>& multipoles);

/// Runs `read`, whose InvalidArgument becomes an IoError that names the file.
template <class Read>
auto in_text(const FileBytes& file, Read&& read) {
    try {
        return read();
    } catch (const InvalidArgument& error) {
        throw IoError(file.path() + ": " + error.what());
    }
}

}  // namespace zonal::io
