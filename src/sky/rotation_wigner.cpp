#include "sky/rotation_wigner.hpp"

#include <algorithm>
#include <cmath>

namespace zonal::sht {
namespace {

std::int64_t padded(std::int64_t count) {
    return (count + rotation_padding - 1) / rotation_padding * rotation_padding;
}

}  // namespace

WignerDegree::WignerDegree(std::int64_t lmax, double beta)
    : start_p(padded(lmax + 1)),
      scale_p(start_p.size()),
      start_n(start_p.size()),
      scale_n(start_p.size()),
      slope(lmax + 1),
      offset_p(slope.size()),
      offset_n(slope.size()),
      second(slope.size()),
      cos_beta_(std::cos(static_cast<long double>(beta))),
      one_minus_cos_beta_(2 * std::pow(std::sin(static_cast<long double>(beta) / 2), 2)),
      sin_beta_(std::sin(static_cast<long double>(beta))),
      tan_half_beta_(std::tan(static_cast<long double>(beta) / 2)),
      magnitude_(2 * lmax + 1),
      magnitude_scale_(magnitude_.size()) {}

void WignerDegree::prepare(std::int64_t degree) {
    l = degree;
    fill_rows();
    fill_start();
}

// Varshalovich et al. (1988), section 4.8.1: recurrence in m' at fixed m,
// sqrt((l+m')(l-m'+1)) d_{m'-1} = 2 (m - m' cos beta) / sin beta d_{m'} - sqrt((l-m')(l+m'+1)) d_{m'+1}.
// Downwards from m' = l to |m| it only meets values that grow and then oscillate, so it is stable. For P,
// m - m' cos beta is taken as (m - m') + m' (1 - cos beta), which loses nothing where m is close to m'.
void WignerDegree::fill_rows() {
    for (std::int64_t row = 1; row <= l; ++row) {
        const auto down = std::sqrt(static_cast<long double>((l + row) * (l - row + 1)));
        const auto up = std::sqrt(static_cast<long double>((l - row) * (l + row + 1)));
        const long double exact_slope = 2 / (sin_beta_ * down);
        slope[row] = static_cast<double>(exact_slope);
        offset_p[row] =
            static_cast<double>(exact_slope * static_cast<long double>(row) * one_minus_cos_beta_);
        offset_n[row] = static_cast<double>(-exact_slope * static_cast<long double>(row) * cos_beta_);
        second[row] = static_cast<double>(up / down);
    }
    slope[0] = offset_p[0] = offset_n[0] = second[0] = 0;
}

// |d^l_{l m}| = sqrt(C(2l, l - m)) cos^{l+m}(beta/2) sin^{l-m}(beta/2), sign (-1)^{l-m}. Its ratios are
// multiplied up from the peak, near m = l cos beta, on both sides; sum_m |d^l_{l m}|^2 = 1 gives the peak. So
// nothing is lost where the values matter.
void WignerDegree::fill_start() {
    const auto peak = std::clamp<std::int64_t>(std::llround(static_cast<long double>(l) * cos_beta_), -l, l);
    long double sum = 1;
    magnitude_[l + peak] = 1;
    magnitude_scale_[l + peak] = 0;
    auto fill = [&](std::int64_t m, long double value, double scale) {
        if (value < 0x1p-400L) {
            value *= 0x1p800L;
            scale += 1;
        }
        magnitude_[l + m] = value;
        magnitude_scale_[l + m] = scale;
        if (scale == 0) sum += value * value;
    };
    auto ratio = [](std::int64_t numerator, std::int64_t denominator) {
        return std::sqrt(static_cast<long double>(numerator) / static_cast<long double>(denominator));
    };
    for (auto m = peak; m > -l; --m)
        fill(m - 1, magnitude_[l + m] * ratio(l + m, l - m + 1) * tan_half_beta_, magnitude_scale_[l + m]);
    for (auto m = peak; m < l; ++m)
        fill(m + 1, magnitude_[l + m] * ratio(l - m, l + m + 1) / tan_half_beta_, magnitude_scale_[l + m]);
    const long double norm = 1 / std::sqrt(sum);
    for (std::int64_t m = 0; m <= l; ++m) {
        start_p[m] = static_cast<double>(((l - m) % 2 == 0 ? norm : -norm) * magnitude_[l + m]);
        start_n[m] = static_cast<double>((l % 2 == 0 ? norm : -norm) * magnitude_[l - m]);
        scale_p[m] = magnitude_scale_[l + m];
        scale_n[m] = magnitude_scale_[l - m];
    }
    for (auto m = l + 1; m < padded(l + 1); ++m) start_p[m] = start_n[m] = scale_p[m] = scale_n[m] = 0;
}

}  // namespace zonal::sht
