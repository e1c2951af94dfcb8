#pragma once

#include <cstddef>
#include <string>

namespace zonal::io {

/// A file that appears complete or not at all. It has no name while it is written, so that it vanishes with
/// the process, however that ends; commit() flushes it to disk and gives it its name. On file systems that
/// have no files without a name it is written as .zonal-*.part in the same folder. Destroyed without
/// commit(), it leaves nothing behind.
class AtomicFile {
  public:
    /// Throws IoError when `path` exists and overwrite is false, is not a regular file, or its folder cannot
    /// be written. A symbolic link is followed, so that the link stays.
    /// with_name: it has a name from the start, by which other processes can open it.
    explicit AtomicFile(const std::string& path, bool overwrite = false, bool with_name = false);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// For whatever writes by name (CFITSIO). The file exists already, empty.
    const std::string& temporary_path() const { return temporary_path_; }

    /// Appends bytes. Throws IoError with the system's reason.
    void write(const void* bytes, std::size_t count);
    void write(const std::string& text) { write(text.data(), text.size()); }

    /// Throws IoError, leaving nothing behind, when the disk is full or `path` has appeared meanwhile.
    void commit();

    /// From now on no file of this process gets its name: commit() does not return. Waits for one that is
    /// getting it, and returns whether there was one. For a program that is about to end.
    static bool name_no_more();
    /// Removes what this process has not committed, where that has a name. For a program that is about to end
    /// without destroying its objects.
    static void remove_unfinished();

  private:
    void remove_temporary() noexcept;
    int take_name();
    [[noreturn]] void fail(const std::string& reason);

    std::string path_;  ///< as the user wrote it
    std::string target_;
    std::string temporary_path_;  ///< in /proc where the file has no name
    int descriptor_ = -1;
    bool has_name_ = false;
    bool overwrite_;
};

}  // namespace zonal::io
