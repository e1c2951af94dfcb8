#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/spectra/catalogue.hpp"

namespace zonal::python {
namespace {

using CatalogueLine = HostArrayOfRank<const double, 1>;

struct CatalogueArrays {
    CatalogueLine theta, phi;
    std::optional<CatalogueLine> weight;

    CataloguePoints points() const {
        CataloguePoints points{.theta = view_of<1>(theta), .phi = view_of<1>(phi)};
        if (weight) points.weight = view_of<1>(*weight);
        return points;
    }
};

/// Fills alm and mask; returns noise and mask_noise.
std::pair<double, double> catalogue_result(const CatalogueAlm& found,
                                           const HostArrayOfRank<std::complex<double>, 2>& alm,
                                           const HostArrayOfRank<std::complex<double>, 1>& mask) {
    std::copy(found.alm.begin(), found.alm.end(), alm.data());
    std::copy(found.mask.begin(), found.mask.end(), mask.data());
    return {found.noise, found.mask_noise};
}

auto field_of_catalogue(const CatalogueArrays& points, const HostArrayOfRank<const double, 2>& values,
                        const CatalogueOptions& options, const HostArrayOfRank<std::complex<double>, 2>& alm,
                        const HostArrayOfRank<std::complex<double>, 1>& mask) {
    return catalogue_result(
        without_gil([&] { return catalogue_field(points.points(), view_of<2>(values), options); }), alm,
        mask);
}

auto counts_of_catalogue(const CatalogueArrays& points, const CatalogueArrays& random,
                         const CatalogueOptions& options, const HostArrayOfRank<std::complex<double>, 2>& alm,
                         const HostArrayOfRank<std::complex<double>, 1>& mask) {
    return catalogue_result(
        without_gil([&] { return catalogue_counts(points.points(), random.points(), options); }), alm, mask);
}

}  // namespace

void bind_catalogues(nb::module_& module) {
    nb::class_<CatalogueOptions>(module, "CatalogueOptions")
        .def("__init__", [](CatalogueOptions* self, std::int64_t lmax, std::int64_t mask_lmax, double error,
                            int threads) {
            new (self)
                CatalogueOptions{.lmax = lmax, .mask_lmax = mask_lmax, .error = error, .threads = threads};
        });
    nb::class_<CatalogueArrays>(module, "CataloguePoints")
        .def(
            "__init__",
            [](CatalogueArrays* self, const CatalogueLine& theta, const CatalogueLine& phi,
               const std::optional<CatalogueLine>& weight) {
                new (self) CatalogueArrays{theta, phi, weight};
            },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert().none());
    module.def("catalogue_field", &field_of_catalogue, nb::arg(), nb::arg().noconvert(), nb::arg(),
               nb::arg().noconvert(), nb::arg().noconvert());
    module.def("catalogue_counts", &counts_of_catalogue, nb::arg(), nb::arg(), nb::arg(),
               nb::arg().noconvert(), nb::arg().noconvert());
}

}  // namespace zonal::python
