#include <gtest/gtest.h>

#include <functional>
#include <numbers>

#include "sht/rings/ring_stage.hpp"
#include "sht_helpers.hpp"

// The Fourier stage of one block of rings against the sums as they are written.
namespace zonal::test {
namespace {

using sht::block_size, sht::fourier_block;

/// Rings with fewer, as many and more pixels than modes, or all of one length; pairs with equal and other
/// first longitudes, rings without a mirror, and lanes without any ring.
Grid grid(std::int64_t length) {
    std::vector<Ring> rings;
    std::int64_t next = 0;
    const auto pixels = [&](std::int64_t n) { return length > 0 ? length : n; };
    for (const std::int64_t n : {1, 2, 5, 30, 211}) {
        rings.push_back(make_ring(0.4 + 0.01 * static_cast<double>(rings.size()), 0.7, 1.5, pixels(n), next));
        rings.push_back(mirrored(rings.back(), n == 5 ? 0.7 : -1.3, next + pixels(n)));
        next += 2 * pixels(n);
    }
    rings.push_back(make_ring(0.9, 0.2, 0.5, pixels(12), next));
    rings.push_back(make_ring(2.3, 0.2, 1, pixels(9), next + pixels(12)));
    return Grid(rings);
}

/// F_m of the only block, in memory of the test's own.
sht::FourierBand whole_band(const sht::RingPairs& pairs, std::vector<double>& fourier) {
    sht::FourierBand band(pairs, 0, 1, 1);
    EXPECT_EQ(band.size(), static_cast<std::int64_t>(fourier.size()));
    band.data = fourier.data();
    return band;
}

/// By the length of all rings; 0: each has its own.
class RingStage : public ::testing::TestWithParam<std::int64_t> {
  protected:
    static constexpr std::int64_t mmax = 24;
    /// Sums of at most 211 values of order 1, rms 15, each rounded a few times on its way through an FFT of
    /// some ten levels; 4 standard deviations.
    static constexpr double rounding_of_sums = 15 * 10 * 4 * eps / 2;
    const Grid rings = grid(GetParam());
    const sht::RingPairs pairs{rings, mmax, mmax, 0};
    sht::RingScratch scratch;
    const sht::RingBlock block{rings.rings(), pairs, 0, pairs.last_m[0], scratch};
    std::vector<double> fourier = std::vector<double>((mmax + 1) * fourier_block);
    const sht::FourierBand band = whole_band(pairs, fourier);

    /// Real or imaginary part (part = 0 or 1) of F_m of one ring of a lane's pair (side = 0 north, 1 south).
    double& mode(std::int64_t m, std::int64_t lane, int side, int part) {
        return fourier[m * fourier_block + (2 * side + part) * block_size + lane];
    }
    const Ring* ring(std::int64_t lane, int side) const {
        return side == 0 ? block.north[lane] : block.south[lane];
    }
    /// exp(i m phi) of the ring's pixel k, to more than double's rounding.
    std::complex<long double> wave(std::int64_t lane, int side, std::int64_t k, std::int64_t m) const {
        const Ring& r = *ring(lane, side);
        const long double step = 2 * std::numbers::pi_v<long double> / static_cast<long double>(r.n_pixels);
        return std::polar(1.0L, static_cast<long double>(m) * (r.phi_0 + step * static_cast<long double>(k)));
    }
    double* part(std::int64_t lane, std::int64_t k, int side) const {
        if (block.rows != nullptr) return block.rows->data() + (2 * k + side) * block_size + lane;
        return reinterpret_cast<double*>(block.sequence[lane] + k) + side;
    }
    Complex element(std::int64_t lane, std::int64_t k) const {
        return {*part(lane, k, 0), *part(lane, k, 1)};
    }
    void set_element(std::int64_t lane, std::int64_t k, Complex value) const {
        *part(lane, k, 0) = value.real();
        *part(lane, k, 1) = value.imag();
    }
    void fill_fourier(unsigned seed) {
        std::mt19937_64 generator(seed);
        std::normal_distribution<double> normal;
        for (double& value : fourier) value = normal(generator);
    }
};

TEST_P(RingStage, PairsMirrorImagesOnly) {
    int both = 0, alone = 0, empty = 0;
    for (std::int64_t lane = 0; lane < block_size; ++lane) {
        const int present = (ring(lane, 0) != nullptr) + (ring(lane, 1) != nullptr);
        ++(present == 2 ? both : present == 1 ? alone : empty);
        EXPECT_EQ(block.n_pixels[lane] == 0, present == 0);
    }
    EXPECT_EQ(both, 5);
    EXPECT_EQ(alone, 2);
    EXPECT_EQ(empty, 1);
    EXPECT_EQ(block.last_m, mmax);
    EXPECT_EQ(block.rows != nullptr, GetParam() > 0);
}

// f(phi_k) = F_0 + 2 Re sum_m F_m exp(i m phi_k)
TEST_P(RingStage, SynthesisIsTheSumOverModes) {
    fill_fourier(1);
    fold_modes(block, band, 0);
    transform(block);
    for (std::int64_t lane = 0; lane < block_size; ++lane) {
        const std::int64_t n = block.n_pixels[lane];
        for (const int side : {0, 1}) {
            if (ring(lane, side) == nullptr) continue;
            for (std::int64_t k = 0; k < n; ++k) {
                long double sum = mode(0, lane, side, 0);
                for (std::int64_t m = 1; m <= mmax; ++m) {
                    const Complex f_m(mode(m, lane, side, 0), mode(m, lane, side, 1));
                    sum += 2 * (std::complex<long double>(f_m) * wave(lane, side, k, m)).real();
                }
                const Complex z = element(lane, k);
                EXPECT_NEAR(side == 0 ? z.real() : z.imag(), sum, rounding_of_sums) << "pixels " << n;
            }
        }
    }
}

// F_m = sum_k f_k exp(-i m phi_k)
TEST_P(RingStage, AdjointIsTheSumOverPixels) {
    std::vector<std::vector<Complex>> pixels(block_size);
    std::mt19937_64 generator(2);
    std::normal_distribution<double> normal;
    for (std::int64_t lane = 0; lane < block_size; ++lane) {
        for (std::int64_t k = 0; k < block.n_pixels[lane]; ++k) {
            const double north = ring(lane, 0) != nullptr ? normal(generator) : 0;
            const double south = ring(lane, 1) != nullptr ? normal(generator) : 0;
            pixels[lane].emplace_back(north, south);
            set_element(lane, k, pixels[lane].back());
        }
    }
    transform(block);
    unfold_modes(block, band, 0);
    for (std::int64_t lane = 0; lane < block_size; ++lane)
        for (const int side : {0, 1}) {
            if (ring(lane, side) == nullptr) continue;
            const std::int64_t n = block.n_pixels[lane];
            for (std::int64_t m = 0; m <= mmax; ++m) {
                std::complex<long double> sum = 0;
                for (std::int64_t k = 0; k < n; ++k) {
                    const Complex z = pixels[lane][k];
                    const long double pixel = side == 0 ? z.real() : z.imag();
                    sum += pixel * std::conj(wave(lane, side, k, m));
                }
                EXPECT_NEAR(mode(m, lane, side, 0), sum.real(), rounding_of_sums)
                    << "pixels " << n << " m " << m;
                EXPECT_NEAR(mode(m, lane, side, 1), sum.imag(), rounding_of_sums)
                    << "pixels " << n << " m " << m;
            }
        }
}

/// <fold x, y> = <x, unfold y>, which takes y in reverse as the backward FFT leaves it, in the inner products
/// of real pixels and of modes that stand for +-m.
TEST_P(RingStage, UnfoldIsTheTransposeOfFold) {
    fill_fourier(3);
    for (std::int64_t lane = 0; lane < block_size; ++lane)
        for (const int side : {0, 1}) mode(0, lane, side, 1) = 0;  // F_0 is real
    const std::vector<double> x = fourier;
    fold_modes(block, band, 0);
    std::mt19937_64 generator(4);
    std::normal_distribution<double> normal;
    double image = 0, preimage = 0;
    for (std::int64_t lane = 0; lane < block_size; ++lane)
        for (std::int64_t k = 0; k <= block.n_pixels[lane] / 2; ++k) {
            if (block.n_pixels[lane] == 0) continue;
            const std::int64_t mirror = (block.n_pixels[lane] - k) % block.n_pixels[lane];
            const Complex z[2] = {element(lane, k), element(lane, mirror)};
            for (int i = 0; i < (k == mirror ? 1 : 2); ++i) {
                const double re = normal(generator), im = normal(generator);
                image += z[i].real() * re + z[i].imag() * im;
                set_element(lane, i == 0 ? mirror : k, {re, im});
            }
        }
    unfold_modes(block, band, 0);
    for (std::int64_t m = 0; m <= mmax; ++m)
        for (std::int64_t k = 0; k < fourier_block; ++k) {
            if (block.n_pixels[k % block_size] == 0) continue;
            preimage += (m == 0 ? 1 : 2) * x[m * fourier_block + k] * fourier[m * fourier_block + k];
        }
    // Nothing is transformed: terms of order 1 to 10, each rounded a few times.
    EXPECT_NEAR(image, preimage, 2 * rounding_of_sums);
}

/// Where the F_m lie makes no difference: in runs of some orders each, as ranks send them, or all in one.
TEST_P(RingStage, TakesModesFromAnyRuns) {
    fill_fourier(5);
    sht::FourierBand runs(pairs, 0, 1, 1, {{1, 4, 24}, {}, {0, 2, 3}, [] {
                                               std::vector<std::int64_t> rest;
                                               for (std::int64_t m = 5; m < mmax; ++m) rest.push_back(m);
                                               return rest;
                                           }()});
    std::vector<double> scattered(runs.size());
    ASSERT_EQ(scattered.size(), fourier.size());
    runs.data = scattered.data();
    for (std::int64_t m = 0; m <= mmax; ++m) std::copy_n(band.at(0, m), fourier_block, runs.at(0, m));
    const auto sequences = [&](const sht::FourierBand& from) {
        fold_modes(block, from, 0);
        std::vector<Complex> all;
        for (std::int64_t j = 0; j < block_size; ++j)
            for (std::int64_t k = 0; k < block.n_pixels[j]; ++k) all.push_back(element(j, k));
        return all;
    };
    EXPECT_EQ(sequences(band), sequences(runs));
    std::fill(scattered.begin(), scattered.end(), 0.0);
    unfold_modes(block, band, 0);
    unfold_modes(block, runs, 0);
    for (std::int64_t m = 0; m <= mmax; ++m)
        EXPECT_TRUE(std::equal(band.at(0, m), band.at(0, m) + fourier_block, runs.at(0, m))) << m;
}

/// Sequences become the pixels of their rings, weighted pixels, and weighted differences from a map.
template <class T>
void expect_pixels(const sht::RingBlock& block, const Grid& rings,
                   const std::function<double*(std::int64_t, std::int64_t, int)>& part) {
    std::mt19937_64 generator(6);
    std::normal_distribution<double> normal;
    const auto for_each = [&](const auto& check) {
        for (std::int64_t lane = 0; lane < block_size; ++lane)
            for (std::int64_t k = 0; k < block.n_pixels[lane]; ++k)
                for (const int side : {0, 1})
                    check(*part(lane, k, side), side == 0 ? block.north[lane] : block.south[lane], k);
    };
    std::vector<T> map(rings.n_pixels(), T(7));
    const View<T, 1> view(map.data(), {rings.n_pixels()});
    for_each([&](double& z, const Ring*, std::int64_t) { z = normal(generator); });
    sht::write_rings<T>(block, view);
    for_each([&](double z, const Ring* ring, std::int64_t k) {
        if (ring == nullptr) return;
        EXPECT_EQ(map[ring->first_pixel + k], static_cast<T>(z));
    });
    for (T& pixel : map) pixel = static_cast<T>(normal(generator));
    std::vector<double> before;
    for_each([&](double& z, const Ring*, std::int64_t) { before.push_back(z); });
    sht::subtract_from_rings<T>(block, view);
    std::size_t i = 0;
    for_each([&](double z, const Ring* ring, std::int64_t k) {
        const double was = before[i++];
        EXPECT_EQ(z, ring == nullptr ? 0 : ring->weight * (map[ring->first_pixel + k] - was));
    });
    for (const bool weighted : {false, true}) {
        sht::read_rings<T>(block, view, weighted);
        for_each([&](double z, const Ring* ring, std::int64_t k) {
            EXPECT_EQ(z, ring == nullptr ? 0 : (weighted ? ring->weight : 1) * map[ring->first_pixel + k]);
        });
    }
}

TEST_P(RingStage, TakesAndGivesThePixelsOfItsRings) {
    const auto at = [this](std::int64_t lane, std::int64_t k, int side) { return part(lane, k, side); };
    expect_pixels<double>(block, rings, at);
    expect_pixels<float>(block, rings, at);
}

INSTANTIATE_TEST_SUITE_P(Lengths, RingStage, ::testing::Values(0, 1, 5, 30, 48, 49, 64, 211),
                         ::testing::PrintToStringParamName());

/// m phi_0 has many turns at high orders and keeps its digits.
TEST(RingPhases, AreExactAtHighOrders) {
    constexpr std::int64_t mmax = 20000;
    for (const double phi_0 : {std::numbers::pi / 4096, 3.0, -0.1}) {
        const Grid rings({make_ring(std::numbers::pi / 2, phi_0, 1, 1, 0)});
        const sht::RingPairs pairs(rings, mmax, mmax, 0);
        sht::RingScratch scratch;
        const sht::RingBlock block(rings.rings(), pairs, 0, pairs.last_m[0], scratch);
        std::vector<double> fourier((mmax + 1) * fourier_block);
        const sht::FourierBand band = whole_band(pairs, fourier);
        block.sequence[0][0] = 1;
        unfold_modes(block, band, 0);
        for (std::int64_t m = 0; m <= mmax; m += 7) {
            const auto exact =
                std::polar(1.0L, -static_cast<long double>(m) * static_cast<long double>(phi_0));
            ASSERT_NEAR(fourier[m * fourier_block], exact.real(), 3 * eps) << m;
            ASSERT_NEAR(fourier[m * fourier_block + block_size], exact.imag(), 3 * eps) << m;
        }
    }
}

}  // namespace
}  // namespace zonal::test
