#include <complex>
#include <string>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"
#include "transform.hpp"
#include "zonal/analysis.hpp"
#include "zonal/device.hpp"
#include "zonal/sht.hpp"

namespace zonal::python {
namespace {

template <class T>
void define_calls(nb::class_<Transform>& transform) {
    transform
        .def("synthesize", &Transform::synthesize<T>, nb::arg("alm").noconvert(), nb::arg("map").noconvert(),
             nb::arg("progress").none(), nb::arg("stream").none() = nb::none())
        .def("adjoint", &Transform::adjoint<T>, nb::arg("map").noconvert(), nb::arg("alm").noconvert(),
             nb::arg("progress").none(), nb::arg("stream").none() = nb::none())
        .def("adjoint_analysis", &Transform::adjoint_analysis<T>, nb::arg("alm").noconvert(),
             nb::arg("map").noconvert(), nb::arg("progress").none(), nb::arg("stream").none() = nb::none())
        .def("analyze", &Transform::analyze<T>, nb::arg("map").noconvert(), nb::arg("alm").noconvert(),
             nb::arg("iterations"), nb::arg("tolerance"), nb::arg("max_iterations"), nb::arg("ring_weights"),
             nb::arg("pixel_weights").none(), nb::arg("progress").none(),
             nb::arg("stream").none() = nb::none());
}

}  // namespace

void bind_transforms(nb::module_& module) {
    Report<AnalysisReport>(module, "AnalysisReport", "What an analysis did and how well it went.")
        .field("iterations", &AnalysisReport::iterations)
        .field("exact", &AnalysisReport::exact,
               "Whether the alm are an exact inverse's: those of the map if it is band-limited, to rounding.")
        .field("residual", &AnalysisReport::residual,
               "With a tolerance: |S^T W (f - S a)| / |S^T W f|, the largest of the batch; else 0.")
        .field("reached_tolerance", &AnalysisReport::reached_tolerance)
        .field("last_update", &AnalysisReport::last_update,
               "With iterations: |last update| / |a|, the largest of the batch; else 0.")
        .field("updates_grew", &AnalysisReport::updates_grew)
        .field("invertible", &AnalysisReport::invertible,
               "Whether the grid has enough rings and pixels for lmax.")
        .field("note", &AnalysisReport::note, "What a user should know, one sentence, or nothing.");

    nb::enum_<SpinParts>(module, "SpinParts")
        .value("both", SpinParts::both)
        .value("gradient", SpinParts::gradient)
        .value("curl", SpinParts::curl);
    nb::class_<Transform> transform(module, "Transform");
    transform
        .def(
            "__init__",
            [](Transform* self, const Grid& grid, std::int64_t lmax, std::int64_t mmax, int spin, int threads,
               const std::string& device, std::int64_t max_workspace_bytes, SpinParts parts,
               double accuracy) {
                const GilRelease release;
                new (self) Transform(kept_plan(grid, {.lmax = lmax,
                                                      .mmax = mmax,
                                                      .spin = spin,
                                                      .parts = parts,
                                                      .threads = threads,
                                                      .device = parse_device(device),
                                                      .accuracy = accuracy,
                                                      .max_workspace_bytes = max_workspace_bytes}));
            },
            nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
            nb::arg("parts") = SpinParts::both, nb::arg("accuracy") = ShtOptions{}.accuracy)
        .def_prop_ro("number", &Transform::number)
        .def_prop_ro("n_alm", [](const Transform& t) { return t.plan().layout().size(); })
        .def_prop_ro("mmax", [](const Transform& t) { return t.plan().layout().mmax(); })
        .def_prop_ro("threads", [](const Transform& t) { return t.plan().options().threads; })
        .def_prop_ro("workspace_bytes", [](const Transform& t) { return t.plan().workspace_bytes(); });
    define_calls<double>(transform);
    define_calls<float>(transform);

    module.def("invertible_lmax", &invertible_lmax);
}

}  // namespace zonal::python
