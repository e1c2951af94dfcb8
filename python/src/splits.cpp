#include "zonal/split.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/split_convolution.hpp"

namespace zonal::python {
namespace {

using Values = HostArrayOfRank<const double, 1>;

/// How many values below an l_cut that passes the search tries.
constexpr std::int64_t neighbourhood = 8;

/// The split at l_cut, or where there is none, at the smallest that keeps the error; nothing if none does.
std::optional<KernelSplit> split(const Values& window, const KernelSplitOptions& options,
                                 std::optional<std::int64_t> l_cut, double error, nb::handle progress) {
    auto values = vector_of(window);
    return without_gil(progress, [&](const Progress& report) -> std::optional<KernelSplit> {
        const KernelSplitter splitter(std::move(values), options, l_cut ? report : Progress());
        if (!l_cut) l_cut = splitter.find_l_cut(error, neighbourhood, report);
        if (!l_cut) return std::nullopt;
        return splitter.split(*l_cut);
    });
}

/// maps, convolved: [map, pixel] for spin 0, [map, 2, pixel] for spin 2.
template <int Rank, class T>
void convolve_rows(const Grid& grid, const KernelSplit& split, const SplitConvolutionOptions& options,
                   const HostArray<const T>& maps, const HostArray<T>& convolved, nb::handle progress) {
    const auto from = view_of<Rank>(maps);
    const auto to = view_of<Rank>(convolved);
    without_gil(progress, [&](const Progress& report) {
        const BasicSplitConvolutionPlan<Rank> plan(grid, split, options);
        return plan.template convolve<T>(from, to, report);
    });
}

template <class T>
void convolve_maps(const KernelSplit& split, const Grid& grid, Precision precision, double accuracy,
                   int threads, const std::string& device, const HostArray<const T>& maps,
                   const HostArray<T>& convolved, nb::handle progress) {
    const SplitConvolutionOptions options{.precision = precision,
                                          .accuracy = accuracy,
                                          .threads = threads,
                                          .pixel_device = parse_device(device),
                                          .harmonic_device = parse_device(device)};
    if (split.spin == 0)
        convolve_rows<2, T>(grid, split, options, maps, convolved, progress);
    else
        convolve_rows<3, T>(grid, split, options, maps, convolved, progress);
}

void bind_split_options(nb::module_& module) {
    nb::class_<KernelSplitOptions>(module, "KernelSplitOptions")
        .def(nb::init<>())
        .def_rw("spin", &KernelSplitOptions::spin)
        .def_rw("theta_cut", &KernelSplitOptions::theta_cut)
        .def_prop_rw(
            "input_spectrum",
            [](const KernelSplitOptions& options) { return to_numpy(options.input_spectrum); },
            [](KernelSplitOptions& options, const Values& c_l) { options.input_spectrum = vector_of(c_l); })
        .def_rw("spectrum_beyond", &KernelSplitOptions::spectrum_beyond)
        .def_rw("max_amplification", &KernelSplitOptions::max_amplification)
        .def_rw("max_leakage", &KernelSplitOptions::max_leakage)
        .def_rw("threads", &KernelSplitOptions::threads);
}

}  // namespace

void bind_splits(nb::module_& module) {
    bind_split_options(module);
    module.attr("N_SPLITS_TRIED") = KernelSplitter::most_parts(neighbourhood) + 1;
    nb::class_<KernelSplit>(module, "KernelSplit")
        .def("__init__",
             [](KernelSplit* made, const Values& window, const Values& knots, const Values& coefficients,
                const Values& profile_window, std::int64_t l_cut, double estimated_error,
                double amplification, double leakage, int rank, double actual_error, int spin) {
                 new (made) KernelSplit{{l_cut, estimated_error, amplification, leakage, rank},
                                        vector_of(window),
                                        SplineProfile(vector_of(knots), vector_of(coefficients)),
                                        vector_of(profile_window),
                                        actual_error,
                                        spin};
             })
        .def("window", [](const KernelSplit& split) { return to_numpy(split.window); })
        .def("profile_window", [](const KernelSplit& split) { return to_numpy(split.profile_window); })
        .def("knots", [](const KernelSplit& split) { return to_numpy(split.profile.knots()); })
        .def("coefficients", [](const KernelSplit& split) { return to_numpy(split.profile.coefficients()); })
        .def_prop_ro("support", [](const KernelSplit& split) { return split.profile.support(); })
        .def_prop_ro("l_cut", [](const KernelSplit& split) { return split.quality.l_cut; })
        .def_prop_ro("estimated_error",
                     [](const KernelSplit& split) { return split.quality.estimated_error; })
        .def_prop_ro("amplification", [](const KernelSplit& split) { return split.quality.amplification; })
        .def_prop_ro("leakage", [](const KernelSplit& split) { return split.quality.leakage; })
        .def_prop_ro("rank", [](const KernelSplit& split) { return split.quality.rank; })
        .def_ro("actual_error", &KernelSplit::actual_error)
        .def_ro("spin", &KernelSplit::spin)
        .def("convolve", &convolve_maps<double>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().none())
        .def("convolve", &convolve_maps<float>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().none());
    module.def("split", &split, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
    module.def("wiener_spectrum", [](const Values& signal, const Values& noise) {
        return to_numpy(wiener_spectrum(vector_of(signal), vector_of(noise)));
    });
}

}  // namespace zonal::python
