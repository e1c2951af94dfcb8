#include "zonal/kernel.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/typing.h>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/angle.hpp"
#include "zonal/filters.hpp"
#include "zonal/grid.hpp"
#include "zonal/sky/pixel_window.hpp"
#include "zonal/split.hpp"
#include "zonal/wavelets.hpp"
#include "zonal/window.hpp"

namespace zonal::python {
namespace {

using Window = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Values = HostArrayOfRank<const double, 1>;

/// Returns work() without the GIL.
template <class Work>
auto made(const Work& work) {
    return without_gil(nb::none(), [&](const Progress&) { return work(); });
}

/// A set of wavelets as one list: what lies below the first of them, and then them.
nb::typed<nb::list, Window> windows_of(const WaveletWindows& set) {
    nb::typed<nb::list, Window> windows;
    windows.append(to_numpy(set.scaling));
    for (const auto& window : set.wavelets) windows.append(to_numpy(window));
    return windows;
}

void bind_kernel_class(nb::module_& module) {
    nb::class_<RadialKernel>(module, "RadialKernel")
        .def_static("gaussian", &RadialKernel::gaussian)
        .def_static("top_hat", &RadialKernel::top_hat)
        .def_static("from_window",
                    [](const Values& window) {
                        return made([b_l = vector_of(window)] { return RadialKernel::from_window(b_l); });
                    })
        .def_static("from_profile",
                    [](const Values& theta, const Values& value) {
                        return made([x = vector_of(theta), y = vector_of(value)] {
                            return RadialKernel::from_profile(x, y);
                        });
                    })
        .def_static("mexican_hat", &mexican_hat)
        .def_static("spline",
                    [](const Values& knots, const Values& coefficients) {
                        return SplineProfile(vector_of(knots), vector_of(coefficients)).kernel();
                    })
        .def("profile",
             [](const RadialKernel& kernel, const Values& theta) {
                 return to_numpy(made([&, x = vector_of(theta)] { return kernel.profile(x); }));
             })
        .def("window", [](const RadialKernel& kernel,
                          std::int64_t lmax) { return to_numpy(made([&] { return kernel.window(lmax); })); })
        .def("truncated", &RadialKernel::truncated)
        .def("scaled", &RadialKernel::scaled)
        .def_prop_ro("support", &RadialKernel::support)
        .def_prop_ro("band_limit", &RadialKernel::band_limit)
        .def_prop_ro("name", &RadialKernel::name)
        .def("support_for_error",
             [](const RadialKernel& kernel, const Values& c_l, double error) {
                 return made([&, c = vector_of(c_l)] { return support_for_error(kernel, c, error); });
             })
        .def("truncation_error", [](const RadialKernel& kernel, const Values& c_l, double theta_cut) {
            return made([&, c = vector_of(c_l)] { return truncation_error(kernel, c, theta_cut); });
        });
}

}  // namespace

void bind_kernels(nb::module_& module) {
    bind_kernel_class(module);
    module.def("angle_unit", &angle_unit);
    module.def("checked_width", &checked_width);
    module.def("gaussian_window", [](double fwhm, std::int64_t lmax, int spin) {
        return to_numpy(gaussian_window(fwhm, lmax, spin));
    });
    module.def("pixel_window", [](std::int64_t nside, std::int64_t lmax, int threads) {
        auto beam = without_gil(nb::none(),
                                [&](const Progress&) { return healpix_pixel_window(nside, lmax, threads); });
        return std::pair(to_numpy(std::move(beam.temperature)), to_numpy(std::move(beam.gradient)));
    });
    module.def("needlet_windows", [](double base, std::int64_t lmax) {
        return windows_of(made([&] { return needlet_windows(base, lmax); }));
    });
    module.def("scale_discretised_windows", [](double dilation, int j_min, std::int64_t lmax) {
        return windows_of(made([&] { return scale_discretised_windows(dilation, j_min, lmax); }));
    });
    module.def("sky_window", [](const Values& c_l, const Values& b_l) {
        return to_numpy(sky_window(vector_of(c_l), vector_of(b_l)));
    });
    module.def("deconvolution_window", [](const Values& target, const Values& b_l, double floor) {
        return to_numpy(deconvolution_window(vector_of(target), vector_of(b_l), floor));
    });
    module.def("matched_filter_window", [](const Values& b_l, const Values& c_l, const Values& n_l) {
        return to_numpy(matched_filter_window(vector_of(b_l), vector_of(c_l), vector_of(n_l)));
    });
    module.def("wiener_window", [](const Values& c_l, const Values& n_l) {
        return to_numpy(wiener_window(vector_of(c_l), vector_of(n_l)));
    });
}

}  // namespace zonal::python
