#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zonal::io {

/// What the last failed call of the operating system says of itself (errno).
std::string system_reason();

class PackedBytes;

/// The bytes of a regular file, a packed file (gzip, bzip2, xz) being unpacked into memory. The name is taken
/// literally: whatever CFITSIO would read into "map[1].fits", "!map" or "http://..." is only a name here.
class FileBytes {
  public:
    /// Throws IoError when the file cannot be opened, is not a regular file, or is packed and damaged.
    explicit FileBytes(const std::string& path);
    ~FileBytes();
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    const std::string& path() const { return path_; }
    std::int64_t size() const { return size_; }
    /// Up to `count` bytes from `offset` on; fewer at the end of the file.
    std::string read(std::int64_t offset, std::int64_t count) const;
    /// Copies exactly that many bytes, on any thread. Throws IoError where the file has fewer.
    void copy(std::int64_t offset, std::int64_t count, char* to) const;
    bool starts_like_fits() const;

    /// Whether the bytes lie in memory.
    bool in_memory() const { return descriptor_ < 0; }
    /// Brings the file into memory, filled up with zeros to a multiple of `block` bytes.
    void load(std::int64_t block);
    std::vector<char>& memory() { return memory_; }

  private:
    void unpack(PackedBytes& packed);
    /// Makes room for that much in memory_.
    void grow(std::size_t least);

    std::string path_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;
    std::vector<char> memory_;
};

/// The whole of a text file. Throws IoError above 1 GiB, and where it holds NUL bytes.
std::string read_text(const FileBytes& file);

}  // namespace zonal::io
