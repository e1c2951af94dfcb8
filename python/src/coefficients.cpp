#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <optional>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/alm.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/integral.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/wavelets.hpp"

namespace zonal::python {
namespace {

template <class T>
using ConstAlm = HostArrayOfRank<const std::complex<T>, 1>;
template <class T>
using Alm = HostArrayOfRank<std::complex<T>, 1>;

template <class T>
void multiply(std::int64_t lmax, std::int64_t mmax, const HostArrayOfRank<const double, 1>& window,
              const Alm<T>& alm) {
    const auto factors = vector_of(window);
    without_gil([&] { multiply_alm<T>(AlmLayout(lmax, mmax), factors, view_of<1>(alm)); });
}

template <class T>
void resize(std::int64_t lmax, std::int64_t mmax, const ConstAlm<T>& alm, std::int64_t lmax_out,
            std::int64_t mmax_out, const Alm<T>& out) {
    without_gil([&] {
        copy_alm<T>(AlmLayout(lmax, mmax), view_of<1>(alm), AlmLayout(lmax_out, mmax_out), view_of<1>(out));
    });
}

using Windows = std::vector<std::vector<double>>;

void take_apart(std::int64_t lmax, std::int64_t mmax, const Windows& windows, const ConstAlm<double>& alm,
                const HostArrayOfRank<std::complex<double>, 2>& scales) {
    without_gil(
        [&] { wavelet_transform(AlmLayout(lmax, mmax), windows, view_of<1>(alm), view_of<2>(scales)); });
}

void put_together(std::int64_t lmax, std::int64_t mmax, const Windows& windows,
                  const HostArrayOfRank<const std::complex<double>, 2>& scales, const Alm<double>& alm) {
    without_gil([&] {
        inverse_wavelet_transform(AlmLayout(lmax, mmax), windows, view_of<2>(scales), view_of<1>(alm));
    });
}

/// Monopole and dipole that fit a map where the mask is not 0.
auto fit(const Grid& grid, const HostArrayOfRank<const double, 1>& map,
         const std::optional<HostArrayOfRank<const double, 1>>& mask, bool with_dipole) {
    const auto fitted = without_gil([&] {
        return fit_monopole_dipole<double>(grid, view_of<1>(map),
                                           mask ? view_of<1>(*mask) : View<const double, 1>{},
                                           with_dipole ? FitTerms::monopole_and_dipole : FitTerms::monopole);
    });
    return std::tuple(fitted.monopole, fitted.dipole);
}

void subtract(const Grid& grid, double monopole, const std::array<double, 3>& dipole,
              const HostArrayOfRank<double, 1>& map) {
    without_gil([&] {
        subtract_monopole_dipole<double>(grid, {.monopole = monopole, .dipole = dipole}, view_of<1>(map));
    });
}

double integrate(const Grid& grid, const HostArrayOfRank<const double, 1>& map,
                 const std::optional<HostArrayOfRank<const std::int64_t, 1>>& pixels) {
    return without_gil([&] {
        return pixels ? integral(view_of<1>(map), grid, view_of<1>(*pixels))
                      : integral(view_of<1>(map), grid);
    });
}

void levels(const Grid& grid, const HostArrayOfRank<const double, 1>& map,
            const HostArrayOfRank<double, 1>& out) {
    without_gil([&] { credible_levels(view_of<1>(map), grid, view_of<1>(out)); });
}

template <class T>
void define(nb::module_& module) {
    module.def("multiply_alm", &multiply<T>, nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert());
    module.def("copy_alm", &resize<T>, nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(),
               nb::arg().noconvert());
}

}  // namespace

void bind_coefficients(nb::module_& module) {
    define<double>(module);
    define<float>(module);
    module.def("wavelet_transform", &take_apart, nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert(),
               nb::arg().noconvert());
    module.def("inverse_wavelet_transform", &put_together, nb::arg(), nb::arg(), nb::arg(),
               nb::arg().noconvert(), nb::arg().noconvert());
    module.def("fit_monopole_dipole", &fit, nb::arg(), nb::arg().noconvert(), nb::arg().noconvert().none(),
               nb::arg());
    module.def("integral", &integrate, nb::arg(), nb::arg().noconvert(), nb::arg().noconvert().none());
    module.def("credible_levels", &levels, nb::arg(), nb::arg().noconvert(), nb::arg().noconvert());
    module.def("subtract_monopole_dipole", &subtract, nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert());
}

}  // namespace zonal::python
