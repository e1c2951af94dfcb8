#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "point_helpers.hpp"

/// Values to 15 digits and more that were computed by explicit Wigner sums in 40 digits.
namespace zonal::test {
namespace {

constexpr std::int64_t lmax = 16;
constexpr double error = 2e-14;

struct Case {
    int spin;
    std::vector<Complex> values;  // at (0.3, 1), (1.5, 4), (3, 6.2), (0, 1)
};

const std::vector<Case> cases = {
    {0, {0.454428461847592491, 0.195268639739328539, 0.205679103677705483, 0.699701267444561932}},
    {1,
     {{-0.102800085433426, 0.0746300886461866},
      {-0.0356022955693469, -0.128332418394658},
      {0.0316637046109413, 0.0271972321631617},
      {0.115000182901846, 0.0365200209748518}}},
    {2,
     {{0.0407390786478032, 0.0209416707260066},
      {0.0162725549803902, -0.0866539382400309},
      {-0.0439653914266540, -0.0252378172093847},
      {0.129767792755175, -0.274448026679983}}},
    {3,
     {{0.0675901506674426, -0.101263674317134},
      {0.00913639243350951, -0.0552608986844628},
      {0.0103945243052718, 0.0120231504089611},
      {-0.207802452302119, -0.304962778388775}}},
};

Complex value(const MapArray& values, std::int64_t point) {
    return {values(0, 0, point), values.extent(1) == 2 ? values(0, 1, point) : 0};
}

TEST(PointReferenceValues, AreReached) {
    Points points;
    points.add(0.3, 1);
    points.add(1.5, 4);
    points.add(3, 6.2);
    points.add(0, 1);
    for (const Case& each : cases) {
        const PointTransform transform(points.theta_view(), points.phi_view(),
                                       point_options(lmax, each.spin, error));
        const auto values = values_at(transform, explicit_alm(AlmLayout(lmax), each.spin));
        // Half of the error asked for, whose largest function here is about 1.
        for (std::int64_t i = 0; i < points.size(); ++i)
            EXPECT_LT(std::abs(value(values, i) - each.values[static_cast<std::size_t>(i)]), 1e-14)
                << "spin " << each.spin << ", point " << i;
    }
}

TEST(PointReferenceValues, DoNotLoseDigitsInTurns) {
    Points points;
    for (const double phi : {100.3, -7.5, 12345.678}) points.add(1.5, phi);
    const PointTransform transform(points.theta_view(), points.phi_view(), point_options(lmax, 0, error));
    const auto values = values_at(transform, explicit_alm(AlmLayout(lmax), 0));
    const double wanted[3] = {0.20765118193841557, 0.20725436684679938, 0.20869787328971484};
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_LT(std::abs(values(0, 0, i) - wanted[i]), 1e-14) << i;
}

TEST(PointReferenceValues, OfDerivativesAreReached) {
    Points points;
    points.add(1.5, 4);
    const struct {
        int spin;
        Complex by_theta, by_phi;
    } wanted[2] = {
        {0, -0.063971233077948869, -0.37430558911477467},
        {2, {0.10113547542343303, 0.0048625996682863377}, {0.27924850155806329, -0.28306230137821052}}};
    for (const auto& each : wanted) {
        const PointTransform transform(points.theta_view(), points.phi_view(),
                                       point_options(lmax, each.spin, error));
        const auto alm = explicit_alm(AlmLayout(lmax), each.spin);
        MapArray values({1, alm.extent(1), 1}), by_theta({1, alm.extent(1), 1}),
            by_phi({1, alm.extent(1), 1});
        auto workspace = transform.make_workspace();
        transform.synthesize<double>(alm.view(), values.view(), by_theta.view(), by_phi.view(), workspace);
        // Derivatives err by up to 13 lmax times as much as values: 4e-12; by a tenth of that here.
        EXPECT_LT(std::abs(value(by_theta, 0) - each.by_theta), 4e-13);
        // The same.
        EXPECT_LT(std::abs(value(by_phi, 0) - each.by_phi), 4e-13);
    }
}

}  // namespace
}  // namespace zonal::test
