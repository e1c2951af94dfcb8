#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"
#include "sky_maps.hpp"
#include "zonal/mask.hpp"
#include "zonal/planning/map_smoothing.hpp"
#include "zonal/sht.hpp"
#include "zonal/window.hpp"

namespace zonal::python {
namespace {

using Weights = std::optional<HostArrayOfRank<const double, 1>>;

View<const double, 1> view_of_optional(const Weights& weights) {
    return weights ? view_of<1>(*weights) : View<const double, 1>{};
}

/// The pixels that some row knows, in ring order, where these are no more than a quarter of all numbers; else
/// none: the whole sky then takes little more.
template <class T>
std::vector<std::int64_t> few_known_pixels(View<const T, 2> rows) {
    std::vector<std::int64_t> known;
    for (std::int64_t pixel = 0; pixel < rows.extent(1); ++pixel) {
        bool is_known = false;
        for (std::int64_t row = 0; row < rows.extent(0); ++row) {
            const auto value = static_cast<double>(rows(row, pixel));
            if (!std::isfinite(value)) return {};  // an error, which names the pixel
            is_known |= !is_unseen_value(value);
        }
        if (is_known) known.push_back(pixel);
        if (4 * std::ssize(known) > rows.extent(1)) return {};
    }
    return known;
}

/// Rows of some pixels of the sky.
template <class T>
Array<T, 2> gathered(View<const T, 2> rows, const std::vector<std::int64_t>& pixels) {
    Array<T, 2> result({rows.extent(0), std::ssize(pixels)});
    for (std::int64_t row = 0; row < rows.extent(0); ++row)
        for (std::size_t i = 0; i < pixels.size(); ++i)
            result(row, static_cast<std::int64_t>(i)) = rows(row, pixels[i]);
    return result;
}

/// Smooths the pixels that are known, with memory for these.
template <class T, class Smooth>
std::vector<SmoothedPart> smooth_known(View<const T, 2> maps, const std::vector<std::int64_t>& known,
                                       MapFile header, MapSmoothingOptions& options, View<T, 2> out,
                                       const Smooth& smooth) {
    const auto mask = gathered<double>(
        {options.mask.data(), {options.mask.size() > 0 ? 1 : 0, options.mask.size()}}, known);
    if (options.mask.size() > 0) options.mask = {mask.data(), {mask.size()}};
    const auto rows = gathered(maps, known);
    auto smoothed = smooth(sky_of<T>(rows.view(), std::move(header), known, options.threads));
    for (std::int64_t row = 0; row < out.extent(0); ++row) {
        std::fill_n(out[row].data(), out.extent(1), static_cast<T>(unseen_value));
        for (std::size_t i = 0; i < known.size(); ++i)
            out(row, known[i]) = static_cast<T>(smoothed.map.rows()(row, static_cast<std::int64_t>(i)));
    }
    return std::move(smoothed.parts);
}

/// Smooths with a window where there are no kernels, else with those.
template <class T>
std::vector<SmoothedPart> smooth_rows(const HostArrayOfRank<const T, 2>& maps, const Pixelization& pixels,
                                      const std::string& fields, const SmoothingWindow& window,
                                      const std::vector<RadialKernel>& kernels, MapSmoothingOptions options,
                                      const Weights& mask, const Weights& pixel_weights,
                                      const HostArrayOfRank<T, 2>& out, nb::handle progress) {
    options.mask = view_of_optional(mask);
    options.pixel_weights = view_of_optional(pixel_weights);
    if (sizeof(T) == sizeof(float)) options.output_rounding = 0x1p-24;
    return without_gil(progress, [&](const Progress& report) {
        options.progress = report;
        const auto smooth_sky = [&](SkyMap&& sky) {
            return kernels.empty() ? smooth(std::move(sky), window, options)
                                   : convolve(std::move(sky), kernels, options);
        };
        const auto rows = view_of<2>(maps);
        const auto* const first = options.mask.data();
        const bool is_mask = std::all_of(first, first + options.mask.size(),
                                         [](double share) { return share >= 0 && share <= 1; });
        if (is_mask && extent_for(options) == Extent::own_pixels)
            if (const auto known = few_known_pixels<T>(rows); !known.empty())
                return smooth_known<T>(rows, known, header_of(pixels, fields, rows.extent(0)), options,
                                       view_of<2>(out), smooth_sky);
        auto smoothed = smooth_sky(sky_of<T>(rows, pixels, fields, options.threads));
        smoothed.map.template copy_rows<T>(view_of<2>(out), options.threads);
        return std::move(smoothed.parts);
    });
}

/// The same of some pixels, in the memory of these. pixels: their numbers in ring order, ascending.
template <class T>
std::vector<SmoothedPart> smooth_part(const HostArrayOfRank<const T, 2>& maps,
                                      const Pixelization& pixelization,
                                      const HostArrayOfRank<const std::int64_t, 1>& pixels,
                                      const std::string& fields, const SmoothingWindow& window,
                                      const std::vector<RadialKernel>& kernels, MapSmoothingOptions options,
                                      const Weights& mask, const HostArrayOfRank<T, 2>& out,
                                      nb::handle progress) {
    options.mask = view_of_optional(mask);
    if (sizeof(T) == sizeof(float)) options.output_rounding = 0x1p-24;
    return without_gil(progress, [&](const Progress& report) {
        options.progress = report;
        const auto rows = view_of<2>(maps);
        auto sky = sky_of<T>(rows, header_of(pixelization, fields, rows.extent(0)), vector_of(pixels),
                             options.threads);
        auto smoothed = kernels.empty() ? smooth(std::move(sky), window, options)
                                        : convolve(std::move(sky), kernels, options);
        smoothed.map.template copy_rows<T>(view_of<2>(out), options.threads);
        return std::move(smoothed.parts);
    });
}

void bind_window(nb::module_& module) {
    nb::class_<Beam>(module, "Beam")
        .def(nb::init<std::vector<double>, std::vector<double>, std::vector<double>>())
        .def("temperature", [](const Beam& beam) { return to_numpy(beam.temperature); })
        .def("gradient", [](const Beam& beam) { return to_numpy(beam.gradient); })
        .def("curl", [](const Beam& beam) { return to_numpy(beam.curl); });
    module.def("gaussian_beam", &gaussian_beam);
    module.def("evaluate_window", &evaluate);
    nb::enum_<Extension>(module, "Extension")
        .value("none", Extension::none)
        .value("zero", Extension::zero)
        .value("powerlaw", Extension::powerlaw);
    nb::class_<SmoothingWindow>(module, "SmoothingWindow")
        .def(nb::init<>())
        .def_rw("fwhm", &SmoothingWindow::fwhm, nb::arg().none())
        .def_rw("beam", &SmoothingWindow::beam, nb::arg().none())
        .def_rw("fwhm_in", &SmoothingWindow::fwhm_in, nb::arg().none())
        .def_rw("beam_in", &SmoothingWindow::beam_in, nb::arg().none())
        .def_rw("pixel_window_in", &SmoothingWindow::pixel_window_in, nb::arg().none())
        .def_rw("pixel_window_out", &SmoothingWindow::pixel_window_out, nb::arg().none())
        .def_rw("floor", &SmoothingWindow::floor)
        .def_rw("extension", &SmoothingWindow::extension);
}

void bind_pixels(nb::module_& module) {
    nb::class_<HealpixPixels>(module, "HealpixPixels")
        .def("__init__",
             [](HealpixPixels* self, std::int64_t nside) { new (self) HealpixPixels{.nside = nside}; });
    nb::class_<CarPixels>(module, "CarPixels")
        .def("__init__",
             [](CarPixels* self, std::int64_t n_rings, std::int64_t n_phi, double phi_0, bool poles) {
                 new (self) CarPixels{.n_rings = n_rings, .n_phi = n_phi, .phi_0 = phi_0, .poles = poles};
             });
}

void bind_convolution_options(nb::module_& module) {
    nb::enum_<Normalization>(module, "Normalization")
        .value("window", Normalization::window)
        .value("pixel", Normalization::pixel)
        .value("none", Normalization::none);
    nb::class_<MapSmoothingOptions>(module, "MapSmoothingOptions")
        .def("__init__",
             [](MapSmoothingOptions* self) {
                 new (self) MapSmoothingOptions;
                 self->device = Device::cpu();
             })
        .def_prop_rw(
            "device", [](const MapSmoothingOptions& options) { return to_string(options.device); },
            [](MapSmoothingOptions& options, const std::string& name) {
                options.device = parse_device(name);
            })
        .def_rw("method", &MapSmoothingOptions::method)
        .def_rw("reference", &MapSmoothingOptions::reference, nb::arg().none())
        .def_rw("error", &MapSmoothingOptions::error, nb::arg().none())
        .def_rw("keep_missed", &MapSmoothingOptions::keep_missed)
        .def_rw("strict", &MapSmoothingOptions::strict)
        .def_rw("normalization", &MapSmoothingOptions::normalization)
        .def_rw("cut", &MapSmoothingOptions::cut, nb::arg().none())
        .def_rw("theta_cut", &MapSmoothingOptions::theta_cut)
        .def_rw("lmax", &MapSmoothingOptions::lmax)
        .def_rw("iterations", &MapSmoothingOptions::iterations, nb::arg().none())
        .def_rw("tolerance", &MapSmoothingOptions::tolerance)
        .def_rw("ring_weights", &MapSmoothingOptions::ring_weights)
        .def_rw("mask_rule", &MapSmoothingOptions::mask_rule)
        .def_rw("pixels_out", &MapSmoothingOptions::pixels_out, nb::arg().none())
        .def_rw("precision", &MapSmoothingOptions::precision, nb::arg().none())
        .def_rw("costs", &MapSmoothingOptions::costs, nb::arg().none())
        .def_rw("threads", &MapSmoothingOptions::threads);
}

void bind_parts(nb::module_& module) {
    Report<AppliedKernel>(module, "AppliedKernel", "A kernel as it was applied.")
        .field("support", &AppliedKernel::support, "Where its profile ends, rad.")
        .field("integral", &AppliedKernel::integral, "Of the kernel as it was given.")
        .field("scale", &AppliedKernel::scale, "The factor by which normalization=\"window\" multiplied it.");
    Report<SmoothedPart>(module, "SmoothedPart", "How the fields of one spin of a map were smoothed.")
        .field("rows", &SmoothedPart::rows, "Of the map.")
        .choice("method", &SmoothedPart::method,
                {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft, ConvolutionMethod::harmonic,
                 ConvolutionMethod::split},
                "\"harmonic\", \"pixel-sum\", \"ring-fft\" or \"split\".")
        .choice("reference", &SmoothedPart::reference,
                {ConvolutionReference::continuous, ConvolutionReference::discrete},
                "What errors are measured from: \"continuous\" or \"discrete\".")
        .device("device", &SmoothedPart::device)
        .field("kernels", &SmoothedPart::kernels, "One for all rows, or one for each.")
        .field("error_bound", &SmoothedPart::error_bound, "The error that was to be kept, if there was one.")
        .field("certificates", &SmoothedPart::certificates,
               "One for each row of spin 0, and for each pair of Q and U; inf where there is no bound.")
        .field("choices", &SmoothedPart::choices, "The ways that were looked at, the fastest first.")
        .field("choice", &SmoothedPart::choice, "The one that was taken.")
        .field("planning_seconds", &SmoothedPart::planning_seconds)
        .field("seconds", &SmoothedPart::seconds)
        .field("certificate_seconds", &SmoothedPart::certificate_seconds,
               "Of these, what the certificates took.")
        .field("lmax", &SmoothedPart::lmax, "Of harmonic space; -1: it took no part.")
        .field("analysis", &SmoothedPart::analysis)
        .field("window_above_lmax", &SmoothedPart::window_above_lmax,
               "In harmonic space: the window at lmax over its largest value.")
        .field("map_above_lmax", &SmoothedPart::map_above_lmax,
               "The share of the map's rms that lies above lmax; nan where it was not measured.")
        .field("lmax_effect", &SmoothedPart::lmax_effect,
               "By how much the answer depends on lmax, rms over the rms of the result.")
        .field("masked_pixels", &SmoothedPart::masked_pixels, "[row], UNSEEN or masked in the map.")
        .field("unseen_pixels", &SmoothedPart::unseen_pixels, "[row], UNSEEN in the result.")
        .field("notes", &SmoothedPart::notes, "What a user should know, a sentence each.")
        .method("certified_error", &SmoothedPart::certified_error,
                "The largest certified error; inf where one has no bound.")
        .method("is_certified", &SmoothedPart::is_certified,
                "Whether an error was to be kept and every certificate keeps it.")
        .method("stands_for", &SmoothedPart::stands_for,
                "What the result stands for: \"the answer for l <= 76\".")
        .text(&SmoothedPart::summary, &SmoothedPart::text);
}

}  // namespace

void bind_smoothing(nb::module_& module) {
    bind_window(module);
    bind_pixels(module);
    bind_convolution_options(module);
    bind_parts(module);
    module.def("clear_caches", &clear_caches);
    module.def("cached_bytes", &cached_bytes);
    module.def("set_cache_limit", &set_cache_limit);
    const auto define = [&module](auto function) {
        module.def("smooth", function, nb::arg("maps").noconvert(), nb::arg("pixels"), nb::arg("fields"),
                   nb::arg("window"), nb::arg("kernels"), nb::arg("options"),
                   nb::arg("mask").noconvert().none(), nb::arg("pixel_weights").noconvert().none(),
                   nb::arg("out").noconvert(), nb::arg("progress").none());
    };
    define(&smooth_rows<double>);
    define(&smooth_rows<float>);
    const auto define_part = [&module](auto function) {
        module.def("smooth_part", function, nb::arg("maps").noconvert(), nb::arg("pixelization"),
                   nb::arg("pixels").noconvert(), nb::arg("fields"), nb::arg("window"), nb::arg("kernels"),
                   nb::arg("options"), nb::arg("mask").noconvert().none(), nb::arg("out").noconvert(),
                   nb::arg("progress").none());
    };
    define_part(&smooth_part<double>);
    define_part(&smooth_part<float>);
    module.def("needs_own_pixels",
               [](const MapSmoothingOptions& options) { return extent_for(options) == Extent::own_pixels; });
}

}  // namespace zonal::python
