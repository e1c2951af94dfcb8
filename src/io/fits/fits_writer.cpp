#include "io/fits/fits_writer.hpp"

#include <fitsio.h>
#include <fmt/core.h>

#include <zlib.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "core/interruption.hpp"
#include "io/fits/cards.hpp"
#include "io/fits/checked_values.hpp"
#include "io/fits/file_bytes.hpp"
#include "zonal/error.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::io {

/// Appends the gzipped bytes of `raw` to `packed`. Throws IoError.
void gzip(const FileBytes& raw, AtomicFile& packed);

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
    const core::InterruptionPoll poll;
    for (std::int64_t offset = 0; offset < raw.size(); offset += piece) {
        poll();
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

namespace {

constexpr int card_length = 80;
constexpr std::size_t block_length = 2880;
// 17 significant digits give a double back exactly.
constexpr int decimals = 16;

/// The smallest FITS file: CFITSIO opens it, and adds to it, under a name that AtomicFile has made.
std::string empty_primary() {
    std::string block;
    for (const char* card : {"SIMPLE  =                    T / conforms to FITS standard",
                             "BITPIX  =                    8 / array data type",
                             "NAXIS   =                    0 / number of array dimensions",
                             "EXTEND  =                    T", "END"}) {
        block += fmt::format("{:<{}}", card, card_length);
    }
    block.resize(block_length, ' ');
    return block;
}

/// FITS headers hold printable ASCII only.
std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char byte) { return byte < ' ' || byte > '~'; }, '?');
    return text;
}

/// `values` as CFITSIO's writing functions want them: they take a void* to what they only read.
template <class T>
T* as_fitsio_input(const T* values) {
    return const_cast<T*>(values);  // NOLINT(cppcoreguidelines-pro-type-const-cast): the interface is C's
}

}  // namespace

struct FitsWriter::State {
    std::string path;
    bool overwrite;
    bool packed;
    AtomicFile file;
    fitsfile* fits = nullptr;
    std::vector<WriteColumn> columns;
    bool narrow_image = false;
    core::InterruptionPoll poll;

    State(const std::string& name, const WriteOptions& options)
        : path(name),
          overwrite(options.overwrite),
          packed(name.ends_with(".gz")),
          file(name, options.overwrite) {}
    ~State() {
        int status = 0;
        if (fits) {
            drop_data();
            fits_close_file(fits, &status);
        }
        fits_clear_errmsg();
    }

    /// Takes back the size of the data of an abandoned file, which CFITSIO else makes up with zeros.
    void drop_data() const {
        int status = 0, type = 0;
        fits_get_hdu_type(fits, &type, &status);
        fits_modify_key_lng(fits, type == IMAGE_HDU ? "NAXIS" : "NAXIS2", 0, nullptr, &status);
        fits_set_hdustruc(fits, &status);
    }
};

FitsWriter::FitsWriter(const std::string& path, const WriteOptions& options)
    : state_(std::make_unique<State>(path, options)) {
    for (const char* ending : {".bz2", ".xz", ".zip", ".fz"})
        if (path.ends_with(ending))
            throw IoError(fmt::format("{}: files are written packed by gzip (.gz) or not at all, not as {}",
                                      path, ending));
    state_->file.write(empty_primary());
    const std::string& name = state_->file.temporary_path();
    if (name.size() > longest_name)
        throw IoError(fmt::format("{}: the path is longer than {} bytes", path, longest_name));
    int status = 0;
    fits_open_diskfile(&state_->fits, name.starts_with('/') ? name.c_str() : ("./" + name).c_str(), READWRITE,
                       &status);
    check(status);
}

FitsWriter::~FitsWriter() = default;

void FitsWriter::check(int status) {
    if (status == 0) return;
    const int reason = errno;
    std::string message = fmt::format("{}: cannot be written: {}", state_->path, cfitsio_reason(status));
    // CFITSIO says no more than "error writing"; the system knows why.
    if (status == WRITE_ERROR && reason != 0) message += fmt::format(": {}", std::strerror(reason));
    throw IoError(message);
}

void FitsWriter::begin_table(const std::string& name, std::int64_t rows,
                             const std::vector<WriteColumn>& columns) {
    std::vector<std::string> texts;
    for (const auto& column : columns) {
        texts.push_back(printable(column.name));
        texts.push_back(column.format);
        texts.push_back(printable(column.unit));
    }
    std::vector<char*> names, formats, units;
    for (std::size_t i = 0; i < texts.size(); i += 3) {
        names.push_back(texts[i].data());
        formats.push_back(texts[i + 1].data());
        units.push_back(texts[i + 2].data());
    }
    int status = 0;
    errno = 0;
    fits_create_tbl(state_->fits, BINARY_TBL, rows, static_cast<int>(columns.size()), names.data(),
                    formats.data(), units.data(), name.c_str(), &status);
    for (std::size_t i = 0; i < columns.size() && !columns[i].comment.empty(); ++i) {
        fits_modify_comment(state_->fits, fmt::format("TTYPE{}", i + 1).c_str(), columns[i].comment.c_str(),
                            &status);
    }
    check(status);
    state_->columns = columns;
    write_card({"CREATOR", std::string("zonal"), "software that made this file"});
}

void FitsWriter::begin_image(FilePrecision precision, const std::vector<std::int64_t>& axes) {
    std::vector<LONGLONG> lengths(axes.begin(), axes.end());
    state_->narrow_image = precision == FilePrecision::float32;
    int status = 0;
    errno = 0;
    fits_resize_imgll(state_->fits, precision == FilePrecision::float64 ? DOUBLE_IMG : FLOAT_IMG,
                      static_cast<int>(axes.size()), lengths.data(), &status);
    check(status);
    write_card({"CREATOR", std::string("zonal"), "software that made this file"});
}

void FitsWriter::begin_image(const std::string& name, const std::vector<std::int64_t>& axes) {
    std::vector<LONGLONG> lengths(axes.begin(), axes.end());
    state_->narrow_image = false;
    int status = 0;
    errno = 0;
    fits_create_imgll(state_->fits, DOUBLE_IMG, static_cast<int>(axes.size()), lengths.data(), &status);
    check(status);
    write_card({"EXTNAME", name, ""});
}

void FitsWriter::write_card(const HeaderCard& card) {
    int status = 0;
    errno = 0;
    fitsfile* fits = state_->fits;
    const char* key = card.key.c_str();
    const std::string text = printable(card.comment);
    const char* comment = text.empty() ? nullptr : text.c_str();
    if (const auto* logical = std::get_if<bool>(&card.value)) {
        fits_write_key_log(fits, key, *logical, comment, &status);
    } else if (const auto* integer = std::get_if<std::int64_t>(&card.value)) {
        fits_write_key_lng(fits, key, *integer, comment, &status);
    } else if (const auto* number = std::get_if<double>(&card.value)) {
        fits_write_key_dbl(fits, key, *number, decimals, comment, &status);
    } else {
        const std::string value = printable(std::get<std::string>(card.value));
        if (card.key == "HISTORY") {
            fits_write_history(fits, value.c_str(), &status);
        } else if (card.key == "COMMENT") {
            fits_write_comment(fits, value.c_str(), &status);
        } else {
            fits_write_key_longstr(fits, key, value.c_str(), comment, &status);
        }
    }
    check(status);
}

void FitsWriter::write_cards(const std::vector<HeaderCard>& cards) {
    check_cards(cards);
    for (const auto& card : cards) write_card(card);
}

void FitsWriter::check_range(const std::string& name, const double* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        if (!std::isfinite(values[i]) || std::isfinite(static_cast<float>(values[i]))) continue;
        int number = 0;  // from 1
        fits_get_hdu_num(state_->fits, &number);
        throw IoError(fmt::format("{}: HDU {}: {}: {} does not fit a 4-byte float; double precision holds it",
                                  state_->path, number - 1, name, values[i]));
    }
}

void FitsWriter::write_column(int column, std::int64_t first, const double* values, std::int64_t count) {
    state_->poll();
    const auto& description = state_->columns.at(column);
    const bool narrow = description.format.ends_with('E');
    if (narrow) check_range("column '" + description.name + "'", values, count);
    const auto repeat = std::max(1LL, std::atoll(description.format.c_str()));
    int status = 0;
    errno = 0;
    fits_write_col(state_->fits, TDOUBLE, column + 1, first / repeat + 1, first % repeat + 1, count,
                   as_fitsio_input(values), &status);
    check(status);
}

void FitsWriter::write_column(int column, std::int64_t first, const std::int64_t* values,
                              std::int64_t count) {
    int status = 0;
    errno = 0;
    fits_write_col(state_->fits, TLONGLONG, column + 1, first + 1, 1, count, as_fitsio_input(values),
                   &status);
    check(status);
}

void FitsWriter::write_image(std::int64_t first, const double* values, std::int64_t count) {
    state_->poll();
    if (state_->narrow_image) check_range("image", values, count);
    int status = 0;
    errno = 0;
    fits_write_img(state_->fits, TDOUBLE, first + 1, count, as_fitsio_input(values), &status);
    check(status);
}

std::int64_t FitsWriter::rows_at_once() {
    long rows = 0;
    int status = 0;
    fits_get_rowsize(state_->fits, &rows, &status);
    check(status);
    return std::max(rows, 1L);
}

std::string FitsWriter::bytes() {
    int status = 0;
    errno = 0;
    fits_close_file(std::exchange(state_->fits, nullptr), &status);
    check(status);
    const FileBytes file(state_->file.temporary_path());
    return file.read(0, file.size());
}

void FitsWriter::commit() {
    int status = 0;
    errno = 0;
    fits_close_file(std::exchange(state_->fits, nullptr), &status);
    check(status);
    if (!state_->packed) return state_->file.commit();
    AtomicFile packed(state_->path, state_->overwrite);
    gzip(FileBytes(state_->file.temporary_path()), packed);
    packed.commit();
}

}  // namespace zonal::io
