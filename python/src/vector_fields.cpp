#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/device.hpp"
#include "zonal/sky/derivatives.hpp"
#include "zonal/sky/vector_fields.hpp"

namespace zonal::python {
namespace {

ShtOptions transform_options(std::int64_t lmax, std::int64_t mmax, int threads, const std::string& device) {
    return {.lmax = lmax, .mmax = mmax, .threads = threads, .device = parse_device(device)};
}

/// alm: [.., n_alm] of one scalar, or [.., 2, n_alm]; map: [.., 2, n_pixels].
template <class T>
void synthesize(const VectorPlan& plan, const HostArray<const std::complex<T>>& alm, const HostArray<T>& map,
                nb::handle progress) {
    const auto from = batch_of(alm, plan.transform().alm_components() == 2);
    const auto to = batch_of(map, true);
    without_gil(progress, [&](const Progress& report) { plan.synthesize<T>(from, to, report); });
}

template <class T>
AnalysisReport analyze(const VectorPlan& plan, const HostArray<const T>& map,
                       const HostArray<std::complex<T>>& alm, int iterations, double tolerance,
                       int max_iterations, std::vector<double> ring_weights,
                       const std::optional<HostArrayOfRank<const double, 1>>& pixel_weights,
                       nb::handle progress) {
    AnalysisOptions options{.iterations = iterations,
                            .tolerance = tolerance,
                            .max_iterations = max_iterations,
                            .ring_weights = std::move(ring_weights)};
    if (pixel_weights) options.pixel_weights = view_of<1>(*pixel_weights);
    const auto from = batch_of(map, true);
    const auto to = batch_of(alm, true);
    return without_gil(progress, [&](const Progress& report) {
        options.progress = report;
        return plan.analyze<T>(from, to, options);
    });
}

/// alm: [.., n_alm]; map: [.., 3, n_pixels].
template <class T>
void hessian(const HessianPlan& plan, const HostArray<const std::complex<T>>& alm, const HostArray<T>& map,
             nb::handle progress) {
    const auto from = batch_of(alm, false);
    const auto to = batch_of(map, true);
    without_gil(progress, [&](const Progress& report) { plan.synthesize<T>(from, to, report); });
}

template <class T>
void define_calls(nb::class_<VectorPlan>& vectors, nb::class_<HessianPlan>& hessians) {
    vectors.def("synthesize", &synthesize<T>, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().none())
        .def("analyze", &analyze<T>, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
    hessians.def("synthesize", &hessian<T>, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().none());
}

}  // namespace

void bind_vector_fields(nb::module_& module) {
    nb::enum_<VectorScalars>(module, "VectorScalars")
        .value("potentials", VectorScalars::potentials)
        .value("divergence_vorticity", VectorScalars::divergence_vorticity)
        .value("spheroidal_toroidal", VectorScalars::spheroidal_toroidal);
    nb::enum_<VectorComponents>(module, "VectorComponents")
        .value("theta_phi", VectorComponents::theta_phi)
        .value("east_north", VectorComponents::east_north);
    nb::class_<VectorPlan> vectors(module, "VectorPlan");
    vectors.def("__init__", [](VectorPlan* self, const Grid& grid, std::int64_t lmax, std::int64_t mmax,
                               SpinParts parts, VectorScalars scalars, VectorComponents components,
                               double radius, int threads, const std::string& device) {
        const GilRelease release;
        auto transform = transform_options(lmax, mmax, threads, device);
        transform.parts = parts;
        new (self) VectorPlan(grid, transform, {scalars, components, radius});
    });
    vectors.def_prop_ro("n_alm", [](const VectorPlan& plan) { return plan.transform().layout().size(); });
    nb::class_<HessianPlan> hessians(module, "HessianPlan");
    hessians.def(
        "__init__", [](HessianPlan* self, const Grid& grid, std::int64_t lmax, std::int64_t mmax,
                       VectorComponents components, double radius, int threads, const std::string& device) {
            const GilRelease release;
            new (self) HessianPlan(grid, transform_options(lmax, mmax, threads, device), components, radius);
        });
    define_calls<double>(vectors, hessians);
    define_calls<float>(vectors, hessians);
}

}  // namespace zonal::python
