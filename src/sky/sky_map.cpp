#include "zonal/sky/sky_map.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/aligned.hpp"
#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "sky/sky_patch.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace {

bool is_nest(const Pixelization& pixelization) {
    const auto* pixels = std::get_if<HealpixPixels>(&pixelization);
    return pixels != nullptr && pixels->ordering == healpix::Order::nest;
}

/// The number of a pixel in ring order, and in the order of the file.
std::int64_t to_ring(const Pixelization& pixelization, std::int64_t pixel) {
    return is_nest(pixelization) ? healpix::nest2ring(std::get<HealpixPixels>(pixelization).nside, pixel)
                                 : pixel;
}
std::int64_t from_ring(const Pixelization& pixelization, std::int64_t pixel) {
    return is_nest(pixelization) ? healpix::ring2nest(std::get<HealpixPixels>(pixelization).nside, pixel)
                                 : pixel;
}

void copy_pixels(View<const double, 1> from, View<double, 1> to) {
    core::for_pieces(from.size(), 1, [&](std::int64_t first, std::int64_t last) {
        std::copy(from.data() + first, from.data() + last, to.data() + first);
    });
}

void to_ring_order(const Pixelization& pixelization, View<const double, 1> file_order,
                   View<double, 1> ring_order) {
    if (is_nest(pixelization)) return healpix::nest_to_ring<double>(file_order, ring_order);
    copy_pixels(file_order, ring_order);
}

void from_ring_order(const Pixelization& pixelization, View<const double, 1> ring_order,
                     View<double, 1> file_order) {
    if (is_nest(pixelization)) return healpix::ring_to_nest<double>(ring_order, file_order);
    copy_pixels(ring_order, file_order);
}

std::string prefix(const MapFile& file) {
    return file.source.empty() ? "" : file.source + ": ";
}

double bytes_of_columns(const Pixelization& pixelization, std::size_t n_columns) {
    return static_cast<double>(full_sky_size(pixelization)) * static_cast<double>(n_columns * sizeof(double));
}

/// The grid, if these bytes for columns of the full sky fit in memory. Without this check a partial sky of
/// few pixels or a wrong nside would end in the system's killing of the program.
Grid make_grid_that_fits(const Pixelization& pixelization, std::size_t n_columns, double bytes,
                         const std::string& source) {
    require_memory(bytes, fmt::format("{}: the full sky in {} columns",
                                      (source.empty() ? "map of " : source + ": ") + to_string(pixelization),
                                      n_columns));
    return make_grid(pixelization);
}

/// The part that a map of a partial sky has if it has memory for its own pixels alone.
std::shared_ptr<const SkyPart> patch_of(const MapFile& file) {
    require_memory(SkyMap::bytes_beside(file, Extent::own_pixels),
                   fmt::format("{}{}: {} pixels and the rings", prefix(file), to_string(file.pixelization),
                               file.pixels.size()));
    std::vector<PixelRange> ranges;
    ranges.reserve(file.pixels.size());
    for (const auto pixel : file.pixels) {
        const auto first = to_ring(file.pixelization, pixel);
        ranges.push_back({first, first + 1});
    }
    return std::make_shared<const SkyPatch>(make_grid(file.pixelization), std::move(ranges));
}

void check_column(const MapFile& file, const MapColumn& column) {
    const auto expected = file.partial() ? std::ssize(file.pixels) : full_sky_size(file.pixelization);
    const auto size = std::ssize(column.values);
    if (size != expected)
        throw InvalidArgument(
            fmt::format("{}column {}: {} pixels, must be {}", prefix(file), column.name, size, expected));
    auto bad = count_bad_pixels(View<const double, 1>(column.values.data(), {size}));
    if (file.may_be_infinite) bad.infinite = 0;
    if (bad.nan + bad.infinite == 0) return;
    const auto first = bad.nan > 0 ? bad.first_nan : bad.first_infinite;
    throw InvalidArgument(fmt::format("{}column {}: {} pixels are {}, the first is pixel {}", prefix(file),
                                      column.name, bad.nan > 0 ? bad.nan : bad.infinite,
                                      bad.nan > 0 ? "NaN" : "infinite",
                                      file.partial() ? file.pixels[static_cast<std::size_t>(first)] : first));
}

}  // namespace

int MapFile::find(Stokes stokes) const {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const MapColumn& column) { return column.stokes == stokes; });
    return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

double SkyMap::bytes_beside(const MapFile& content, Extent extent) {
    const bool is_patch = content.partial() && extent == Extent::own_pixels;
    const auto n_columns = static_cast<double>(content.columns.size());
    const auto in_file = static_cast<double>(content.pixels.size());
    const double in_memory = is_patch ? in_file : static_cast<double>(full_sky_size(content.pixelization));
    const bool is_filled = !content.columns.empty() && !content.columns.front().values.empty();
    // Each column goes when its row is there. A partial sky's are in order by a list of places.
    const double columns = !is_filled          ? n_columns * in_memory
                           : content.partial() ? n_columns * (in_memory - in_file) + 2 * in_file
                                               : in_memory;
    const double grids = is_patch ? 3 : 1;  // the whole one, and those of the patch
    return 8 * columns + grids * static_cast<double>(ring_count(content.pixelization)) * sizeof(Ring);
}

SkyMap::SkyMap(MapFile content, Extent extent)
    : header_(std::move(content)),
      part_(extent == Extent::own_pixels && header_.partial() ? patch_of(header_) : nullptr),
      grid_(part_ ? part_->grid()
                  : make_grid_that_fits(header_.pixelization, header_.columns.size(),
                                        bytes_beside(header_, extent), header_.source)) {
    make_groups();
    const auto has_values = [](const MapColumn& column) { return !column.values.empty(); };
    const bool filled = std::any_of(header_.columns.begin(), header_.columns.end(), has_values);
    for (const auto& column : header_.columns)
        if (filled) check_column(header_, column);
    allocate();
    if (filled) take_values();
}

SkyMap::SkyMap(MapFile content, std::shared_ptr<const SkyPart> part)
    : header_(std::move(content)), part_(std::move(part)), grid_(part_->grid()) {
    make_groups();
    allocate();
    for (std::size_t row = 0; row < column_of_row_.size(); ++row) {
        auto& values = header_.columns[column_of_row_[row]].values;
        if (values.empty()) continue;
        if (std::ssize(values) != grid_.n_pixels())
            throw InvalidArgument(fmt::format("{}column {}: {} pixels, must be {}", prefix(header_),
                                              header_.columns[column_of_row_[row]].name, values.size(),
                                              grid_.n_pixels()));
        std::copy(values.begin(), values.end(), rows()[static_cast<std::int64_t>(row)].data());
        std::vector<double>().swap(values);
    }
}

std::shared_ptr<const SkyPart> SkyMap::part() const {
    return part_or_whole(part_, grid_);
}

bool SkyMap::is_patch() const {
    return part_ && part_->patch() != nullptr;
}

std::int64_t SkyMap::place(std::int64_t ring_pixel) const {
    return is_patch() ? part_->patch()->place(ring_pixel) : ring_pixel;
}

std::vector<std::int64_t> SkyMap::own_pixels() const {
    const auto part = this->part();
    return numbers_in(part->pixels());
}

const Grid& SkyMap::whole_grid() const {
    return part_ ? part_->whole_grid() : grid_;
}

namespace {

/// The grid of a map on these pixels with the columns of another one.
Grid grid_like(const SkyMap& like, const Pixelization& pixelization) {
    const auto n_columns = like.header().columns.size();
    if (like.is_whole())
        return make_grid_that_fits(pixelization, n_columns, bytes_of_columns(pixelization, n_columns),
                                   "output");
    if (same_pixels(like.header().pixelization, pixelization)) return like.grid();
    throw InvalidArgument(
        "pixels", to_string(pixelization),
        fmt::format("a part of a sky keeps its pixels, {}", to_string(like.header().pixelization)));
}

}  // namespace

SkyMap::SkyMap(const SkyMap& like, const Pixelization& pixelization)
    : header_(like.header_),
      part_(like.part_),
      grid_(grid_like(like, pixelization)),
      groups_(like.groups_),
      column_of_row_(like.column_of_row_) {
    set_pixels(header_, pixelization);
    allocate();
}

SkyMap::SkyMap(const SkyMap& map, Fields fields, const std::vector<std::int64_t>& rows)
    : header_(map.header_), part_(map.part_), grid_(map.grid_), groups_{{fields, 0, std::ssize(rows)}} {
    for (const auto row : rows)
        column_of_row_.push_back(map.column_of_row_.at(static_cast<std::size_t>(row)));
    allocate();
    for (std::int64_t k = 0; k < std::ssize(rows); ++k)
        copy_pixels(map.rows()[rows[static_cast<std::size_t>(k)]], this->rows()[k]);
}

namespace {

template <class T>
void check_rows(const View<T, 2>& values, const View<const double, 2>& rows) {
    if (values.extents() != rows.extents())
        throw InvalidArgument(
            "values", fmt::format("are {} x {}: must be the map's {} rows of {} pixels", values.extent(0),
                                  values.extent(1), rows.extent(0), rows.extent(1)));
}

}  // namespace

template <class T>
void SkyMap::set_rows(ConstView<T, 2> values, int threads) {
    check_rows(values, std::as_const(*this).rows());
    core::for_pieces(values.extent(1), threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = 0; row < values.extent(0); ++row)
            for (std::int64_t pixel = first; pixel < last; ++pixel) {
                const double value = values(row, pixel);
                rows()(row, pixel) = is_unseen_value(value) ? unseen_value : value;
            }
    });
}

template <class T>
void SkyMap::copy_rows(View<T, 2> values, int threads) const {
    check_rows(values, rows());
    core::for_pieces(values.extent(1), threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = 0; row < values.extent(0); ++row)
            for (std::int64_t pixel = first; pixel < last; ++pixel)
                values(row, pixel) = static_cast<T>(rows()(row, pixel));
    });
}

template void SkyMap::set_rows<float>(ConstView<float, 2>, int);
template void SkyMap::set_rows<double>(ConstView<double, 2>, int);
template void SkyMap::copy_rows<float>(View<float, 2>, int) const;
template void SkyMap::copy_rows<double>(View<double, 2>, int) const;

void require_pairs(const MapFile& header) {
    const bool has_q = header.find(Stokes::Q) >= 0, has_u = header.find(Stokes::U) >= 0;
    if (has_q != has_u)
        throw InvalidArgument(fmt::format("{}{} without {}: choose both, or take it as a spin-0 field",
                                          prefix(header), has_q ? "Q" : "U", has_q ? "U" : "Q"));
}

void set_pixels(MapFile& header, const Pixelization& pixelization) {
    const auto from = std::exchange(header.pixelization, pixelization);
    if (!same_pixels(from, pixelization)) return header.pixels.clear();
    if (from == pixelization) return;
    core::RarePoll poll;
    for (auto& pixel : header.pixels) {
        poll();
        pixel = from_ring(pixelization, to_ring(from, pixel));
    }
    std::sort(header.pixels.begin(), header.pixels.end());
}

void SkyMap::make_groups() {
    require_pairs(header_);
    const int i = header_.find(Stokes::I), q = header_.find(Stokes::Q), u = header_.find(Stokes::U);
    const auto add = [this](int column) { column_of_row_.push_back(static_cast<std::size_t>(column)); };
    if (q >= 0) {
        if (i >= 0) add(i);
        add(q);
        add(u);
        groups_.push_back({i >= 0 ? Fields::iqu : Fields::qu, 0, i >= 0 ? 3 : 2});
    }
    const auto first = std::ssize(column_of_row_);
    for (int column = 0; column < std::ssize(header_.columns); ++column)
        if (q < 0 || (column != i && column != q && column != u)) add(column);
    const auto n_scalars = std::ssize(column_of_row_) - first;
    if (n_scalars > 0) groups_.push_back({Fields::scalars, first, n_scalars});
}

void SkyMap::allocate() {
    values_ = Array<double, 2>({std::ssize(column_of_row_), grid_.n_pixels()});
}

std::vector<std::int64_t> SkyMap::places() const {
    std::vector<std::int64_t> places;
    places.reserve(header_.pixels.size());
    for (const auto pixel : header_.pixels) places.push_back(place(to_ring(header_.pixelization, pixel)));
    return places;
}

void SkyMap::take_values() {
    const auto places = this->places();
    for (std::size_t row = 0; row < column_of_row_.size(); ++row) {
        auto& column = header_.columns[column_of_row_[row]].values;
        const auto target = rows()[static_cast<std::int64_t>(row)];
        if (!header_.partial()) {
            to_ring_order(header_.pixelization, {column.data(), {grid_.n_pixels()}}, target);
        } else {
            std::fill_n(target.data(), target.size(), unseen_value);
            for (std::size_t i = 0; i < places.size(); ++i) target[places[i]] = column[i];
        }
        std::vector<double>().swap(column);
    }
}

std::int64_t SkyMap::nside() const {
    const auto* pixels = std::get_if<HealpixPixels>(&header_.pixelization);
    return pixels != nullptr ? pixels->nside : 0;
}

std::int64_t SkyMap::intensity_row() const {
    const int column = header_.find(Stokes::I);
    if (column < 0) return column_of_row_.size() == 1 ? 0 : -1;
    return std::find(column_of_row_.begin(), column_of_row_.end(), static_cast<std::size_t>(column)) -
           column_of_row_.begin();
}

void SkyMap::expand() {
    if (!is_patch()) return;
    const auto patch = std::exchange(part_, nullptr);
    grid_ =
        make_grid_that_fits(header_.pixelization, column_of_row_.size(),
                            bytes_of_columns(header_.pixelization, column_of_row_.size()), header_.source);
    const PixelRange all{0, grid_.n_pixels()};
    values_ = on_pixels(std::as_const(values_).view(), patch->pixels(), {&all, 1}, unseen_value);
}

void SkyMap::make_full_sky() {
    expand();
    header_.pixels.clear();
}

void SkyMap::make_partial_sky() {
    if (part_ != nullptr && !is_patch())
        throw InvalidArgument("a sky in parts is always the full one: it cannot be a partial sky");
    const auto n = header_.partial() ? std::ssize(header_.pixels) : grid_.n_pixels();
    const auto number = [&](std::int64_t i) {
        return header_.partial() ? header_.pixels[static_cast<std::size_t>(i)] : i;
    };
    std::vector<bool> seen(static_cast<std::size_t>(n));
    core::RarePoll poll;
    for (std::int64_t i = 0; i < n; ++i) {
        poll();
        const auto at = place(to_ring(header_.pixelization, number(i)));
        for (std::int64_t row = 0; row < rows().extent(0); ++row)
            if (!is_unseen_value(rows()(row, at))) seen[static_cast<std::size_t>(i)] = true;
    }
    std::vector<std::int64_t> pixels;
    pixels.reserve(static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true)));
    for (std::int64_t i = 0; i < n; ++i)
        if (seen[static_cast<std::size_t>(i)]) pixels.push_back(number(i));
    if (pixels.empty())
        throw InvalidArgument(prefix(header_) + "every pixel is UNSEEN: nothing is left of a partial sky");
    header_.pixels = std::move(pixels);
}

MapFile SkyMap::to_file() const {
    MapFile file = header_;
    const auto places = this->places();
    for (std::size_t row = 0; row < column_of_row_.size(); ++row) {
        auto& column = file.columns[column_of_row_[row]].values;
        const auto source = rows()[static_cast<std::int64_t>(row)];
        column.reserve(file.partial() ? places.size() : static_cast<std::size_t>(grid_.n_pixels()));
        for (const auto place : places) column.push_back(source[place]);
        if (file.partial()) continue;
        column.resize(static_cast<std::size_t>(grid_.n_pixels()));
        from_ring_order(part_ ? HealpixPixels{} : file.pixelization, source,
                        {column.data(), {grid_.n_pixels()}});
    }
    return file;
}

void require_one_sky(const SkyMap& map) {
    if (map.groups().size() != 1 ||
        (map.groups()[0].fields == Fields::scalars && map.groups()[0].n_rows != 1))
        throw InvalidArgument(fmt::format("{} has {} columns: choose one of them, or I, Q and U",
                                          map.header().source, map.header().columns.size()));
}

SkyMap new_sky_map(const Pixelization& pixelization, bool polarized, const std::string& unit,
                   FilePrecision precision, CoordinateSystem coordinates,
                   std::shared_ptr<const SkyPart> part) {
    MapFile header;
    header.pixelization = pixelization;
    header.coordinates = coordinates;
    header.columns.push_back({"TEMPERATURE", unit, precision, Stokes::I});
    if (polarized) {
        header.polarization_convention = PolarizationConvention::cosmo;
        header.columns.push_back({"Q_POLARISATION", unit, precision, Stokes::Q});
        header.columns.push_back({"U_POLARISATION", unit, precision, Stokes::U});
    }
    return part ? SkyMap(std::move(header), std::move(part)) : SkyMap(std::move(header));
}

}  // namespace zonal
