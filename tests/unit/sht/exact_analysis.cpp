#include <gtest/gtest.h>

#include <functional>
#include <numbers>

#include "sht/rings/meridian_integral.hpp"
#include "sht_helpers.hpp"
#include "zonal/analysis.hpp"
#include "zonal/error.hpp"

// Analyses on equidistant rings at degrees for which the rings' weights are not exact.
namespace zonal::test {
namespace {

using std::numbers::pi;

using Factory = std::function<Grid(std::int64_t n_rings, std::int64_t n_phi)>;
struct Family {
    const char* name;
    Factory make;
    int unknown;  ///< n_rings - lmax at the limit
};

const std::vector<Family> families{
    {"CC", [](auto n, auto m) { return Grid::clenshaw_curtis(n, m); }, 2},
    {"F1", [](auto n, auto m) { return Grid::fejer1(n, m, 0.3); }, 1},
    {"F2", [](auto n, auto m) { return Grid::fejer2(n, m); }, 1},
    {"CAR", [](auto n, auto m) { return Grid::equidistant_cylindrical(n, m); }, 1},
    {"DH", [](auto n, auto m) { return Grid::driscoll_healy(n, m, -0.1); }, 1},
    {"MW", [](auto n, auto m) { return Grid::mcewen_wiaux(n, m); }, 1},
    {"MW flipped", [](auto n, auto m) { return Grid::mcewen_wiaux(n, m, 0.2, true); }, 1},
};

AlmArray analysis(const ShtPlan& plan, const MapArray& map, const AnalysisOptions& options = {},
                  AnalysisReport* report = nullptr) {
    AlmArray alm({map.extent(0), plan.alm_components(), plan.layout().size()});
    const AnalysisReport seen = analyze<double>(plan, map.view(), alm.view(), options);
    if (report != nullptr) *report = seen;
    return alm;
}

/// f_rj = 1 / (1 + r + 2 j), r the ring and j the pixel.
MapArray test_map(const Grid& grid) {
    MapArray map({1, 1, grid.n_pixels()});
    for (std::int64_t r = 0; r < grid.n_rings(); ++r)
        for (std::int64_t j = 0; j < grid.rings()[r].n_pixels; ++j)
            map(0, 0, grid.rings()[r].first_pixel + j) =
                1 / (1 + static_cast<double>(r) + 2 * static_cast<double>(j));
    return map;
}

/// By explicit sums with 40 digits, of integrals of F_m's trigonometric polynomials.
TEST(ExactAnalysis, EqualsValuesOfMpmath) {
    const struct {
        Grid grid;
        Complex a00, a31, a42;
    } cases[] = {
        {Grid::clenshaw_curtis(6, 9),
         0.4306506512010302,
         {-0.03522972005823951, 0.01905697003426239},
         {0.02979303948683949, -0.01583691545028534}},
        {Grid::fejer1(5, 9),
         0.4798675224408445,
         {-0.08304239866642213, 0.03259790881366905},
         {0.05331450436302177, -0.01963437553747781}},
        {Grid::mcewen_wiaux(5, 9),
         0.5020670802851384,
         {-0.1008209481492145, 0.03503496056130856},
         {0.06031745681292994, -0.02093980739855563}},
        {Grid::fejer2(5, 9),
         0.4957635920822348,
         {-0.0731844432384591, 0.02504965148270343},
         {0.07457869459086236, -0.02368127573051157}},
        {Grid::driscoll_healy(5, 9),
         0.4347811959315166,
         {-0.03522972005823951, 0.01905697003426239},
         {0.03099982780216108, -0.01673239653270009}},
    };
    for (const auto& one : cases) {
        const ShtPlan plan(one.grid, options_of(4, 0, 4, 1));
        AnalysisReport report;
        const AlmArray alm = analysis(plan, test_map(one.grid), {}, &report);
        EXPECT_TRUE(report.exact && report.invertible) << one.grid.name();
        const auto at = [&](std::int64_t l, std::int64_t m) { return alm(0, 0, plan.layout().index(l, m)); };
        EXPECT_LE(std::abs(at(0, 0) - one.a00), 8 * eps) << one.grid.name();
        EXPECT_LE(std::abs(at(3, 1) - one.a31), 8 * eps) << one.grid.name();
        EXPECT_LE(std::abs(at(4, 2) - one.a42), 8 * eps) << one.grid.name();
    }
}

TEST(ExactAnalysis, ReturnsTheCoefficientsUpToTheLastDegreeThatTheRingsDetermine) {
    for (const Family& family : families)
        for (const std::int64_t n : {4, 5, 12, 13, 32, 33, 96, 129})
            for (const int spin : {0, 1, 2, 3}) {
                const std::int64_t lmax = n - family.unknown;
                if (lmax < spin) continue;
                const Grid grid = family.make(n, 2 * lmax + 1);
                EXPECT_EQ(exact_lmax(grid), lmax) << family.name;
                const ShtPlan plan(grid, options_of(lmax, spin, lmax, 2));
                const AlmArray alm = random_spin_alm(plan.layout(), 2, plan.alm_components(), spin, 1);
                AnalysisReport report;
                const double error =
                    largest_difference(analysis(plan, synthesis(plan, alm), {}, &report), alm);
                // Two transforms, and four FFTs in between that lose as much as a third.
                EXPECT_LE(error, 3 * 5 * transform_rounding(lmax, spin))
                    << family.name << " n = " << n << " spin = " << spin;
                EXPECT_TRUE(report.exact && report.invertible);
                EXPECT_EQ(report.iterations, 0);
            }
}

TEST(ExactAnalysis, IsExactForFewerOrdersAndOtherLongitudes) {
    for (const Family& family : families) {
        const Grid grid = family.make(41, 30);
        const ShtPlan plan(grid, options_of(39, 2, 14, 1));
        const AlmArray alm = random_spin_alm(plan.layout(), 1, 2, 2, 3);
        // As above, a bound for spin 2 close to poles, too.
        EXPECT_LE(largest_difference(analysis(plan, synthesis(plan, alm)), alm),
                  3 * 5 * transform_rounding(39, 2))
            << family.name;
    }
}

void expect_refused(const Grid& grid, std::int64_t lmax, std::int64_t mmax, const std::string& what) {
    const ShtPlan plan(grid, options_of(lmax, 0, mmax, 1));
    const MapArray map({1, 1, grid.n_pixels()});
    for (const double tolerance : {0.0, 1e-6}) {
        AnalysisOptions options;
        options.tolerance = tolerance;
        try {
            analysis(plan, map, options);
            ADD_FAILURE() << grid.name() << " lmax = " << lmax << " is analysed";
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
        }
    }
}

TEST(ExactAnalysis, RefusesWhatAGridCannotHold) {
    for (const Family& family : families) {
        const std::int64_t limit = 20 - family.unknown;
        expect_refused(family.make(20, 64), limit + 1, 5,
                       "lmax = " + std::to_string(limit + 1) + ": must be at most " + std::to_string(limit));
        expect_refused(family.make(20, 2 * limit), limit, limit,
                       "mmax = " + std::to_string(limit) + ": must be at most " + std::to_string(limit - 1));
    }
    expect_refused(Grid::gauss_legendre(20, 64), 20, 5, "lmax = 20: must be at most 19");
    expect_refused(Grid::gauss_legendre(20, 38), 19, 19, "mmax = 19: must be at most 18");
}

double dot(const MapArray& a, const MapArray& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
    return sum;
}
/// That of real fields: orders above 0 stand for two.
double dot(const AlmLayout& layout, const AlmArray& a, const AlmArray& b) {
    double sum = 0;
    for (std::int64_t c = 0; c < a.extent(1); ++c)
        for (std::int64_t i = 0; i < layout.size(); ++i)
            sum += (i <= layout.lmax() ? 1 : 2) * (std::conj(a(0, c, i)) * b(0, c, i)).real();
    return sum;
}

void expect_transpose(const Grid& grid, std::int64_t lmax, int spin, const std::string& what) {
    const ShtPlan plan(grid, options_of(lmax, spin, lmax, 2));
    const AlmArray alm = random_spin_alm(plan.layout(), 1, plan.alm_components(), spin, 5);
    const MapArray map = random_map(grid, 1, plan.map_components(), 6);
    MapArray back({1, plan.map_components(), grid.n_pixels()});
    adjoint_analysis<double>(plan, alm.view(), back.view());
    const AlmArray there = analysis(plan, map);
    const double scale = std::sqrt(dot(map, map) * dot(back, back));
    // 800 or more values round by some 10 eps with signs of their own: by 10 / sqrt(800) = 0.4 eps of the
    // scale on either way. Ten times that.
    EXPECT_NEAR(dot(map, back), dot(plan.layout(), alm, there), 4 * eps * scale)
        << what << " spin = " << spin << " lmax = " << lmax;
}

TEST(ExactAnalysis, AdjointIsTheTranspose) {
    for (const Family& family : families)
        for (const int spin : {0, 1, 2})
            for (const std::int64_t lmax : {8, 18})  // by the weights, and by the rule over theta
                expect_transpose(family.make(20, 40), lmax, spin, family.name);
}

/// The rule's polynomials need all orders of all rings, also those that no transform has near the poles.
TEST(ExactAnalysis, AdjointIsTheTransposeWhereRingsNearThePolesHaveFewerOrders) {
    for (const Family& family : families)
        for (const int spin : {0, 2}) {
            const std::int64_t n_rings = 129, lmax = n_rings - family.unknown;
            const Grid grid = family.make(n_rings, 2 * lmax + 2);
            ASSERT_LT(sht::RingPairs(grid, lmax, lmax, spin).last_m.front(), lmax) << family.name;
            expect_transpose(grid, lmax, spin, family.name);
        }
}

TEST(ExactAnalysis, ReportsWhatIsMeasuredOfAMap) {
    const Grid grid = Grid::fejer1(24, 48);
    const ShtPlan plan(grid, options_of(20, 0, 20, 1));
    const MapArray limited = synthesis(plan, random_alm(plan.layout(), 1, 1, 2)),
                   noise = random_map(grid, 1, 1, 3);
    AnalysisOptions options;
    options.tolerance = 1e-8;
    AnalysisReport report;
    analysis(plan, limited, options, &report);
    // Two transforms' rounding, in the mean.
    EXPECT_LE(report.unresolved, 2 * sharp_transform_rounding(20));
    EXPECT_TRUE(report.reached_tolerance && report.note.empty());
    const AlmArray alm = analysis(plan, noise, options, &report);
    const MapArray left = synthesis(plan, alm);
    double square = 0, all = 0;
    for (const Ring& ring : grid.rings())
        for (std::int64_t p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p) {
            square += ring.weight * std::pow(noise(0, 0, p) - left(0, 0, p), 2);
            all += ring.weight * std::pow(noise(0, 0, p), 2);
        }
    // Of two sums of 1,152 squares in orders of their own, the root: sqrt(1152) / 2 eps.
    EXPECT_NEAR(report.unresolved, std::sqrt(square / all), 17 * eps);
    options.tolerance = 0;
    options.iterations = 3;
    EXPECT_EQ(largest_difference(analysis(plan, noise, options, &report), alm),
              0);  // nothing is to be improved
    EXPECT_EQ(report.iterations, 0);
}

/// The rule in closed form, G = C^T M C: C gives the series in cos k theta or sin k theta, M the integrals of
/// their products times sin theta. Of a field's values on all rings, for one parity.
std::vector<double> integrated_plainly(const EquidistantRings& rings, const std::vector<double>& values,
                                       bool sines) {
    const auto n = static_cast<std::int64_t>(values.size()), length = rings.parts, top = length / 2;
    const auto angle = [&](std::int64_t i) {
        return static_cast<double>(2 * i + rings.first) * pi / static_cast<double>(length);
    };
    const auto wave = [&](std::int64_t k, std::int64_t i) {
        return sines ? std::sin(static_cast<double>(k) * angle(i))
                     : std::cos(static_cast<double>(k) * angle(i));
    };
    const auto to_series = [&](std::int64_t k, std::int64_t i) {
        const bool is_pole = (2 * i + rings.first) % length == 0;
        double factor = (k == 0 ? 1.0 : 2.0) * (is_pole ? 1 : 2) / static_cast<double>(length);
        if (2 * k == length) factor /= 2;
        return factor * wave(k, i);
    };
    std::vector<double> series(top + 1), products(top + 1), result(values.size());
    for (std::int64_t k = 0; k <= top; ++k)
        for (std::int64_t i = 0; i < n; ++i) series[k] += to_series(k, i) * values[i];
    for (std::int64_t k = 0; k <= top; ++k)
        for (std::int64_t j = k % 2; j <= top; j += 2) {
            const auto apart = static_cast<double>((k - j) * (k - j)),
                       together = static_cast<double>((k + j) * (k + j));
            products[k] += (1 / (1 - apart) + (sines ? -1 : 1) / (1 - together)) * series[j];
        }
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k <= top; ++k) result[i] += to_series(k, i) * products[k];
    return result;
}

TEST(ExactAnalysis, RuleIsThatOfTheClosedForm) {
    for (const std::int64_t n : {4, 11, 12, 13})
        for (const Family& family : families) {
            const Grid grid = family.make(n, 5);
            const int spin = 1;
            const sht::RingPairs pairs = sht::RingPairs(grid, 6, 6, spin).with_all_orders(6);
            const sht::MeridianIntegral rule(grid, pairs, spin);
            sht::FourierBand band(pairs, 0, pairs.n_blocks(), 1);
            core::AlignedVector<double> data(static_cast<std::size_t>(band.size()), 0.0);
            band.data = data.data();
            std::mt19937_64 generator(7);
            std::normal_distribution<double> normal;
            std::vector<double> of[7];
            for (std::int64_t m = 2; m <= 6; ++m)
                for (std::size_t i = 0; i < rule.tables().places.size(); ++i)
                    of[m].push_back(normal(generator));
            const auto& places = rule.tables().places;
            for (std::int64_t m = 2; m <= 6; ++m)
                for (const auto& place : places)
                    band.at(place.block, m)[place.offset] = of[m][static_cast<std::size_t>(place.sample)];
            sht::MeridianIntegral::Scratch scratch;
            rule.apply(2, 3, band, 0, 2.5, scratch);
            rule.apply(4, 5, band, 0, 2.5, scratch);
            rule.apply(6, -1, band, 0, 2.5, scratch);
            for (std::int64_t m = 2; m <= 6; ++m) {
                const auto plain = integrated_plainly(*grid.equidistant(), of[m], (m + spin) % 2 == 1);
                for (const auto& place : places)
                    EXPECT_NEAR(band.at(place.block, m)[place.offset],
                                2.5 * plain[static_cast<std::size_t>(place.sample)], 40 * eps)
                        << family.name << " n = " << n << " m = " << m << " ring " << place.sample;
            }
        }
}

}  // namespace
}  // namespace zonal::test
