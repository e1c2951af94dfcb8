#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace zonal::io {

/// The bytes that a packed file stands for, from first to last.
class PackedBytes {
  public:
    virtual ~PackedBytes() = default;
    /// Unpacks up to `count` bytes; fewer only at the end. Throws IoError where the file is damaged or cannot
    /// be read.
    virtual std::size_t read(char* to, std::size_t count) = 0;
};

/// How many bytes of a file `open_packed` looks at.
inline constexpr std::size_t packed_start = 6;

/// For gzip, bzip2 and xz, known by the file's first bytes; null for others. Throws IoError for zip archives
/// and for `compress`, which are not read. descriptor: of the file, at its start; stays the caller's. path:
/// for messages.
std::unique_ptr<PackedBytes> open_packed(std::string_view start, int descriptor, const std::string& path);

}  // namespace zonal::io
