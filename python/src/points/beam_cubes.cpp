#include <cstdint>
#include <tuple>

#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "transform.hpp"
#include "zonal/beams/cube.hpp"

namespace zonal::python {
namespace {

using Lines = HostArrayOfRank<const double, 1>;

template <class T>
void define_calls(nb::class_<BeamCube>& cubes) {
    using Alm = HostArrayOfRank<const Complex<T>, 2>;
    using Samples = HostArrayOfRank<T, 3>;
    using GivenSamples = HostArrayOfRank<const T, 3>;
    cubes
        .def(
            "make_planes",
            [](const BeamCube& cube, const Alm& sky, const Alm& beam, std::int64_t k, const Samples& planes) {
                const auto from = view_of<2>(sky), through = view_of<2>(beam);
                const auto to = view_of<3>(planes);
                without_gil(
                    [&] { cube.make_planes<T>(from, AlmLayout(cube.lmax(), cube.kmax()), through, k, to); });
            },
            nb::arg("sky").noconvert(), nb::arg("beam").noconvert(), nb::arg("k"),
            nb::arg("planes").noconvert())
        .def(
            "add_sky",
            [](const BeamCube& cube, const GivenSamples& planes, const Alm& beam, std::int64_t k,
               const HostArrayOfRank<Complex<T>, 2>& sky) {
                const auto from = view_of<3>(planes);
                const auto through = view_of<2>(beam);
                const auto to = view_of<2>(sky);
                without_gil(
                    [&] { cube.add_sky<T>(from, AlmLayout(cube.lmax(), cube.kmax()), through, k, to); });
            },
            nb::arg("planes").noconvert(), nb::arg("beam").noconvert(), nb::arg("k"),
            nb::arg("sky").noconvert())
        .def(
            "scan",
            [](const BeamCube& cube, const GivenSamples& samples, std::int64_t row, std::int64_t column,
               const Lines& theta, const Lines& phi, const Lines& psi, const HostArrayOfRank<T, 1>& signal) {
                const auto from = view_of<3>(samples);
                const auto t = view_of<1>(theta), p = view_of<1>(phi), q = view_of<1>(psi);
                const auto to = view_of<1>(signal);
                without_gil([&] { cube.scan<T>(from, row, column, t, p, q, to); });
            },
            nb::arg("cube").noconvert(), nb::arg("row"), nb::arg("column"), nb::arg("theta"), nb::arg("phi"),
            nb::arg("psi"), nb::arg("signal").noconvert())
        .def(
            "spread",
            [](const BeamCube& cube, const HostArrayOfRank<const T, 1>& signal, std::int64_t row,
               std::int64_t column, const Lines& theta, const Lines& phi, const Lines& psi,
               const Samples& samples) {
                const auto from = view_of<1>(signal);
                const auto t = view_of<1>(theta), p = view_of<1>(phi), q = view_of<1>(psi);
                const auto to = view_of<3>(samples);
                without_gil([&] { cube.spread<T>(from, row, column, t, p, q, to); });
            },
            nb::arg("signal").noconvert(), nb::arg("row"), nb::arg("column"), nb::arg("theta"),
            nb::arg("phi"), nb::arg("psi"), nb::arg("cube").noconvert());
}

}  // namespace

void bind_beam_cubes(nb::module_& module) {
    nb::class_<BeamCube> cubes(module, "BeamCube");
    cubes.def(
        "__init__",
        [](BeamCube* self, std::int64_t lmax, std::int64_t kmax, double error, std::int64_t n_pointings,
           int threads) {
            without_gil([&] {
                new (self) BeamCube(
                    lmax, {.kmax = kmax, .error = error, .n_pointings = n_pointings, .threads = threads});
            });
        },
        nb::arg("lmax"), nb::arg("kmax"), nb::arg("error"), nb::arg("n_pointings"), nb::arg("threads"));
    define_calls<double>(cubes);
    define_calls<float>(cubes);
    cubes.def_prop_ro("n_planes", &BeamCube::n_planes)
        .def_prop_ro("n_rows", &BeamCube::n_rows)
        .def_prop_ro("n_columns", &BeamCube::n_columns)
        .def(
            "patch",
            [](const BeamCube& cube, double theta_1, double theta_2, double phi_1, double phi_2) {
                const CubePatch patch = cube.patch(theta_1, theta_2, phi_1, phi_2);
                return std::tuple(patch.row, patch.row_end, patch.column, patch.column_end);
            },
            nb::arg("theta_1"), nb::arg("theta_2"), nb::arg("phi_1"), nb::arg("phi_2"));
}

}  // namespace zonal::python
