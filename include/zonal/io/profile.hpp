#pragma once

#include <string>
#include <vector>

namespace zonal::io {

/// The profile of a radial kernel.
struct RadialProfile {
    std::vector<double> theta{};  ///< [n], rad, ascending from 0
    std::vector<double> value{};  ///< [n], 1/sr
    std::string source{};         ///< for messages
};

/// Text of two columns, angles ascending from 0 and values, whose units stand in the last '#' line above
/// them: "# theta [deg] value [1/sr]". Angles in deg, arcmin, arcsec or rad; values per sr or deg^2. Throws
/// IoError, also for FITS files.
RadialProfile read_profile(const std::string& path);

}  // namespace zonal::io
