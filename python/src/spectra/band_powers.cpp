#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/grid.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/spectra/decoupling.hpp"
#include "zonal/spectra/pseudo_spectra.hpp"

namespace zonal::python {
namespace {

/// As a NumPy array of rank N, which takes over the memory.
template <int N>
auto array_of(Array<double, N> values) {
    auto* const owned = new Array<double, N>(std::move(values));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Array<double, N>*>(p); });
    std::vector<std::size_t> shape;
    for (const auto extent : owned->extents()) shape.push_back(static_cast<std::size_t>(extent));
    return nb::ndarray<nb::numpy, double>(owned->data(), shape.size(), shape.data(), owner);
}

BandsOf bands_of(bool dl) {
    return dl ? BandsOf::d_l : BandsOf::c_l;
}

Bins bins_of_rows(const HostArrayOfRank<const double, 2>& weights, bool dl) {
    const auto rows = view_of<2>(weights);
    std::vector<Band> bands;
    for (std::int64_t b = 0; b < rows.extent(0); ++b) {
        Band band;
        std::int64_t end = rows.extent(1);
        while (end > 0 && rows(b, end - 1) == 0) --end;
        while (band.first < end && rows(b, band.first) == 0) ++band.first;
        for (std::int64_t l = band.first; l < end; ++l) band.weights.push_back(rows(b, l));
        bands.push_back(std::move(band));
    }
    return Bins(std::move(bands), bands_of(dl));
}

auto weights_of_bins(const Bins& bins) {
    Array<double, 2> rows({bins.size(), bins.lmax() + 1});
    for (std::int64_t b = 0; b < bins.size(); ++b) {
        const Band& band = bins.bands()[static_cast<std::size_t>(b)];
        for (std::int64_t l = band.first; l <= band.last(); ++l)
            rows(b, l) = band.weights[static_cast<std::size_t>(l - band.first)];
    }
    return array_of<2>(std::move(rows));
}

auto degrees_of_bins(const Bins& bins, bool last) {
    std::vector<std::int64_t> degrees;
    for (const Band& band : bins.bands()) degrees.push_back(last ? band.last() : band.first);
    return to_numpy(std::move(degrees));
}

/// kind: by its number in SpectraKind. Returns K^-1 B, F, the condition, whether low degrees have bands of
/// their own, and a note.
auto decoupled(const Bins& bins, int kind, const HostArrayOfRank<const double, 1>& mask_spectrum,
               std::int64_t lmax_sky, std::vector<double> transfer, std::optional<bool> low_degrees,
               int threads) {
    const DecouplingOptions options{lmax_sky, std::move(transfer), low_degrees, threads};
    auto found = without_gil(
        [&] { return decouple(bins, static_cast<SpectraKind>(kind), view_of<1>(mask_spectrum), options); });
    return std::tuple(array_of<4>(std::move(found.matrix)), array_of<4>(std::move(found.windows)),
                      found.condition, found.low_degrees, found.note);
}

/// mask: None if the maps are masked already.
void harmonics(const Grid& grid, const HostArrayOfRank<const double, 2>& maps,
               const std::optional<HostArrayOfRank<const double, 1>>& mask, std::int64_t lmax,
               const HostArrayOfRank<std::complex<double>, 2>& alm, int threads) {
    const auto seen = mask ? view_of<1>(*mask) : View<const double, 1>();
    without_gil([&] { masked_harmonics(grid, view_of<2>(maps), seen, lmax, view_of<2>(alm), threads); });
}

auto all_cross_spectra(std::int64_t lmax, const HostArrayOfRank<const std::complex<double>, 2>& alm,
                       int threads) {
    return array_of<3>(without_gil([&] { return cross_spectra(AlmLayout(lmax), view_of<2>(alm), threads); }));
}

double noise_spectrum(const Grid& grid, const HostArrayOfRank<const double, 1>& mask,
                      const HostArrayOfRank<const double, 1>& variance) {
    return without_gil([&] { return white_noise_spectrum(grid, view_of<1>(mask), view_of<1>(variance)); });
}

}  // namespace

void bind_band_powers(nb::module_& module) {
    nb::class_<Bins>(module, "Bins")
        .def_static("linear", [](std::int64_t width, std::int64_t lmin, std::int64_t lmax,
                                 bool dl) { return Bins::linear(width, lmin, lmax, bands_of(dl)); })
        .def_static("edges", [](const std::vector<std::int64_t>& edges,
                                bool dl) { return Bins::edges(edges, bands_of(dl)); })
        .def_static("logarithmic", [](std::int64_t n, std::int64_t lmin, std::int64_t lmax,
                                      bool dl) { return Bins::logarithmic(n, lmin, lmax, bands_of(dl)); })
        .def_static("of_weights", &bins_of_rows)
        .def("weighted", &Bins::weighted)
        .def_prop_ro("size", &Bins::size)
        .def_prop_ro("lmax", &Bins::lmax)
        .def_prop_ro("dl", [](const Bins& bins) { return bins.of() == BandsOf::d_l; })
        .def("weights", &weights_of_bins)
        .def("degrees", &degrees_of_bins)
        .def("effective_degrees", [](const Bins& bins) { return to_numpy(bins.effective_degrees()); })
        .def("binned", [](const Bins& bins, const HostArrayOfRank<const double, 1>& c_l) {
            return to_numpy(bins.binned(view_of<1>(c_l)));
        });
    module.def("decoupled", &decoupled);
    module.def("masked_harmonics", &harmonics, nb::arg(), nb::arg().noconvert(), nb::arg().none(), nb::arg(),
               nb::arg().noconvert(), nb::arg());
    module.def("cross_spectra", &all_cross_spectra);
    module.def("white_noise_spectrum", &noise_spectrum);
}

}  // namespace zonal::python
