#include <complex>
#include <cstdint>
#include <string>
#include <utility>

#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"
#include "transform.hpp"
#include "zonal/points/lensing.hpp"

namespace zonal::python {
namespace {

using Angles = HostArrayOfRank<const double, 1>;
using AnyAngles = nb::ndarray<const double, nb::ndim<1>>;
using Potentials = HostArrayOfRank<const std::complex<double>, 2>;

DeflectionPotentials potentials_of(const Potentials& alm, std::int64_t lmax) {
    return {AlmLayout(lmax), view_of<2>(alm)};
}

LensingOptions lensing_options(std::int64_t lmax, std::int64_t mmax, int components, double error,
                               int threads, const std::string& device) {
    return {.lmax = lmax,
            .mmax = mmax,
            .components = components,
            .error = error,
            .threads = threads,
            .device = parse_device(device)};
}

bool has_components(const Lensing& lensing) {
    return lensing.options().components > 1;
}

template <class T>
LensingReport lens(const Lensing& lensing, const AnyArray<const Complex<T>>& alm, const AnyArray<T>& values,
                   bool with_report) {
    const auto from = batch_of(alm, has_components(lensing));
    const auto to = batch_of(values, has_components(lensing));
    LensingReport report;
    without_gil([&] { lensing.lens<T>(from, to, with_report ? &report : nullptr); });
    return report;
}

template <class T>
void adjoint(const Lensing& lensing, const AnyArray<const T>& values, const AnyArray<Complex<T>>& alm) {
    const auto from = batch_of(values, has_components(lensing));
    const auto to = batch_of(alm, has_components(lensing));
    without_gil([&] { lensing.adjoint<T>(from, to); });
}

template <class T>
void differentiate(const Lensing& lensing, const AnyArray<const Complex<T>>& alm,
                   const AnyArray<const T>& values,
                   const HostArrayOfRank<std::complex<double>, 2>& gradient) {
    const auto sky = batch_of(alm, has_components(lensing));
    const auto factors = batch_of(values, has_components(lensing));
    const auto to = view_of<2>(gradient);
    without_gil([&] { lensing.differentiate<T>(sky, factors, to); });
}

template <class T>
void define_calls(nb::class_<Lensing>& lensing) {
    lensing
        .def("lens", &lens<T>, nb::arg("alm").noconvert(), nb::arg("values").noconvert(),
             nb::arg("with_report"))
        .def("adjoint", &adjoint<T>, nb::arg("values").noconvert(), nb::arg("alm").noconvert())
        .def("differentiate", &differentiate<T>, nb::arg("alm").noconvert(), nb::arg("values").noconvert(),
             nb::arg("gradient"));
}

}  // namespace

void bind_lensing(nb::module_& module) {
    Report<LensingReport>(module, "LensingReport", "How far a lensed sky is from the true one.")
        .field(
            "bound", &LensingReport::bound,
            "At least max |error| / max |f| over the sphere, for every sky of this lmax; f is T, and Q + iU.")
        .field("mean_error", &LensingReport::mean_error,
               "rms(error) / rms(f) over the torus of theta and phi, of these alm; the largest of the call.");
    Report<InverseDeflectionReport>(module, "InverseDeflectionReport", "How an inverse deflection was found.")
        .field("iterations", &InverseDeflectionReport::iterations, "Newton's.")
        .field("residual", &InverseDeflectionReport::residual,
               "By how much the way back misses its point, rad; the largest.")
        .field("contraction", &InverseDeflectionReport::contraction,
               "The largest change of the deflection, rad per rad: below 1 everywhere there is one inverse.");

    nb::class_<Lensing> lensing(module, "Lensing");
    lensing.def("__init__", [](Lensing* self, const Grid& grid, const Potentials& alm,
                               std::int64_t lmax_of_potentials, std::int64_t lmax, std::int64_t mmax,
                               int components, double error, int threads, const std::string& device) {
        const auto potentials = potentials_of(alm, lmax_of_potentials);
        const auto options = lensing_options(lmax, mmax, components, error, threads, device);
        new (self) Lensing(without_gil([&] { return Lensing(grid, potentials, options); }));
    });
    lensing.def(
        "__init__", [](Lensing* self, const AnyAngles& theta, const AnyAngles& phi, const Potentials& alm,
                       std::int64_t lmax_of_potentials, std::int64_t lmax, std::int64_t mmax, int components,
                       double error, int threads, const std::string& device) {
            const auto potentials = potentials_of(alm, lmax_of_potentials);
            const auto where = std::pair(view_of<1>(theta), view_of<1>(phi));
            const auto options = lensing_options(lmax, mmax, components, error, threads, device);
            new (self)
                Lensing(without_gil([&] { return Lensing(where.first, where.second, potentials, options); }));
        });
    lensing.def_prop_ro("n_values", &Lensing::n_values)
        .def_prop_ro("n_alm", [](const Lensing& self) { return self.layout().size(); })
        .def_prop_ro("mmax", [](const Lensing& self) { return self.layout().mmax(); })
        .def_prop_ro("threads", [](const Lensing& self) { return self.options().threads; })
        .def_prop_ro("bound", &Lensing::bound)
        .def_prop_ro("largest", &Lensing::largest)
        .def_prop_ro("rms", &Lensing::rms);
    define_calls<double>(lensing);
    define_calls<float>(lensing);

    using Pair = HostArrayOfRank<double, 2>;
    module.def("displace", [](const Angles& theta, const Angles& phi,
                              const HostArrayOfRank<const double, 2>& deflection,
                              const HostArrayOfRank<double, 1>& new_theta,
                              const HostArrayOfRank<double, 1>& new_phi, const Pair& rotation, int threads) {
        const auto from = std::pair(view_of<1>(theta), view_of<1>(phi));
        const auto by = view_of<2>(deflection);
        const auto to = std::pair(view_of<1>(new_theta), view_of<1>(new_phi));
        const auto turns = view_of<2>(rotation);
        without_gil([&] { displace(from.first, from.second, by, to.first, to.second, turns, threads); });
    });
    module.def("invert_deflection", [](const Potentials& alm, std::int64_t lmax, const Grid& grid,
                                       const Pair& inverse, double error, int max_iterations, int threads) {
        const auto potentials = potentials_of(alm, lmax);
        const auto to = view_of<2>(inverse);
        return without_gil([&] {
            return invert_deflection(potentials, grid, to, {error, max_iterations, threads});
        });
    });
    module.def("invert_deflection",
               [](const Potentials& alm, std::int64_t lmax, const Angles& theta, const Angles& phi,
                  const Pair& inverse, double error, int max_iterations, int threads) {
                   const auto potentials = potentials_of(alm, lmax);
                   const auto where = std::pair(view_of<1>(theta), view_of<1>(phi));
                   const auto to = view_of<2>(inverse);
                   return without_gil([&] {
                       return invert_deflection(potentials, where.first, where.second, to,
                                                {error, max_iterations, threads});
                   });
               });
}

}  // namespace zonal::python
