#include <cairo.h>
#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "plot/plot.hpp"
#include "zonal/error.hpp"
#include "zonal/io/atomic_file.hpp"

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
    io::AtomicFile file(path, true);
    file.write(png);
    file.commit();
}

}  // namespace zonal::plot
