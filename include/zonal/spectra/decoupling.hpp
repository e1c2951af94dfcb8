#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zonal/device.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/view.hpp"

/// Band powers of masked skies (Hivon et al. 2002; Alonso et al. 2019). Pseudo-spectra C~ with the mean M C +
/// N~ are averaged in bands by B, and what spectra that are constant in bands would give, K = B M U, is
/// divided out:
///   P = K^-1 B (C~ - N~), with the mean F C, F = K^-1 B M, the bands' windows.
/// They hold for every C; compare bands with F C, not with C at a degree.
namespace zonal {

/// Spectra that a mask mixes with each other, in this order.
enum class SpectraKind {
    spin00,  ///< TT
    spin02,  ///< TE, TB
    spin22   ///< EE, EB, BE, BB
};
/// How many they are.
std::int64_t n_spectra(SpectraKind kind);

/// What bands are decoupled from.
struct DecouplingOptions {
    std::int64_t lmax_sky = -1;  ///< the degrees of the sky that windows have; -1: the last of the bins
    std::vector<double>
        transfer{};  ///< beams and pixel windows of both maps, [lmax_sky + 1] or longer; empty: 1
    /// Whether degrees 0 and 1 of TT, where they are below the bins, have bands of their own, which are
    /// solved for and left out of what is returned: their power then does not reach the others. No value:
    /// where the condition stays below poor_condition. Spectra of spin 2 have no such degrees.
    std::optional<bool> low_degrees{};
    int threads = 0;                ///< 0: available_cpus()
    Device device = Device::cpu();  ///< of the matrices M
};

/// Above this a note warns.
inline constexpr double poor_condition = 1e3;
/// Above this the bins are refused: half of a double's digits are lost.
inline constexpr double hopeless_condition = 1e8;

/// The matrices of one kind of spectra.
struct Decoupling {
    Array<double, 4> matrix{};   ///< K^-1 B, [spectrum, band, spectrum, l], l up to the bins' lmax
    Array<double, 4> windows{};  ///< F = K^-1 B M, [spectrum, band, spectrum, l'], l' up to lmax_sky
    /// The ratio of the singular values of K without transfer and F_l, to about a per cent.
    double condition = 1;
    bool low_degrees = false;  ///< whether degrees 0 and 1 have bands of their own
    std::string note{};        ///< a warning, where the condition is poor
};

/// mask_spectrum: W_L of both masks, [L]; exact windows need L up to bins.lmax() + lmax_sky. Takes
/// O(lmax_sky^3).
///
/// Throws InvalidArgument for values that are not finite, a transfer that is too short or 0 in a whole band,
/// and for bins that are too narrow for the mask; the message then names a width that would do.
Decoupling decouple(const Bins& bins, SpectraKind kind, View<const double, 1> mask_spectrum,
                    const DecouplingOptions& options = {});

/// P = K^-1 B (C~ - N~), [spectrum, band]. pseudo: C~ - N~, [spectrum, l], up to the bins' lmax or further.
Array<double, 2> band_powers(const Decoupling& decoupling, View<const double, 2> pseudo);
/// F C, [spectrum, band]. c_l: [spectrum, l'], up to lmax_sky or further.
Array<double, 2> band_theory(const Decoupling& decoupling, View<const double, 2> c_l);

}  // namespace zonal
