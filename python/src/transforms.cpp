#include <complex>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"
#include "zonal/analysis.hpp"
#include "zonal/device.hpp"
#include "zonal/sht.hpp"
#include "zonal/sky/derivatives.hpp"

namespace zonal::python {
namespace {

template <class T>
using Complex = std::complex<T>;

/// A transform with the scratch memory of its calls, which are as many at once as there are threads that make
/// them.
class Transform {
  public:
    Transform(const Grid& grid, std::int64_t lmax, std::int64_t mmax, int spin, int threads)
        : plan_(grid,
                {.lmax = lmax, .mmax = mmax, .spin = spin, .threads = threads, .device = Device::cpu()}) {}

    const ShtPlan& plan() const { return plan_; }

    template <class T>
    void synthesize(const HostArray<const Complex<T>>& alm, const HostArray<T>& map,
                    nb::handle progress) const {
        with_workspace(progress, [&](ShtWorkspace& workspace, const Progress& report) {
            plan_.synthesize<T>(batch_of(alm, has_components()), batch_of(map, has_components()), workspace,
                                report);
        });
    }
    template <class T>
    void adjoint(const HostArray<const T>& map, const HostArray<Complex<T>>& alm, nb::handle progress) const {
        with_workspace(progress, [&](ShtWorkspace& workspace, const Progress& report) {
            plan_.adjoint_synthesis<T>(batch_of(map, has_components()), batch_of(alm, has_components()),
                                       workspace, report);
        });
    }
    template <class T>
    AnalysisReport analyze(const HostArray<const T>& map, const HostArray<Complex<T>>& alm, int iterations,
                           double tolerance, int max_iterations, std::vector<double> ring_weights,
                           const std::optional<HostArrayOfRank<const double, 1>>& pixel_weights,
                           nb::handle progress) const {
        AnalysisOptions options{.iterations = iterations,
                                .tolerance = tolerance,
                                .max_iterations = max_iterations,
                                .ring_weights = std::move(ring_weights)};
        if (pixel_weights) options.pixel_weights = view_of<1>(*pixel_weights);
        AnalysisReport done;
        with_workspace(progress, [&](ShtWorkspace& workspace, const Progress& report) {
            options.progress = report;
            done = zonal::analyze<T>(plan_, batch_of(map, has_components()), batch_of(alm, has_components()),
                                     workspace, options);
        });
        return done;
    }

  private:
    bool has_components() const { return plan_.options().spin > 0; }

    /// Scratch memory goes back to where it was taken from, unless the call fails.
    template <class Work>
    void with_workspace(nb::handle progress, const Work& work) const {
        without_gil(progress, [&](const Progress& report) {
            ShtWorkspace workspace = take();
            work(workspace, report);
            const std::lock_guard lock(mutex_);
            free_.push_back(std::move(workspace));
        });
    }
    ShtWorkspace take() const {
        {
            const std::lock_guard lock(mutex_);
            if (!free_.empty()) {
                ShtWorkspace workspace = std::move(free_.back());
                free_.pop_back();
                return workspace;
            }
        }
        return plan_.make_workspace();
    }

    ShtPlan plan_;
    mutable std::mutex mutex_;
    mutable std::vector<ShtWorkspace> free_;
};

/// map: [2, pixel], df/dtheta and df/dphi / sin theta, per rad.
void gradient(const Grid& grid, std::int64_t lmax, std::int64_t mmax, int threads,
              const HostArrayOfRank<const std::complex<double>, 1>& alm, const HostArray<double>& map) {
    without_gil(nb::none(), [&](const Progress&) {
        const ShtPlan plan(grid, {.lmax = lmax,
                                  .mmax = mmax,
                                  .spin = 1,
                                  .parts = SpinParts::gradient,
                                  .threads = threads,
                                  .device = Device::cpu()});
        const auto values = view_of<1>(alm);
        const View<const std::complex<double>, 3> batch(values.data(), {1, 1, values.extent(0)});
        synthesize_gradient<double>(plan, batch, batch_of(map, true));
    });
}

template <class T>
void define_calls(nb::class_<Transform>& transform) {
    transform
        .def("synthesize", &Transform::synthesize<T>, nb::arg("alm").noconvert(), nb::arg("map").noconvert(),
             nb::arg("progress").none())
        .def("adjoint", &Transform::adjoint<T>, nb::arg("map").noconvert(), nb::arg("alm").noconvert(),
             nb::arg("progress").none())
        .def("analyze", &Transform::analyze<T>, nb::arg("map").noconvert(), nb::arg("alm").noconvert(),
             nb::arg("iterations"), nb::arg("tolerance"), nb::arg("max_iterations"), nb::arg("ring_weights"),
             nb::arg("pixel_weights").none(), nb::arg("progress").none());
}

}  // namespace

void bind_transforms(nb::module_& module) {
    Report<AnalysisReport>(module, "AnalysisReport", "What an analysis did and how well it went.")
        .field("iterations", &AnalysisReport::iterations)
        .field("residual", &AnalysisReport::residual,
               "With a tolerance: |S^T W (f - S a)| / |S^T W f|, the largest of the batch; else 0.")
        .field("reached_tolerance", &AnalysisReport::reached_tolerance)
        .field("last_update", &AnalysisReport::last_update,
               "With iterations: |last update| / |a|, the largest of the batch; else 0.")
        .field("updates_grew", &AnalysisReport::updates_grew)
        .field("invertible", &AnalysisReport::invertible,
               "Whether the grid has enough rings and pixels for lmax.")
        .field("note", &AnalysisReport::note, "What a user should know, one sentence, or nothing.");

    nb::class_<Transform> transform(module, "Transform");
    transform.def(nb::init<const Grid&, std::int64_t, std::int64_t, int, int>())
        .def_prop_ro("n_alm", [](const Transform& t) { return t.plan().layout().size(); })
        .def_prop_ro("mmax", [](const Transform& t) { return t.plan().layout().mmax(); })
        .def_prop_ro("threads", [](const Transform& t) { return t.plan().options().threads; })
        .def_prop_ro("workspace_bytes", [](const Transform& t) { return t.plan().workspace_bytes(); });
    define_calls<double>(transform);
    define_calls<float>(transform);

    module.def("synthesize_gradient", &gradient, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg().noconvert(), nb::arg().noconvert());
    module.def("available_cpus", &available_cpus);
    module.def("simd_target", &simd_target);
    module.def("invertible_lmax", &invertible_lmax);
}

}  // namespace zonal::python
