#pragma once

#include <cstddef>
#include <string>

namespace zonal::io {

/// A file that appears complete or not at all. It is written under a temporary name in the same folder;
/// commit() flushes it to disk and renames it. Destroyed without commit(), it leaves nothing behind.
class AtomicFile {
  public:
    /// Throws IoError when `path` exists and overwrite is false, is not a regular file, or its folder cannot
    /// be written. A symbolic link is followed, so that the link stays.
    explicit AtomicFile(const std::string& path, bool overwrite = false);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Hand this to whatever writes by name (Cairo, CFITSIO). The file exists already, empty.
    const std::string& temporary_path() const { return temporary_path_; }

    /// Appends bytes. Throws IoError with the system's reason.
    void write(const void* bytes, std::size_t count);
    void write(const std::string& text) { write(text.data(), text.size()); }

    /// Throws IoError, leaving nothing behind, when the disk is full or `path` has appeared meanwhile.
    void commit();

  private:
    void remove_temporary() noexcept;
    [[noreturn]] void fail(const std::string& reason);

    std::string path_;  ///< as the user wrote it
    std::string target_;
    std::string temporary_path_;
    int descriptor_ = -1;
    bool overwrite_;
};

}  // namespace zonal::io
