#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/device.hpp"
#include "zonal/spectra/covariance.hpp"

/// What all that is said of masked skies begins with.
namespace zonal::masked {

struct Component {
    int map, spin, mask;
    int part;  ///< 0: T or E; 1: B
};

std::vector<Component> components_of(const std::vector<MaskedMap>& maps);
/// Number of a map's first component.
int first_component(const std::vector<MaskedMap>& maps, int map);

/// Throws InvalidArgument for a mask of other pixels, and for values that are UNSEEN or not finite.
void check_mask(const Grid& grid, const View<const double, 1>& mask);
/// Throws InvalidArgument for what does not fit, and for values that are not finite.
void check_sky(const MaskedSky& sky, int threads);
/// And unless there is one spectrum or more, of components that there are.
void check_spectra(const MaskedSky& sky, const std::vector<ComponentPair>& spectra);

/// Throws InvalidArgument unless W, [value, spectrum, lmax + 1], has all spectra and finite weights.
void check_values(View<const double, 3> values, const std::vector<ComponentPair>& spectra);

/// Pairs i <= j of n, in the order 00 01 .. 11 12 ..; i and j in any order.
int pair_number(int i, int j, int n);

/// Sums over pixels times areas: alm, [map, component, coefficient up to lmax], of maps, [map, component,
/// pixel], with one component of spin 0 or two of spin 2.
void plain_sums(const Grid& grid, View<const double, 3> maps, std::int64_t lmax,
                View<std::complex<double>, 3> alm, int threads, Device device = Device::cpu());
/// The same of rows of spin 0, [row, pixel]: [row, coefficient].
Array<std::complex<double>, 2> plain_alm(const Grid& grid, View<const double, 2> rows, std::int64_t lmax,
                                         int threads);
/// The same of the products of masks, by pair_number.
Array<std::complex<double>, 2> product_alm(const MaskedSky& sky, std::int64_t lmax, int threads);
/// The same of mask^2 variance area, by map: what the noise has as <a_lm conj(a_l'm')> between functions.
Array<std::complex<double>, 2> noise_alm(const MaskedSky& sky, std::int64_t lmax, int threads);

/// mean_pseudo_spectra, and for each degree the largest share of the mean auto spectra up to `low` that comes
/// from the sky above that degree; low: -1 for none.
std::vector<double> mean_spectra(const MaskedSky& sky, View<double, 3> means, std::int64_t low, int threads);

}  // namespace zonal::masked
