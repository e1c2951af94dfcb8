#pragma once

#include <string>
#include <vector>

#include "zonal/io/header.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/spectra/estimate.hpp"
#include "zonal/view.hpp"

namespace zonal::io {

/// Band powers of masked skies, as a file holds them.
struct BandPowersFile {
    Bins bins;
    /// All but the matrices K^-1 B (Decoupling::matrix), which files do not hold: empty in what was read.
    BandEstimate estimate{};
    /// The covariance of all bands but those that repeat others (distinct_covariance); empty: none.
    Array<double, 2> covariance{};
    std::vector<std::string> units{};  ///< of each field's maps; "" where it is not known
    std::vector<HeaderCard> cards{};   ///< others, of BANDS
};

/// FITS: the table BANDS (L_MIN, L_MAX, L_EFF and each spectrum, with its errors ERROR_TT, where there are
/// any), PSEUDO (row = l: the bins' WEIGHT, C~ and its noise, NOISE_TT), MASK (W_L of masks, W_0x1), images
/// WINDOWS TT of F, [band, l], also WINDOWS EE<-BB, and COVARIANCE. The names of spectra of several fields
/// have their numbers, as TT_0x1, where two are the same. Throws InvalidArgument for what does not fit, and
/// IoError.
void write_band_powers(const std::string& path, const BandPowersFile& file, const WriteOptions& options = {});

/// Throws IoError.
BandPowersFile read_band_powers(const std::string& path);

}  // namespace zonal::io
