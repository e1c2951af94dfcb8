#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"
#include "zonal/mask.hpp"

/// Formulas of maps' pixels that the CPU and the CUDA backend share.
namespace zonal::sht {

/// The same as is_unseen_value, which is for the host alone.
ZONAL_HOST_DEVICE inline bool is_unseen_pixel(double value) {
    return std::fabs(value - unseen_value) <= unseen_tolerance;
}

/// Share of a pixel that counts by the mask alone; right if is_share.
template <class T>
ZONAL_HOST_DEVICE T share_of_mask(T mask) {
    return is_unseen_pixel(mask) ? T(0) : mask;
}
template <class T>
ZONAL_HOST_DEVICE bool is_share(T share) {
    return share >= 0 && share <= 1;
}

/// What counts of a pixel.
template <class T>
ZONAL_HOST_DEVICE T times_share(T value, T share) {
    return share == 0 ? T(0) : value * share;
}

/// A renormalised pixel: divided by what the kernel makes of the shares around it, which is below 0 where the
/// kernel's integral is, and UNSEEN where that is smaller than `least`, or nothing of nothing.
template <class T>
ZONAL_HOST_DEVICE T over_share(T value, T share, double least) {
    return std::fabs(share) >= least && share != 0 ? value / share : static_cast<T>(unseen_value);
}

/// Index of the pixel of a ring nearest to longitude phi.
ZONAL_HOST_DEVICE inline std::int64_t nearest_on_ring(double phi, double phi_0, std::int64_t n_pixels) {
    constexpr double turn = 6.283185307179586476925286766559;
    const auto n = static_cast<double>(n_pixels);
    const auto nearest = static_cast<std::int64_t>(std::llround((phi - phi_0) / turn * n)) % n_pixels;
    return (nearest + n_pixels) % n_pixels;
}

/// Longitude of pixel k of a ring.
ZONAL_HOST_DEVICE inline double longitude(double phi_0, std::int64_t k, std::int64_t n_pixels) {
    constexpr double turn = 6.283185307179586476925286766559;
    return phi_0 + turn * static_cast<double>(k) / static_cast<double>(n_pixels);
}

}  // namespace zonal::sht
