#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// The message of the InvalidArgument that the call throws, or "accepted".
std::string complaint(const std::function<void()>& call) {
    try {
        call();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

std::string plan_complaint(const std::function<void(ShtOptions&)>& change) {
    ShtOptions options = options_of(8, 2);
    change(options);
    return complaint([&] { ShtPlan(Grid::healpix(4), options); });
}

TEST(ShtPlan, NamesTheOptionThatItRejects) {
    EXPECT_THAT(plan_complaint([](auto& o) { o.lmax = -1; }), HasSubstr("lmax = -1"));
    EXPECT_THAT(plan_complaint([](auto& o) { o.mmax = 9; }), AllOf(HasSubstr("mmax = 9"), HasSubstr("8")));
    EXPECT_THAT(plan_complaint([](auto& o) { o.mmax = -2; }), HasSubstr("mmax = -2"));
    EXPECT_THAT(plan_complaint([](auto& o) { o.spin = -1; }), HasSubstr("spin = -1"));
    EXPECT_THAT(plan_complaint([](auto& o) { o.spin = 9; }), AllOf(HasSubstr("spin = 9"), HasSubstr("8")));
    EXPECT_THAT(plan_complaint([](auto& o) { o.threads = -1; }), HasSubstr("threads = -1"));
    for (const SpinParts parts : {SpinParts::gradient, SpinParts::curl})
        EXPECT_THAT(plan_complaint([&](auto& o) {
                        o.spin = 0;
                        o.parts = parts;
                    }),
                    AllOf(HasSubstr("parts"), HasSubstr("spin")));
}

TEST(ShtPlan, AsksForAnLmaxThatIsNotGiven) {
    EXPECT_THAT(complaint([] { ShtPlan(Grid::healpix(4), ShtOptions{.spin = 2}); }),
                AllOf(HasSubstr("lmax"), HasSubstr("must be given")));
}

TEST(ShtPlan, RejectsADeviceThatIsNotThere) {
    ShtOptions options = options_of(8);
    options.device = Device::cuda(1234);
    try {
        ShtPlan(Grid::healpix(4), options);
        FAIL();
    } catch (const BackendUnavailable& error) {
        EXPECT_THAT(error.what(), HasSubstr("cuda:1234"));
    }
}

TEST(ShtPlan, ResolvesItsOptions) {
    ShtOptions options;
    options.lmax = 7;
    const ShtPlan plan(Grid::healpix(4), options);
    EXPECT_EQ(plan.options().mmax, 7);
    EXPECT_EQ(plan.options().threads, available_cpus());
    EXPECT_NE(plan.options().device, Device::automatic());
    EXPECT_EQ(plan.layout(), AlmLayout(7, 7));
    EXPECT_GT(plan.workspace_bytes(), 0);
}

/// Arrays of the right shape for a spin 2 plan; a test changes one of them.
class ShtArrays : public ::testing::Test {
  protected:
    const ShtPlan plan{Grid::healpix(2), options_of(4, 2)};
    const std::int64_t n_alm = plan.layout().size(), n_pixels = plan.grid().n_pixels();
    std::vector<Complex> alm = std::vector<Complex>(4 * n_alm);
    std::vector<double> map = std::vector<double>(4 * n_pixels);

    std::string complaint_on(View<const Complex, 3> a, View<double, 3> f) {
        return complaint([&] { plan.synthesize<double>(a, f); });
    }
    std::string complaint_on(View<const double, 3> f, View<Complex, 3> a) {
        const auto adjoint = complaint([&] { plan.adjoint_synthesis<double>(f, a); });
        EXPECT_EQ(adjoint, complaint([&] { plan.quadrature<double>(f, a); }));
        return adjoint;
    }
    /// Both directions must say the same.
    std::string complaint_on_both(View<Complex, 3> a, View<double, 3> f) {
        const auto forth = complaint_on(View<const Complex, 3>(a), f);
        EXPECT_EQ(forth, complaint_on(View<const double, 3>(f), a));
        return forth;
    }
};

TEST_F(ShtArrays, AreNamedWithTheAxisThatDoesNotFit) {
    EXPECT_EQ(complaint_on_both({alm.data(), {1, 2, n_alm}}, {map.data(), {1, 2, n_pixels}}), "accepted");
    EXPECT_THAT(complaint_on_both({alm.data(), {1, 1, n_alm}}, {map.data(), {1, 2, n_pixels}}),
                AllOf(HasSubstr("alm"), HasSubstr("component"), HasSubstr("1"), HasSubstr("2")));
    EXPECT_THAT(complaint_on_both({alm.data(), {1, 2, n_alm - 1}}, {map.data(), {1, 2, n_pixels}}),
                AllOf(HasSubstr("alm"), HasSubstr("coefficient"), HasSubstr(std::to_string(n_alm))));
    EXPECT_THAT(complaint_on_both({alm.data(), {1, 2, n_alm}}, {map.data(), {1, 3, n_pixels}}),
                AllOf(HasSubstr("map"), HasSubstr("component"), HasSubstr("3")));
    EXPECT_THAT(complaint_on_both({alm.data(), {1, 2, n_alm}}, {map.data(), {1, 2, n_pixels + 1}}),
                AllOf(HasSubstr("map"), HasSubstr("pixel"), HasSubstr(std::to_string(n_pixels))));
    EXPECT_THAT(complaint_on_both({alm.data(), {2, 2, n_alm}}, {map.data(), {1, 2, n_pixels}}),
                AllOf(HasSubstr("alm"), HasSubstr("map"), HasSubstr("batch")));
}

TEST_F(ShtArrays, MustBeContiguousInTheLastAxis) {
    EXPECT_THAT(complaint_on_both({alm.data(), {1, 2, n_alm}, {4 * n_alm, 2 * n_alm, 2}},
                                  {map.data(), {1, 2, n_pixels}}),
                AllOf(HasSubstr("alm"), HasSubstr("stride")));
    EXPECT_THAT(complaint_on_both({alm.data(), {1, 2, n_alm}},
                                  {map.data(), {1, 2, n_pixels}, {4 * n_pixels, 2 * n_pixels, 2}}),
                AllOf(HasSubstr("map"), HasSubstr("stride")));
}

TEST_F(ShtArrays, MustBeHostMemoryThatIsThere) {
    EXPECT_THAT(
        complaint_on_both({alm.data(), {1, 2, n_alm}, MemorySpace::cuda}, {map.data(), {1, 2, n_pixels}}),
        AllOf(HasSubstr("alm"), HasSubstr("device")));
    EXPECT_THAT(
        complaint_on_both({alm.data(), {1, 2, n_alm}}, {map.data(), {1, 2, n_pixels}, MemorySpace::cuda}),
        AllOf(HasSubstr("map"), HasSubstr("device")));
    EXPECT_THAT(complaint_on_both({nullptr, {1, 2, n_alm}}, {map.data(), {1, 2, n_pixels}}),
                AllOf(HasSubstr("alm"), HasSubstr("null")));
    EXPECT_THAT(complaint_on_both({alm.data(), {1, 2, n_alm}}, {nullptr, {1, 2, n_pixels}}),
                AllOf(HasSubstr("map"), HasSubstr("null")));
}

TEST_F(ShtArrays, OfNoMapsMayBeNull) {
    EXPECT_EQ(complaint_on_both({nullptr, {0, 2, n_alm}}, {nullptr, {0, 2, n_pixels}}), "accepted");
}

}  // namespace
}  // namespace zonal::test
