#include "zonal/sht/ring_modes.hpp"

#include <nanobind/stl/vector.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

namespace zonal::python {
namespace {

/// Calls of the halves of a transform, whose arrays have all axes.
template <class T>
void define_halves(nb::class_<LegendrePlan>& legendre, nb::class_<RingPlan>& rings) {
    using Number = std::complex<T>;
    legendre
        .def(
            "synthesize",
            [](const LegendrePlan& plan, const HostArrayOfRank<const Number, 3>& alm,
               const HostArrayOfRank<Number, 4>& modes) {
                without_gil([&] { plan.synthesize<T>(view_of<3>(alm), view_of<4>(modes)); });
            },
            nb::arg().noconvert(), nb::arg().noconvert())
        .def(
            "adjoint",
            [](const LegendrePlan& plan, const HostArrayOfRank<const Number, 4>& modes,
               const HostArrayOfRank<Number, 3>& alm) {
                without_gil([&] { plan.adjoint<T>(view_of<4>(modes), view_of<3>(alm)); });
            },
            nb::arg().noconvert(), nb::arg().noconvert());
    rings
        .def(
            "synthesize",
            [](const RingPlan& plan, const HostArrayOfRank<const Number, 3>& modes,
               const HostArrayOfRank<T, 2>& map) {
                without_gil([&] { plan.synthesize<T>(view_of<3>(modes), view_of<2>(map)); });
            },
            nb::arg().noconvert(), nb::arg().noconvert())
        .def(
            "adjoint",
            [](const RingPlan& plan, const HostArrayOfRank<const T, 2>& map,
               const HostArrayOfRank<Number, 3>& modes) {
                without_gil([&] { plan.adjoint<T>(view_of<2>(map), view_of<3>(modes)); });
            },
            nb::arg().noconvert(), nb::arg().noconvert());
}

}  // namespace

void bind_ring_modes(nb::module_& module) {
    nb::class_<LegendrePlan> legendre(module, "LegendrePlan");
    legendre.def("__init__",
                 [](LegendrePlan* self, const Grid& rings, std::int64_t lmax, int spin, SpinParts parts,
                    int threads, double accuracy, const std::vector<std::int64_t>& orders) {
                     const GilRelease release;
                     new (self) LegendrePlan(rings,
                                             {.lmax = lmax,
                                              .spin = spin,
                                              .parts = parts,
                                              .threads = threads,
                                              .device = Device::cpu(),
                                              .accuracy = accuracy},
                                             orders);
                 });
    nb::class_<RingPlan> rings(module, "RingPlan");
    rings.def("__init__", [](RingPlan* self, const Grid& grid, std::int64_t mmax, int threads) {
        const GilRelease release;
        new (self) RingPlan(grid, mmax, threads);
    });
    define_halves<double>(legendre, rings);
    define_halves<float>(legendre, rings);
}

}  // namespace zonal::python
