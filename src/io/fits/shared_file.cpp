#include "io/fits/shared_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string_view>

#include "io/fits/file_bytes.hpp"
#include "io/fits/fits_scan.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

std::int64_t whole_blocks(std::int64_t bytes) {
    return (bytes + fits_block - 1) / fits_block * fits_block;
}

/// Where the value of a card ends in the fixed format, and the keyword's width with "= ".
constexpr std::size_t value_end = 30, key_width = 10;

/// The card of that key in a header.
std::size_t find_card(const std::string& header, std::string_view key) {
    for (std::size_t at = 0; at < header.size(); at += fits_card)
        if (std::string_view(header).substr(at).starts_with(fmt::format("{:<8}= ", key))) return at;
    throw Error(fmt::format("a header without {}", key));
}

std::int64_t read_card(const std::string& header, std::string_view key) {
    return std::stoll(header.substr(find_card(header, key) + key_width, value_end - key_width));
}

std::int64_t header_bytes(const std::string& file, std::int64_t begin) {
    for (auto at = begin; at < std::ssize(file); at += fits_card)
        if (std::string_view(file).substr(static_cast<std::size_t>(at), 8) == "END     ")
            return whole_blocks(at + fits_card - begin);
    throw Error("a header without END");
}

template <class Bits>
void append_big_endian(std::string& bytes, Bits bits) {
    char big[sizeof bits];
    for (std::size_t i = 0; i < sizeof bits; ++i)
        big[i] = static_cast<char>(bits >> (8 * (sizeof bits - 1 - i)) & 0xff);
    bytes.append(big, sizeof bits);
}

}  // namespace

FitsFrame make_frame(const std::string& file, const std::vector<std::int64_t>& rows) {
    FitsFrame frame;
    std::int64_t begin = header_bytes(file, 0);
    frame.headers.emplace_back(0, file.substr(0, static_cast<std::size_t>(begin)));
    frame.size = begin;
    for (const auto n_rows : rows) {
        const auto length = header_bytes(file, begin);
        auto header = file.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(length));
        const auto row_bytes = read_card(header, "NAXIS1");
        header.replace(find_card(header, "NAXIS2") + key_width, value_end - key_width,
                       fmt::format("{:>20}", n_rows));
        frame.headers.emplace_back(frame.size, std::move(header));
        frame.data.push_back(frame.size + length);
        frame.size += length + whole_blocks(n_rows * row_bytes);
        begin += length + whole_blocks(row_bytes);
    }
    return frame;
}

void require_same_file(const std::string& path, const Communicator& ranks, const std::string& found) {
    const auto all = ranks.gather(found);
    ranks.together("the header of " + path, [&] {
        const auto other =
            std::find_if(all.begin(), all.end(), [&](const auto& one) { return one != all[0]; });
        if (other != all.end())
            throw IoError(
                fmt::format("{}: rank 0 finds {} in it, and rank {} {}: all ranks must read the same file",
                            path, all[0], other - all.begin(), *other));
    });
}

void require_not_gzipped(const std::string& path) {
    if (path.ends_with(".gz"))
        throw IoError(fmt::format(
            "{}: a gzip file is one stream, which ranks cannot write in parts: give a name without .gz",
            path));
}

SharedFile::~SharedFile() {
    if (descriptor_ >= 0) close(descriptor_);
}

std::string SharedFile::create(const WriteOptions& options, const FitsFrame& frame) {
    file_ = std::make_unique<AtomicFile>(path_, options.overwrite, true);
    descriptor_ = ::open(file_->temporary_path().c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0 || ftruncate(descriptor_, frame.size) != 0)
        throw IoError(fmt::format("{}: cannot be written: {}", path_, system_reason()));
    for (const auto& [offset, header] : frame.headers) write(offset, header);
    std::string message = file_->temporary_path() + '\0';
    for (const auto data : frame.data) message += fmt::format("{} ", data);
    return message;
}

/// message: rank 0's: the file's name, and where the tables' rows begin.
void SharedFile::open(const std::string& message) {
    const auto from_first = ranks_.gather(message)[0];
    const auto end_of_name = from_first.find('\0');
    std::istringstream numbers(from_first.substr(end_of_name + 1));
    for (std::int64_t number = 0; numbers >> number;) data_.push_back(number);
    ranks_.together("opening a file", [&] {
        if (descriptor_ >= 0) return;
        descriptor_ = ::open(from_first.substr(0, end_of_name).c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0)
            throw IoError(
                fmt::format("{}: what rank 0 has created in its folder cannot be opened: {}; all ranks must "
                            "see the same files",
                            path_, system_reason()));
    });
}

void SharedFile::write(std::int64_t offset, const std::string& bytes) {
    write_at(offset, bytes.data(), std::ssize(bytes));
}

void SharedFile::write_at(std::int64_t offset, const char* bytes, std::int64_t count) {
    while (count > 0) {
        const auto written = pwrite(descriptor_, bytes, static_cast<std::size_t>(count), offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw IoError(fmt::format("{}: cannot be written: {}", path_, system_reason()));
        bytes += written, offset += written, count -= written;
    }
}

void SharedFile::flush() {
    if (fsync(descriptor_) != 0 && errno != EINVAL)
        throw IoError(fmt::format("{}: cannot be written: {}", path_, system_reason()));
}

void SharedFile::commit() {
    ranks_.together("the end of a file", [&] { flush(); });
    ranks_.together("the name of a file", [&] {
        if (file_) file_->commit();
    });
}

void append_number(std::string& bytes, double value, bool narrow) {
    if (narrow)
        append_big_endian(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    else
        append_big_endian(bytes, std::bit_cast<std::uint64_t>(value));
}

void append_integer(std::string& bytes, std::int64_t value, bool narrow) {
    if (narrow)
        append_big_endian(bytes, static_cast<std::uint32_t>(value));
    else
        append_big_endian(bytes, static_cast<std::uint64_t>(value));
}

}  // namespace zonal::io
