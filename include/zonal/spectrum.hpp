#pragma once

#include <complex>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// One angular power spectrum.
struct NamedSpectrum {
    std::string name;            ///< such as "TE": T of the first map with E of the second
    std::vector<double> values;  ///< C_l, l = 0 .. lmax
};

/// Returns C_l = 1/(2l+1) sum_{m=-l..l} X_lm conj(Y_lm) of two real fields, [lmax + 1]. Orders above mmax
/// count as 0. x, y: [layout.size()].
template <class T>
std::vector<double> cross_spectrum(const AlmLayout& layout, View<const std::complex<T>, 1> x,
                                   View<const std::complex<T>, 1> y);

/// Returns all spectra of a map. alm: [components, layout.size()]; components: 1 (T), 2 (E, B) or 3 (T, E,
/// B). For T these are TT, for E, B: EE BB EB, and for T, E, B: TT EE BB TE TB EB.
template <class T>
std::vector<NamedSpectrum> spectra(const AlmLayout& layout, View<const std::complex<T>, 2> alm);

/// Returns all spectra of the first map with the second: for T TT, for E, B: EE BB EB BE, and for T, E, B: TT
/// EE BB TE TB EB ET BT BE.
template <class T>
std::vector<NamedSpectrum> spectra(const AlmLayout& layout, View<const std::complex<T>, 2> first,
                                   View<const std::complex<T>, 2> second);

/// Multiplies alm_lm by window_l. alm: [layout.size()]; window: [lmax + 1] or longer.
template <class T>
void multiply_alm(const AlmLayout& layout, const std::vector<double>& window, View<std::complex<T>, 1> alm);

/// Copies the coefficients that both layouts have; the others of `to` become 0.
template <class T>
void copy_alm(const AlmLayout& from_layout, View<const std::complex<T>, 1> from, const AlmLayout& to_layout,
              View<std::complex<T>, 1> to);

}  // namespace zonal
