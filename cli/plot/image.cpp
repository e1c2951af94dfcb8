#include <cairo.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "plot/plot.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {

namespace {

cairo_status_t append(void* closure, const unsigned char* data, unsigned length) {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
}

std::string big_endian(std::uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
            static_cast<char>(value)};
}

/// CRC-32 of a PNG chunk (PNG specification, annex D), bit by bit: 13 bytes need no table.
std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t crc = 0xFFFFFFFFu;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? 0xEDB88320u ^ (crc >> 1) : crc >> 1;
    }
    return ~crc;
}

/// The chunk that tells programs the picture's physical size, which Cairo does not write.
std::string resolution_chunk(double dpi) {
    const std::string per_metre = big_endian(static_cast<std::uint32_t>(std::lround(dpi / 0.0254)));
    const std::string body = "pHYs" + per_metre + per_metre + '\x01';
    return big_endian(static_cast<std::uint32_t>(body.size() - 4)) + body + big_endian(crc32(body));
}

[[noreturn]] void fail(const std::string& path, int error) {
    throw IoError(fmt::format("{}: cannot write the picture: {}", path, std::strerror(error)));
}

/// A file under a temporary name beside its goal; gone unless renamed.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& path)
        : path_(path), name_(fmt::format("{}.{}.tmp", path, getpid())) {
        descriptor_ = open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0) fail(path_, errno);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (descriptor_ >= 0) close(descriptor_);
        if (!renamed_) unlink(name_.c_str());
    }

    void write_all(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) fail(path_, errno);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void rename_to_goal() {
        if (fsync(descriptor_) != 0) fail(path_, errno);
        const int closed = close(descriptor_);
        descriptor_ = -1;
        if (closed != 0 || std::rename(name_.c_str(), path_.c_str()) != 0) fail(path_, errno);
        renamed_ = true;
    }

  private:
    std::string path_, name_;
    int descriptor_ = -1;
    bool renamed_ = false;
};

}  // namespace

Image::Image(std::shared_ptr<_cairo_surface> surface, double dpi) : surface_(std::move(surface)), dpi_(dpi) {}

int Image::width() const {
    return cairo_image_surface_get_width(surface_.get());
}

int Image::height() const {
    return cairo_image_surface_get_height(surface_.get());
}

Rgb Image::pixel(int x, int y) const {
    if (x < 0 || x >= width() || y < 0 || y >= height())
        throw InvalidArgument(
            fmt::format("pixel ({}, {}): must lie in a picture of {} x {}", x, y, width(), height()));
    const unsigned char* row = cairo_image_surface_get_data(surface_.get()) +
                               std::ptrdiff_t{y} * cairo_image_surface_get_stride(surface_.get());
    std::uint32_t argb;
    std::memcpy(&argb, row + 4 * x, 4);
    const bool opaque = cairo_image_surface_get_format(surface_.get()) == CAIRO_FORMAT_RGB24;
    const std::uint32_t alpha = opaque ? 255 : argb >> 24;
    // colours are premultiplied by alpha, so white shows through by what is missing
    const auto over_white = [&](int shift) {
        return static_cast<std::uint8_t>(((argb >> shift) & 0xFF) + 255 - alpha);
    };
    return {over_white(16), over_white(8), over_white(0)};
}

void Image::write_png(const std::string& path) const {
    std::string png;
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface_.get(), append, &png);
    if (status != CAIRO_STATUS_SUCCESS)
        throw IoError(fmt::format("{}: cannot make the picture: {}", path, cairo_status_to_string(status)));
    constexpr std::size_t after_header = 8 + 25;  // signature, IHDR
    png.insert(after_header, resolution_chunk(dpi_));
    TemporaryFile file(path);
    file.write_all(png);
    file.rename_to_goal();
}

}  // namespace zonal::plot
