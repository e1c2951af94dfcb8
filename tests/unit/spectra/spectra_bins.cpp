#include "zonal/spectra/bins.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/view.hpp"

namespace zonal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();

std::vector<std::int64_t> first_degrees(const Bins& bins) {
    std::vector<std::int64_t> found;
    for (const Band& band : bins.bands()) found.push_back(band.first);
    return found;
}

View<const double, 1> view_of(const std::vector<double>& values) {
    return {values.data(), {std::ssize(values)}};
}

Bins made(std::vector<Band> bands, BandsOf of = BandsOf::c_l) {
    return Bins(std::move(bands), of);
}

TEST(Bins, OfOneWidthAreAsManyAsFit) {
    const auto bins = Bins::linear(10, 2, 30);
    EXPECT_THAT(first_degrees(bins), ElementsAre(2, 12));
    EXPECT_EQ(bins.lmax(), 21);
    EXPECT_EQ(Bins::linear(10, 2, 31).lmax(), 31);
}

TEST(Bins, OfTheWeightsOfOtherBinsAreTheSame) {
    for (const std::int64_t width : {1, 3, 7, 49, 99}) {
        const auto bins = Bins::linear(width, 2, 300);
        const auto again = made(bins.bands());
        for (std::size_t b = 0; b < bins.bands().size(); ++b)
            EXPECT_EQ(again.bands()[b].weights, bins.bands()[b].weights) << width;
    }
    EXPECT_EQ(made({{3, {2.0, 6.0}}}).bands()[0].weights, (std::vector{0.25, 0.75}));
}

TEST(Bins, OfEdgesEndBeforeTheNextEdge) {
    const auto bins = Bins::edges({2, 6, 7, 12});
    EXPECT_THAT(first_degrees(bins), ElementsAre(2, 6, 7));
    EXPECT_EQ(bins.bands()[1].last(), 6);
    EXPECT_EQ(bins.lmax(), 11);
}

TEST(Bins, WhoseWidthsGrowFillTheRangeAndAreNeverEmpty) {
    for (const std::int64_t n : {1, 2, 7, 28, 29}) {
        const auto bins = Bins::logarithmic(n, 2, 30);
        ASSERT_EQ(bins.size(), n);
        EXPECT_EQ(bins.lmin(), 2);
        EXPECT_EQ(bins.lmax(), 30);
        for (std::size_t b = 1; b < bins.bands().size(); ++b)
            EXPECT_EQ(bins.bands()[b].first, bins.bands()[b - 1].last() + 1) << n;
    }
    EXPECT_THAT(first_degrees(Bins::logarithmic(3, 1, 7)), ElementsAre(1, 2, 4));
}

TEST(Bins, AverageSpectraByWeights) {
    const std::vector<double> c_l{9, 9, 1, 2, 3, 4}, weights{0, 0, 1, 3, 2, 2};
    EXPECT_THAT(Bins::edges({2, 4, 6}).binned(view_of(c_l)), ElementsAre(1.5, 3.5));
    const auto weighted = Bins::edges({2, 4, 6}).weighted(weights);
    EXPECT_THAT(weighted.binned(view_of(c_l)), ElementsAre(1.75, 3.5));
    EXPECT_THAT(weighted.effective_degrees(), ElementsAre(2.75, 4.5));
    const auto of_d_l = Bins::edges({2, 4}, BandsOf::d_l).binned(view_of(c_l));
    EXPECT_NEAR(of_d_l[0], (6 * 1 + 12 * 2) / (4 * std::numbers::pi), 4 * eps * of_d_l[0]);
}

TEST(Bins, RejectWhatWouldCountTwiceOrNothing) {
    EXPECT_THAT([] { made({}); }, ThrowsMessage<InvalidArgument>(HasSubstr("no band")));
    EXPECT_THAT(
        [] {
            made({{2, {1, 1}}, {3, {1}}});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("ends at l = 3: overlapping")));
    EXPECT_THAT([] { made({{2, {}}}); }, ThrowsMessage<InvalidArgument>(HasSubstr("band 0: is empty")));
    EXPECT_THAT([] { made({{2, {0, 0}}}); }, ThrowsMessage<InvalidArgument>(HasSubstr("no weight above 0")));
    EXPECT_THAT(
        [] {
            made({{2, {1, -1}}});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("weight of l = 3 = -1")));
    EXPECT_THAT(
        [] {
            made({{2, {std::numeric_limits<double>::quiet_NaN()}}});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("weight of l = 2")));
    EXPECT_THAT([] { made({{-1, {1}}}); }, ThrowsMessage<InvalidArgument>(HasSubstr("0 or more")));
    EXPECT_THAT(
        [] {
            made({{0, {1}}}, BandsOf::d_l);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("must not have l = 0")));
    EXPECT_THAT([] { Bins::linear(0, 2, 9); },
                ThrowsMessage<InvalidArgument>(HasSubstr("width = 0: must be from 1 to 8")));
    EXPECT_THAT([] { Bins::linear(9, 2, 9); }, ThrowsMessage<InvalidArgument>(HasSubstr("width = 9")));
    EXPECT_THAT([] { Bins::linear(1, -1, 9); }, ThrowsMessage<InvalidArgument>(HasSubstr("lmin = -1")));
    EXPECT_THAT([] { Bins::linear(1, 4, 3); },
                ThrowsMessage<InvalidArgument>(HasSubstr("lmax = 3: must be lmin = 4")));
    EXPECT_THAT([] { Bins::logarithmic(3, 0, 9); },
                ThrowsMessage<InvalidArgument>(HasSubstr("lmin = 0: must be 1")));
    EXPECT_THAT([] { Bins::logarithmic(9, 2, 9); },
                ThrowsMessage<InvalidArgument>(HasSubstr("n = 9: must be from 1 to 8")));
    EXPECT_THAT([] { Bins::edges({2}); }, ThrowsMessage<InvalidArgument>(HasSubstr("edges")));
    EXPECT_THAT(
        [] {
            Bins::edges({2, 2});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("edges[1] = 2: must be above")));
    EXPECT_THAT([] { Bins::edges({-2, 2}); }, ThrowsMessage<InvalidArgument>(HasSubstr("edges[0] = -2")));
    const std::vector<double> few{1, 1, 1};
    EXPECT_THAT(
        [&] {
            (void)Bins::edges({2, 4}).weighted(few);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("must reach l = 3")));
    EXPECT_THAT(
        [&] {
            (void)Bins::edges({2, 4}).binned(view_of(few));
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("must reach l = 3")));
}

}  // namespace
}  // namespace zonal
