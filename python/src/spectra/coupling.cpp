#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/spectra/coupling.hpp"

namespace zonal::python {
namespace {

/// kinds: by their number in CouplingKind.
void matrices(const HostArrayOfRank<const double, 2>& mask_spectra, const std::vector<int>& kinds,
              const HostArrayOfRank<double, 4>& out, int threads, const std::string& device) {
    std::vector<CouplingKind> of_kind;
    of_kind.reserve(kinds.size());
    for (const int kind : kinds) of_kind.push_back(static_cast<CouplingKind>(kind));
    const Device on = parse_device(device);
    without_gil([&] { coupling_matrices(view_of<2>(mask_spectra), of_kind, view_of<4>(out), threads, on); });
}

}  // namespace

void bind_coupling(nb::module_& module) {
    module.def("coupling_matrices", &matrices, nb::arg().noconvert(), nb::arg(), nb::arg().noconvert(),
               nb::arg(), nb::arg());
}

}  // namespace zonal::python
