#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/alm.hpp"
#include "zonal/device.hpp"
#include "zonal/spectra/purification.hpp"

namespace zonal::python {
namespace {

/// Growth, remainder, and whether the mask has kinks.
std::tuple<double, double, bool> make_pure_alm(const Grid& grid, const HostArrayOfRank<const double, 3>& maps,
                                               const HostArrayOfRank<const double, 1>& mask,
                                               const HostArrayOfRank<std::complex<double>, 3>& alm,
                                               const PurificationOptions& options) {
    MaskSmoothness found;
    without_gil(
        [&] { found = pure_alm(grid, view_of<3>(maps), view_of<1>(mask), view_of<3>(alm), options); });
    return {found.growth, found.remainder, found.has_kinks()};
}

/// kinds: by their number in PureCouplingKind.
void make_pure_matrices(const HostArrayOfRank<const double, 2>& mask_spectra, const std::vector<int>& kinds,
                        const HostArrayOfRank<double, 4>& out, int threads, const std::string& device) {
    std::vector<PureCouplingKind> of_kind;
    of_kind.reserve(kinds.size());
    for (const int kind : kinds) of_kind.push_back(static_cast<PureCouplingKind>(kind));
    const Device on = parse_device(device);
    without_gil(
        [&] { pure_coupling_matrices(view_of<2>(mask_spectra), of_kind, view_of<4>(out), threads, on); });
}

}  // namespace

void bind_purification(nb::module_& module) {
    nb::class_<PurificationOptions>(module, "PurificationOptions")
        .def("__init__",
             [](PurificationOptions* made, std::int64_t lmax, std::int64_t mask_lmax, bool pure_e,
                bool pure_b, int iterations, int threads, const std::string& device) {
                 new (made) PurificationOptions{.lmax = lmax,
                                                .mask_lmax = mask_lmax,
                                                .pure_e = pure_e,
                                                .pure_b = pure_b,
                                                .threads = threads,
                                                .device = parse_device(device)};
                 made->analysis.iterations = iterations;
             })
        .def_prop_ro("n_alm",
                     [](const PurificationOptions& options) { return AlmLayout(options.lmax).size(); });
    const auto strict = nb::arg().noconvert();
    module.def("pure_alm", &make_pure_alm, nb::arg(), strict, strict, strict, nb::arg());
    module.def("pure_coupling_matrices", &make_pure_matrices, strict, nb::arg(), strict, nb::arg(),
               nb::arg());
}

}  // namespace zonal::python
