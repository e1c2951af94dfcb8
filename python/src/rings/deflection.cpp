#include "zonal/points/deflection.hpp"

#include <nanobind/stl/optional.h>

#include <complex>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

namespace zonal::python {
namespace {

/// step: [ring], or None.
template <class T>
void deflect_pixels(const Grid& grid, const std::optional<HostArrayOfRank<const double, 1>>& step,
                    const HostArrayOfRank<const T, 2>& deflection, const HostArrayOfRank<T, 2>& deflected,
                    int threads) {
    without_gil([&] {
        deflect<T>(grid, step ? view_of<1>(*step) : View<const double, 1>{}, view_of<2>(deflection),
                   view_of<2>(deflected), threads);
    });
}

template <class T>
void turn_values(int spin, const HostArrayOfRank<const T, 1>& rotation,
                 const HostArrayOfRank<std::complex<T>, 1>& values, int threads) {
    without_gil([&] { turn<T>(spin, view_of<1>(rotation), view_of<1>(values), threads); });
}

template <class T>
void define_deflection(nb::module_& module) {
    module.def("deflect", &deflect_pixels<T>, nb::arg(), nb::arg().noconvert().none(), nb::arg().noconvert(),
               nb::arg().noconvert(), nb::arg());
    module.def("turn", &turn_values<T>, nb::arg(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg());
}

}  // namespace

void bind_deflection(nb::module_& module) {
    define_deflection<double>(module);
    define_deflection<float>(module);
}

}  // namespace zonal::python
