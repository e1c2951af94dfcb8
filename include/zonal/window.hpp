#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// A Beam holds windows b_l of temperature and of the gradient (E) and curl (B) of polarisation, [lmax + 1].
struct Beam {
    std::vector<double> temperature;
    std::vector<double> gradient;
    std::vector<double> curl;

    std::int64_t lmax() const { return static_cast<std::int64_t>(temperature.size()) - 1; }
};

/// The highest degree of windows that are computed: far beyond what a transform reaches.
inline constexpr std::int64_t max_window_lmax = 10'000'000;

/// Returns exp(-(l(l+1) - spin^2) sigma^2 / 2), sigma = fwhm / sqrt(8 ln 2), and 0 for l < spin. fwhm: rad,
/// > 0. lmax: up to max_window_lmax. spin: 0, or 2 for E and B (Challinor et al. 2000).
std::vector<double> gaussian_window(double fwhm, std::int64_t lmax, int spin = 0);

/// Returns Gaussian windows, of spin 0 for T and of spin 2 for E and B.
Beam gaussian_beam(double fwhm, std::int64_t lmax);

/// Returns a beam that applies one window to T, E and B as it stands.
Beam uniform_beam(const std::vector<double>& window);

/// What a window or spectrum is above its last l.
enum class Extension {
    none,     ///< an error
    zero,     ///< 0
    powerlaw  ///< A l^n fitted by least squares in logarithms to the last 400 values (or the last half, if
              ///< fewer)
};

/// Returns the values for l = 0 .. lmax: it drops those above, and extends the window if there are fewer.
/// Throws InvalidArgument, with `name`, if values are missing and extension is none; and for powerlaw unless
/// there are at least 2 values to fit and all have the same sign.
std::vector<double> fit_length(const std::vector<double>& values, std::int64_t lmax, Extension extension,
                               const std::string& name);
Beam fit_length(const Beam& beam, std::int64_t lmax, Extension extension, const std::string& name);

/// Multiplies two beams l by l. Their lengths must be equal.
Beam multiply(const Beam& a, const Beam& b);

/// Divides two beams l by l. A denominator smaller in size than floor counts as floor (with its sign), so
/// noise is amplified by at most numerator / floor. E and B below l = 2 are 0. Throws InvalidArgument, with
/// l, for a quotient that is not finite (floor = 0 and a denominator of 0).
Beam divide(const Beam& numerator, const Beam& denominator, double floor);

/// Multiplies alm [components, layout.size()] by the windows of its components: 1 (T), 2 (E, B) or 3 (T, E,
/// B).
template <class T>
void apply_beam(const AlmLayout& layout, const Beam& beam, View<std::complex<T>, 2> alm);

}  // namespace zonal
