#include "zonal/convolution.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "devices/workspaces.hpp"

namespace zonal::python {
namespace {

/// A convolution over pixels with the scratch memory of its calls.
class PixelConvolution {
  public:
    PixelConvolution(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                     const PixelConvolutionOptions& options)
        : plan_(grid, kernel, grid_out, options) {}

    const PixelConvolutionPlan& plan() const { return plan_; }

    /// maps, convolved: [map, pixel]
    template <class T>
    void convolve(const AnyArray<const T>& maps, const AnyArray<T>& convolved, nb::handle progress,
                  Stream stream) const {
        const auto from = rows_of(maps);
        const auto to = rows_of(convolved);
        require_apart(from, to);
        without_gil(progress, [&](const Progress& report) {
            workspaces_.lend(
                stream, std::max<std::int64_t>(1, from.extent(0)),
                [&](std::int64_t n_maps) { return plan_.make_workspace(n_maps); },
                [&](PixelConvolutionWorkspace& workspace) {
                    plan_.convolve<T>(from, to, workspace, report);
                });
        });
    }

  private:
    PixelConvolutionPlan plan_;
    Workspaces<PixelConvolutionWorkspace> workspaces_;
};

template <class T>
void define_convolve(nb::class_<PixelConvolution>& convolution) {
    convolution.def("convolve", &PixelConvolution::convolve<T>, nb::arg("maps").noconvert(),
                    nb::arg("convolved").noconvert(), nb::arg("progress").none(), nb::arg("stream").none());
}

}  // namespace

void bind_convolutions(nb::module_& module) {
    nb::class_<PixelConvolution> convolution(module, "PixelConvolution");
    convolution
        .def("__init__",
             [](PixelConvolution* self, const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                bool sums, bool single, double accuracy, int threads, const std::string& device,
                const std::vector<std::string>& devices, std::int64_t max_workspace_bytes) {
                 PixelConvolutionOptions options{
                     .method = sums ? PixelMethod::pixel_sum : PixelMethod::ring_fft,
                     .precision = single ? Precision::float32 : Precision::float64,
                     .accuracy = accuracy,
                     .threads = threads,
                     .device = parse_device(device),
                     .max_workspace_bytes = max_workspace_bytes};
                 options.devices.reserve(devices.size());
                 for (const auto& one : devices) options.devices.push_back(parse_device(one));
                 without_gil(nb::none(), [&](const Progress&) {
                     new (self) PixelConvolution(grid, kernel, grid_out, options);
                 });
             })
        .def_prop_ro("threads", [](const PixelConvolution& c) { return c.plan().options().threads; })
        .def_prop_ro("accuracy", [](const PixelConvolution& c) { return c.plan().options().accuracy; })
        .def_prop_ro("workspace_bytes", [](const PixelConvolution& c) { return c.plan().workspace_bytes(); })
        .def("shares", [](const PixelConvolution& c) {
            std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> found;
            for (const auto& one : c.plan().shares())
                found.emplace_back(to_string(one.device), one.n_bands, one.memory_bytes);
            return found;
        });
    define_convolve<double>(convolution);
    define_convolve<float>(convolution);
}

}  // namespace zonal::python
