#include "zonal/spectra/pseudo_spectra.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <cmath>
#include <numbers>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "spectra/masked_sky.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {

void masked::check_mask(const Grid& grid, const View<const double, 1>& mask) {
    sht::check_host("mask", mask);
    sht::check_extent("mask", mask, 0, "pixel", grid.n_pixels());
    for (std::int64_t p = 0; p < mask.extent(0); ++p)
        if (!std::isfinite(mask[p]) || is_unseen_value(mask[p]))
            throw InvalidArgument(fmt::format("mask[{}]", p), mask[p],
                                  "must be a finite number, 0 where the sky is not seen");
}

void masked_harmonics(const Grid& grid, View<const double, 2> maps, View<const double, 1> mask,
                      std::int64_t lmax, View<std::complex<double>, 2> alm, int threads, Device device) {
    sht::check_host("maps", maps);
    const std::int64_t components = maps.extent(0), n_pixels = grid.n_pixels();
    if (components != 1 && components != 2)
        throw InvalidArgument(
            "maps", fmt::format("axis 0 (component) has length {}: must be 1, or 2 for Q and U", components));
    sht::check_extent("maps", maps, 1, "pixel", n_pixels);
    const bool has_mask = mask.size() > 0;
    if (has_mask) masked::check_mask(grid, mask);
    sht::check_extent("alm", alm, 0, "component", components);
    sht::check_extent("alm", alm, 1, "coefficient", AlmLayout(lmax).size());
    sht::check_contiguous("alm", alm);
    Array<double, 3> products({1, components, n_pixels});
    for (std::int64_t c = 0; c < components; ++c)
        for (std::int64_t p = 0; p < n_pixels; ++p) {
            const double weight = has_mask ? mask[p] : 1, value = maps(c, p);
            if (weight == 0) continue;
            if (!std::isfinite(value) || is_unseen_value(value))
                throw InvalidArgument(
                    fmt::format("maps[{}, {}]", c, p), value,
                    has_mask ? "must be a finite number where the mask is not 0: set the mask to 0 there"
                             : "must be a finite number: give a mask that is 0 there");
            products(0, c, p) = weight * value;
        }
    masked::plain_sums(grid, products.view(), lmax,
                       {alm.data(), {1, components, alm.extent(1)}, {0, alm.stride(0), 1}}, threads, device);
}

Array<double, 3> cross_spectra(const AlmLayout& layout, View<const std::complex<double>, 2> alm,
                               int threads) {
    sht::check_host("alm", alm);
    sht::check_extent("alm", alm, 1, "coefficient", layout.size());
    const std::int64_t n = alm.extent(0), lmax = layout.lmax();
    Array<double, 3> spectra({n, n, lmax + 1});
    core::parallel_for(lmax + 1, core::resolve_threads(threads), [&](std::int64_t task, int) {
        const std::int64_t l = lmax - task, orders = std::min(l, layout.mmax()) + 1;
        // Real and imaginary parts, of which those of m and of -m are as large.
        Eigen::MatrixXd parts(static_cast<Eigen::Index>(2 * orders), static_cast<Eigen::Index>(n));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t m = 0; m < orders; ++m) {
                const auto value = alm(i, layout.index(l, m)) * (m == 0 ? 1.0 : std::numbers::sqrt2);
                parts(static_cast<Eigen::Index>(2 * m), static_cast<Eigen::Index>(i)) = value.real();
                // a_l0 is real in a real field
                parts(static_cast<Eigen::Index>(2 * m + 1), static_cast<Eigen::Index>(i)) =
                    m == 0 ? 0 : value.imag();
            }
        const Eigen::MatrixXd products = parts.transpose() * parts / static_cast<double>(2 * l + 1);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                spectra(i, j, l) = products(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    });
    return spectra;
}

double white_noise_spectrum(const Grid& grid, View<const double, 1> mask, View<const double, 1> variance) {
    masked::check_mask(grid, mask);
    sht::check_host("variance", variance);
    sht::check_extent("variance", variance, 0, "pixel", grid.n_pixels());
    double sum = 0;
    for (const Ring& ring : grid.rings())
        for (std::int64_t p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p) {
            const double weight = ring.weight * mask[p];
            if (weight == 0) continue;
            if (!std::isfinite(variance[p]) || variance[p] < 0)
                throw InvalidArgument(fmt::format("variance[{}]", p), variance[p],
                                      "must be a finite number, 0 or more, where the mask is not 0");
            sum += weight * weight * variance[p];
        }
    return sum / (4 * std::numbers::pi);
}

}  // namespace zonal
