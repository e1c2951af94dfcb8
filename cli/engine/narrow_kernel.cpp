#include "engine/narrow_kernel.hpp"

#include <fmt/core.h>

namespace zonal::cli {

std::string narrowness(const PixelQuadrature& quadrature) {
    return fmt::format("the kernel is so narrow that its sums over these pixels are {:.2g} off its integral",
                       quadrature.defect());
}

}  // namespace zonal::cli
