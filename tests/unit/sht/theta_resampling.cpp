#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sht/rings/resampling_cpu.hpp"
#include "sht_helpers.hpp"
#include "simd_helpers.hpp"

// The resampling of F_m in theta against the Legendre stage on the grid's own rings, its adjoint against the
// transpose, and transforms with it against those without.
namespace zonal::test {
namespace {

struct Case {
    std::int64_t nside, lmax, mmax;
    int spin;
    double accuracy;
};

/// One order's coefficients, the stage on the equidistant rings, and the stage on the grid's.
class OneOrder {
  public:
    explicit OneOrder(const Case& one)
        : options_{.lmax = one.lmax, .mmax = one.mmax, .spin = one.spin, .accuracy = one.accuracy},
          table_(AlmLayout(one.lmax, one.mmax), one.spin),
          grid_(Grid::healpix(one.nside), one.lmax, one.mmax, one.spin),
          resampling_(grid_, options_, (one.lmax + 16) / 16 * 16) {}

    sht::FourierBand band(std::vector<double>& memory) const {
        sht::FourierBand result(grid_, 0, grid_.n_blocks(), table_.components);
        memory.assign(static_cast<std::size_t>(result.size()), NAN);
        result.data = memory.data();
        return result;
    }
    /// One order's coefficients, [component][l - m].
    std::vector<Complex> alm(std::int64_t m, unsigned seed) const {
        const AlmArray all = random_spin_alm(table_.layout, 1, table_.components, options_.spin, seed);
        std::vector<Complex> result;
        for (int c = 0; c < table_.components; ++c)
            for (std::int64_t l = m; l <= options_.lmax; ++l)
                result.push_back(all(0, c, table_.layout.index(l, m)));
        return result;
    }
    sht::AlmRow row(std::vector<Complex>& alm, std::int64_t m) const {
        return {alm.data(), options_.lmax - m + 1, table_.components};
    }
    void synthesize_directly(std::int64_t m, const sht::AlmRow& alm, const sht::FourierBand& band) {
        sht::legendre_synthesis({table_, grid_, m, band, legendre_}, alm);
    }
    void synthesize(std::int64_t m, const sht::AlmRow& alm, const sht::FourierBand& band) {
        const auto modes = resampling_.band_of(m, table_.components, scratch_);
        sht::legendre_synthesis({table_, resampling_.pairs(), m, modes, legendre_}, alm);
        resampling_.interpolate(m, modes, band, scratch_);
    }
    void adjoint(std::int64_t m, const sht::FourierBand& band, const sht::AlmRow& alm) {
        const auto modes = resampling_.band_of(m, table_.components, scratch_);
        resampling_.adjoint(m, band, modes, scratch_);
        sht::legendre_adjoint({table_, resampling_.pairs(), m, modes, legendre_}, alm);
    }
    /// Calls visit(a double of `first`, the same of `second`) for the order's F_m.
    template <class Visit>
    void for_each(std::int64_t m, const sht::FourierBand& first, const sht::FourierBand& second,
                  const Visit& visit) const {
        for (std::int64_t block = 0; block < grid_.n_blocks(); ++block) {
            if (grid_.last_m[static_cast<std::size_t>(block)] < m) continue;
            for (std::int64_t i = 0; i < table_.components * sht::fourier_block; ++i) {
                const auto pair = static_cast<std::size_t>(block * sht::block_size + i % sht::block_size);
                const auto& rings = grid_.pairs[pair];
                const bool is_south = i % sht::fourier_block >= 2 * sht::block_size;
                // Lanes without a ring have no meaning.
                if ((is_south ? rings.south : rings.north) < 0) continue;
                visit(first.at(block, m)[i], second.at(block, m)[i]);
            }
        }
    }

  private:
    ShtOptions options_;
    sht::LegendreTable table_;
    sht::RingPairs grid_;
    sht::CpuResampling resampling_;
    sht::LegendreScratch legendre_;
    sht::ResamplingScratch scratch_;
};

class ThetaResampling : public ::testing::TestWithParam<Case> {};

/// What may part the two ways, relative to the largest F_m: either rounds.
double tolerance_of(const Case& one) {
    return one.accuracy + 2 * transform_rounding(one.lmax, one.spin);
}

TEST_P(ThetaResampling, AgreesWithTheLegendreStageOnTheGridsRings) {
    const Case& one = GetParam();
    for (const Target& target : targets()) {
        const ForcedTarget forced(target.bit);
        OneOrder order(one);
        for (const std::int64_t m :
             {std::int64_t{0}, std::int64_t{1}, one.mmax / 2, one.mmax - 1, one.mmax}) {
            std::vector<double> here, there;
            const auto found = order.band(here), expected = order.band(there);
            auto alm = order.alm(m, 1);
            order.synthesize_directly(m, order.row(alm, m), expected);
            order.synthesize(m, order.row(alm, m), found);
            double largest = 0, error = 0;
            order.for_each(m, found, expected, [&](double a, double b) {
                largest = std::max(largest, std::abs(b));
                error = std::isnan(a - b) ? HUGE_VAL : std::max(error, std::abs(a - b));
            });
            EXPECT_GT(largest, 0) << m;
            EXPECT_LT(error, tolerance_of(one) * largest) << m << ' ' << target.name;
        }
    }
}

TEST_P(ThetaResampling, HasItsTransposeAsAdjoint) {
    const Case& one = GetParam();
    for (const Target& target : targets()) {
        const ForcedTarget forced(target.bit);
        OneOrder order(one);
        for (const std::int64_t m : {std::int64_t{0}, std::int64_t{1}, one.mmax / 2, one.mmax}) {
            std::vector<double> here, there;
            const auto image = order.band(here), modes = order.band(there);
            auto alm = order.alm(m, 2), back = alm;
            order.synthesize(m, order.row(alm, m), image);
            std::mt19937_64 generator(3);
            std::normal_distribution<double> normal;
            there.assign(there.size(), 0);  // rings that do not exist carry nothing
            order.for_each(m, modes, modes, [&](double& value, double&) { value = normal(generator); });
            order.adjoint(m, modes, order.row(back, m));
            double left = 0, right = 0, size = 0;
            order.for_each(m, image, modes, [&](double a, double b) {
                left += a * b;
                size += std::abs(a * b);
            });
            for (std::size_t i = 0; i < alm.size(); ++i)
                right += alm[i].real() * back[i].real() + alm[i].imag() * back[i].imag();
            // The products average the largest errors, which those of few rings are.
            EXPECT_NEAR(left, right, sharp_transform_rounding(one.lmax) * size) << m << ' ' << target.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Orders, ThetaResampling,
                         ::testing::Values(Case{64, 128, 128, 0, 1e-13}, Case{64, 128, 128, 2, 1e-13},
                                           Case{64, 110, 97, 1, 1e-13}, Case{64, 131, 131, 3, 1e-13},
                                           Case{64, 128, 128, 0, 1e-6}, Case{128, 255, 255, 2, 1e-14},
                                           Case{256, 512, 512, 0, 1e-13}),
                         [](const auto& one) {
                             return "nside" + std::to_string(one.param.nside) + "lmax" +
                                    std::to_string(one.param.lmax) + "spin" + std::to_string(one.param.spin) +
                                    "case" + std::to_string(one.index);
                         });

TEST(ResampledTransforms, AgreeWithThoseOnAllRings) {
    constexpr std::int64_t nside = 512, lmax = 1024;
    const Grid grid = Grid::healpix(nside);
    for (const int spin : {0, 2}) {
        const std::int64_t components = spin == 0 ? 1 : 2;
        ShtOptions options = options_of(lmax, spin, -1, 2);
        options.device = Device::cpu();
        const ShtPlan plan(grid, options);
        options.accuracy = 0;
        const ShtPlan direct(grid, options);
        EXPECT_LT(plan.legendre_flops(), 0.6 * direct.legendre_flops());
        const AlmArray alm = random_spin_alm(plan.layout(), 1, components, spin, 4);
        const MapArray sky = random_map(grid, 1, components, 5);
        const auto compare = [&](const auto& transform) {
            EXPECT_LT(scaled_difference(transform(plan), transform(direct)),
                      plan.options().accuracy + 2 * transform_rounding(lmax, spin))
                << spin;
        };
        compare([&](const ShtPlan& with) {
            MapArray map(sky.extents());
            with.synthesize<double>(alm.view(), map.view());
            return map;
        });
        compare([&](const ShtPlan& with) {
            AlmArray back(alm.extents());
            with.adjoint_synthesis<double>(sky.view(), back.view());
            return back;
        });
        compare([&](const ShtPlan& with) {
            AlmArray update(alm.extents());
            ShtWorkspace workspace = with.make_workspace();
            with.project_residual<double>(alm.view(), sky.view(), update.view(), workspace);
            return update;
        });
    }
}

TEST(ResampledTransforms, AreForGridsOfManyMoreRingsThanDegrees) {
    const auto flops = [](const Grid& grid, std::int64_t lmax, double accuracy) {
        return ShtPlan(grid, {.lmax = lmax, .device = Device::cpu(), .accuracy = accuracy}).legendre_flops();
    };
    const auto is_resampled = [&](const Grid& grid, std::int64_t lmax) {
        return flops(grid, lmax, 1e-13) < flops(grid, lmax, 0);
    };
    EXPECT_TRUE(is_resampled(Grid::healpix(1024), 2048));
    EXPECT_TRUE(is_resampled(Grid::healpix(1024), 1000));
    EXPECT_FALSE(is_resampled(Grid::healpix(64), 128));
    EXPECT_FALSE(is_resampled(Grid::gauss_legendre(1024, 2048), 1023));
}

}  // namespace
}  // namespace zonal::test
