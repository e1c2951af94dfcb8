#include <gtest/gtest.h>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::test {
namespace {

/// Coefficients that other programs can make too.
Array<Complex, 2> pattern(const AlmLayout& layout, double (*re)(double l, double m),
                          double (*im)(double l, double m)) {
    Array<Complex, 2> alm({1, layout.size()});
    for (std::int64_t m = 0; m <= layout.mmax(); ++m)
        for (auto l = m; l <= layout.lmax(); ++l) {
            const auto x = static_cast<double>(l), y = static_cast<double>(m);
            alm(0, layout.index(l, m)) = {re(x, y), im(x, y)};
        }
    return alm;
}

Array<Complex, 2> first_pattern(const AlmLayout& layout) {
    return pattern(
        layout, [](double l, double m) { return (l + 1) * (1 - 0.1 * m); },
        [](double l, double m) { return m * 0.3 * (l - 1); });
}

TEST(Spectrum, AgreesWithHealpy) {
    const AlmLayout layout(3);
    const auto a = first_pattern(layout);
    const auto b = pattern(
        layout, [](double l, double m) { return (l - 1.5) * (1 + 0.2 * m); },
        [](double l, double m) { return -m * 0.1 * (l + 1); });
    // healpy 1.20.1, alm2cl
    const double auto_want[] = {1.0, 3.4933333333333336, 7.200000000000001, 12.594285714285714};
    const double cross_want[] = {-1.5, -1.0533333333333335, 1.4400000000000002, 5.588571428571427};
    const auto auto_cl = cross_spectrum<double>(layout, a.view()[0], a.view()[0]);
    const auto cross_cl = cross_spectrum<double>(layout, a.view()[0], b.view()[0]);
    for (int l = 0; l <= 3; ++l) {
        EXPECT_NEAR(auto_cl[l], auto_want[l], 16 * eps * auto_want[3]);
        EXPECT_NEAR(cross_cl[l], cross_want[l], 16 * eps * auto_want[3]);
    }
}

TEST(Spectrum, IgnoresTheImaginaryPartOfOrderZero) {
    const AlmLayout layout(0);
    Array<Complex, 2> alm({1, 1});
    alm(0, 0) = {2, 5};
    EXPECT_EQ(cross_spectrum<double>(layout, alm.view()[0], alm.view()[0])[0], 4);
}

std::vector<std::string> names(const std::vector<Spectrum>& spectra) {
    std::vector<std::string> result;
    for (const auto& spectrum : spectra) result.push_back(spectrum.name);
    return result;
}

TEST(Spectra, NamesAllPairsInTheOrderOfFiles) {
    const AlmLayout layout(4);
    const auto alm = random_alm(layout, 2, 3, 1);
    const auto first = alm.view()[0], second = alm.view()[1];
    using Names = std::vector<std::string>;
    EXPECT_EQ(names(spectra<double>(layout, first)), (Names{"TT", "EE", "BB", "TE", "TB", "EB"}));
    const auto nine = spectra<double>(layout, first, second);
    EXPECT_EQ(names(nine), (Names{"TT", "EE", "BB", "TE", "TB", "EB", "ET", "BT", "BE"}));
    // TE: T of the first with E of the second; BE: B of the first with E of the second.
    EXPECT_EQ(nine[3].values, cross_spectrum<double>(layout, first[0], second[1]));
    EXPECT_EQ(nine[8].values, cross_spectrum<double>(layout, first[2], second[1]));
    const View<const Complex, 2> pair(&alm.data()[layout.size()], {2, layout.size()});
    EXPECT_EQ(names(spectra<double>(layout, pair)), (Names{"EE", "BB", "EB"}));
}

TEST(Spectrum, OfSinglePrecisionAgrees) {
    const AlmLayout layout(3, 2);
    const auto a = first_pattern(layout);
    Array<std::complex<float>, 2> narrow({1, layout.size()});
    for (std::int64_t i = 0; i < layout.size(); ++i) narrow(0, i) = std::complex<float>(a(0, i));
    const auto wide_cl = cross_spectrum<double>(layout, a.view()[0], a.view()[0]);
    const auto narrow_cl =
        cross_spectrum<float>(layout, std::as_const(narrow).view()[0], std::as_const(narrow).view()[0]);
    // Each factor is rounded to float: 2^-24 relative, twice.
    for (int l = 0; l <= 3; ++l) EXPECT_NEAR(narrow_cl[l], wide_cl[l], 2 * 0x1p-24 * wide_cl[l]);
}

TEST(MultiplyAlm, ScalesEachDegree) {
    const AlmLayout layout(3, 1);
    auto alm = first_pattern(layout);
    const auto before = alm;
    multiply_alm<double>(layout, {1, 2, 3, 4, 5}, alm.view()[0]);
    for (std::int64_t m = 0; m <= 1; ++m)
        for (auto l = m; l <= 3; ++l)
            EXPECT_EQ(alm(0, layout.index(l, m)), before(0, layout.index(l, m)) * static_cast<double>(l + 1));
    EXPECT_THROW(multiply_alm<double>(layout, {1, 2, 3}, alm.view()[0]), InvalidArgument);
}

TEST(CopyAlm, KeepsWhatBothLayoutsHave) {
    const AlmLayout small(2, 1), large(4);
    const auto alm = first_pattern(small);
    Array<Complex, 2> copy({1, large.size()}), back({1, small.size()});
    for (auto& a : copy) a = 7;
    copy_alm<double>(small, alm.view()[0], large, copy.view()[0]);
    EXPECT_EQ(copy(0, large.index(2, 1)), alm(0, small.index(2, 1)));
    EXPECT_EQ(copy(0, large.index(2, 2)), Complex(0));
    EXPECT_EQ(copy(0, large.index(3, 1)), Complex(0));
    copy_alm<double>(large, std::as_const(copy).view()[0], small, back.view()[0]);
    EXPECT_EQ(largest_difference(back, alm), 0);
}

}  // namespace
}  // namespace zonal::test
