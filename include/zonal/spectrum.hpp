#pragma once

#include <complex>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// One angular power spectrum C_l.
struct Spectrum {
    /// TT, EE, BB, TE, TB, EB, ET, BT or BE: XY is the X of the first map with the Y of the second.
    std::string name{};
    std::string unit{};            ///< such as "uK^2"; empty: unknown
    std::vector<double> values{};  ///< [lmax + 1]
};

/// "uK^2" for "uK", "(mK,thermodynamic)^2" for what is not one word; empty for empty.
std::string squared_unit(const std::string& unit);
/// The unit of a cross spectrum: squared_unit where both are the same, "(a) (b)" where not; empty where one
/// is unknown.
std::string product_unit(const std::string& a, const std::string& b);
/// Whether a variance in this unit may be that of a map in that one: either is unknown, or the first is the
/// second squared, however that is written.
bool may_be_variance_of(const std::string& unit, const std::string& unit_of_map);
/// "uK" for "uK^2", "uK**2", "uK2" or "(uK)^2"; empty where that cannot be told.
std::string square_root_unit(const std::string& unit);

/// Returns C_l = 1/(2l+1) sum_{m=-l..l} X_lm conj(Y_lm) of two real fields, [lmax + 1]. Orders above mmax
/// count as 0. x, y: [layout.size()].
template <class T>
std::vector<double> cross_spectrum(const AlmLayout& layout, View<const std::complex<T>, 1> x,
                                   View<const std::complex<T>, 1> y);

/// Returns all spectra of a map. alm: [components, layout.size()]; components: 1 (T), 2 (E, B) or 3 (T, E,
/// B). For T these are TT, for E, B: EE BB EB, and for T, E, B: TT EE BB TE TB EB.
template <class T>
std::vector<Spectrum> spectra(const AlmLayout& layout, View<const std::complex<T>, 2> alm);

/// Returns all spectra of the first map with the second: for T TT, for E, B: EE BB EB BE, and for T, E, B: TT
/// EE BB TE TB EB ET BT BE.
template <class T>
std::vector<Spectrum> spectra(const AlmLayout& layout, View<const std::complex<T>, 2> first,
                              View<const std::complex<T>, 2> second);

/// Multiplies alm_lm by window_l. alm: [layout.size()]; window: [lmax + 1] or longer.
template <class T>
void multiply_alm(const AlmLayout& layout, const std::vector<double>& window, View<std::complex<T>, 1> alm);

/// Copies the coefficients that both layouts have; the others of `to` become 0.
template <class T>
void copy_alm(const AlmLayout& from_layout, View<const std::complex<T>, 1> from, const AlmLayout& to_layout,
              View<std::complex<T>, 1> to);

}  // namespace zonal
