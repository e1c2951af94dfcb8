#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "core/interruption.hpp"
#include "io/fits/cards.hpp"
#include "io/fits/fits_reader.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/fits/shared_file.hpp"
#include "io/tables/alm_orders.hpp"
#include "zonal/error.hpp"
#include "zonal/io/parts.hpp"

namespace zonal::io {
namespace {

// l^2 + l + m + 1 fits 64 bits up to here.
constexpr std::int64_t largest_l = 3'000'000'000;
// A table may leave coefficients out, but memory must stay bounded by the file: up to this many per row, or
// this many.
constexpr std::int64_t coefficients_per_row = 64;
constexpr std::int64_t always_permitted = 1'000'000;

struct Mode {
    std::int64_t l;
    std::int64_t m;
};

/// Largest l with l^2 <= x.
std::int64_t integer_sqrt(std::int64_t x) {
    auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(x)));
    while (root * root > x) --root;
    while ((root + 1) * (root + 1) <= x) ++root;
    return root;
}

/// index = l^2 + l + m + 1, -l <= m <= l
Mode mode_of(std::int64_t index) {
    if (index < 1 || index > largest_l * largest_l) {
        throw InvalidArgument(fmt::format("index {}: must be l^2 + l + m + 1 >= 1", index));
    }
    const std::int64_t l = integer_sqrt(index - 1);
    const std::int64_t m = index - 1 - l * l - l;
    if (m < 0)
        throw InvalidArgument(fmt::format("index {}: l = {}, m = {}: only m >= 0 is stored", index, l, m));
    return {l, m};
}

[[noreturn]] void throw_twice(std::int64_t index, const Mode& mode) {
    throw InvalidArgument(fmt::format("index {} (l = {}, m = {}) occurs twice", index, mode.l, mode.m));
}

std::int64_t declared(const Hdu& hdu, const char* key, std::int64_t found) {
    const auto value = hdu.header.integer(key);
    if (!value) return found;
    if (*value < found) throw InvalidArgument(key, *value, fmt::format("the table goes up to {}", found));
    return *value;
}

/// lmax and mmax: the largest that occur.
AlmLayout declared_layout(const Hdu& hdu, std::int64_t lmax, std::int64_t mmax) {
    lmax = declared(hdu, "MAX-LPOL", lmax);
    mmax = declared(hdu, "MAX-MPOL", mmax);
    if (lmax < 0) throw InvalidArgument("no coefficients");
    if (lmax > largest_l || mmax > lmax) {
        throw InvalidArgument(fmt::format("MAX-LPOL = {}, MAX-MPOL = {}: must be 0 <= m <= l", lmax, mmax));
    }
    return {lmax, mmax};
}

void check_columns(const Hdu& hdu) {
    for (const int part : {1, 2}) {
        if (hdu.columns[part].repeat != hdu.columns[0].repeat) {
            throw InvalidArgument("its columns have different lengths");
        }
    }
}

void check_density(std::int64_t rows, const AlmLayout& layout) {
    const double size = (static_cast<double>(layout.mmax()) + 1) * static_cast<double>(layout.lmax() + 1);
    if (size > always_permitted + coefficients_per_row * static_cast<double>(rows)) {
        throw InvalidArgument(fmt::format("holds {} of the {} coefficients of lmax = {}, mmax = {}: too few",
                                          rows, layout.size(), layout.lmax(), layout.mmax()));
    }
}

/// What the header of a component's table says; is_first: the others must agree with it.
void take_header(FitsReader& reader, const Hdu& hdu, const AlmLayout& layout, bool is_first, AlmFile& file) {
    if (is_first) {
        file.layout = layout;
        file.precision = hdu.columns[1].type == 'D' ? FilePrecision::float64 : FilePrecision::float32;
        file.unit = hdu.columns[1].unit;
        file.coordinates = parse_coordinate_system(hdu.header.text("COORDSYS").value_or(""));
        file.cards = free_cards(hdu);
    } else if (layout != file.layout) {
        throw InvalidArgument(fmt::format("lmax = {}, mmax = {}: the first component has {} and {}",
                                          layout.lmax(), layout.mmax(), file.layout.lmax(),
                                          file.layout.mmax()));
    }
    if (hdu.columns.size() > 3) {
        file.notes.push_back(fmt::format("{}: {} more columns (errors) are left out", reader.source(hdu),
                                         hdu.columns.size() - 3));
    }
}

// Coefficients that are read, or travel, at once.
constexpr std::int64_t rows_at_once = std::int64_t{1} << 18;

/// Calls visit(range) for pieces of a range.
template <class Visit>
void for_pieces_of(const PixelRange& range, const Visit& visit) {
    for (auto first = range.first; first < range.end; first += rows_at_once)
        visit(PixelRange{first, std::min(range.end, first + rows_at_once)});
}

/// The largest l and m among these rows; -1 where there are none.
Mode largest_of_rows(FitsReader& reader, const Hdu& hdu, const PixelRange& rows) {
    Mode largest{-1, -1};
    core::RarePoll poll;
    for_pieces_of(rows, [&](const PixelRange& piece) {
        for (const auto index : reader.read_integers(hdu, 0, piece)) {
            poll();
            const Mode mode = mode_of(index);
            largest = {std::max(largest.l, mode.l), std::max(largest.m, mode.m)};
        }
    });
    return largest;
}

/// A component's coefficients, which come one by one.
class PlacedAlm {
  public:
    explicit PlacedAlm(const AlmLayout& layout)
        : layout_(layout), alm_(static_cast<std::size_t>(layout.size())), seen_(alm_.size()) {}
    void place(std::int64_t index, std::complex<double> value) {
        const Mode mode = mode_of(index);
        const auto at = static_cast<std::size_t>(layout_.index(mode.l, mode.m));
        if (seen_[at]) throw_twice(index, mode);
        seen_[at] = true;
        alm_[at] = value;
    }
    std::vector<std::complex<double>> take() { return std::move(alm_); }
    /// What it takes, and a piece of that many rows beside it.
    static double bytes_of(const AlmLayout& layout, std::int64_t piece) {
        constexpr double of_row = sizeof(std::int64_t) + sizeof(std::complex<double>);
        constexpr double of_coefficient = sizeof(std::complex<double>) + 1.0 / CHAR_BIT;
        return of_coefficient * static_cast<double>(layout.size()) + of_row * static_cast<double>(piece);
    }

  private:
    const AlmLayout& layout_;
    std::vector<std::complex<double>> alm_;
    std::vector<bool> seen_;
};

void read_component(FitsReader& reader, const Hdu& hdu, const MemoryCheck& check_memory, AlmFile& file) {
    const auto n_rows = hdu.rows * hdu.columns[0].repeat;
    const auto largest = largest_of_rows(reader, hdu, {0, n_rows});
    check_columns(hdu);
    const auto layout = declared_layout(hdu, largest.l, largest.m);
    check_density(n_rows, layout);
    take_header(reader, hdu, layout, file.components.empty(), file);
    check_memory(PlacedAlm::bytes_of(layout, std::min(n_rows, rows_at_once)),
                 fmt::format("{}: alm up to lmax = {}", reader.source(hdu), layout.lmax()));
    PlacedAlm alm(layout);
    core::RarePoll poll;
    for_pieces_of({0, n_rows}, [&](const PixelRange& piece) {
        const auto indices = reader.read_integers(hdu, 0, piece);
        const auto parts = reader.read_columns(hdu, {1, 2}, std::vector{piece}, 0);
        for (std::size_t i = 0; i < indices.size(); ++i) {
            poll();
            alm.place(indices[i], {parts[0][i], parts[1][i]});
        }
    });
    file.components.push_back(alm.take());
}

/// The tables of T, or of T, E and B.
std::vector<const Hdu*> find_tables(FitsReader& reader) {
    const auto& path = reader.path();
    const auto is_alm = [](const Hdu& hdu) { return kind_of(hdu) == FileKind::alm; };
    const Hdu& first = reader.select("", "table of alm (index, real, imaginary)", is_alm);
    std::vector<const Hdu*> tables;
    for (const auto& hdu : reader.hdus()) {
        if (hdu.number >= first.number && is_alm(hdu)) tables.push_back(&hdu);
    }
    if (!reader.problem().empty()) throw IoError(fmt::format("{}: {}", path, reader.problem()));
    if (tables.size() != 1 && tables.size() != 3) {
        throw IoError(fmt::format("{}: {} tables of alm: must be 1 (T) or 3 (T, E, B)", path, tables.size()));
    }
    return tables;
}

}  // namespace

AlmFile read_alm(const std::string& path, const MemoryCheck& check_memory) {
    FitsReader reader(path);
    AlmFile file;
    for (const Hdu* hdu : find_tables(reader)) {
        reader.in(*hdu, [&] { read_component(reader, *hdu, check_memory, file); });
    }
    return file;
}

namespace {

/// The rows of a table that this rank reads.
PixelRange rows_of_rank(const Hdu& hdu, const Communicator& ranks) {
    const auto n_rows = hdu.rows * hdu.columns[0].repeat;
    return {n_rows * ranks.rank() / ranks.size(), n_rows * (ranks.rank() + 1) / ranks.size()};
}

std::unique_ptr<FitsReader> open_for_parts(const std::string& path) {
    auto reader = std::make_unique<FitsReader>(path);
    if (reader->is_unpacked())
        throw IoError(path + ": is packed, so that it cannot be read in parts: unpack it first");
    return reader;
}

/// The largest of each rank's.
Mode largest_of_ranks(const Communicator& ranks, const Mode& mine) {
    Mode largest = mine;
    for (const auto& text : ranks.gather(fmt::format("{} {}", mine.l, mine.m))) {
        const auto blank = text.find(' ');
        largest = {std::max<std::int64_t>(largest.l, std::stoll(text.substr(0, blank))),
                   std::max<std::int64_t>(largest.m, std::stoll(text.substr(blank)))};
    }
    return largest;
}

/// One component on its way from the rows of a file to the ranks that have its orders.
class AlmReading {
  public:
    AlmReading(FitsReader& reader, const Hdu& hdu, const AlmLayout& layout,
               const std::vector<std::size_t>& owners, const Communicator& ranks)
        : reader_(reader), hdu_(hdu), layout_(layout), owners_(owners), ranks_(ranks) {}

    std::vector<std::complex<double>> read() {
        const auto mine = rows_of_rank(hdu_, ranks_);
        const auto longest = (hdu_.rows * hdu_.columns[0].repeat + ranks_.size() - 1) / ranks_.size();
        ranks_.together("memory for alm", [&] { alm_.emplace(layout_); });
        for (std::int64_t round = 0; round * rows_at_once < longest; ++round) {
            const auto first = std::min(mine.end, mine.first + round * rows_at_once);
            std::vector<std::string> outgoing(static_cast<std::size_t>(ranks_.size()));
            ranks_.together("alm of a file", [&] {
                reader_.in(hdu_, [&] { send({first, std::min(mine.end, first + rows_at_once)}, outgoing); });
            });
            const auto incoming = ranks_.exchange(std::move(outgoing));
            ranks_.together("alm of ranks", [&] {
                reader_.in(hdu_, [&] {
                    for (const auto& bytes : incoming) place_all(bytes);
                });
            });
        }
        return alm_->take();
    }

  private:
    struct Row {
        std::int64_t index;
        std::complex<double> value;
    };

    void send(const PixelRange& rows, std::vector<std::string>& outgoing) {
        const auto indices = reader_.read_integers(hdu_, 0, rows);
        const auto parts = reader_.read_columns(hdu_, {1, 2}, std::vector{rows}, 0);
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const Mode mode = mode_of(indices[i]);
            if (mode.l > layout_.lmax() || mode.m > layout_.mmax()) continue;
            const Row row{indices[i], {parts[0][i], parts[1][i]}};
            outgoing[owners_[static_cast<std::size_t>(mode.m)]].append(reinterpret_cast<const char*>(&row),
                                                                       sizeof row);
        }
    }
    void place_all(const std::string& bytes) {
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(Row)) {
            Row row{};
            std::memcpy(&row, bytes.data() + at, sizeof row);
            alm_->place(row.index, row.value);
        }
    }

    FitsReader& reader_;
    const Hdu& hdu_;
    const AlmLayout& layout_;
    const std::vector<std::size_t>& owners_;
    const Communicator& ranks_;
    std::optional<PlacedAlm> alm_;
};

}  // namespace

AlmHeader read_alm_header(const std::string& path, const Communicator& ranks) {
    AlmHeader header;
    std::unique_ptr<FitsReader> reader;
    std::vector<const Hdu*> tables;
    ranks.together("the headers of " + path, [&] {
        reader = open_for_parts(path);
        tables = find_tables(*reader);
    });
    std::vector<std::int64_t> rows;
    rows.reserve(tables.size());
    for (const Hdu* hdu : tables) rows.push_back(hdu->rows * hdu->columns[0].repeat);
    require_same_file(path, ranks, fmt::format("alm in {} rows", fmt::join(rows, " + ")));
    for (const Hdu* hdu : tables) {
        Mode largest{-1, -1};
        const bool is_declared = hdu->header.has("MAX-LPOL") && hdu->header.has("MAX-MPOL");
        ranks.together("the orders of " + path, [&] {
            reader->in(*hdu, [&] {
                check_columns(*hdu);
                if (!is_declared) largest = largest_of_rows(*reader, *hdu, rows_of_rank(*hdu, ranks));
            });
        });
        if (!is_declared) largest = largest_of_ranks(ranks, largest);
        ranks.together("the header of " + path, [&] {
            reader->in(*hdu, [&] {
                const auto layout = declared_layout(*hdu, largest.l, largest.m);
                check_density(hdu->rows * hdu->columns[0].repeat, layout);
                take_header(*reader, *hdu, layout, header.n_components == 0, header.file);
            });
        });
        ++header.n_components;
    }
    return header;
}

AlmFile read_alm_part(const std::string& path, const AlmLayout& layout, const Communicator& ranks) {
    auto file = read_alm_header(path, ranks).file;
    file.layout = layout;
    const auto owners = owners_of_orders(layout, ranks);
    std::unique_ptr<FitsReader> reader;
    ranks.together("opening " + path, [&] { reader = open_for_parts(path); });
    for (const Hdu* hdu : find_tables(*reader))
        file.components.push_back(AlmReading(*reader, *hdu, layout, owners, ranks).read());
    ranks.together("the numbers of " + path, [&] { require_finite(path, file, "coefficients"); });
    return file;
}

}  // namespace zonal::io
