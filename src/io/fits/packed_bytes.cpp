#include "io/fits/packed_bytes.hpp"

#include <bzlib.h>
#include <fmt/core.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "io/fits/file_bytes.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

[[noreturn]] void damaged(const std::string& path, const char* kind, std::string_view reason) {
    throw IoError(fmt::format("{}: damaged {} file: {}", path, kind, reason));
}

class Gzip final : public PackedBytes {
  public:
    Gzip(int descriptor, const std::string& path) : path_(path), file_(gzdopen(dup(descriptor), "rb")) {
        if (!file_) throw IoError(fmt::format("{}: cannot be unpacked: {}", path, system_reason()));
    }
    std::size_t read(char* to, std::size_t count) override {
        const int got = gzread(file_.get(), to, static_cast<unsigned>(count));
        int status = Z_OK;
        const std::string_view reason(gzerror(file_.get(), &status));  // "<fd:4>: unexpected end of file"
        // A file that ends early gives its data first and Z_BUF_ERROR at the end.
        if (got < 0 || status == Z_BUF_ERROR) {
            const auto colon = reason.find(": ");
            damaged(path_, "gzip", colon == std::string_view::npos ? reason : reason.substr(colon + 2));
        }
        return static_cast<std::size_t>(got);
    }

  private:
    struct Close {
        void operator()(gzFile file) const { gzclose_r(file); }
    };
    std::string path_;
    std::unique_ptr<gzFile_s, Close> file_;
};

/// What the unpackers without files of their own read from.
class PackedInput {
  public:
    PackedInput(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
    const std::string& path() const { return path_; }
    /// The next bytes of the file; none at its end.
    std::string_view next() {
        for (;;) {
            const auto got = pread(descriptor_, buffer_.data(), buffer_.size(), offset_);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw IoError(fmt::format("{}: cannot be read: {}", path_, system_reason()));
            offset_ += got;
            return {buffer_.data(), static_cast<std::size_t>(got)};
        }
    }

  private:
    int descriptor_;
    std::string path_;
    off_t offset_ = 0;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 16);
};

class Bzip2 final : public PackedBytes {
  public:
    Bzip2(int descriptor, const std::string& path) : input_(descriptor, path) { begin(); }
    ~Bzip2() override { BZ2_bzDecompressEnd(&stream_); }
    Bzip2(const Bzip2&) = delete;
    Bzip2& operator=(const Bzip2&) = delete;

    std::size_t read(char* to, std::size_t count) override {
        stream_.next_out = to;
        stream_.avail_out = static_cast<unsigned>(count);
        while (stream_.avail_out > 0) {
            if (stream_.avail_in == 0 && !fill()) {
                if (!is_between_streams_) damaged(input_.path(), "bzip2", "unexpected end of file");
                break;
            }
            if (is_between_streams_ && started_)
                restart();  // of a file of several streams, as pbzip2 writes them
            started_ = true;
            const int status = BZ2_bzDecompress(&stream_);
            if (status == BZ_MEM_ERROR) throw std::bad_alloc();
            if (status != BZ_OK && status != BZ_STREAM_END)
                damaged(input_.path(), "bzip2", "its data are inconsistent");
            is_between_streams_ = status == BZ_STREAM_END;
        }
        return count - stream_.avail_out;
    }

  private:
    void begin() {
        if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    }
    void restart() {
        const auto rest = stream_;
        BZ2_bzDecompressEnd(&stream_);
        stream_ = {};
        begin();
        stream_.next_in = rest.next_in;
        stream_.avail_in = rest.avail_in;
        stream_.next_out = rest.next_out;
        stream_.avail_out = rest.avail_out;
    }
    bool fill() {
        bytes_ = input_.next();
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): bzlib does not write there
        stream_.next_in = const_cast<char*>(bytes_.data());
        stream_.avail_in = static_cast<unsigned>(bytes_.size());
        return !bytes_.empty();
    }

    PackedInput input_;
    std::string_view bytes_;
    bz_stream stream_{};
    bool started_ = false, is_between_streams_ = false;
};

class Xz final : public PackedBytes {
  public:
    Xz(int descriptor, const std::string& path) : input_(descriptor, path) {
        // As much memory as the strongest setting of xz takes.
        constexpr std::uint64_t most_memory = std::uint64_t{1} << 28;
        if (lzma_stream_decoder(&stream_, most_memory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
    }
    ~Xz() override { lzma_end(&stream_); }
    Xz(const Xz&) = delete;
    Xz& operator=(const Xz&) = delete;

    std::size_t read(char* to, std::size_t count) override {
        stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
        stream_.avail_out = count;
        while (stream_.avail_out > 0 && !is_done_) {
            if (stream_.avail_in == 0 && !is_at_end_) {
                bytes_ = input_.next();
                is_at_end_ = bytes_.empty();
                stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes_.data());
                stream_.avail_in = bytes_.size();
            }
            const auto status = lzma_code(&stream_, is_at_end_ ? LZMA_FINISH : LZMA_RUN);
            if (status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR) throw std::bad_alloc();
            if (status == LZMA_BUF_ERROR) damaged(input_.path(), "xz", "unexpected end of file");
            if (status != LZMA_OK && status != LZMA_STREAM_END)
                damaged(input_.path(), "xz", "its data are inconsistent");
            is_done_ = status == LZMA_STREAM_END;
        }
        return count - stream_.avail_out;
    }

  private:
    PackedInput input_;
    std::string_view bytes_;
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool is_at_end_ = false, is_done_ = false;
};

}  // namespace

std::unique_ptr<PackedBytes> open_packed(std::string_view start, int descriptor, const std::string& path) {
    using namespace std::string_view_literals;
    if (start.starts_with("\x1f\x8b"sv)) return std::make_unique<Gzip>(descriptor, path);
    if (start.starts_with("BZh"sv)) return std::make_unique<Bzip2>(descriptor, path);
    if (start.starts_with("\xfd"
                          "7zXZ\0"sv))
        return std::make_unique<Xz>(descriptor, path);
    if (start.starts_with("PK\3\4"sv))
        throw IoError(path + ": is a zip archive: take the file out with unzip first");
    if (start.starts_with("\x1f\x9d"sv))
        throw IoError(path + ": is packed by compress: unpack it with uncompress first");
    return nullptr;
}

}  // namespace zonal::io
