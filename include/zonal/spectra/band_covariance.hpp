#pragma once

#include <vector>

#include "zonal/spectra/covariance.hpp"
#include "zonal/spectra/estimate.hpp"
#include "zonal/view.hpp"

/// How band powers of masked maps scatter.
namespace zonal {

/// The Gaussian covariance of all bands of an estimate, for fields that see one sky, each with noise of its
/// own.
///
/// fields: those of the estimate, all on one grid. c_l: of the sky, [3, 3, degree] for T, E and B, symmetric,
/// up to the lmax_sky of the estimate or further. covariance: [value, value], a value for each band of each
/// spectrum of each block, in this order. The BE of a field with itself is there, too, and is its EB.
///
/// Exact up to options.exact_lmax and approximate above, as pseudo_covariance. Throws InvalidArgument, and
/// OutOfMemory.
CovarianceReport band_covariance(const std::vector<MaskedField>& fields, const BandEstimate& estimate,
                                 View<const double, 3> theory, View<double, 2> covariance,
                                 const CovarianceOptions& options = {});

/// The memory that it takes beside fields and estimate, the covariance among it.
double bytes_of_band_covariance(const std::vector<MaskedField>& fields, const BandEstimate& estimate,
                                const CovarianceOptions& options = {});

/// The part of such a covariance that is of spectra that repeat no other one (is_repeated), in the same
/// order. Throws InvalidArgument for another covariance than that of these bands.
Array<double, 2> distinct_covariance(const BandEstimate& estimate, View<const double, 2> covariance);

}  // namespace zonal
