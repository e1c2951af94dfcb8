#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backend/cuda_helpers.cuh"
#include "zonal/spectra/coupling.hpp"
#include "zonal/spectra/estimate.hpp"
#include "zonal/spectra/purification.hpp"

// Coupling matrices and band powers on a GPU beside those of the CPU.
namespace zonal::test {
namespace {

using Kinds = std::vector<CouplingKind>;
const Kinds all_kinds = {CouplingKind::minus, CouplingKind::spin02, CouplingKind::spin00, CouplingKind::plus};

/// Positive and falling, so that no sum but that of spin02 has terms of both signs.
Array<double, 2> mask_spectra(std::int64_t n_masks, std::int64_t degrees, double slope) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> factor(0.5, 1);
    Array<double, 2> spectra({n_masks, degrees});
    for (std::int64_t mask = 0; mask < n_masks; ++mask)
        for (std::int64_t l = 0; l < degrees; ++l)
            spectra(mask, l) = factor(random) * std::exp(-slope * static_cast<double>(l));
    return spectra;
}

Array<double, 4> matrices(const Array<double, 2>& spectra, const Kinds& kinds, std::int64_t lmax,
                          Device device) {
    Array<double, 4> found({spectra.extent(0), std::ssize(kinds), lmax + 1, lmax + 1});
    std::fill_n(found.data(), found.size(), std::numeric_limits<double>::quiet_NaN());
    coupling_matrices(spectra.view(), kinds, found.view(), 0, device);
    return found;
}

/// Roundings of an element: half an epsilon for each addition in a row of them, of at most n_terms and then
/// of its totals there, of all terms on one lane here, and 30 of a term's own and its factors'. By
/// Cauchy-Schwarz (M00 M++)^1/2 is at least what the terms of M02 add up to without signs.
void expect_equal(const Array<double, 4>& found, const Array<double, 4>& expected, const Kinds& kinds) {
    const auto lmax = expected.extent(2) - 1;
    const double bound = std::numeric_limits<double>::epsilon() / 2 *
                         (2 * 30.0 + 128 + lmax / 128.0 + static_cast<double>(lmax));
    const auto place = [&](CouplingKind kind) {
        return std::find(kinds.begin(), kinds.end(), kind) - kinds.begin();
    };
    for (std::int64_t mask = 0; mask < expected.extent(0); ++mask)
        for (std::int64_t k = 0; k < expected.extent(1); ++k)
            for (std::int64_t l = 0; l <= lmax; ++l)
                for (std::int64_t p = 0; p <= lmax; ++p) {
                    const double right = expected(mask, k, l, p);
                    const bool is_signed = kinds[static_cast<std::size_t>(k)] == CouplingKind::spin02;
                    const double scale = is_signed
                                             ? std::sqrt(expected(mask, place(CouplingKind::spin00), l, p) *
                                                         expected(mask, place(CouplingKind::plus), l, p))
                                             : std::abs(right);
                    ASSERT_LE(std::abs(found(mask, k, l, p) - right), bound * scale)
                        << "mask " << mask << " kind " << k << " l " << l << " l' " << p;
                }
}

class CouplingOnCuda : public OnCuda {};

TEST_F(CouplingOnCuda, EqualsTheCpu) {
    for (const std::int64_t lmax : {0, 1, 2, 5, 127, 128, 129, 420})
        for (const std::int64_t degrees : {std::int64_t{1}, lmax + 3, 2 * lmax + 1, 2 * lmax + 9}) {
            SCOPED_TRACE(testing::Message() << "lmax " << lmax << " degrees " << degrees);
            const auto spectra = mask_spectra(2, degrees, 0.02);
            expect_equal(matrices(spectra, all_kinds, lmax, Device::cuda()),
                         matrices(spectra, all_kinds, lmax, Device::cpu()), all_kinds);
        }
}

TEST_F(CouplingOnCuda, IsRightFarOffTheDiagonal) {
    const auto spectra = mask_spectra(1, 2 * 60 + 1, 1.0);
    const auto expected = matrices(spectra, all_kinds, 60, Device::cpu());
    ASSERT_LT(expected(0, 2, 2, 60), 1e-20 * expected(0, 2, 2, 2));
    expect_equal(matrices(spectra, all_kinds, 60, Device::cuda()), expected, all_kinds);
}

TEST_F(CouplingOnCuda, MakesWhatIsAskedForAndNothingElse) {
    const std::int64_t lmax = 150;
    const auto spectra = mask_spectra(3, 2 * lmax + 1, 0.02);
    const auto all = matrices(spectra, all_kinds, lmax, Device::cuda());
    for (const Kinds& kinds : {Kinds{CouplingKind::minus}, Kinds{CouplingKind::spin00},
                               Kinds{CouplingKind::spin02}, Kinds{CouplingKind::plus, CouplingKind::minus},
                               Kinds{CouplingKind::minus, CouplingKind::spin00, CouplingKind::minus}}) {
        const auto some = matrices(spectra, kinds, lmax, Device::cuda());
        for (std::int64_t mask = 0; mask < 3; ++mask)
            for (std::size_t k = 0; k < kinds.size(); ++k) {
                const auto in_all =
                    std::find(all_kinds.begin(), all_kinds.end(), kinds[k]) - all_kinds.begin();
                for (std::int64_t l = 0; l <= lmax; ++l)
                    for (std::int64_t p = 0; p <= lmax; ++p)
                        ASSERT_EQ(some(mask, static_cast<std::int64_t>(k), l, p), all(mask, in_all, l, p));
            }
    }
}

TEST_F(CouplingOnCuda, WritesMatricesInItsMemoryAndNothingBesideThem) {
    const std::int64_t lmax = 70, row = lmax + 4;
    const auto spectra = mask_spectra(2, 2 * lmax + 1, 0.02);
    const Kinds kinds = {CouplingKind::spin00, CouplingKind::plus};
    const auto expected = matrices(spectra, kinds, lmax, Device::cuda());
    const Array<double, 3> before({4, lmax + 1, row});
    const OnDevice<double> there(before);
    coupling_matrices(spectra.view(), kinds,
                      View<double, 4>(there.memory.data(), {2, 2, lmax + 1, lmax + 1},
                                      {2 * (lmax + 1) * row, (lmax + 1) * row, row, 1}, MemorySpace::cuda),
                      0, Device::cuda());
    const auto found = there.host();
    for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t l = 0; l <= lmax; ++l)
            for (std::int64_t p = 0; p < row; ++p)
                ASSERT_EQ(found(i, l, p), p <= lmax ? expected(i / 2, i % 2, l, p) : 0);
}

TEST_F(CouplingOnCuda, RefusesWhatItCannotWriteTo) {
    const auto spectra = mask_spectra(1, 9, 0.1);
    Array<double, 4> host({1, 1, 5, 6});
    const View<double, 4> apart(host.data(), {1, 1, 5, 5}, {30, 30, 6, 1});
    EXPECT_THROW(coupling_matrices(spectra.view(), {CouplingKind::plus}, apart, 0, Device::cuda()),
                 InvalidArgument);
    const View<double, 4> false_place(host.data(), {1, 1, 5, 5}, MemorySpace::cuda);
    EXPECT_THROW(coupling_matrices(spectra.view(), {CouplingKind::plus}, false_place, 0, Device::cuda()),
                 InvalidArgument);
    EXPECT_THROW(coupling_matrices(spectra.view(), {CouplingKind::plus}, false_place, 0, Device::cpu()),
                 InvalidArgument);
}

TEST_F(CouplingOnCuda, ServesPureSpectra) {
    const std::int64_t lmax = 90;
    const auto spectra = mask_spectra(1, 2 * lmax + 1, 0.05);
    const std::vector<PureCouplingKind> kinds = {PureCouplingKind::scalar_pure, PureCouplingKind::pure_pure};
    Array<double, 4> found({1, 2, lmax + 1, lmax + 1}), expected(found.extents());
    pure_coupling_matrices(spectra.view(), kinds, found.view(), 0, Device::cuda());
    pure_coupling_matrices(spectra.view(), kinds, expected.view());
    expect_equal(found, expected, {CouplingKind::spin00, CouplingKind::plus});
}

TEST_F(CouplingOnCuda, ServesBandPowers) {
    const auto grid = Grid::healpix(16);
    const auto n = grid.n_pixels();
    std::mt19937_64 random(3);
    std::normal_distribution<double> noise;
    Array<double, 2> maps({3, n});
    Array<double, 1> mask({n});
    for (std::int64_t i = 0; i < maps.size(); ++i) maps.data()[i] = noise(random);
    for (std::int64_t p = 0; p < n; ++p) mask(p) = p < n / 2 ? 1 : 0;
    const auto bins = Bins::linear(8, 2, 32);
    const MaskedField field{grid,
                            {{.maps = maps.view().slice(0, 1), .mask = mask.view()},
                             {.maps = maps.view().slice(1, 2), .mask = mask.view()}}};
    const auto found = estimate_bands({field}, bins, {.lmax_sky = 40, .device = Device::cuda()}),
               expected = estimate_bands({field}, bins, {.lmax_sky = 40});
    ASSERT_EQ(found.blocks.size(), expected.blocks.size());
    for (std::size_t i = 0; i < found.blocks.size(); ++i) {
        // Transforms that agree to 1e-13, and a matrix of this condition.
        const double bound = 1e-12 * expected.blocks[i].decoupling->condition;
        double largest = 0;
        for (std::int64_t v = 0; v < expected.blocks[i].bands.size(); ++v)
            largest = std::max(largest, std::abs(expected.blocks[i].bands.data()[v]));
        for (std::int64_t v = 0; v < expected.blocks[i].bands.size(); ++v)
            EXPECT_NEAR(found.blocks[i].bands.data()[v], expected.blocks[i].bands.data()[v], bound * largest);
    }
}

}  // namespace
}  // namespace zonal::test
