#include "zonal/angle.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal {
namespace {

/// The product of what is given, 1 where nothing is.
Beam product(const std::optional<double>& fwhm, const std::optional<Beam>& beam,
             const std::optional<Beam>& pixel_window, std::int64_t lmax, Extension extension,
             const char* suffix) {
    Beam result = uniform_beam(std::vector<double>(lmax + 1, 1.0));
    if (fwhm)
        result = multiply(result, gaussian_beam(checked_width(*suffix ? "fwhm_in" : "fwhm", *fwhm), lmax));
    if (beam) result = multiply(result, fit_length(*beam, lmax, extension, std::string("beam") + suffix));
    if (pixel_window)
        result = multiply(result,
                          fit_length(*pixel_window, lmax, extension, std::string("pixel_window") + suffix));
    return result;
}

}  // namespace

Beam evaluate(const SmoothingWindow& window, std::int64_t lmax) {
    const bool out = window.fwhm || window.beam || window.pixel_window_out;
    const bool in = window.fwhm_in || window.beam_in || window.pixel_window_in;
    if (!out && !in)
        throw InvalidArgument("window", "nothing is given: needs a fwhm, a beam or a pixel window");
    if (!in && window.floor != 0)
        throw InvalidArgument("floor", "has no meaning without fwhm_in, beam_in or pixel_window_in");
    const AlmLayout checked(lmax);
    auto numerator = product(window.fwhm, window.beam, window.pixel_window_out, lmax, window.extension, "");
    if (!in) return numerator;
    const auto denominator =
        product(window.fwhm_in, window.beam_in, window.pixel_window_in, lmax, window.extension, "_in");
    return divide(numerator, denominator, window.floor);
}

}  // namespace zonal
