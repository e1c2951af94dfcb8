#include <gmock/gmock.h>

#include <cmath>

#include "plot/markup.hpp"
#include "plot/ticks.hpp"

namespace zonal::plot {
namespace {

using testing::ElementsAre;
using Level = TextRun::Level;

std::vector<std::string> labels(const Ticks& ticks) {
    std::vector<std::string> result;
    for (const Tick& tick : ticks.ticks)
        if (!tick.label.empty()) result.push_back(tick.label);
    return result;
}

TEST(PlotTicks, LinearOnesAreRoundNumbersWithin) {
    EXPECT_THAT(labels(linear_ticks(-0.27, 0.27, 7)), ElementsAre("−0.2", "−0.1", "0.0", "0.1", "0.2"));
    EXPECT_THAT(labels(linear_ticks(0, 1, 6)), ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
    EXPECT_THAT(labels(linear_ticks(0, 5000, 6)), ElementsAre("0", "1000", "2000", "3000", "4000", "5000"));
}

TEST(PlotTicks, LinearOnesNeverExceedTheirNumber) {
    for (double width = 1e-7; width < 1e7; width *= 1.37)
        for (int count = 2; count <= 10; ++count) {
            const Ticks ticks = linear_ticks(-0.31 * width, 0.69 * width, count);
            EXPECT_LE(ticks.ticks.size(), count) << width;
            EXPECT_GE(ticks.ticks.size(), 1u) << width;
            for (const Tick& tick : ticks.ticks) {
                EXPECT_GE(tick.value, -0.311 * width);
                EXPECT_LE(tick.value, 0.691 * width);
            }
        }
}

TEST(PlotTicks, LongNumbersShareAPowerOfTen) {
    const Ticks small = linear_ticks(-3e-5, 3e-5, 4);
    EXPECT_EQ(small.exponent, -6);
    EXPECT_THAT(labels(small), ElementsAre("−20", "0", "20"));
    EXPECT_EQ(linear_ticks(0, 3e6, 4).exponent, 6);
    EXPECT_EQ(linear_ticks(0, 3e4, 4).exponent, 0);
}

TEST(PlotTicks, LogOnesAreDecadesWithMinorTicks) {
    const Ticks ticks = log_ticks(1, 2000, 6);
    EXPECT_THAT(labels(ticks), ElementsAre("1", "10", "100", "1000"));
    EXPECT_EQ(ticks.ticks.size(), 29u);  // 9 marks in each of three decades, 1000 and 2000
    EXPECT_THAT(labels(log_ticks(1e-9, 2e-4, 6)),
                ElementsAre("10^{−9}", "10^{−8}", "10^{−7}", "10^{−6}", "10^{−5}", "10^{−4}"));
}

TEST(PlotTicks, ShortLogRangesHaveTicksBetweenDecades) {
    EXPECT_THAT(labels(log_ticks(15, 600, 6)), ElementsAre("20", "50", "100", "200", "500"));
    EXPECT_GE(labels(log_ticks(11, 14, 6)).size(), 2u);
    EXPECT_GE(labels(log_ticks(3.2, 3.3, 6)).size(), 2u);
}

TEST(PlotTicks, ManyDecadesAreThinned) {
    const auto result = labels(log_ticks(1e-20, 1e20, 8));
    EXPECT_LE(result.size(), 8u);
    EXPECT_GE(result.size(), 4u);
}

TEST(PlotTicks, SymlogOnesAreSymmetric) {
    EXPECT_THAT(labels(symlog_ticks(-500, 500, 10, 9)), ElementsAre("−100", "−10", "0", "10", "100"));
}

TEST(PlotTicks, NumbersUseATrueMinusAndNoNegativeZero) {
    EXPECT_EQ(format_number(-2.5, 1), "−2.5");
    EXPECT_EQ(format_number(-0.04, 1), "0.0");
    EXPECT_EQ(format_significant(0.0012345, 3), "0.00123");
    EXPECT_EQ(format_significant(-123456, 3), "−123000");
    EXPECT_EQ(format_significant(2.5e-8, 3), "2.5×10^{−8}");
    EXPECT_EQ(format_significant(0, 3), "0");
}

TEST(PlotMarkup, SplitsSubscriptsAndSuperscripts) {
    EXPECT_THAT(
        parse_markup("C_{TT} [µK^{2}]"),
        ElementsAre(TextRun{"C", Level::base}, TextRun{"TT", Level::subscript}, TextRun{" [µK", Level::base},
                    TextRun{"2", Level::superscript}, TextRun{"]", Level::base}));
}

TEST(PlotMarkup, LeavesFileNamesAlone) {
    EXPECT_THAT(parse_markup("map_r9_7yr^2.fits"), ElementsAre(TextRun{"map_r9_7yr^2.fits", Level::base}));
    EXPECT_THAT(parse_markup("open_{brace"), ElementsAre(TextRun{"open_{brace", Level::base}));
    EXPECT_TRUE(parse_markup("").empty());
}

TEST(PlotMarkup, ReplacesWhatIsNotUtf8) {
    EXPECT_THAT(parse_markup("a\xff\xc3z\n"), ElementsAre(TextRun{"a??z?", Level::base}));
    EXPECT_THAT(parse_markup("\xed\xa0\x80"), ElementsAre(TextRun{"???", Level::base}));  // a surrogate
    EXPECT_THAT(parse_markup("µℓ𝛿"), ElementsAre(TextRun{"µℓ𝛿", Level::base}));
}

TEST(PlotMarkup, TypesetsUnits) {
    EXPECT_EQ(pretty_unit("uK"), "µK");
    EXPECT_EQ(pretty_unit("uK^2"), "µK^{2}");
    EXPECT_EQ(pretty_unit("muK**2"), "µK^{2}");
    EXPECT_EQ(pretty_unit("uK2"), "µK^{2}");
    EXPECT_EQ(pretty_unit("(uK)^2"), "(µK)^{2}");
    EXPECT_EQ(pretty_unit("K_CMB"), "K_{CMB}");
    EXPECT_EQ(pretty_unit("uK_CMB^2"), "µK_{CMB}^{2}");
    EXPECT_EQ(pretty_unit("mK,thermodynamic"), "mK, thermodynamic");
    EXPECT_EQ(pretty_unit("MJy sr^-1"), "MJy sr^{−1}");
    EXPECT_EQ(pretty_unit("MJy/sr"), "MJy/sr");
    EXPECT_EQ(pretty_unit("counts"), "counts");
    EXPECT_EQ(pretty_unit("unknown"), "unknown");
    EXPECT_EQ(pretty_unit(" K "), "K");
    EXPECT_EQ(pretty_unit(""), "");
}

}  // namespace
}  // namespace zonal::plot
