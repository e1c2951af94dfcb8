#include "engine/sky_map.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/memory.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"

namespace zonal::cli {
namespace {

bool is_nest(const io::Pixelisation& pixelisation) {
    const auto* healpix = std::get_if<io::HealpixPixels>(&pixelisation);
    return healpix != nullptr && healpix->ordering == io::Ordering::nest;
}

io::MapFile read(const std::string& path, const MapInput& input) {
    io::ReadMapOptions options;
    options.hdu = input.hdu;
    options.fields = input.fields;
    options.polarised = input.polarised;
    options.ordering_if_absent = input.ordering_if_absent;
    return io::read_map(path, options);
}

/// The grid for so many columns of the full sky. Throws IoError when they do not fit in memory: without this,
/// a partial sky of few pixels or a wrong --nside would end in the system's killing of the program.
Grid make_grid(const io::Pixelisation& pixelisation, std::size_t n_columns, const std::string& source) {
    const auto n_pixels = static_cast<double>(io::full_sky_size(pixelisation));
    const double needed = n_pixels * static_cast<double>(n_columns * sizeof(double));
    require_memory(needed,
                   fmt::format("{}{}: the full sky in {} columns", source.empty() ? "" : source + ": ",
                               to_string(pixelisation), n_columns));
    return io::make_grid(pixelisation);
}

/// Throws unless all pixels are numbers; the first bad one is named by its number in the file.
void require_numbers(const io::MapFile& file) {
    for (const auto& column : file.columns) {
        const auto size = static_cast<std::int64_t>(column.values.size());
        const auto bad = count_bad_pixels(View<const double, 1>(column.values.data(), {size}));
        if (bad.nan + bad.infinite == 0) continue;
        const auto first = bad.nan > 0 ? bad.first_nan : bad.first_infinite;
        const auto pixel = file.partial() ? file.pixels[static_cast<std::size_t>(first)] : first;
        throw IoError(fmt::format("{}: column {}: {} pixels are {}, the first is pixel {}", file.source,
                                  column.name, bad.nan > 0 ? bad.nan : bad.infinite,
                                  bad.nan > 0 ? "NaN" : "infinite", pixel));
    }
}

Json column_report(const io::MapColumn& column) {
    Json report = {{"name", column.name}};
    if (!column.unit.empty()) report["unit"] = column.unit;
    report["precision"] = column.precision == io::Precision::float32 ? "float" : "double";
    return report;
}

}  // namespace

void add_map_input(CLI::App& app, MapInput& input) {
    add_list(app, "--field", input.fields, "NAME|N,...",
             "columns, by name, as I, Q, U or by number from 0; hits and covariances are taken only when "
             "named here")
        ->default_str("all")
        ->group("Input");
    app.add_flag_callback(
           "--pol", [&input] { input.polarised = true; },
           "the first three columns are I, Q, U (of two: Q, U), whatever their names")
        ->group("Input");
    app.add_flag_callback(
           "--no-pol", [&input] { input.polarised = false; }, "every column is a spin-0 field")
        ->excludes("--pol")
        ->group("Input");
    add_text(app, "--hdu", input.hdu, "NAME|N", "extension to read; 0 is the primary HDU")
        ->default_str("the first that holds a map")
        ->group("Input");
    add_choice<io::Ordering>(app, "--order-if-absent", input.ordering_if_absent,
                             {{"ring", io::Ordering::ring}, {"nest", io::Ordering::nest}},
                             "pixel order of files without an ORDERING key")
        ->default_str("ring")
        ->group("Input");
}

SkyMap::SkyMap(const std::string& path, const MapInput& input, Session& session)
    : file_(read(path, input)),
      grid_(make_grid(file_.pixelisation, file_.columns.size() + (file_.partial() ? 1 : 0), file_.source)) {
    session.note(file_.notes);
    require_numbers(file_);
    make_groups();
    read_values();
}

SkyMap::SkyMap(const SkyMap& like, const io::Pixelisation& pixelisation)
    : file_(like.file_),
      grid_(make_grid(pixelisation, file_.columns.size(), "output")),
      groups_(like.groups_),
      column_of_row_(like.column_of_row_),
      values_({static_cast<std::int64_t>(column_of_row_.size()), grid_.n_pixels()}) {
    if (pixelisation != file_.pixelisation) file_.pixels.clear();
    file_.pixelisation = pixelisation;
}

SkyMap::SkyMap(io::MapFile header)
    : file_(std::move(header)), grid_(make_grid(file_.pixelisation, file_.columns.size(), "output")) {
    make_groups();
    values_ = Array<double, 2>({static_cast<std::int64_t>(column_of_row_.size()), grid_.n_pixels()});
}

SkyMap::SkyMap(const SkyMap& map, Fields fields, const std::vector<std::int64_t>& rows)
    : file_(map.file_),
      grid_(map.grid_),
      groups_{{fields, 0, std::ssize(rows)}},
      values_({std::ssize(rows), map.grid_.n_pixels()}) {
    for (std::int64_t k = 0; k < std::ssize(rows); ++k) {
        const auto row = rows[static_cast<std::size_t>(k)];
        column_of_row_.push_back(map.column_of_row_[static_cast<std::size_t>(row)]);
        std::copy_n(map.rows()[row].data(), grid_.n_pixels(), this->rows()[k].data());
    }
}

void SkyMap::make_groups() {
    const int i = file_.find(io::Stokes::I), q = file_.find(io::Stokes::Q), u = file_.find(io::Stokes::U);
    if ((q >= 0) != (u >= 0))
        throw UsageError(
            fmt::format("{}: {} without {}: --field chooses both, --no-pol takes it as a spin-0 field",
                        file_.source, q >= 0 ? "Q" : "U", q >= 0 ? "U" : "Q"));
    const auto add = [this](int column) { column_of_row_.push_back(static_cast<std::size_t>(column)); };
    if (q >= 0) {
        if (i >= 0) add(i);
        add(q);
        add(u);
        groups_.push_back({i >= 0 ? Fields::iqu : Fields::qu, 0, i >= 0 ? 3 : 2});
    }
    const auto first = static_cast<std::int64_t>(column_of_row_.size());
    for (int column = 0; column < static_cast<int>(file_.columns.size()); ++column)
        if (q < 0 || (column != i && column != q && column != u)) add(column);
    const auto n_scalars = static_cast<std::int64_t>(column_of_row_.size()) - first;
    if (n_scalars > 0) groups_.push_back({Fields::scalars, first, n_scalars});
}

void SkyMap::read_values() {
    values_ = Array<double, 2>({static_cast<std::int64_t>(column_of_row_.size()), grid_.n_pixels()});
    std::vector<double> full;  // one column at a time: a partial sky may be a small part of a large one
    for (std::size_t row = 0; row < column_of_row_.size(); ++row) {
        auto& column = file_.columns[column_of_row_[row]].values;
        if (file_.partial()) full.assign(static_cast<std::size_t>(grid_.n_pixels()), unseen_value);
        for (std::size_t i = 0; i < file_.pixels.size(); ++i)
            full[static_cast<std::size_t>(file_.pixels[i])] = column[i];
        to_ring_order(file_.pixelisation, {file_.partial() ? full.data() : column.data(), {grid_.n_pixels()}},
                      rows()[static_cast<std::int64_t>(row)]);
        std::vector<double>().swap(column);
    }
}

std::int64_t SkyMap::nside() const {
    const auto* healpix = std::get_if<io::HealpixPixels>(&file_.pixelisation);
    return healpix != nullptr ? healpix->nside : 0;
}

View<double, 2> SkyMap::rows(const FieldGroup& group) {
    return {values_.data() + group.first_row * grid_.n_pixels(), {group.n_rows, grid_.n_pixels()}};
}

View<const double, 2> SkyMap::rows(const FieldGroup& group) const {
    return {values_.data() + group.first_row * grid_.n_pixels(), {group.n_rows, grid_.n_pixels()}};
}

const std::string& SkyMap::row_name(std::int64_t row) const {
    return file_.columns[column_of_row_[static_cast<std::size_t>(row)]].name;
}

std::int64_t SkyMap::intensity_row() const {
    const int column = file_.find(io::Stokes::I);
    if (column < 0) return column_of_row_.size() == 1 ? 0 : -1;
    return std::find(column_of_row_.begin(), column_of_row_.end(), static_cast<std::size_t>(column)) -
           column_of_row_.begin();
}

void SkyMap::write(const std::string& path, const io::WriteOptions& options) {
    for (std::int64_t row = 0; row < rows().extent(0); ++row) {
        const auto bad = count_bad_pixels(View<const double, 1>(rows()[row]));
        if (bad.nan + bad.infinite > 0)
            throw IoError(fmt::format("{}: column {}: {} pixels of the result are NaN or infinite", path,
                                      row_name(row), bad.nan + bad.infinite));
    }
    std::vector<double> full(static_cast<std::size_t>(file_.partial() ? grid_.n_pixels() : 0));
    for (std::size_t row = 0; row < column_of_row_.size(); ++row) {
        auto& column = file_.columns[column_of_row_[row]].values;
        const auto ring_order = rows()[static_cast<std::int64_t>(row)];
        auto& target = file_.partial() ? full : column;
        target.resize(static_cast<std::size_t>(grid_.n_pixels()));
        from_ring_order(file_.pixelisation, ring_order, {target.data(), {grid_.n_pixels()}});
        if (!file_.partial()) continue;
        column.clear();
        for (const auto pixel : file_.pixels) column.push_back(full[static_cast<std::size_t>(pixel)]);
    }
    io::write_map(path, file_, options);
}

std::string to_string(const io::Pixelisation& pixelisation) {
    if (const auto* healpix = std::get_if<io::HealpixPixels>(&pixelisation))
        return fmt::format("nside {}, {}", healpix->nside,
                           healpix->ordering == io::Ordering::nest ? "nest" : "ring");
    const auto& car = std::get<io::CarPixels>(pixelisation);
    return fmt::format("CAR, {} rings of {} pixels", car.n_rings, car.n_phi);
}

Json describe(const io::MapFile& map) {
    Json report = {{"pixels", to_string(map.pixelisation)}, {"coordinates", io::to_string(map.coordinates)}};
    if (map.partial()) report["partial_sky_pixels"] = map.pixels.size();
    report["columns"] = Json::array();
    for (const auto& column : map.columns) report["columns"].push_back(column_report(column));
    return report;
}

void zero_unseen(View<double, 1> values) {
    for (std::int64_t pixel = 0; pixel < values.size(); ++pixel)
        if (is_unseen_value(values[pixel])) values[pixel] = 0;
}

void to_ring_order(const io::Pixelisation& pixelisation, View<const double, 1> file_order,
                   View<double, 1> ring_order) {
    if (is_nest(pixelisation)) return healpix::nest_to_ring<double>(file_order, ring_order);
    std::copy(file_order.data(), file_order.data() + file_order.size(), ring_order.data());
}

void from_ring_order(const io::Pixelisation& pixelisation, View<const double, 1> ring_order,
                     View<double, 1> file_order) {
    if (is_nest(pixelisation)) return healpix::ring_to_nest<double>(ring_order, file_order);
    std::copy(ring_order.data(), ring_order.data() + ring_order.size(), file_order.data());
}

}  // namespace zonal::cli
