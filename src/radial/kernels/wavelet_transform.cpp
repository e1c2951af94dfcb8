#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/wavelets.hpp"

namespace zonal {
namespace {

using Complex = std::complex<double>;

template <class Alm, class Scales>
void check(const AlmLayout& layout, const std::vector<std::vector<double>>& windows, const Alm& alm,
           const Scales& scales) {
    sht::check_extent("alm", alm, 0, "coefficient", layout.size());
    sht::check_extent("scales", scales, 0, "scale", std::ssize(windows));
    sht::check_extent("scales", scales, 1, "coefficient", layout.size());
    sht::check_contiguous("alm", alm);
    sht::check_contiguous("scales", scales);
}

}  // namespace

void wavelet_transform(const AlmLayout& layout, const std::vector<std::vector<double>>& windows,
                       View<const Complex, 1> alm, View<Complex, 2> scales) {
    check(layout, windows, alm, scales);
    for (std::int64_t scale = 0; scale < scales.extent(0); ++scale) {
        std::copy_n(alm.data(), alm.size(), scales[scale].data());
        multiply_alm<double>(layout, windows[static_cast<std::size_t>(scale)], scales[scale]);
    }
}

void inverse_wavelet_transform(const AlmLayout& layout, const std::vector<std::vector<double>>& windows,
                               View<const Complex, 2> scales, View<Complex, 1> alm) {
    check(layout, windows, alm, scales);
    std::fill_n(alm.data(), alm.size(), Complex(0));
    Array<Complex, 1> part({layout.size()});
    for (std::int64_t scale = 0; scale < scales.extent(0); ++scale) {
        std::copy_n(scales[scale].data(), part.size(), part.data());
        multiply_alm<double>(layout, windows[static_cast<std::size_t>(scale)], part.view());
        for (std::int64_t i = 0; i < part.size(); ++i) alm[i] += part(i);
    }
}

}  // namespace zonal
