#include "io/fits/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/interruption.hpp"
#include "io/fits/packed_bytes.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal::io {

std::string system_reason() {
    return std::strerror(errno);
}

namespace {

// Unpacking goes by pieces of this size, so that memory grows with the data that is really there and not with
// a size that the file claims.
constexpr std::int64_t piece = std::int64_t{1} << 20;

constexpr std::string_view fits_start = "SIMPLE  =";
constexpr const char* neither = "neither a FITS file nor text";

}  // namespace

FileBytes::FileBytes(const std::string& path) : path_(path) {
    // O_NONBLOCK: a FIFO without a writer must not hang us before fstat tells what it is.
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) throw IoError(fmt::format("{}: cannot be opened: {}", path, system_reason()));
    try {
        struct stat status;
        if (fstat(descriptor_, &status) != 0) {
            throw IoError(fmt::format("{}: cannot be examined: {}", path, system_reason()));
        }
        if (!S_ISREG(status.st_mode)) throw IoError(fmt::format("{}: not a regular file", path));
        size_ = status.st_size;
        if (const auto packed = open_packed(read(0, packed_start), descriptor_, path)) unpack(*packed);
    } catch (...) {
        if (descriptor_ >= 0) close(descriptor_);
        throw;
    }
}

FileBytes::~FileBytes() {
    if (descriptor_ >= 0) close(descriptor_);
}

std::string FileBytes::read(std::int64_t offset, std::int64_t count) const {
    const std::int64_t available = std::clamp<std::int64_t>(size_ - offset, 0, count);
    std::string bytes(static_cast<std::size_t>(available), '\0');
    copy(offset, available, bytes.data());
    return bytes;
}

void FileBytes::copy(std::int64_t offset, std::int64_t count, char* to) const {
    if (in_memory() && count > 0 && offset <= size_ - count) {
        std::copy_n(memory_.data() + offset, count, to);
        return;
    }
    for (std::int64_t done = 0; done < count;) {
        const ssize_t got = in_memory() ? 0 : pread(descriptor_, to + done, count - done, offset + done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw IoError(fmt::format("{}: cannot be read: {}", path_, system_reason()));
        if (got == 0) throw IoError(fmt::format("{}: became shorter while it was read", path_));
        done += got;
    }
}

bool FileBytes::starts_like_fits() const {
    return read(0, std::ssize(fits_start)) == fits_start;
}

void FileBytes::load(std::int64_t block) {
    if (!in_memory()) {
        // In pieces, so that the file is not in memory twice.
        memory_.reserve(static_cast<std::size_t>(size_ + block));
        const core::InterruptionPoll poll;
        for (std::int64_t offset = 0; offset < size_; offset += piece) {
            poll();
            const std::string bytes = read(offset, piece);
            memory_.insert(memory_.end(), bytes.begin(), bytes.end());
        }
        close(std::exchange(descriptor_, -1));
    }
    size_ = (size_ + block - 1) / block * block;
    memory_.resize(static_cast<std::size_t>(size_));
}

void FileBytes::grow(std::size_t least) {
    const auto size = std::max(least, 2 * memory_.capacity());
    constexpr std::size_t small = std::size_t{1} << 28;  // what any machine has
    // A packed file says nothing about its true size, and may hold a thousand times its own.
    if (size > small) require_memory(static_cast<double>(size), path_ + ": unpacking this file");
    memory_.reserve(size);
}

void FileBytes::unpack(PackedBytes& packed) {
    std::size_t size = 0;
    const core::InterruptionPoll poll;
    for (std::size_t got = 1; got > 0; size += got) {
        poll();
        if (memory_.capacity() < size + piece) grow(size + static_cast<std::size_t>(piece));
        memory_.resize(size + static_cast<std::size_t>(piece));
        got = packed.read(memory_.data() + size, static_cast<std::size_t>(piece));
        // A few bytes may stand for hours of zeros: what is nothing that we read is not unpacked to its end.
        const std::string_view start(memory_.data(), got);
        if (size == 0 && !start.starts_with(fits_start) && start.find('\0') != std::string_view::npos)
            throw IoError(fmt::format("{}: {}", path_, neither));
    }
    memory_.resize(size);
    size_ = static_cast<std::int64_t>(size);
    close(std::exchange(descriptor_, -1));
}

std::string read_text(const FileBytes& file) {
    constexpr std::int64_t limit = std::int64_t{1} << 30;
    if (file.size() > limit) {
        throw IoError(fmt::format("{}: {} bytes of text: at most 2^30 are read", file.path(), file.size()));
    }
    std::string text = file.read(0, file.size());
    if (text.find('\0') != std::string::npos) {
        throw IoError(fmt::format("{}: {}", file.path(), neither));
    }
    return text;
}

}  // namespace zonal::io
