#pragma once

#include <string>

#include "engine/quadrature_error.hpp"

namespace zonal::cli {

/// Why there is no sum over pixels: "the kernel is so narrow that ..."
std::string narrowness(const PixelQuadrature& quadrature);

}  // namespace zonal::cli
