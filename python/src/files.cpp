#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <nanobind/typing.h>

#include <complex>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "files.hpp"
#include "sky_maps.hpp"
#include "sky_spectra.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/beam.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/io/weights.hpp"
#include "zonal/weights.hpp"

namespace zonal::python {
namespace {

FileContent read_map(const std::string& path, const std::string& hdu, const std::vector<std::string>& fields,
                     bool auxiliary, std::optional<bool> polarized, std::optional<bool> nest_if_absent,
                     bool nan_is_unseen, std::optional<std::int64_t> multi_order_nside) {
    auto options = reading_options(hdu, fields, auxiliary, polarized, nest_if_absent, nan_is_unseen);
    options.multi_order_nside = multi_order_nside;
    options.extent = Extent::own_pixels;
    return content_of(reading([&] { return io::read_sky_map(path, options); }));
}

void write_map(const std::string& path, const HostArrayOfRank<const double, 2>& values,
               const Pixelization& pixels, const MapMetadata& metadata, bool overwrite,
               const std::optional<HostArrayOfRank<const std::int64_t, 1>>& own) {
    reading([&] {
        const auto rows = view_of<2>(values);
        auto map =
            own ? sky_of<double>(rows, header_of(pixels, metadata.fields, rows.extent(0)), vector_of(*own))
                : sky_of<double>(rows, pixels, metadata.fields);
        describe(map, metadata);
        if (metadata.partial && !own) map.make_partial_sky();
        map.header().multi_order = metadata.multi_order;
        io::write_sky_map(path, map, {.overwrite = overwrite});
    });
}

FileContent read_alm(const std::string& path) {
    auto alm = reading([&] {
        auto file = io::read_alm(path);
        io::require_finite(path, file, "coefficients");
        return file;
    });
    FileContent file;
    nb::list components;
    for (auto& component : alm.components) components.append(to_numpy(std::move(component)));
    file["components"] = components;
    file["lmax"] = alm.layout.lmax();
    file["mmax"] = alm.layout.mmax();
    file["unit"] = alm.unit;
    file["coordinates"] = to_string(alm.coordinates);
    file["cards"] = nb::cast(cards_of(alm.cards));
    file["notes"] = nb::cast(alm.notes);
    return file;
}

void write_alm(const std::string& path, const HostArrayOfRank<const std::complex<double>, 2>& alm,
               std::int64_t lmax, std::int64_t mmax, bool single, const std::string& unit,
               const std::string& coordinates, const std::vector<Card>& cards, bool overwrite) {
    reading([&] {
        const auto rows = view_of<2>(alm);
        io::AlmFile file{.layout = AlmLayout(lmax, mmax),
                         .precision = single ? FilePrecision::float32 : FilePrecision::float64,
                         .unit = unit,
                         .coordinates = parse_coordinate_system(coordinates),
                         .cards = header_cards(cards)};
        for (std::int64_t row = 0; row < rows.extent(0); ++row)
            file.components.emplace_back(&rows(row, 0), &rows(row, 0) + rows.extent(1));
        io::require_finite(path, file, "coefficients");
        io::write_alm(path, file, {.overwrite = overwrite});
    });
}

/// The spectra, their unit, and notes. healpy: the order of the columns C-T and C-G; None: as the file says.
std::tuple<Spectra, std::string, std::vector<std::string>> read_spectrum(const std::string& path,
                                                                         const std::string& hdu, bool dl,
                                                                         std::optional<bool> healpy) {
    using io::ClOrder;
    const auto order = !healpy ? ClOrder::automatic : *healpy ? ClOrder::healpy : ClOrder::f90;
    const auto file =
        reading([&] { return io::read_spectrum(path, {.order = order, .dl = dl, .hdu = hdu}); });
    return {to_dict(file.spectra), file.spectra.empty() ? "" : file.spectra[0].unit, file.notes};
}

void write_spectrum(const std::string& path,
                    const std::vector<std::tuple<std::string, std::vector<double>>>& spectra,
                    const std::string& unit, bool single, const std::vector<Card>& cards, bool overwrite) {
    reading([&] {
        io::SpectrumFile file{.precision = single ? FilePrecision::float32 : FilePrecision::float64,
                              .cards = header_cards(cards)};
        for (const auto& [name, values] : spectra) file.spectra.push_back({name, unit, values});
        io::write_spectrum(path, file, {.overwrite = overwrite});
    });
}

std::tuple<Beam, std::vector<std::string>> read_beam(const std::string& path, bool is_pixel_window) {
    auto file = reading([&] { return is_pixel_window ? io::read_pixel_window(path) : io::read_beam(path); });
    return {static_cast<const Beam&>(file), file.notes};
}

/// Weights of the rings or pixels of a HEALPix grid, from the cache or computed and kept there, and notes.
auto find_weights(const std::string& choice, std::int64_t nside, int threads, nb::handle progress) {
    auto [kind, values, notes] = without_gil(progress, [&](const Progress& report) {
        auto found = io::find_weights(choice, nside,
                                      {.threads = threads, .device = Device::cpu(), .progress = report});
        const bool is_ring = found.values.kind == healpix::QuadratureWeights::Kind::ring;
        auto expanded = is_ring ? healpix::expand_ring_weights(nside, found.values.deviations)
                                : healpix::expand_pixel_weights(nside, found.values.deviations);
        return std::tuple(std::string(is_ring ? "ring" : "pixel"), std::move(expanded),
                          std::move(found.notes));
    });
    return std::tuple(std::move(kind), to_numpy(std::move(values)), std::move(notes));
}

}  // namespace

std::vector<Card> cards_of(const std::vector<HeaderCard>& cards) {
    std::vector<Card> tuples;
    for (const auto& card : cards) tuples.emplace_back(card.key, card.value, card.comment);
    return tuples;
}

std::vector<HeaderCard> header_cards(const std::vector<Card>& tuples) {
    std::vector<HeaderCard> cards;
    for (const auto& [key, value, comment] : tuples) cards.push_back({key, value, comment});
    return cards;
}

io::ReadMapOptions reading_options(const std::string& hdu, const std::vector<std::string>& fields,
                                   bool auxiliary, std::optional<bool> polarized,
                                   std::optional<bool> nest_if_absent, bool nan_is_unseen) {
    io::ReadMapOptions options{.hdu = hdu,
                               .fields = fields,
                               .auxiliary = auxiliary,
                               .polarized = polarized,
                               .infinite_is_kept = true,
                               .nan_is_unseen = nan_is_unseen};
    if (nest_if_absent)
        options.ordering_if_absent = *nest_if_absent ? healpix::Order::nest : healpix::Order::ring;
    return options;
}

FileContent content_of(SkyMap map) {
    FileContent file;
    nb::list names, units;
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) {
        names.append(map.row_name(row));
        units.append(map.column(row).unit);
    }
    const auto* pixels = std::get_if<HealpixPixels>(&map.header().pixelization);
    file["names"] = names;
    file["units"] = units;
    file["nside"] = map.nside();
    file["nest"] = pixels != nullptr && pixels->ordering == healpix::Order::nest;
    const auto* rings = std::get_if<CarPixels>(&map.header().pixelization);
    file["rings"] = rings == nullptr
                        ? nb::object(nb::none())
                        : nb::make_tuple(rings->n_rings, rings->n_phi, rings->phi_0, rings->poles);
    file["pixels"] = nb::none();
    if (map.is_patch()) file["pixels"] = to_numpy(map.own_pixels());
    file["polarized"] = map.polarized();
    file["single"] = map.column(0).precision == FilePrecision::float32;
    file["coordinates"] = to_string(map.header().coordinates);
    file["cards"] = nb::cast(cards_of(map.header().cards));
    file["notes"] = nb::cast(map.header().notes);
    file["values"] = to_numpy(std::move(map).take_rows());
    return file;
}

void describe(SkyMap& map, const MapMetadata& metadata) {
    auto& header = map.header();
    if (map.nside() > 0 && metadata.nest)
        set_pixels(header, HealpixPixels{map.nside(), healpix::Order::nest});
    header.coordinates = parse_coordinate_system(metadata.coordinates);
    header.polarization_convention =
        map.polarized() ? PolarizationConvention::cosmo : PolarizationConvention::absent;
    header.cards = header_cards(metadata.cards);
    for (std::size_t i = 0; i < header.columns.size(); ++i) {
        auto& column = header.columns[i];
        column.precision = metadata.single ? FilePrecision::float32 : FilePrecision::float64;
        if (i < metadata.names.size()) column.name = metadata.names[i];
        if (i < metadata.units.size()) column.unit = metadata.units[i];
    }
}

void bind_files(nb::module_& module) {
    nb::class_<MapMetadata>(module, "MapMetadata")
        .def(nb::init<>())
        .def_rw("fields", &MapMetadata::fields)
        .def_rw("names", &MapMetadata::names)
        .def_rw("units", &MapMetadata::units)
        .def_rw("coordinates", &MapMetadata::coordinates)
        .def_rw("cards", &MapMetadata::cards)
        .def_rw("nest", &MapMetadata::nest)
        .def_rw("single", &MapMetadata::single)
        .def_rw("partial", &MapMetadata::partial)
        .def_rw("multi_order", &MapMetadata::multi_order);
    module.def("read_map", &read_map, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
               nb::arg().none(), nb::arg(), nb::arg().none());
    module.def("write_map", &write_map, nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg().none());
    module.def("read_alm", &read_alm);
    module.def("write_alm", &write_alm, nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg(), nb::arg(), nb::arg(), nb::arg());
    module.def("read_spectrum", &read_spectrum, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
    module.def("write_spectrum", &write_spectrum);
    module.def("read_beam", &read_beam);
    module.def("find_weights", &find_weights, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace zonal::python
