#include "zonal/sky/resampling.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"

namespace zonal::python {
namespace {

using ResampledRows = HostArrayOfRank<const double, 2>;
using ResampledValues = HostArrayOfRank<double, 2>;
using ResampledAngles = HostArrayOfRank<const double, 1>;

/// ResamplingReport with the fields of its analysis.
struct ResamplingSummary {
    std::int64_t lmax = 0;
    bool exact = false;
    int iterations = 0;
    double residual = 0;
    bool reached_tolerance = true;
    double last_update = 0;
    double unresolved = 0;
    bool interpolated = false;
    double bound = 0, mean_error = 0;
    std::string note;
};

ResamplingSummary resampling_summary(const ResamplingReport& report) {
    const auto& analysis = report.analysis;
    return {report.lmax,
            analysis.exact,
            analysis.iterations,
            analysis.residual,
            analysis.reached_tolerance,
            analysis.last_update,
            analysis.unresolved,
            report.interpolated,
            report.bound,
            report.mean_error,
            analysis.note};
}

Fields fields_named(const std::string& name) {
    return name == "iqu" ? Fields::iqu : name == "qu" ? Fields::qu : Fields::scalars;
}

/// by: "alm" or "points".
ResamplingOptions resampling_options(const MapAnalysisOptions& analysis,
                                     const std::optional<EulerAngles>& rotation, const std::string& by,
                                     double error, bool fill_masked) {
    return {.analysis = analysis,
            .rotation = rotation,
            .way = by == "points" ? RotationWay::points : RotationWay::alm,
            .error = error,
            .fill_masked = fill_masked};
}

ResamplingSummary resample_to_grid(const Grid& grid, const ResampledRows& rows, const std::string& fields,
                                   const Grid& to, const ResampledValues& out, ResamplingOptions options,
                                   nb::handle progress) {
    const auto from = view_of<2>(rows);
    const auto made = view_of<2>(out);
    return without_gil(progress, [&](const Progress& report) {
        options.analysis.progress = report;
        return resampling_summary(resample(grid, from, fields_named(fields), to, made, options));
    });
}

ResamplingSummary resample_to_points(const Grid& grid, const ResampledRows& rows, const std::string& fields,
                                     const ResampledAngles& theta, const ResampledAngles& phi,
                                     const ResampledValues& out, ResamplingOptions options,
                                     nb::handle progress) {
    const auto from = view_of<2>(rows);
    const auto made = view_of<2>(out);
    const auto south = view_of<1>(theta), east = view_of<1>(phi);
    return without_gil(progress, [&](const Progress& report) {
        options.analysis.progress = report;
        return resampling_summary(resample(grid, from, fields_named(fields), south, east, made, options));
    });
}

}  // namespace

void bind_resampling(nb::module_& module) {
    Report<ResamplingSummary>(module, "ResamplingReport", "What a resampling assumed and reached.")
        .field("lmax", &ResamplingSummary::lmax, "Up to which the map was analysed.")
        .field("exact", &ResamplingSummary::exact, "Whether the alm are exact for maps that end at lmax.")
        .field("iterations", &ResamplingSummary::iterations)
        .field("residual", &ResamplingSummary::residual, "With a tolerance: of the least-squares solution.")
        .field("reached_tolerance", &ResamplingSummary::reached_tolerance)
        .field("last_update", &ResamplingSummary::last_update,
               "|last update| / |a| of iterations, the largest.")
        .field("unresolved", &ResamplingSummary::unresolved,
               "rms(f - S a) / rms(f): the share of the map, UNSEEN pixels as 0, that no alm up to lmax make "
               "up. "
               "The result does not have it.")
        .field("interpolated", &ResamplingSummary::interpolated,
               "Whether values are interpolated, within bound.")
        .field("bound", &ResamplingSummary::bound,
               "At least max |error| / max |f| of what was interpolated; f is I, and Q + iU.")
        .field("mean_error", &ResamplingSummary::mean_error,
               "rms(error) / rms(f) over the torus of theta and phi, of these alm; the largest.")
        .field("note", &ResamplingSummary::note, "What a user should know, one sentence, or nothing.");
    nb::class_<ResamplingOptions>(module, "ResamplingOptions")
        .def(
            "__init__",
            [](ResamplingOptions* self, const MapAnalysisOptions& analysis,
               const std::optional<EulerAngles>& rotation, const std::string& by, double error,
               bool fill_masked) {
                new (self) ResamplingOptions(resampling_options(analysis, rotation, by, error, fill_masked));
            },
            nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg());
    module.def("resample", &resample_to_grid, nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(),
               nb::arg().noconvert(), nb::arg(), nb::arg().none());
    module.def("resample_at", &resample_to_points, nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(),
               nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg().none());
}

}  // namespace zonal::python
