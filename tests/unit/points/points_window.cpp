#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "compare.hpp"
#include "core/aligned.hpp"
#include "grids/latitude_nodes.hpp"
#include "points/point_kernels.hpp"
#include "points/sample_choice.hpp"
#include "points/window.hpp"

namespace zonal::test {
namespace {

using points::Prolate;
using points::Sampling;
using points::Window;
using points::WindowPolynomials;

constexpr double pi = std::numbers::pi;

/// int_-1^1 f(t) dt, to rounding for all functions here.
template <class Function>
double integral(const Function& f) {
    double sum = 0;
    for (const auto& node : grids::gauss_legendre_nodes(1000))
        sum += node.weight * (f(node.cos_theta) + f(-node.cos_theta));
    return sum;
}

/// int_-1^1 cos(c x t) psi(t) dt, which is a multiple of psi(x): what makes it a prolate function.
double transformed(const Prolate& psi, double c, double x) {
    return integral([&](double t) { return std::cos(c * x * t) * psi(t); });
}

TEST(ProlateWindow, IsItsOwnFourierTransform) {
    for (const double c : {0.5, 4.0, 13.0, 30.0, 57.0}) {
        const Prolate psi(c);
        const double factor = transformed(psi, c, 0);
        for (const double x : {0.1, 0.3, 0.6, 0.9, 1.0})
            EXPECT_LT(std::abs(transformed(psi, c, x) / factor - psi(x)), 1e-14) << "c " << c << ", x " << x;
    }
}

TEST(ProlateWindow, FallsByTheRuleOfItsWidth) {
    // docs/decisions/points.md: the table of C.
    const struct {
        double sigma;
        std::int64_t width;
        double most;
    } rows[] = {{1.25, 6, 3.4e-3}, {1.25, 8, 1.5e-4}, {1.25, 12, 6.2e-7}, {1.5, 8, 8.0e-6},
                {1.5, 12, 7.6e-9}, {2, 6, 3e-5},      {2, 8, 4.8e-7},     {2, 12, 6.4e-11}};
    for (const auto& row : rows) {
        const Sampling sampling{63, static_cast<std::int64_t>(128 * row.sigma)};
        const double bound = Window(row.width, sampling).aliasing_bound();
        EXPECT_LT(bound, row.most) << row.sigma << ", " << row.width;
        EXPECT_GT(bound, row.most / 8);
    }
}

TEST(ProlateWindow, KeepsTheErrorThatItsWidthIsChosenFor) {
    for (const std::int64_t degree : {7, 48, 300})
        for (const double sigma : {1.25, 1.4, 1.6, 1.875, 2.0, 2.4})
            for (std::int64_t width = 3; width <= 18; ++width) {
                auto n = static_cast<std::int64_t>(std::ceil(sigma * static_cast<double>(2 * degree + 2)));
                n += n % 2;
                const Sampling sampling{degree, n};
                const double promised = points::aliasing_for(width, sampling.oversampling());
                if (promised < 1e-13) continue;  // rounding is what remains
                const double c = Window(width, sampling).aliasing_bound();
                EXPECT_LT(2 * c + c * c, promised + 4e-15) << degree << ", " << sigma << ", " << width;
                EXPECT_EQ(points::width_for(promised * 1.0001, sampling.oversampling()), width);
            }
}

TEST(ProlateWindow, TransformIsTheIntegral) {
    const Sampling sampling{40, 130};
    const Window window(9, sampling);
    for (const std::int64_t k : {0, 1, 13, 40}) {
        const double omega = 2 * pi * static_cast<double>(k) / 130;
        const double sum =
            integral([&](double t) { return 4.5 * std::cos(omega * 4.5 * t) * window(4.5 * t); });
        // Sums of up to 2,000 terms, of values up to 5: their roundings add up to sqrt(2000) / 2 eps or so.
        EXPECT_NEAR(window.transform(k), sum, 64 * std::numeric_limits<double>::epsilon());
    }
    const auto all = window.transforms();
    ASSERT_EQ(std::ssize(all), 41);
    EXPECT_EQ(all[13], window.transform(13));
}

TEST(ProlateWindow, AliasesAreTheMeanSquareOfAWavesError) {
    // By their definition, as far as the first shifts go: the steps at the window's ends leave 1 / p^2.
    const Sampling sampling{20, 56};
    const Window window(5, sampling);
    const auto aliases = window.aliases();
    ASSERT_EQ(std::ssize(aliases), 21);
    for (const std::int64_t k : {0, 7, 20}) {
        double sum = 0;
        for (std::int64_t p = -30; p <= 30; ++p) {
            if (p == 0) continue;
            const double omega = 2 * pi * (static_cast<double>(k) / 56 + static_cast<double>(p));
            const double alias =
                integral([&](double t) { return 2.5 * std::cos(omega * 2.5 * t) * window(2.5 * t); });
            sum += alias * alias / (window.transform(k) * window.transform(k));
        }
        EXPECT_NEAR(sum / aliases[static_cast<std::size_t>(k)], 1, 0.05) << k;
    }
}

TEST(ProlateWindow, RoundingIsKnownBeforeItIsMade) {
    for (const std::int64_t width : {3, 8, 16})
        for (const std::int64_t n : {64, 80, 128}) {
            const Sampling sampling{24, n};
            const Window window(width, sampling);
            // One takes psi(0) for 1, which is a sum of up to 75 terms.
            constexpr double rounding = 75 * std::numeric_limits<double>::epsilon();
            EXPECT_NEAR(Window::rounding_of(width, sampling) / window.rounding(), 1, rounding)
                << width << ", " << n;
            EXPECT_GT(window.rounding(), Window(width, {0, n}).rounding());  // waves of degree 0 alone
        }
}

TEST(WindowPolynomials, AreTheWindowAndItsSlope) {
    for (const std::int64_t width : {4, 7, 8, 13, 16}) {
        const Sampling sampling{63, 240};
        const Window window(width, sampling);
        for (const double accuracy : {1e-4, 1e-9, 1e-13}) {
            const WindowPolynomials p(window, accuracy);
            double worst = 0, worst_slope = 0;
            for (std::int64_t j = 0; j < width; ++j)
                for (int i = 0; i <= 40; ++i) {
                    const std::int64_t pair = std::min(j, width - 1 - j);
                    const double y = i / 20.0 - 1, at = j == pair ? y : -y, square = y * y;
                    double even = 0, odd = 0, slope_even = 0, slope_odd = 0;
                    for (std::int64_t t = p.n_terms - 1; t >= 0; --t) {
                        const auto k = static_cast<std::size_t>(pair * p.n_terms + t);
                        even = even * square + p.even[k];
                        odd = odd * square + p.odd[k];
                        slope_even = slope_even * square + p.slope_even[k];
                        slope_odd = slope_odd * square + p.slope_odd[k];
                    }
                    const double x = (static_cast<double>(width - 1) + y) / 2 - static_cast<double>(j);
                    worst = larger(worst, std::abs(even + at * odd - window(x)));
                    // Away from the window's ends, beyond which it is 0.
                    const double step = 1e-5;
                    if (std::abs(x) + step > static_cast<double>(width) / 2) continue;
                    const double slope = (window(x + step) - window(x - step)) / (2 * step);
                    const double made = slope_even + at * slope_odd;
                    worst_slope = larger(worst_slope, std::abs((j == pair ? made : -made) - slope));
                }
            // Coefficients in powers of y round by a few units of the largest value, 1.
            EXPECT_LT(worst, accuracy + 2e-15) << width << ", " << accuracy;
            // A polynomial's slope errs by up to degree^2 as much, 2 in samples; differences by step^2.
            const auto degree = static_cast<double>(2 * p.n_terms);
            EXPECT_LT(worst_slope, 2 * degree * degree * accuracy + 2e-9) << width << ", " << accuracy;
        }
    }
}

/// Points whose windows begin anywhere in a vector; kernels may read some behind the last.
std::vector<points::PlacedPoint> placed_points(std::int64_t n, std::mt19937_64& engine) {
    std::uniform_real_distribution<double> y(-1, 1);
    std::uniform_int_distribution<std::int32_t> first(0, 20);
    std::vector<points::PlacedPoint> placed(static_cast<std::size_t>(n + points::points_at_once));
    for (auto& point : placed) point = {y(engine), y(engine), first(engine), first(engine), 0};
    return placed;
}

/// Samples of the window around a point times its values there. samples: from the point's first on.
double windowed_sum(const Window& window, const points::PlacedPoint& point, const double* samples,
                    std::int64_t stride) {
    const auto weights = [&](double y) {
        std::vector<double> x;
        for (std::int64_t j = 0; j < window.width(); ++j)
            x.push_back((static_cast<double>(window.width() - 1) + y) / 2 - static_cast<double>(j));
        return window.at(x);
    };
    double sum = 0;
    const auto of_rows = weights(point.y_theta), of_columns = weights(point.y_phi);
    for (const double of_row : of_rows) {
        for (std::size_t j = 0; j < of_columns.size(); ++j) sum += of_row * of_columns[j] * samples[j];
        samples += stride;
    }
    return sum;
}

TEST(PointSums, OfGroupsOfFieldsAreThoseOfTheWindow) {
    // More points than go at once; groups of one, two and no fields, which have rows from the third on.
    constexpr std::int64_t n_points = 70, n_fields = 3, stride = 64, first_row = 3;
    const std::vector<std::int64_t> ends{1, 3, 3};
    std::mt19937_64 engine(5);
    std::uniform_real_distribution<double> any(-1, 1);
    std::vector<core::AlignedVector<double>> fields(n_fields, core::AlignedVector<double>(40 * stride));
    for (auto& field : fields)
        for (double& sample : field) sample = any(engine);
    const double* const data[] = {fields[0].data(), fields[1].data(), fields[2].data()};
    Array<double, 2> factors({n_fields, n_points}), sums({std::ssize(ends), n_points});
    for (double& factor : factors) factor = any(engine);
    for (const std::int64_t width : {4, 7, 8, 13, 16}) {
        const Window window(width, {63, 240});
        constexpr double accuracy = 1e-13;
        auto placed = placed_points(n_points, engine);
        for (auto& point : placed) point.row += first_row;
        const bool by_samples = width % 2 == 0;
        if (by_samples) {  // some twenty of the same samples
            for (auto& point : placed) point.row = point.column = first_row + point.column / 8;
            std::sort(placed.begin(), placed.end(),
                      [](const auto& a, const auto& b) { return a.row < b.row; });
        }
        points::combine_points(WindowPolynomials(window, accuracy), {data, first_row, stride, n_fields},
                               {ends.data(), std::ssize(ends)}, {placed.data(), 0, n_points, by_samples},
                               factors.data(), sums.data(), n_points);
        for (std::int64_t i = 0; i < n_points; ++i) {
            const auto& point = placed[static_cast<std::size_t>(i)];
            const auto term = [&](std::int64_t f) {
                const double* const samples = data[f] + (point.row - first_row) * stride + point.column;
                return factors(f, i) * windowed_sum(window, point, samples, stride);
            };
            // Two weights of up to 1 each err by what the polynomials do (see above), of W^2 samples.
            const double error = 2 * static_cast<double>(width * width) * (accuracy + 2e-15);
            EXPECT_NEAR(sums(0, i), term(0), error) << width << ", point " << i;
            EXPECT_NEAR(sums(1, i), term(1) + term(2), 2 * error) << width << ", point " << i;
            EXPECT_EQ(sums(2, i), 0);
        }
    }
}

TEST(SampleChoices, KeepTheErrorAndBeginWithTheCheapest) {
    PointOptions options;
    options.lmax = options.mmax = 255;
    options.error = 1e-8;
    options.n_points = 1000;
    const auto few = points::sample_choices(options);
    options.n_points = 100'000'000;
    const auto many = points::sample_choices(options);
    ASSERT_FALSE(few.empty());
    ASSERT_FALSE(many.empty());
    EXPECT_LT(few[0].sampling.n, many[0].sampling.n);
    EXPECT_GT(few[0].width, many[0].width);
    for (const auto& choice : few)
        EXPECT_LE(points::aliasing_for(choice.width, choice.sampling.oversampling()), 1e-8);
}

}  // namespace
}  // namespace zonal::test
