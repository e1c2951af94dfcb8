#include "io/fits/fits_reader.hpp"

#include <fitsio.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "core/parallel.hpp"
#include "io/fits/checked_values.hpp"
#include "io/fits/fits_scan.hpp"
#include "io/fits/float_columns.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {

/// How the fields of one column of an ASCII table become numbers. CFITSIO's own conversion is not rounded
/// correctly.
struct AsciiField {
    const FitsColumn& column;
    std::string null_text{};  ///< TNULL
    bool has_null = false;
    double scale = 1;
    double zero = 0;
    double null = 0;  ///< what a field equal to TNULL becomes

    AsciiField(const Hdu& hdu, const FitsColumn& field, double null_value);
    /// row: one row of the table. A blank field is 0, as in Fortran. Throws InvalidArgument for what is no
    /// number.
    double value(std::string_view row) const;
};

AsciiField::AsciiField(const Hdu& hdu, const FitsColumn& field, double null_value)
    : column(field), null(null_value) {
    const auto key = [&](const char* stem) { return fmt::format("{}{}", stem, column.number); };
    has_null = hdu.header.has(key("TNULL"));
    null_text = trim(hdu.header.text(key("TNULL")).value_or(""));
    scale = hdu.header.number(key("TSCAL")).value_or(1);
    zero = hdu.header.number(key("TZERO")).value_or(0);
}

double AsciiField::value(std::string_view row) const {
    const std::string text = trim(row.substr(column.offset, column.width));
    if (has_null && text == null_text) return null;
    if (text.empty()) return zero;
    const auto number = parse_number(text);
    if (!number) {
        std::string shown = text;
        for (char& byte : shown) {
            if (byte < ' ' || byte > '~') byte = '?';
        }
        throw InvalidArgument(fmt::format("column '{}': '{}' is no number", column.name, shown));
    }
    // Without a decimal point or exponent, a real's last digits are decimals (FITS standard, section 7.2.5).
    const bool implied = column.type != 'I' && text.find_first_of(".eEdDnN") == std::string::npos;
    return (implied ? *number / std::pow(10.0, static_cast<double>(column.decimals)) : *number) * scale +
           zero;
}

namespace {

/// A name that CFITSIO's disk driver takes as it is: a leading "~", blank or "-" would mean something to it.
std::string literal_name(const std::string& path) {
    return path.starts_with('/') ? path : "./" + path;
}

std::string list(const FitsScan& scan) {
    std::string text;
    for (const auto& hdu : scan.hdus) {
        text += fmt::format("{}{} ({}{}{})", text.empty() ? "" : ", ", hdu.label(), hdu.type_name,
                            hdu.refusal.empty() ? "" : ", ", hdu.refusal);
    }
    if (!scan.problem.empty()) text += fmt::format("; not usable: {}", scan.problem);
    return text;
}

/// CFITSIO looks at the keys of tiles on the way to the HDU behind them, and trusts their values. Without
/// ZIMAGE they are a table to it.
void hide_tiles(std::vector<char>& file, const TiledImage& image) {
    for (std::int64_t card = image.header_offset; card < image.offset; card += fits_card)
        if (std::string_view(file.data() + card, fits_card).starts_with("ZIMAGE"))
            std::fill_n(file.begin() + card, fits_card, ' ');
}

}  // namespace

struct FitsReader::Handle {
    fitsfile* file = nullptr;
    // fits_open_memfile keeps the addresses of these two.
    void* memory = nullptr;
    std::size_t memory_size = 0;

    ~Handle() {
        int status = 0;
        if (file) fits_close_file(file, &status);
        fits_clear_errmsg();
    }
};

FitsReader::FitsReader(const std::string& path) : FitsReader(std::make_unique<FileBytes>(path)) {}

FitsReader::FitsReader(std::unique_ptr<FileBytes> file)
    : file_(std::move(file)), is_unpacked_(file_->in_memory()), scan_(scan_fits(*file_)) {
    if (scan_.hdus.empty()) throw IoError(fmt::format("{}: {}", path(), scan_.problem));
}

FitsReader::~FitsReader() = default;

const Hdu& FitsReader::select(const std::string& name_or_number, const std::string& what,
                              const std::function<bool(const Hdu&)>& wanted) const {
    const auto number = parse_integer(name_or_number);
    for (const auto& hdu : scan_.hdus) {
        if (name_or_number.empty() ? wanted(hdu)
            : number               ? hdu.number == *number
                                   : equal_ignoring_case(hdu.name, name_or_number)) {
            if (!hdu.refusal.empty()) fail(hdu, hdu.refusal);
            return hdu;
        }
    }
    if (name_or_number.empty()) {
        throw IoError(fmt::format("{}: holds no {}; there are {}", path(), what, list(scan_)));
    }
    throw IoError(fmt::format("{}: no HDU '{}'; there are {}", path(), name_or_number, list(scan_)));
}

void FitsReader::fail(const Hdu& hdu, const std::string& reason) const {
    throw IoError(fmt::format("{}: {}", source(hdu), reason));
}

void FitsReader::check(const Hdu& hdu, int status) const {
    if (status != 0) fail(hdu, cfitsio_reason(status));
}

void FitsReader::open_handle() {
    auto handle = std::make_unique<Handle>();
    // CFITSIO wants whole blocks, but many files end with their last byte of data.
    const bool tiled = std::any_of(scan_.hdus.begin(), scan_.hdus.end(),
                                   [](const Hdu& hdu) { return hdu.tiles.has_value(); });
    if (file_->size() % fits_block != 0 || path().size() > longest_name || tiled) file_->load(fits_block);
    for (const Hdu& hdu : scan_.hdus)
        if (hdu.tiles) hide_tiles(file_->memory(), *hdu.tiles);
    int status = 0;
    if (file_->in_memory()) {
        handle->memory = file_->memory().data();
        handle->memory_size = file_->memory().size();
        fits_open_memfile(&handle->file, "zonal", READONLY, &handle->memory, &handle->memory_size, 0, nullptr,
                          &status);
    } else {
        fits_open_diskfile(&handle->file, literal_name(path()).c_str(), READONLY, &status);
    }
    if (status != 0) throw IoError(fmt::format("{}: {}", path(), cfitsio_reason(status)));
    handle_ = std::move(handle);
}

void FitsReader::move_to(const Hdu& hdu) {
    if (!handle_) open_handle();
    int status = 0;
    fits_movabs_hdu(handle_->file, hdu.number + 1, nullptr, &status);
    if (hdu.type == HduType::binary_table || hdu.type == HduType::ascii_table) {
        LONGLONG rows = 0;
        int columns = 0;
        fits_get_num_rowsll(handle_->file, &rows, &status);
        fits_get_num_cols(handle_->file, &columns, &status);
        check(hdu, status);
        // Two parsers that disagree on a header mean a header that nobody should trust.
        if (rows != hdu.rows || columns != static_cast<int>(hdu.columns.size())) {
            fail(hdu, "its header is ambiguous (keys occur twice)");
        }
    }
    check(hdu, status);
}

void FitsReader::read_elements(const Hdu& hdu, const FitsColumn& column, std::int64_t first,
                               std::int64_t count, double null, double* values) {
    if (hdu.type == HduType::ascii_table) return read_ascii_rows(hdu, column, first, count, null, values);
    const std::int64_t row = first / column.repeat + 1, element = first % column.repeat + 1;
    int status = 0;
    int any_null = 0;
    if (column.type == 'L') {
        constexpr char undefined = 2;
        char is_undefined = undefined;
        std::vector<char> logicals(static_cast<std::size_t>(count));
        fits_read_col(handle_->file, TLOGICAL, column.number, row, element, count, &is_undefined,
                      logicals.data(), &any_null, &status);
        std::transform(logicals.begin(), logicals.end(), values,
                       [&](char logical) { return logical == undefined ? null : logical; });
    } else {
        // Given a null value, CFITSIO would also replace NaN in columns of floats.
        const bool has_null = hdu.header.has(fmt::format("TNULL{}", column.number));
        const bool floats = column.type == 'E' || column.type == 'D';
        const bool replace = has_null && !floats;
        fits_read_col(handle_->file, TDOUBLE, column.number, row, element, count, replace ? &null : nullptr,
                      values, &any_null, &status);
    }
    if (status != 0) fail(hdu, fmt::format("column '{}': {}", column.name, cfitsio_reason(status)));
}

void FitsReader::read_ascii_rows(const Hdu& hdu, const FitsColumn& column, std::int64_t first_row,
                                 std::int64_t rows, double null, double* values) {
    const AsciiField field(hdu, column, null);
    std::string row(static_cast<std::size_t>(hdu.axes[0]), ' ');
    int status = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        fits_read_tblbytes(handle_->file, first_row + i + 1, 1, hdu.axes[0],
                           reinterpret_cast<unsigned char*>(row.data()), &status);
        check(hdu, status);
        values[i] = field.value(row);
    }
}

std::vector<std::vector<double>> FitsReader::read_columns(const Hdu& hdu, const std::vector<int>& columns,
                                                          double null) {
    std::int64_t n_elements = 0;
    for (const int index : columns)
        n_elements = std::max(n_elements, hdu.rows * hdu.columns.at(index).repeat);
    return read_columns(hdu, columns, {{0, n_elements}}, null);
}

std::vector<std::vector<double>> FitsReader::read_columns(const Hdu& hdu, const std::vector<int>& columns,
                                                          const std::vector<PixelRange>& elements,
                                                          double null) {
    return in(hdu, [&] {
        std::vector<std::vector<double>> values(columns.size());
        std::map<std::int64_t, std::vector<std::size_t>> groups;  // by elements a row
        for (std::size_t i = 0; i < columns.size(); ++i)
            groups[hdu.columns.at(columns[i]).repeat].push_back(i);
        for (const auto& [repeat, members] : groups) {
            const auto& group = members;  // which clang 14 takes into lambdas
            const std::int64_t most = hdu.rows * repeat;
            std::int64_t n_values = 0;
            auto ranges = elements;
            for (auto& range : ranges) {
                range = {std::min(range.first, most), std::min(range.end, most)};
                n_values += range.end - range.first;
            }
            std::vector<int> of_group;
            of_group.reserve(group.size());
            for (const auto i : group) {
                of_group.push_back(columns[i]);
                values[i].resize(static_cast<std::size_t>(n_values));
            }
            read_pieces(hdu, of_group, ranges, null, [&](std::int64_t place, View<double, 2> piece) {
                for (std::size_t k = 0; k < group.size(); ++k)
                    std::copy_n(piece[static_cast<std::int64_t>(k)].data(), piece.extent(1),
                                values[group[k]].data() + place);
            });
        }
        return values;
    });
}

void FitsReader::read_pieces(const Hdu& hdu, const std::vector<int>& columns,
                             const std::vector<PixelRange>& elements, double null, const TakePiece& take,
                             int threads) {
    in(hdu, [&] {
        std::vector<const FitsColumn*> chosen;
        bool plain = true;
        for (const int index : columns) {
            const auto& column = hdu.columns.at(index);
            if (!column.numeric())
                fail(hdu,
                     fmt::format("column '{}' has format '{}': only single numbers and logicals can be read",
                                 column.name, column.format));
            chosen.push_back(&column);
            plain = plain && is_plain_floats(hdu, column);
        }
        move_to(hdu);
        if (chosen.empty() || chosen[0]->repeat == 0) return;
        long buffered_rows = 0;
        int status = 0;
        fits_get_rowsize(handle_->file, &buffered_rows, &status);
        check(hdu, status);
        const auto n_columns = std::ssize(chosen);
        const auto pieces =
            cut_columns(elements, chosen[0]->repeat,
                        plain ? rows_in_cache(hdu) : std::max<std::int64_t>(1, buffered_rows), n_columns);
        const int n_threads = plain ? core::resolve_threads(threads) : 1;  // CFITSIO's handles are for one
        std::vector<std::vector<char>> bytes(static_cast<std::size_t>(n_threads));
        std::vector<std::vector<double>> values(static_cast<std::size_t>(n_threads));
        core::parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t task, int thread) {
            const auto [first, end, place] = pieces[static_cast<std::size_t>(task)];
            auto& memory = values[static_cast<std::size_t>(thread)];
            memory.resize(static_cast<std::size_t>(n_columns * (end - first)));
            const View<double, 2> piece(memory.data(), {n_columns, end - first});
            if (plain) {
                read_floats(*file_, hdu, chosen, first, piece, bytes[static_cast<std::size_t>(thread)]);
            } else {
                for (std::int64_t i = 0; i < n_columns; ++i)
                    read_elements(hdu, *chosen[static_cast<std::size_t>(i)], first, end - first, null,
                                  piece[i].data());
            }
            take(place, piece);
        });
    });
}

std::vector<std::int64_t> FitsReader::read_integers(const Hdu& hdu, int index) {
    return in(hdu, [&] { return read_integers(hdu, index, {0, hdu.rows * hdu.columns.at(index).repeat}); });
}

std::vector<std::int64_t> FitsReader::read_integers(const Hdu& hdu, int index, const PixelRange& elements) {
    return in(hdu, [&] {
        const auto& column = hdu.columns.at(index);
        if (hdu.type != HduType::binary_table || std::string("BIJK").find(column.type) == std::string::npos) {
            fail(hdu,
                 fmt::format("column '{}' has format '{}': must be of integers", column.name, column.format));
        }
        static_assert(sizeof(LONGLONG) == sizeof(std::int64_t));
        std::vector<std::int64_t> values(static_cast<std::size_t>(elements.end - elements.first));
        move_to(hdu);
        core::for_pieces(std::ssize(values), 1, [&](std::int64_t begin, std::int64_t end) {
            int status = 0;
            int any_null = 0;
            const auto first = elements.first + begin;
            fits_read_col(handle_->file, TLONGLONG, column.number, first / column.repeat + 1,
                          first % column.repeat + 1, end - begin, nullptr, values.data() + begin, &any_null,
                          &status);
            check(hdu, status);
        });
        return values;
    });
}

std::vector<double> FitsReader::read_image(const Hdu& hdu, std::int64_t first, std::int64_t count,
                                           double null) {
    return in(hdu, [&] {
        if (hdu.tiles) return read_tiles(*file_, *hdu.tiles, first, count, null);
        std::vector<double> values(static_cast<std::size_t>(count));
        move_to(hdu);
        // BLANK is defined for integers only; given a null value, CFITSIO would also replace NaN.
        const bool replace = hdu.header.has("BLANK") && hdu.bitpix > 0;
        core::for_pieces(count, 1, [&](std::int64_t begin, std::int64_t end) {
            int status = 0;
            int any_null = 0;
            fits_read_img(handle_->file, TDOUBLE, first + begin + 1, end - begin, replace ? &null : nullptr,
                          values.data() + begin, &any_null, &status);
            check(hdu, status);
        });
        return values;
    });
}

}  // namespace zonal::io
