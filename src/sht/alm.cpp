#include "zonal/alm.hpp"

#include <fmt/core.h>

#include "zonal/error.hpp"

namespace zonal {

AlmLayout::AlmLayout(std::int64_t lmax, std::int64_t mmax) : lmax_(lmax), mmax_(mmax) {
    // The triangle's size, about lmax^2 / 2, must stay far inside 64 bits.
    constexpr std::int64_t largest_lmax = std::int64_t{1} << 30;
    if (lmax < 0 || lmax > largest_lmax)
        throw InvalidArgument(fmt::format("lmax = {}: must be from 0 to {}", lmax, largest_lmax));
    if (mmax < 0 || mmax > lmax)
        throw InvalidArgument(fmt::format("mmax = {}: must be from 0 to lmax = {}", mmax, lmax));
}

}  // namespace zonal
