#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "zonal/distributed/plan.hpp"
#include "zonal/io/atomic_file.hpp"
#include "zonal/io/header.hpp"

namespace zonal::io {

/// A FITS file of tables without their data.
struct FitsFrame {
    std::vector<std::pair<std::int64_t, std::string>> headers;  ///< where each begins, and its bytes
    std::vector<std::int64_t> data;                             ///< [table], where its rows begin
    std::int64_t size = 0;                                      ///< bytes of the whole file
};

/// file: the bytes of one whose tables have one row each. rows: that they shall have, [table].
FitsFrame make_frame(const std::string& file, const std::vector<std::int64_t>& rows);

/// Collective. Throws IoError on all ranks unless all have found the same in a file. found: what this rank
/// has, in words.
void require_same_file(const std::string& path, const Communicator& ranks, const std::string& found);

/// Throws IoError for a name that ends in .gz.
void require_not_gzipped(const std::string& path);

/// A file that the ranks of a job write together, and that appears complete or not at all. Until then it is
/// .zonal-*.part in the same folder, which each rank has open: whichever rank ends early removes it.
class SharedFile {
  public:
    /// Collective. make_frame(): called on rank 0, which makes the file with these headers.
    template <class MakeFrame>
    SharedFile(const Communicator& ranks, const std::string& path, const WriteOptions& options,
               const MakeFrame& make_frame)
        : ranks_(ranks), path_(path) {
        std::string message;
        ranks_.together("a file to write", [&] {
            require_not_gzipped(path_);
            if (ranks_.rank() == 0) message = create(options, make_frame());
        });
        open(message);
    }
    ~SharedFile();
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    /// Where the rows of a table begin.
    std::int64_t data(std::size_t table) const { return data_.at(table); }
    /// Writes this rank's bytes. Throws IoError with the system's reason, on this rank alone.
    void write(std::int64_t offset, const std::string& bytes);
    /// Collective. Throws IoError on all ranks, and leaves no file, if one could not write.
    void commit();

  private:
    std::string create(const WriteOptions& options, const FitsFrame& frame);
    void open(const std::string& message);
    void flush();
    void write_at(std::int64_t offset, const char* bytes, std::int64_t count);

    Communicator ranks_;
    std::string path_;
    std::vector<std::int64_t> data_;
    std::unique_ptr<AtomicFile> file_;  ///< on rank 0
    int descriptor_ = -1;
};

/// Appends a number as FITS has it: big-endian.
void append_number(std::string& bytes, double value, bool narrow);
void append_integer(std::string& bytes, std::int64_t value, bool narrow);

}  // namespace zonal::io
