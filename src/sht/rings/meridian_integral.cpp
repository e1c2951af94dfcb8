#include "sht/rings/meridian_integral.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zonal::sht {
namespace {

using Complex = std::complex<double>;

double alternating(std::int64_t k) {
    return k % 2 == 0 ? 1 : -1;
}

/// exp(-2 pi i k / length), k < length: exact multiples of the angle, so that no digits are lost in products.
class Roots {
  public:
    explicit Roots(std::int64_t length) : length_(length), pairs_(static_cast<std::size_t>(2 * length)) {
        fft::write_roots(length, length, pairs_.data());
    }
    Complex operator()(std::int64_t k) const {
        const auto at = static_cast<std::size_t>(2 * (k % length_));
        return {pairs_[at], -pairs_[at + 1]};
    }
    double cosine(std::int64_t k) const { return (*this)(k).real(); }

  private:
    const std::int64_t length_;
    core::AlignedVector<double> pairs_;
};

/// Weights on the fine circle, theta_0 + 2 pi j / n, that integrate |sin theta| times a polynomial of degree
/// `length` exactly: the Fourier series of |sin theta|, 4 / (1 - q^2) for even q, up to that degree.
/// theta_0 = first pi / length, the angle of the coarse circle's first sample.
core::AlignedVector<double> fine_weights(std::int64_t first, std::int64_t length, std::int64_t n) {
    const Roots turned(2 * length);
    std::vector<Complex> series(static_cast<std::size_t>(n), 0.0);
    series[0] = 4;
    for (std::int64_t q = 2; q <= length; q += 2) {
        const auto square = static_cast<double>(q) * static_cast<double>(q);
        const Complex term = 4 / (1 - square) * turned(q * first);
        series[static_cast<std::size_t>(q)] = term;  // where n = 2 length, q and -q are one for the largest
        series[static_cast<std::size_t>(n - q)] = std::conj(term);
    }
    fft::ComplexFft fft;
    fft.prepare(n);
    fft.forward(series.data());
    core::AlignedVector<double> weights;
    weights.reserve(static_cast<std::size_t>(n));
    const auto factor =
        1 / (static_cast<double>(n) * static_cast<double>(length) * static_cast<double>(length));
    for (const Complex& value : series) weights.push_back(factor * value.real());
    return weights;
}

/// F_s at poles without rings. For |m| = s the highest coefficient of the polynomial is zero, or the highest
/// two: one condition for one pole, two for both.
std::vector<double> pole_from_rings(const EquidistantRings& rings, std::int64_t n_rings,
                                    std::int64_t n_missing, bool north) {
    std::vector<double> factors;
    factors.reserve(static_cast<std::size_t>(n_rings));
    if (n_missing == 1) {  // the north pole is a ring
        for (std::int64_t i = 0; i < n_rings; ++i)
            factors.push_back(alternating(n_rings + 1) * (i == 0 ? 1 : 2) * alternating(i));
        return factors;
    }
    // F_0 = -(S_1 + S_2), F_{n+1} = (-1)^(n+1) (S_2 - S_1), S_1 = sum (-1)^j F_j, S_2 = sum (-1)^j cos
    // theta_j F_j.
    const Roots angles(2 * rings.parts);
    for (std::int64_t i = 0; i < n_rings; ++i) {
        const double cosine = angles.cosine(2 * i + rings.first);
        factors.push_back(alternating(i + 1) *
                          (north ? -(1 + cosine) : alternating(n_rings + 1) * (cosine - 1)));
    }
    return factors;
}

}  // namespace

std::int64_t fewest_pixels(const Grid& grid) {
    std::int64_t fewest = grid.rings().front().n_pixels;
    for (const Ring& ring : grid.rings()) fewest = std::min(fewest, ring.n_pixels);
    return fewest;
}

std::int64_t meridian_lmax(const Grid& grid) {
    if (!grid.equidistant()) return -1;
    const auto [first, parts] = *grid.equidistant();
    // Where both poles are rings, sin((n - 1) theta) vanishes on all of them.
    const bool both_poles = first == 0 && parts == 2 * grid.n_rings() - 2;
    return grid.n_rings() - (both_poles ? 2 : 1);
}

bool needs_meridian_integral(const Grid& grid, std::int64_t lmax, std::int64_t mmax) {
    return lmax <= meridian_lmax(grid) && 2 * lmax > grid.exact_degree() &&
           fewest_pixels(grid) >= 2 * mmax + 1;
}

MeridianTables make_meridian_tables(const Grid& grid, const RingPairs& pairs, int spin) {
    const EquidistantRings rings = *grid.equidistant();
    const std::int64_t n = grid.n_rings(), length = rings.parts;
    MeridianTables tables;
    tables.spin = spin;
    tables.length = length;
    tables.fine_length = fft::good_length(2 * length);
    tables.weights = fine_weights(rings.first, length, tables.fine_length);
    std::vector<std::int64_t> ring_of_place;
    for (std::int64_t pair = 0; pair < std::ssize(pairs.pairs); ++pair) {
        const RingPair both = pairs.pairs[static_cast<std::size_t>(pair)];
        const std::int64_t lane = pair % block_size;
        for (const auto& [ring, offset] :
             {std::pair(both.north, lane), std::pair(both.south, 2 * block_size + lane)}) {
            if (ring < 0) {
                tables.no_rings.push_back({pair / block_size, offset, -1, -1});
                continue;
            }
            // theta_k = (2 k + first) pi / length; -theta_k is that of length - k - first.
            const std::int64_t mirror = (2 * length - ring - rings.first) % length;
            tables.places.push_back({pair / block_size, offset, ring, mirror});
            ring_of_place.push_back(ring);
        }
    }
    std::vector<std::int64_t> missing;
    if (rings.first == 2) missing.push_back(length - 1);
    if (2 * n + rings.first == length) missing.push_back(n);
    for (const std::int64_t sample : missing) {
        const auto of_rings = pole_from_rings(rings, n, static_cast<std::int64_t>(missing.size()),
                                              sample == length - 1 && rings.first == 2);
        std::vector<double> of_places;
        of_places.reserve(ring_of_place.size());
        for (const std::int64_t ring : ring_of_place)
            of_places.push_back(of_rings[static_cast<std::size_t>(ring)]);
        tables.missing.push_back({sample, std::move(of_places)});
    }
    return tables;
}

void MeridianIntegral::load(std::int64_t m, const FourierBand& band, std::int64_t field,
                            Complex* samples) const {
    const double sign = alternating(m + tables_.spin);
    const bool fills_poles = m == tables_.spin;
    for (std::size_t i = 0; i < tables_.places.size(); ++i) {
        const auto& place = tables_.places[i];
        const double* const f = band.at(place.block, m) + field * fourier_block + place.offset;
        const Complex value(f[0], f[block_size]);
        const bool is_pole = place.sample == place.mirror;
        if (!is_pole || sign > 0) samples[place.sample] += value;  // an odd function vanishes at the poles
        if (!is_pole) samples[place.mirror] += sign * value;
        if (!fills_poles) continue;
        for (const auto& pole : tables_.missing) samples[pole.sample] += pole.from_rings[i] * value;
    }
}

void MeridianIntegral::store(std::int64_t m, const FourierBand& band, std::int64_t field, double scale,
                             const Complex* samples) const {
    const double sign = alternating(m + tables_.spin);
    for (std::size_t i = 0; i < tables_.places.size(); ++i) {
        const auto& place = tables_.places[i];
        Complex value;
        if (place.sample == place.mirror)
            value = sign > 0 ? samples[place.sample] / 2.0 : 0.0;
        else
            value = (samples[place.sample] + sign * samples[place.mirror]) / 2.0;
        if (m == tables_.spin)
            for (const auto& pole : tables_.missing) value += pole.from_rings[i] * samples[pole.sample] / 2.0;
        double* const f = band.at(place.block, m) + field * fourier_block + place.offset;
        f[0] = scale * value.real();
        f[block_size] = scale * value.imag();
    }
    for (const auto& place : tables_.no_rings) {
        double* const f = band.at(place.block, m) + field * fourier_block + place.offset;
        f[0] = f[block_size] = 0;
    }
}

void MeridianIntegral::apply(std::int64_t m, std::int64_t other, const FourierBand& band, std::int64_t field,
                             double scale, Scratch& scratch) const {
    const std::int64_t n = tables_.length, n_fine = tables_.fine_length, half = n / 2;
    scratch.circle.prepare(n);
    scratch.fine.prepare(n_fine);
    scratch.samples.assign(static_cast<std::size_t>(n), 0.0);
    scratch.fine_samples.resize(static_cast<std::size_t>(n_fine));
    Complex *const z = scratch.samples.data(), *const fine = scratch.fine_samples.data();
    load(m, band, field, z);
    if (other >= 0) load(other, band, field, z);
    scratch.circle.forward(z);
    // The degrees go from -half to half. On an even circle these two are the same term, and each gets half of
    // it.
    const bool even = n % 2 == 0;
    const std::int64_t above = even ? half : half + 1;
    std::copy(z, z + above, fine);
    std::fill(fine + above, fine + n_fine - half, 0.0);
    std::copy(z + n - half, z + n, fine + n_fine - half);
    if (even) fine[half] = fine[n_fine - half] = z[half] / 2.0;
    scratch.fine.backward(fine);
    for (std::int64_t j = 0; j < n_fine; ++j) fine[j] *= tables_.weights[static_cast<std::size_t>(j)];
    scratch.fine.forward(fine);
    std::copy(fine, fine + above, z);
    std::copy(fine + n_fine - half, fine + n_fine, z + n - half);
    if (even) z[half] = (fine[half] + fine[n_fine - half]) / 2.0;
    scratch.circle.backward(z);
    store(m, band, field, scale, z);
    if (other >= 0) store(other, band, field, scale, z);
}

std::optional<const ExactRings> make_exact_rings(const Grid& grid, const RingPairs& pairs, std::int64_t lmax,
                                                 std::int64_t mmax, int spin) {
    if (!needs_meridian_integral(grid, lmax, mmax)) return std::nullopt;
    return std::optional<const ExactRings>(std::in_place, grid, pairs, mmax, spin);
}

}  // namespace zonal::sht
