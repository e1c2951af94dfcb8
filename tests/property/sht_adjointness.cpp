#include <gtest/gtest.h>

#include "sht_helpers.hpp"

// <S a, f> = <a, S^T f> with <a, b> = sum_{m >= 0} (2 - delta_m0) Re(conj a_lm b_lm), as a_lm with m > 0
// stands for a_{l,-m}, too.
namespace zonal::test {
namespace {

double dot(const MapArray& a, const MapArray& b) {
    long double sum = 0;
    for (std::int64_t k = 0; k < a.size(); ++k)
        sum += static_cast<long double>(a.data()[k]) * static_cast<long double>(b.data()[k]);
    return static_cast<double>(sum);
}

/// weight_of_pairs: 2, what an order m > 0 counts.
double dot(const AlmLayout& layout, const AlmArray& a, const AlmArray& b, double weight_of_pairs = 2) {
    long double sum = 0;
    for (std::int64_t map = 0; map < a.extent(0); ++map)
        for (std::int64_t c = 0; c < a.extent(1); ++c)
            for (std::int64_t k = 0; k < layout.size(); ++k) {
                const double weight = k <= layout.lmax() ? 1 : weight_of_pairs;
                sum += weight * (std::conj(a(map, c, k)) * b(map, c, k)).real();
            }
    return static_cast<double>(sum);
}

struct Products {
    double pixels, coefficients, coefficients_unweighted, scale, rounding;
    double error() const { return std::abs(pixels - coefficients) / scale; }
};

Products products(const ShtPlan& plan, unsigned seed) {
    const AlmArray a = random_alm(plan.layout(), 1, plan.alm_components(), seed);
    const MapArray f = random_map(plan.grid(), 1, plan.map_components(), seed + 1);
    const MapArray image = synthesis(plan, a);
    const AlmArray projection = adjoint(plan, f);
    // Relative to |S a| |f|: roundings of eps / 2 in each of lmax steps, as in a random walk, in either
    // transform, whose products with f are random, too; and 4 times that, as this is one number of many.
    const double rounding =
        4 * eps * std::sqrt(static_cast<double>(plan.layout().lmax() + 1) / static_cast<double>(f.size()));
    return {dot(image, f), dot(plan.layout(), a, projection), dot(plan.layout(), a, projection, 1),
            std::sqrt(dot(image, image) * dot(f, f)), rounding};
}

class AdjointOnEveryGrid : public ::testing::TestWithParam<NamedGrid> {};

TEST_P(AdjointOnEveryGrid, IsTheTransposeOfSynthesis) {
    for (const auto& [lmax, mmax] : {std::pair{40, 40}, {33, 12}, {10, 0}})
        for (const int spin : {0, 1, 2, 3, 10})
            for (const SpinParts parts : {SpinParts::both, SpinParts::gradient, SpinParts::curl}) {
                if (spin == 0 && parts != SpinParts::both) continue;
                ShtOptions options = options_of(lmax, spin, mmax);
                options.parts = parts;
                const Products result = products(ShtPlan(GetParam().grid, options), 1);
                // Relative to |S a| |f|, of which the products are a fraction 1 / sqrt(n_pixels); pole rings
                // and the like give fields that vanish.
                EXPECT_LE(std::abs(result.pixels - result.coefficients), 1e-13 * result.scale + 1e-15)
                    << "lmax " << lmax << " mmax " << mmax << " spin " << spin;
            }
}

INSTANTIATE_TEST_SUITE_P(Sht, AdjointOnEveryGrid, ::testing::ValuesIn(all_grids()), grid_name);

TEST(ShtAdjoint, IsTheTransposeAtHighDegrees) {
    for (const int spin : {0, 1, 2, 3}) {
        // The second has twice as many rings as the degree needs, which CUDA resamples.
        for (const auto& [grid, lmax] : {std::pair{Grid::healpix(64), 150},
                                         {Grid::healpix(300), 400},
                                         {Grid::gauss_legendre(300, 64), 299}}) {
            const Products result = products(ShtPlan(grid, options_of(lmax, spin)), 3);
            EXPECT_LE(result.error(), result.rounding) << grid.name() << " spin " << spin;
        }
    }
}

/// The check can fail: without the weight of the orders' pairs it is off by far more than rounding.
TEST(ShtAdjoint, CheckFailsWithoutTheWeightOfPairs) {
    const Products result = products(ShtPlan(Grid::healpix(8), options_of(20, 2)), 5);
    EXPECT_LE(result.error(), result.rounding);
    EXPECT_GE(std::abs(result.pixels - result.coefficients_unweighted) / result.scale, 1e-3);
}

/// In single precision the product with f is that of the rounded map.
TEST(ShtAdjoint, IsTheTransposeInSinglePrecision) {
    for (const int spin : {0, 2}) {
        const ShtPlan plan(Grid::healpix(16), options_of(32, spin));
        const AlmArray a = random_alm(plan.layout(), 1, plan.alm_components(), 1);
        const MapArray f = random_map(plan.grid(), 1, plan.map_components(), 2);
        Array<std::complex<float>, 3> a_float(a.extents()), projection(a.extents());
        Array<float, 3> f_float(f.extents()), image(f.extents());
        for (std::int64_t k = 0; k < a.size(); ++k) a_float.data()[k] = std::complex<float>(a.data()[k]);
        for (std::int64_t k = 0; k < f.size(); ++k) f_float.data()[k] = static_cast<float>(f.data()[k]);
        plan.synthesize<float>(a_float.view(), image.view());
        plan.adjoint_synthesis<float>(f_float.view(), projection.view());
        double pixels = 0, coefficients = 0, images = 0, noise = 0;
        for (std::int64_t k = 0; k < f.size(); ++k) {
            pixels += double(image.data()[k]) * f_float.data()[k];
            images += double(image.data()[k]) * image.data()[k];
            noise += double(f_float.data()[k]) * f_float.data()[k];
        }
        for (std::int64_t k = 0; k < a.size(); ++k) {
            const double weight = k % plan.layout().size() <= plan.layout().lmax() ? 1 : 2;
            coefficients +=
                weight * (std::conj(Complex(a_float.data()[k])) * Complex(projection.data()[k])).real();
        }
        // Every output is rounded once, by eps / 2 of float, independently of what it is multiplied by; and 4
        // times that, as this is one number of many.
        EXPECT_LE(std::abs(pixels - coefficients) / std::sqrt(images * noise),
                  4 * std::numeric_limits<float>::epsilon() / 2 / std::sqrt(static_cast<double>(f.size())));
    }
}

}  // namespace
}  // namespace zonal::test
