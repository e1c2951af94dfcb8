// Norms of kernels, discs and samples against the formulas of docs/decisions/certificate.md in their plainest
// form: a bound that is too large by a factor, or lacks a part that few kernels have, is still above or near
// every row sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "planning/certificate/disc_discrepancy.hpp"
#include "planning/certificate/healpix_row_sums.hpp"
#include "planning/certificate/kernel_samples.hpp"
#include "unit/planning/planning_kernels.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal {
namespace {

using planning::DiscDiscrepancy;
using std::numbers::pi;

double area(double theta) {
    return 2 * pi * (1 - std::cos(theta));
}

/// |K| at many even angles up to its end, and Koksma's sums over them.
class Plain {
  public:
    Plain(const Grid& grid, const RadialKernel& kernel) : discs_(grid), end_(kernel.support()) {
        std::vector<double> theta;
        for (std::int64_t i = 0; i <= n_; ++i) theta.push_back(at(i));
        values_ = kernel.profile(theta);
        for (double& value : values_) {
            signed_.push_back(value);
            value = std::abs(value);
        }
    }

    double peak() const { return *std::max_element(values_.begin(), values_.end()); }
    /// int |K| dOmega
    double integral(double first, double last) const {
        double sum = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            if (at(i) >= first && at(i) < last)
                sum += (values_[i] + values_[i + 1]) / 2 * (area(at(i + 1)) - area(at(i)));
        return sum;
    }
    /// int over |dg-| + int under |dg+| of g that is |K| between the angles and 0 elsewhere.
    double variation(double first, double last) const {
        double sum = first > 0 ? discs_.under(first) * value(first) : 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            if (at(i) < first || at(i) >= last) continue;
            const double change = values_[i + 1] - values_[i];
            sum += change < 0 ? discs_.over(at(i)) * -change : discs_.under(at(i + 1)) * change;
        }
        return sum + discs_.over(std::min(last, end_)) * value(std::min(last, end_));
    }
    double koksma(double first, double last) const { return integral(first, last) + variation(first, last); }
    /// int over |dK| of K with its signs
    double largest_variation() const {
        double sum = discs_.over(end_) * values_.back();
        for (std::int64_t i = 0; i < n_; ++i)
            sum += discs_.over(at(i)) * std::abs(signed_[i + 1] - signed_[i]);
        return sum;
    }
    /// int K^2 dOmega
    double squares() const {
        double sum = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            sum +=
                (std::pow(values_[i], 2) + std::pow(values_[i + 1], 2)) / 2 * (area(at(i + 1)) - area(at(i)));
        return sum;
    }
    /// The angle from which on no value is above `least`.
    double where(double least) const {
        auto i = n_;
        while (i > 0 && values_[i] <= least) --i;
        return at(i);
    }

  private:
    double at(std::int64_t i) const { return end_ * static_cast<double>(i) / static_cast<double>(n_); }
    double value(double theta) const { return values_[std::llround(theta / end_ * static_cast<double>(n_))]; }

    static constexpr std::int64_t n_ = 10000;
    DiscDiscrepancy discs_;
    double end_;
    std::vector<double> values_, signed_;
};

constexpr double nearly = 0.01;  // steps of the samples over what the kernel changes in

std::vector<Grid> grids() {
    return {Grid::gauss_legendre(40, 80), Grid::clenshaw_curtis(31, 80), Grid::healpix(16)};
}

TEST(NormReferences, WholeKernelsAreKoksmasSum) {
    for (const auto& grid : grids())
        for (const auto& kernel : test::kernels_of_all_kinds()) {
            const KernelNorms norms(grid, kernel);
            const Plain plain(grid, kernel);
            EXPECT_NEAR(norms.whole() / plain.koksma(0, kernel.support()), 1, nearly)
                << grid.name() << ", " << kernel.name();
            EXPECT_NEAR(norms.peak() / plain.peak(), 1, 1e-3);
        }
}

TEST(NormReferences, PartsAreKoksmasSumWhereNoRowsAreSummed) {
    for (const auto& grid : {grids()[0], grids()[1]})
        for (const auto& kernel : test::kernels_of_all_kinds()) {
            const KernelNorms norms(grid, kernel);
            const Plain plain(grid, kernel);
            const double end = kernel.support();
            for (const double first : {0.05, 0.25, 0.55}) {
                if (first >= end) continue;
                const double scale = nearly * plain.koksma(0, end);
                EXPECT_NEAR(norms.beyond(first), plain.koksma(first, end), scale)
                    << kernel.name() << ", " << first;
                for (const double last : {0.3, 0.58}) {
                    if (last <= first || last >= end) continue;
                    const double most = std::min(plain.koksma(first, end), plain.koksma(first, last));
                    EXPECT_NEAR(norms.between(first, last), most, scale)
                        << kernel.name() << ", " << first << " to " << last;
                }
                EXPECT_EQ(norms.between(first, pi), norms.beyond(first));
            }
            EXPECT_LE(norms.beyond(pi), 1e-13);
        }
}

TEST(NormReferences, LeastRowSumsAreIntegralsLessTheVariation) {
    const auto fine = Grid::gauss_legendre(300, 600);
    auto all = test::kernels_of_all_kinds();
    all.push_back(all[0].scaled(-2));
    all.push_back(RadialKernel::from_profile({0, 0.6, 0.8, 1, 1.2}, {1, 1, -0.2, -0.3, 0}));
    int n_above = 0;
    for (const auto& kernel : all) {
        const Plain plain(fine, kernel);
        const double integral = kernel.window(0)[0], end = kernel.support();
        const bool is_signed = std::abs(plain.integral(0, end) - integral) > 1e-3 * plain.integral(0, end);
        const double expected = std::max(0.0, is_signed ? std::abs(integral) - plain.largest_variation()
                                                        : integral - plain.variation(0, end));
        n_above += expected > 0 ? 1 : 0;
        if (is_signed && expected > 0) {
            const double missed = std::abs(integral) - KernelNorms(fine, kernel).least_row_sum();
            EXPECT_NEAR(missed / plain.largest_variation(), 1, 0.03) << kernel.name();
        }
        EXPECT_NEAR(KernelNorms(fine, kernel).least_row_sum(), expected, nearly * plain.koksma(0, end))
            << kernel.name();
    }
    EXPECT_GE(n_above, 7);
    // Where this says nothing, HEALPix has the pixel itself.
    const auto healpix = Grid::healpix(4);
    const auto narrow = RadialKernel::gaussian(0.05);
    EXPECT_NEAR(KernelNorms(healpix, narrow).least_row_sum() / (4 * pi / 192 * narrow.profile(0)), 1, 1e-12);
    EXPECT_EQ(KernelNorms(Grid::gauss_legendre(8, 16), narrow).least_row_sum(), 0);
}

TEST(NormReferences, TablesErrUpToWhereAHundredthOfTheAccuracyIsLeft) {
    // Of a profile that falls so slowly that a hundredth is told from less.
    std::vector<double> theta, value;
    for (int i = 0; i <= 200; ++i) {
        theta.push_back(i / 80.0);
        value.push_back(i == 200 ? 0 : 7 * std::exp(-theta.back() / 0.2));
    }
    const auto kernel = RadialKernel::from_profile(theta, value);
    for (const auto& grid : {grids()[0], grids()[2]}) {
        const Plain plain(grid, kernel);
        const DiscDiscrepancy discs(grid);
        for (const double accuracy : {1e-1, 1e-2, 1e-3}) {
            const double worst = accuracy * plain.peak(), end = plain.where(0.01 * worst);
            const double expected =
                worst * (area(end) + discs.over(end)) + plain.koksma(end, kernel.support());
            EXPECT_NEAR(KernelNorms(grid, kernel).table(accuracy) / expected, 1, 0.015) << accuracy;
        }
    }
}

TEST(NormReferences, NoiseGainsAreTheIntegralOfTheSquare) {
    for (const auto& grid : grids())
        for (const auto& kernel : test::kernels_of_all_kinds()) {
            const double pixel = 4 * pi / static_cast<double>(grid.n_pixels());
            const Plain plain(grid, kernel);
            const double itself = pixel * std::abs(kernel.profile(0)),
                         all = std::sqrt(pixel * plain.squares());
            EXPECT_NEAR(KernelNorms(grid, kernel).gain_of_noise() / std::max(itself, all), 1, nearly)
                << kernel.name();
        }
    const auto narrow = RadialKernel::gaussian(0.02);
    EXPECT_NEAR(KernelNorms(grids()[2], narrow).gain_of_noise() / (4 * pi / 3072 * narrow.profile(0)), 1,
                1e-12);
}

TEST(NormReferences, SupportsAreTheSmallestThatKeepANorm) {
    // Where rows are summed, these step as pixels leave.
    for (const auto& [grid, closer] :
         {std::pair{Grid::gauss_legendre(100, 200), 0.97}, {Grid::healpix(32), 0.8}})
        for (const auto& kernel : {RadialKernel::gaussian(0.12), RadialKernel::gaussian(0.5)}) {
            const KernelNorms norms(grid, kernel);
            for (const double wanted : {0.3, 1e-2, 1e-5}) {
                const double theta = norms.support_for(wanted);
                EXPECT_LE(norms.beyond(theta), wanted) << kernel.name();
                EXPECT_GT(norms.beyond(closer * theta), wanted) << kernel.name() << ", " << wanted;
            }
            EXPECT_NEAR(norms.support_for(1e-300), planning::sample(kernel).theta.back(), 1e-6);
        }
}

/// The bound of discs of one radius, from what it says in disc_discrepancy.cpp: the pixels of the rings that
/// the edge may cross, and the share of a ring that rises and falls once, of what their weights miss of their
/// area.
double bound_of_discs(const Grid& grid, double t) {
    struct Band {
        double theta, pixel, before, after;
    };
    std::vector<Band> bands;
    for (const Ring& ring : grid.rings())
        bands.push_back({ring.theta, ring.weight, 0, ring.weight * static_cast<double>(ring.n_pixels)});
    std::sort(bands.begin(), bands.end(), [](const Band& a, const Band& b) { return a.theta < b.theta; });
    for (std::size_t i = 1; i < bands.size(); ++i) {
        bands[i].before = bands[i - 1].after;
        bands[i].after += bands[i].before;
    }
    double most = 0;
    for (const Band& centre : bands) {
        double pixels = 0, missed = 0;
        for (std::size_t i = 0; i < bands.size(); ++i) {
            if (std::abs(bands[i].theta - centre.theta) > t) continue;
            pixels += bands[i].pixel;
            // A disc may end at the ring, or anywhere up to the next on either side.
            missed = std::max({missed, std::abs(bands[i].before - area(bands[i].theta)),
                               std::abs(bands[i].after - area(bands[i].theta))});
            if (i > 0) missed = std::max(missed, std::abs(bands[i].before - area(bands[i - 1].theta)));
            if (i + 1 < bands.size())
                missed = std::max(missed, std::abs(bands[i].after - area(bands[i + 1].theta)));
        }
        const bool is_whole = centre.theta <= t || pi - centre.theta <= t;
        const double sine = std::min(1.0, std::sin(t) / std::sin(centre.theta));
        most = std::max(most, pixels + 2 * (is_whole ? 1 : std::asin(sine) / pi) * missed);
    }
    return most;
}

TEST(DiscDiscrepancy, OfRingsIsTheLargestOfAllDiscsUpToATable) {
    for (const auto& grid : {Grid::gauss_legendre(12, 24), Grid::gauss_legendre(9, 40, 0.1),
                             Grid::equidistant_cylindrical(12, 24),
                             Grid::gauss_legendre(30, 60).subset({2, 3, 4, 11, 12, 13, 14, 15, 25})}) {
        const DiscDiscrepancy discs(grid);
        EXPECT_NEAR(discs.pixel() / std::sqrt(4 * pi / static_cast<double>(grid.n_pixels())), 1, 1e-12);
        double most = 0, before = 0;
        for (int k = 0; before < pi; ++k) {  // eight angles to an octave, from a quarter of a pixel on
            const double t = std::min(pi, discs.pixel() / 4 * std::exp2(k / 8.0));
            most = std::max(most, bound_of_discs(grid, t));
            const double between = (before + t) / 2;
            EXPECT_NEAR(discs.over(between) / most, 1, 1e-9) << grid.name() << ", " << between;
            EXPECT_NEAR(discs.under(between), std::min(most, area(between)), 1e-9 * most) << between;
            before = t;
        }
        EXPECT_NEAR(discs.over(pi) / most, 1, 1e-9);
    }
}

TEST(DiscDiscrepancy, OfHealpixIsThatOfItsLatticeAndOfRingsAndGreatCircles) {
    for (const std::int64_t nside : {4, 64, 256}) {
        const DiscDiscrepancy discs(Grid::healpix(nside));
        const double pixel = std::sqrt(pi / 3) / static_cast<double>(nside);
        for (const double theta :
             {0.1 * pixel, 0.9 * pixel, 3 * pixel, 0.2, 0.8, 1.2, 1.28, 1.5, 1.86, 1.88, 2.5, 3.1}) {
            // Pixels, of a disc with r pixels to its edge or its antipode's: the lattice, and the edge along
            // rings, or along great circles within 0.3 of them.
            const double r = std::min(theta, pi - theta) / pixel;
            const double along = std::abs(theta - pi / 2) < 0.3 ? 1.8 * r : 0.68 * r;
            const double most = std::max({1.0, 3.7 * std::pow(r, 0.6), along}) * pixel * pixel;
            EXPECT_NEAR(discs.over(theta) / most, 1, 1e-12) << nside << ", " << theta;
            // Up to 0.75 pixels a disc holds its own centre and nothing else.
            const double under = theta < 0.75 * pixel ? std::max(0.0, pi * theta * theta - pixel * pixel)
                                                      : std::min(most, area(theta));
            EXPECT_NEAR(discs.under(theta), under, 1e-11 * most) << nside << ", " << theta;
        }
        // Of all angles between two: the bound steps down 0.3 beyond a great circle.
        for (const auto& [first, last] :
             {std::pair{0.1, 0.2}, {1.0, 1.5}, {1.3, 2.8}, {1.0, 3.0}, {2.0, 2.9}}) {
            double over = 0, under = 0;
            for (int i = 0; i <= 1000; ++i) {
                const double theta = first + (last - first) * i / 1000;
                over = std::max(over, discs.over(theta));
                under = std::max(under, discs.under(theta));
            }
            EXPECT_NEAR(discs.over(first, last) / over, 1, 1e-3) << nside << ", " << first << " to " << last;
            EXPECT_NEAR(discs.under(first, last) / under, 1, 1e-3)
                << nside << ", " << first << " to " << last;
        }
    }
}

TEST(RowSums, AreThoseOfAllPixelsAroundEach) {
    struct Pixel {
        double theta, phi;
    };
    for (const std::int64_t nside : {1, 2, 3, 4}) {
        std::vector<Pixel> pixels;
        const auto grid = Grid::healpix(nside);
        for (const Ring& ring : grid.rings())
            for (std::int64_t k = 0; k < ring.n_pixels; ++k)
                pixels.push_back({ring.theta, ring.phi_0 + 2 * pi * static_cast<double>(k) /
                                                               static_cast<double>(ring.n_pixels)});
        for (const auto& [first, last] :
             {std::pair{0.0, 0.6}, {0.31, 1.07}, {0.9, 1.9}, {1.7, 3.0}, {2.2, pi}}) {
            planning::AnnulusProfile annulus{first, last, {}};
            const auto value = [from = first](double theta) { return 1 + std::pow(theta - from, 2); };
            for (int i = 0; i <= 3000; ++i) annulus.value.push_back(value(first + (last - first) * i / 3000));
            double largest = 0;
            for (const Pixel& a : pixels) {
                double sum = 0;
                for (const Pixel& b : pixels) {
                    const double square =
                        std::pow(std::sin((a.theta - b.theta) / 2), 2) +
                        std::sin(a.theta) * std::sin(b.theta) * std::pow(std::sin((a.phi - b.phi) / 2), 2);
                    const double theta = 2 * std::asin(std::sqrt(std::min(1.0, square)));
                    // From 0 on the pixel itself counts, and up to pi its antipode, whichever way they round.
                    if ((first == 0 || theta > first + 1e-9) && theta <= last + 1e-7) sum += value(theta);
                }
                largest = std::max(largest, sum);
            }
            EXPECT_NEAR(planning::largest_row_sum(nside, annulus) / largest, 1, 1e-6)
                << nside << ", " << first << " to " << last;
        }
    }
}

}  // namespace
}  // namespace zonal
