#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::io {

/// What the columns C-T and C-G of a file mean: TB and EB in files of HEALPix F90, EB and TB in those of
/// healpy. automatic: healpy's where CREATOR = 'healpy', else F90's.
enum class ClOrder { automatic, f90, healpy };

/// The content of a file of spectra.
struct SpectrumFile {
    std::vector<Spectrum> spectra{};  ///< all of the same length
    FilePrecision precision = FilePrecision::float64;
    std::vector<HeaderCard> cards{};
    std::string source{};              ///< for messages: "cl.fits, HDU 1"
    std::vector<std::string> notes{};  ///< what was assumed while reading

    std::int64_t lmax() const {
        return spectra.empty() ? -1 : static_cast<std::int64_t>(spectra[0].values.size()) - 1;
    }
    /// nullptr when there is none of that name.
    const Spectrum* find(const std::string& name) const;
};

/// How to read a file of spectra.
struct ReadSpectrumOptions {
    ClOrder order = ClOrder::automatic;
    bool dl = false;    ///< the file holds D_l = l (l + 1) C_l / 2 pi
    std::string hdu{};  ///< as in ReadMapOptions
};

/// FITS (binary or ASCII table, row = l) or text. Columns are known by their names alone; in text those stand
/// in a '#' line above the numbers, such as "# l TT EE BB TE"; multipoles below the first l count as 0.
/// Throws IoError.
SpectrumFile read_spectrum(const std::string& path, const ReadSpectrumOptions& options = {});

/// Binary table with HEALPix F90's names and order: TEMPERATURE, GRADIENT, CURL, G-T (TE), C-T (TB), C-G
/// (EB), T-G (ET), T-C (BT), G-C (BE). The spectra must be the first 1, 4, 6 or 9 of TT, EE, BB, TE, TB, EB,
/// ET, BT, BE, in any order, or any single one. Missing ones among the first 4 or 6 are an InvalidArgument.
void write_spectrum(const std::string& path, const SpectrumFile& file, const WriteOptions& options = {});

}  // namespace zonal::io
