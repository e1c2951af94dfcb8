#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <nanobind/typing.h>

#include <complex>
#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "sky_maps.hpp"
#include "sky_spectra.hpp"
#include "zonal/beams/smoothing.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/sky/rotation.hpp"
#include "zonal/sky/udgrade.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/window.hpp"

namespace zonal::python {
namespace {

using Weights = std::optional<HostArrayOfRank<const double, 1>>;

/// [row, coefficient]
template <class T>
using AlmArray = HostArrayOfRank<std::complex<T>, 2>;
template <class T>
using ConstAlmArray = HostArrayOfRank<const std::complex<T>, 2>;

template <class T>
void realize_alm(const SkySpectra& spectra, std::uint64_t seed, std::int64_t lmax, std::int64_t mmax,
                 const AlmArray<T>& alm, int threads) {
    without_gil(nb::none(), [&](const Progress&) {
        realize<T>(spectra, seed, AlmLayout(lmax, mmax), view_of<2>(alm), threads);
    });
}

/// alm and rotated may be the same array.
template <class T>
void rotate_rows(std::int64_t lmax, std::int64_t mmax, const ConstAlmArray<T>& alm, const EulerAngles& angles,
                 std::int64_t mmax_out, const AlmArray<T>& rotated, int threads, nb::handle progress) {
    without_gil(progress, [&](const Progress& report) {
        rotate_alm<T>(AlmLayout(lmax, mmax), view_of<2>(alm), angles, AlmLayout(lmax, mmax_out),
                      view_of<2>(rotated), {.threads = threads, .progress = report});
    });
}

template <class T>
void apply_beam_to(std::int64_t lmax, std::int64_t mmax, const Beam& beam, const AlmArray<T>& alm) {
    without_gil(nb::none(),
                [&](const Progress&) { apply_beam<T>(AlmLayout(lmax, mmax), beam, view_of<2>(alm)); });
}

template <class T>
Spectra spectra_of(std::int64_t lmax, std::int64_t mmax, const ConstAlmArray<T>& first,
                   const std::optional<ConstAlmArray<T>>& second) {
    const AlmLayout layout(lmax, mmax);
    return to_dict(without_gil(nb::none(), [&](const Progress&) {
        return second ? spectra<T>(layout, view_of<2>(first), view_of<2>(*second))
                      : spectra<T>(layout, view_of<2>(first));
    }));
}

/// The maps of anafast: their rows, what these are, and on which pixels.
struct Maps {
    HostArrayOfRank<const double, 2> rows;
    Pixelization pixels;
    std::string fields;

    SkyMap sky(int threads) const { return sky_of<double>(view_of<2>(rows), pixels, fields, threads); }
};

using Notes = std::vector<std::string>;

/// The report's note, if it has one.
Notes notes_of(const MapAnalysisReport& report) {
    return report.analysis.note.empty() ? Notes{} : Notes{report.analysis.note};
}

std::tuple<Array<std::complex<double>, 2>, Notes> analyze_rows(const Maps& maps, MapAnalysisOptions options,
                                                               nb::handle progress) {
    return without_gil(progress, [&](const Progress& report) {
        options.progress = report;
        auto analyzed = analyze(maps.sky(options.threads), options);
        return std::tuple(std::move(analyzed.alm.alm), notes_of(analyzed.report));
    });
}

/// alm of all rows, [row, n_alm], those of T, E and B where there are Q and U, and what the analysis has to
/// say.
auto analyze_maps(const Maps& maps, MapAnalysisOptions options, const Weights& mask,
                  const Weights& pixel_weights, nb::handle progress) {
    if (mask) options.mask = view_of<1>(*mask);
    if (pixel_weights) options.pixel_weights = view_of<1>(*pixel_weights);
    auto [alm, notes] = analyze_rows(maps, options, progress);
    return std::tuple(to_numpy(std::move(alm)), notes);
}

Notes smooth_maps_with_beam(const Maps& maps, MapAnalysisOptions options,
                            const HostArrayOfRank<const std::complex<double>, 2>& beam, double psi,
                            std::int64_t kmax, bool fill_masked, const Weights& mask,
                            const HostArrayOfRank<double, 2>& out, nb::handle progress) {
    if (mask) options.mask = view_of<1>(*mask);
    const auto coefficients = view_of<2>(beam);
    return without_gil(progress, [&](const Progress& report) {
        options.progress = report;
        const AlmLayout layout = beam_layout(options.lmax, coefficients.extent(1));
        const auto smoothed = smooth_with_beam(maps.sky(options.threads), {layout, coefficients, psi, kmax},
                                               {options, fill_masked});
        smoothed.map.copy_rows<double>(view_of<2>(out), options.threads);
        return notes_of(smoothed.analysis);
    });
}

void udgrade_map(const HostArrayOfRank<const double, 1>& map, const HostArrayOfRank<double, 1>& out, bool sum,
                 bool pessimistic) {
    without_gil(nb::none(), [&](const Progress&) {
        udgrade(view_of<1>(map), view_of<1>(out),
                {.combine = sum ? Combine::sum : Combine::mean, .pessimistic = pessimistic});
    });
}

template <class T>
void reorder_map(const HostArrayOfRank<const T, 1>& map, const HostArrayOfRank<T, 1>& out, bool to_nest) {
    without_gil(nb::none(), [&](const Progress&) {
        if (to_nest)
            healpix::ring_to_nest<T>(view_of<1>(map), view_of<1>(out));
        else
            healpix::nest_to_ring<T>(view_of<1>(map), view_of<1>(out));
    });
}

template <class T>
void define_alm(nb::module_& module) {
    module.def("realize", &realize_alm<T>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert(),
               nb::arg());
    module.def("rotate_alm", &rotate_rows<T>, nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg(),
               nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg().none());
    module.def("spectra", &spectra_of<T>, nb::arg(), nb::arg(), nb::arg().noconvert(),
               nb::arg().noconvert().none());
    module.def("apply_beam", &apply_beam_to<T>, nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert());
    module.def("reorder", &reorder_map<T>, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg());
}

void bind_analysis(nb::module_& module) {
    nb::enum_<FitTerms>(module, "FitTerms")
        .value("monopole", FitTerms::monopole)
        .value("dipole", FitTerms::monopole_and_dipole);
    nb::class_<MapAnalysisOptions>(module, "MapAnalysisOptions")
        .def("__init__",
             [](MapAnalysisOptions* self) {
                 new (self) MapAnalysisOptions;
                 self->device = Device::cpu();
             })
        .def_prop_rw(
            "device", [](const MapAnalysisOptions& options) { return to_string(options.device); },
            [](MapAnalysisOptions& options, const std::string& name) { options.device = parse_device(name); })
        .def_rw("lmax", &MapAnalysisOptions::lmax)
        .def_rw("mmax", &MapAnalysisOptions::mmax)
        .def_rw("iterations", &MapAnalysisOptions::iterations)
        .def_rw("tolerance", &MapAnalysisOptions::tolerance)
        .def_rw("ring_weights", &MapAnalysisOptions::ring_weights)
        .def_rw("mask_mode", &MapAnalysisOptions::mask_mode)
        .def_rw("remove", &MapAnalysisOptions::remove, nb::arg().none())
        .def_rw("threads", &MapAnalysisOptions::threads);
    nb::class_<Maps>(module, "Maps")
        .def(
            "__init__",
            [](Maps* self, const HostArrayOfRank<const double, 2>& rows, const Pixelization& pixels,
               const std::string& fields) {
                new (self) Maps{rows, pixels, fields};
            },
            nb::arg().noconvert(), nb::arg(), nb::arg());
    module.def("default_smoothing_lmax", &default_smoothing_lmax);
    module.def("may_be_variance_of", &may_be_variance_of);
    module.def("analyze_maps", &analyze_maps, nb::arg(), nb::arg(), nb::arg().noconvert().none(),
               nb::arg().noconvert().none(), nb::arg().none());
    module.def("smooth_maps_with_beam", &smooth_maps_with_beam, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg(), nb::arg(), nb::arg().noconvert().none(), nb::arg().noconvert(), nb::arg().none());
    module.def("udgrade", &udgrade_map, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg());
}

void bind_rotation(nb::module_& module) {
    nb::enum_<CoordinateSystem>(module, "CoordinateSystem")
        .value("unknown", CoordinateSystem::unknown)
        .value("galactic", CoordinateSystem::galactic)
        .value("ecliptic", CoordinateSystem::ecliptic)
        .value("equatorial", CoordinateSystem::equatorial);
    module.def("parse_coordinate_system", &parse_coordinate_system);
    module.def("coordinate_rotation", &coordinate_rotation);
    nb::class_<EulerAngles>(module, "EulerAngles")
        .def(nb::init<double, double, double>())
        .def_ro("psi", &EulerAngles::psi)
        .def_ro("theta", &EulerAngles::theta)
        .def_ro("phi", &EulerAngles::phi);
    module.def("rotation_matrix", &rotation_matrix);
    module.def("euler_angles", &euler_angles);
}

}  // namespace

void bind_skies(nb::module_& module) {
    using List = std::vector<double>;
    nb::class_<SkySpectra>(module, "SkySpectra").def(nb::init<List, List, List, List, List, List>());
    bind_rotation(module);
    define_alm<double>(module);
    define_alm<float>(module);
    bind_analysis(module);
}

}  // namespace zonal::python
