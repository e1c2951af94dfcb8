#include "sht/rings/ring_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zonal::sht {
namespace {

/// Stands for log2 0: far below anything that a product of matrix elements can raise to a visible size.
constexpr long double log2_of_zero = -1e6L;

long double log2_or_floor(long double value) {
    return value > 0 ? std::max(std::log2(value), log2_of_zero) : log2_of_zero;
}

/// Northern rings by colatitude with their southern mirrors: the same |cos theta|, sin theta and pixel count.
std::vector<RingPair> paired(const Grid& grid) {
    const auto& rings = grid.rings();
    std::vector<std::int64_t> order(rings.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    auto before = [&](std::int64_t a, std::int64_t b) {
        const Ring &x = rings[a], &y = rings[b];
        const double cos_x = std::abs(x.cos_theta), cos_y = std::abs(y.cos_theta);
        // By latitude; where one of the two has lost digits, the other decides.
        if (x.sin_theta != y.sin_theta) return x.sin_theta < y.sin_theta;
        if (cos_x != cos_y) return cos_x > cos_y;
        if (x.n_pixels != y.n_pixels) return x.n_pixels < y.n_pixels;
        if (x.cos_theta != y.cos_theta) return x.cos_theta > y.cos_theta;
        return a < b;
    };
    std::sort(order.begin(), order.end(), before);
    auto mirrors = [&](const Ring& x, const Ring& y) {
        return x.cos_theta > 0 && y.cos_theta == -x.cos_theta && x.sin_theta == y.sin_theta &&
               x.n_pixels == y.n_pixels;
    };
    std::vector<RingPair> pairs;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto ring = order[i];
        if (i + 1 < order.size() && mirrors(rings[ring], rings[order[i + 1]])) {
            pairs.push_back({ring, order[++i]});
        } else if (rings[ring].cos_theta >= 0) {
            pairs.push_back({ring, -1});
        } else {
            pairs.push_back({-1, ring});
        }
    }
    return pairs;
}

}  // namespace

void LogTable::push_back(long double value) {
    high.push_back(static_cast<float>(value));
    low.push_back(static_cast<double>(value - high.back()));
}

double pruning_bound(double lmax, int spin, double sin_theta, double cos_theta) {
    const double s_cos = spin * std::abs(cos_theta);
    const double t = lmax * sin_theta + 11 * std::cbrt(lmax * sin_theta * cos_theta * cos_theta) + 6;
    return s_cos + std::sqrt(s_cos * s_cos - double(spin) * spin + t * t);
}

double scalar_sine(int spin) {
    return spin <= 2 ? polar_sine(spin) : std::pow(100, -1.0 / spin);
}

RingPairs::RingPairs(const Grid& grid, std::int64_t lmax, std::int64_t mmax, int spin) : pairs(paired(grid)) {
    while (pairs.size() % block_size != 0) pairs.push_back({-1, -1});
    const Ring* ring = nullptr;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto index = pairs[i].north >= 0 ? pairs[i].north : pairs[i].south;
        if (index >= 0) ring = &grid.rings()[index];
        // The smaller one of cosine and sine carries the angle to full precision; the other follows.
        long double c = std::abs(ring->cos_theta), s = ring->sin_theta;
        if (c < s)
            s = std::sqrt((1 - c) * (1 + c));
        else
            c = std::sqrt((1 - s) * (1 + s));
        const long double one_minus_cos = s * s / (1 + c);
        cos_theta.push_back(static_cast<double>(c));
        cos2_theta.push_back(static_cast<double>(c * c));
        h.push_back(static_cast<double>(one_minus_cos));
        sin_theta.push_back(static_cast<double>(s));
        log2_sin.push_back(log2_or_floor(s));
        log2_cos_half.push_back(log2_or_floor((1 + c) / 2) / 2);
        log2_sin_half.push_back(log2_or_floor(one_minus_cos / 2) / 2);
        // Never falls from one block to the next, as the transforms look blocks up by it.
        if (i % block_size == 0) last_m.push_back(last_m.empty() ? 0 : last_m.back());
        const double bound =
            std::ceil(pruning_bound(static_cast<double>(lmax), spin, sin_theta[i], cos_theta[i]));
        last_m.back() = std::max(last_m.back(), static_cast<std::int64_t>(std::min<double>(bound, mmax)));
        const auto block = static_cast<std::int64_t>(i / block_size);
        if (s < polar_sine(spin)) end_polar = block + 1;
        if (s < scalar_sine(spin)) first_scalar = block + 1;
        // The block at the boundary counts as equatorial when its first ring does.
        if (c >= equatorial_cosine) first_equatorial = block + 1;
    }
    first_equatorial = std::max(first_equatorial, end_polar);
    // A step from spin to spin costs about what half a block saves.
    if (spin > 2 && 2 * (n_blocks() - first_scalar) < spin) first_scalar = n_blocks();
}

RingPairs RingPairs::with_all_orders(std::int64_t mmax) const {
    RingPairs all = *this;
    std::fill(all.last_m.begin(), all.last_m.end(), mmax);
    return all;
}

std::int64_t RingPairs::n_pairs() const {
    auto count = static_cast<std::int64_t>(pairs.size());
    while (count > 0 && pairs[count - 1].north < 0 && pairs[count - 1].south < 0) --count;
    return count;
}

double RingPairs::legendre_flops(std::int64_t lmax, int components) const {
    double kept = 0;
    for (const std::int64_t m : last_m)
        kept += block_size * static_cast<double>(m + 1) *
                (static_cast<double>(lmax + 1) - static_cast<double>(m) / 2);
    return kept * (components == 1 ? 6 : 10);
}

}  // namespace zonal::sht
