#pragma once

#include <string>
#include <vector>

namespace zonal::io {

/// Point-spread functions at several energies, as the Fermi tools (gtpsf) write them.
struct PsfTable {
    std::vector<double> theta{};                ///< [n], rad, ascending from 0
    std::vector<double> energy{};               ///< [k], MeV, ascending
    std::vector<std::vector<double>> values{};  ///< [k, n], 1/sr
    std::string source{};                       ///< for messages: "psf.fits: HDU 1 'PSF'"
};

/// Reads the columns Energy (MeV where no unit is stated) and Psf (1/sr) of the HDU PSF and Theta (degrees)
/// of the HDU THETA; an unknown unit is an error. Throws IoError.
PsfTable read_psf(const std::string& path);

/// The profile at an energy (MeV), [n] values in 1/sr at psf.theta: interpolated in the logarithms of energy
/// and value, where a value is 0 linearly in the logarithm of energy. Throws InvalidArgument, with the range,
/// outside the energies of the table.
std::vector<double> psf_at_energy(const PsfTable& psf, double energy);

/// A channel of a cube of maps, MeV.
struct EnergyBand {
    double minimum = 0;
    double maximum = 0;

    /// Where photons of a steep spectrum are taken to be.
    double geometric_mean() const;
};

/// The bands of a cube of counts: columns E_MIN and E_MAX (keV where no unit is stated) of its HDU EBOUNDS.
/// Throws IoError.
std::vector<EnergyBand> read_energy_bands(const std::string& path);

}  // namespace zonal::io
