#include "io/fits/gzip.hpp"

#include <zlib.h>

#include <new>
#include <vector>

namespace zonal::io {
namespace {

constexpr std::int64_t piece = std::int64_t{1} << 20;
// zlib: the largest window, and 16 more for a gzip header instead of zlib's own.
constexpr int gzip_window_bits = 15 + 16;
constexpr int memory_level = 8;  // zlib's default

struct Deflater {
    z_stream stream{};
    Deflater() {
        if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits, memory_level,
                         Z_DEFAULT_STRATEGY) != Z_OK) {
            throw std::bad_alloc();
        }
    }
    ~Deflater() { deflateEnd(&stream); }
};

}  // namespace

void gzip(const FileBytes& raw, AtomicFile& packed) {
    Deflater deflater;
    auto& stream = deflater.stream;
    std::vector<Bytef> output(piece);
    for (std::int64_t offset = 0; offset < raw.size(); offset += piece) {
        std::string input = raw.read(offset, piece);
        stream.next_in = reinterpret_cast<Bytef*>(input.data());
        stream.avail_in = static_cast<uInt>(input.size());
        const int flush = offset + piece >= raw.size() ? Z_FINISH : Z_NO_FLUSH;
        do {
            stream.next_out = output.data();
            stream.avail_out = static_cast<uInt>(output.size());
            deflate(&stream, flush);
            packed.write(output.data(), output.size() - stream.avail_out);
        } while (stream.avail_out == 0);
    }
}

}  // namespace zonal::io
