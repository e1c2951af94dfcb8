#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "devices/workspaces.hpp"
#include "reports.hpp"
#include "transform.hpp"
#include "zonal/points/transform.hpp"

namespace zonal::python {
namespace {

using Angles = HostArrayOfRank<const double, 1>;

PointOptions options_of(std::int64_t lmax, std::int64_t mmax, int spin, double error, int threads,
                        const std::string& device, std::int64_t n_points = 0) {
    return {.lmax = lmax,
            .mmax = mmax,
            .spin = spin,
            .error = error,
            .n_points = n_points,
            .threads = threads,
            .device = parse_device(device)};
}

using AnyAngles = nb::ndarray<const double, nb::ndim<1>>;

/// A transform with the scratch memory of its calls.
class Points {
  public:
    Points(const AnyAngles& theta, const AnyAngles& phi, const PointOptions& options)
        : transform_(without_gil([theta = view_of<1>(theta), phi = view_of<1>(phi), &options] {
              return PointTransform(theta, phi, options);
          })) {}

    const PointTransform& transform() const { return transform_; }

    template <class T>
    PointReport synthesize(const AnyArray<const Complex<T>>& alm, const AnyArray<T>& values,
                           const std::optional<AnyArray<T>>& by_theta,
                           const std::optional<AnyArray<T>>& by_phi, bool with_report, Stream stream) const {
        const auto from = batch(alm);
        const auto to = batch(values);
        PointReport report;
        PointReport* const wanted = with_report ? &report : nullptr;
        if (by_theta && by_phi) {
            const auto theta = batch(*by_theta), phi = batch(*by_phi);
            lend(stream, [&](PointWorkspace& workspace) {
                transform_.synthesize<T>(from, to, theta, phi, workspace, wanted);
            });
        } else {
            lend(stream,
                 [&](PointWorkspace& workspace) { transform_.synthesize<T>(from, to, workspace, wanted); });
        }
        return report;
    }
    template <class T>
    void adjoint(const AnyArray<const T>& values, const AnyArray<Complex<T>>& alm, Stream stream) const {
        const auto from = batch(values);
        const auto to = batch(alm);
        lend(stream, [&](PointWorkspace& workspace) { transform_.adjoint<T>(from, to, workspace); });
    }
    template <class T>
    PointAnalysisReport analyze(const HostArray<const T>& values, const HostArray<Complex<T>>& alm,
                                const std::optional<Angles>& weights, double tolerance, int max_iterations,
                                nb::handle progress) const {
        PointAnalysisOptions options{.tolerance = tolerance, .max_iterations = max_iterations};
        if (weights) options.weights = view_of<1>(*weights);
        const bool has_components = transform_.samples().components() == 2;
        const auto from = batch_of(values, has_components);
        const auto to = batch_of(alm, has_components);
        return without_gil(progress, [&](const Progress& report) {
            options.progress = report;
            PointAnalysisReport done;
            workspaces_.lend({}, 1, make(), [&](PointWorkspace& workspace) {
                done = transform_.analyze<T>(from, to, workspace, options);
            });
            return done;
        });
    }

  private:
    template <class T>
    View<T, 3> batch(const AnyArray<T>& array) const {
        return batch_of(array, transform_.samples().components() == 2);
    }
    auto make() const {
        return [this](std::int64_t) { return transform_.make_workspace(); };
    }
    template <class Work>
    void lend(Stream stream, const Work& work) const {
        without_gil([&] { workspaces_.lend(stream, 1, make(), work); });
    }

    const PointTransform transform_;
    const Workspaces<PointWorkspace> workspaces_;
};

/// Samples of functions, for any points.
class Function {
  public:
    template <class T>
    Function(const HostArray<const Complex<T>>& alm, const PointOptions& options)
        : samples_(without_gil([&] { return SphereSamples(options); })),
          array_(samples_.make_array(batch_of(alm, samples_.components() == 2).extent(0))) {
        const auto from = batch_of(alm, samples_.components() == 2);
        without_gil([&] { samples_.synthesize<T>(from, array_); });
    }

    const SphereSamples& samples() const { return samples_; }
    std::int64_t bytes() const { return array_.bytes(); }

    template <class T>
    void evaluate(const Angles& theta, const Angles& phi, const HostArray<T>& values,
                  const std::optional<HostArray<T>>& by_theta,
                  const std::optional<HostArray<T>>& by_phi) const {
        const bool has_components = samples_.components() == 2;
        const auto to = batch_of(values, has_components);
        const auto theta_view = view_of<1>(theta), phi_view = view_of<1>(phi);
        if (by_theta && by_phi) {
            const auto slopes =
                std::pair(batch_of(*by_theta, has_components), batch_of(*by_phi, has_components));
            without_gil([&] {
                PointPlan(samples_, theta_view, phi_view)
                    .interpolate<T>(array_, to, slopes.first, slopes.second);
            });
        } else {
            without_gil([&] { PointPlan(samples_, theta_view, phi_view).interpolate<T>(array_, to); });
        }
    }

  private:
    const SphereSamples samples_;
    SampleArray array_;
};

template <class T>
void define_calls(nb::class_<Points>& points, nb::class_<Function>& function) {
    points
        .def("synthesize", &Points::synthesize<T>, nb::arg("alm").noconvert(), nb::arg("values").noconvert(),
             nb::arg("by_theta").noconvert().none(), nb::arg("by_phi").noconvert().none(),
             nb::arg("with_report"), nb::arg("stream").none())
        .def("adjoint", &Points::adjoint<T>, nb::arg("values").noconvert(), nb::arg("alm").noconvert(),
             nb::arg("stream").none())
        .def("analyze", &Points::analyze<T>, nb::arg("values").noconvert(), nb::arg("alm").noconvert(),
             nb::arg("weights").none(), nb::arg("tolerance"), nb::arg("max_iterations"),
             nb::arg("progress").none());
    function
        .def(
            "__init__",
            [](Function* self, const HostArray<const Complex<T>>& alm, std::int64_t lmax, std::int64_t mmax,
               int spin, double error, std::int64_t n_points, int threads, const std::string& device) {
                new (self) Function(alm, options_of(lmax, mmax, spin, error, threads, device, n_points));
            },
            nb::arg("alm").noconvert(), nb::arg("lmax"), nb::arg("mmax"), nb::arg("spin"), nb::arg("error"),
            nb::arg("n_points"), nb::arg("threads"), nb::arg("device"))
        .def("evaluate", &Function::evaluate<T>, nb::arg("theta"), nb::arg("phi"),
             nb::arg("values").noconvert(), nb::arg("by_theta").noconvert().none(),
             nb::arg("by_phi").noconvert().none());
}

template <class Class>
void define_properties(nb::class_<Class>& python, const SphereSamples& (*samples)(const Class&)) {
    python.def_prop_ro("n_alm", [samples](const Class& self) { return samples(self).layout().size(); })
        .def_prop_ro("mmax", [samples](const Class& self) { return samples(self).layout().mmax(); })
        .def_prop_ro("threads", [samples](const Class& self) { return samples(self).options().threads; })
        .def_prop_ro("bound", [samples](const Class& self) { return samples(self).bound(); })
        .def_prop_ro("derivative_bound",
                     [samples](const Class& self) { return samples(self).derivative_bound(); })
        .def_prop_ro("n_samples", [samples](const Class& self) { return samples(self).n_samples(); })
        .def_prop_ro("width", [samples](const Class& self) { return samples(self).width(); });
}

}  // namespace

void bind_points(nb::module_& module) {
    Report<PointReport>(module, "PointReport", "How far values at points are from the true ones.")
        .field("bound", &PointReport::bound,
               "At least max |error| / max |f| over the sphere, for every function of this lmax.")
        .field(
            "mean_error", &PointReport::mean_error,
            "rms(error) / rms(f) over the torus of theta and phi, of these alm; the largest of the batch.");
    Report<PointAnalysisReport>(module, "PointAnalysisReport", "How well alm fit values at points.")
        .field("iterations", &PointAnalysisReport::iterations)
        .field("residual", &PointAnalysisReport::residual,
               "|S^T W (f - S a)| / |S^T W f|, computed anew at the end; the largest of the batch.")
        .field("reached_tolerance", &PointAnalysisReport::reached_tolerance)
        .field("note", &PointAnalysisReport::note, "What a user should know, one sentence, or nothing.");

    nb::class_<Points> points(module, "Points");
    points.def("__init__",
               [](Points* self, const AnyAngles& theta, const AnyAngles& phi, std::int64_t lmax,
                  std::int64_t mmax, int spin, double error, int threads, const std::string& device) {
                   new (self) Points(theta, phi, options_of(lmax, mmax, spin, error, threads, device));
               });
    points.def_prop_ro("n_points", [](const Points& p) { return p.transform().points().n_points(); });
    nb::class_<Function> function(module, "Function");
    function.def_prop_ro("bytes", &Function::bytes);
    define_properties<Points>(
        points, [](const Points& p) -> const SphereSamples& { return p.transform().samples(); });
    define_properties<Function>(function,
                                [](const Function& f) -> const SphereSamples& { return f.samples(); });
    define_calls<double>(points, function);
    define_calls<float>(points, function);
}

}  // namespace zonal::python
