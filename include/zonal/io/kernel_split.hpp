#pragma once

#include <string>
#include <vector>

#include "zonal/io/header.hpp"

namespace zonal::io {

/// A kernel split between harmonic and pixel space, as a file holds it.
struct KernelSplitFile {
    std::vector<double> window{};          ///< [lmax + 1], of the harmonic part, 0 above l_cut
    std::vector<double> profile_window{};  ///< [lmax + 1], of the profile
    std::vector<double> kernel{};          ///< [lmax + 1], of the kernel that was split
    std::vector<double> theta{};           ///< [samples], rad, ascending from 0
    std::vector<double> profile{};         ///< [samples], in 1/sr
    std::vector<double> knots{};           ///< of the spline that the profile is, rad
    std::vector<double> coefficients{};    ///< [knots - 3], in 1/sr, see zonal::SplineProfile
    std::vector<HeaderCard> cards{};       ///< of the first HDU
};

/// FITS: HDU 1 WINDOW is a beam file of one column, TEMPERATURE; HDU 2 PROFILE has the columns THETA and
/// PROFILE; HDU 3 SPLINE has KNOT and COEFFICIENT (three 0 at its end); HDU 4 KERNEL has KERNEL and
/// PROFILE_WINDOW, row = l.
void write_kernel_split(const std::string& path, const KernelSplitFile& file,
                        const WriteOptions& options = {});

}  // namespace zonal::io
