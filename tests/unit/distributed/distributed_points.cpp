#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "distributed_helpers.hpp"
#include "point_helpers.hpp"
#include "points/sphere_samples.hpp"
#include "zonal/distributed/points.hpp"

// Transforms at points whose orders and points are divided among ranks, beside those of one process.
namespace zonal::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using Orders = std::vector<std::vector<std::int64_t>>;  ///< [rank]

PointOptions cpu_options_of(std::int64_t lmax, int spin, double error) {
    PointOptions options = point_options(lmax, spin, error);
    options.device = Device::cpu();
    return options;
}

/// Every n-th order, so that a rank has even ones alone where n is even.
Orders dealt(int n_ranks, std::int64_t mmax) {
    Orders orders(static_cast<std::size_t>(n_ranks));
    for (std::int64_t m = 0; m <= mmax; ++m) orders[static_cast<std::size_t>(m % n_ranks)].push_back(m);
    return orders;
}
/// All of them to the last rank but one, and none to the others.
Orders to_one(int n_ranks, std::int64_t mmax) {
    Orders orders(static_cast<std::size_t>(n_ranks));
    for (std::int64_t m = 0; m <= mmax; ++m) orders[orders.size() - 2].push_back(m);
    return orders;
}

/// n points from pole to pole.
Points spiral(std::int64_t n) {
    Points points;
    for (std::int64_t i = 0; i < n; ++i) {
        const double t = static_cast<double>(i) / static_cast<double>(n - 1);
        points.add(std::numbers::pi * t, 40 * t);
    }
    return points;
}

template <class Real>
void expect_of_one_process(const PointOptions& options, const Orders& orders,
                           const std::vector<std::int64_t>& ends, std::int64_t n_maps) {
    using Complex = std::complex<Real>;
    const Points points = spiral(ends.back());
    const PointTransform whole(points.theta_view(), points.phi_view(), options);
    const AlmLayout layout(options.lmax, options.mmax);
    const std::int64_t components = options.spin == 0 ? 1 : 2, n = ends.back();
    const AlmArray exact = random_spin_alm(layout, n_maps, components, options.spin, 5);
    Array<Complex, 3> alm(exact.extents()), back(exact.extents()), made_back(exact.extents());
    for (std::int64_t i = 0; i < exact.size(); ++i) alm.data()[i] = Complex(exact.data()[i]);
    Array<Real, 3> values({n_maps, components, n}), made(values.extents());
    PointWorkspace workspace = whole.make_workspace();
    whole.synthesize<Real>(alm.view(), values.view(), workspace);
    whole.adjoint<Real>(values.view(), back.view(), workspace);
    const auto errors = on_ranks(static_cast<int>(orders.size()), [&](const Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const std::int64_t first = rank == 0 ? 0 : ends[rank - 1], count = ends[rank] - first;
        DistributedPointTransform transform(ranks, orders[rank], points.theta_view().slice(first, count),
                                            points.phi_view().slice(first, count), options);
        EXPECT_EQ(transform.n_points(), count);
        const AlmLayout& own = transform.layout();
        Array<Complex, 3> part({n_maps, components, own.size()}), part_back(part.extents());
        const auto for_each = [&](const auto& visit) {
            for (std::int64_t b = 0; b < n_maps; ++b)
                for (std::int64_t c = 0; c < components; ++c)
                    for (const std::int64_t m : orders[rank])
                        for (std::int64_t l = m; l <= options.lmax; ++l)
                            visit(b, c, layout.index(l, m), own.index(l, m));
        };
        for_each([&](auto b, auto c, auto there, auto here) { part(b, c, here) = alm(b, c, there); });
        for (int call = 0; call < 2; ++call) {  // the second in memory that the first has used
            Array<Real, 3> here({n_maps, components, count});
            transform.synthesize<Real>(part.view(), here.view());
            for (std::int64_t b = 0; b < n_maps; ++b)
                for (std::int64_t c = 0; c < components; ++c)
                    for (std::int64_t i = 0; i < count; ++i) made(b, c, first + i) = here(b, c, i);
            Array<Real, 3> given({n_maps, components, count});
            for (std::int64_t b = 0; b < n_maps; ++b)
                for (std::int64_t c = 0; c < components; ++c)
                    for (std::int64_t i = 0; i < count; ++i) given(b, c, i) = values(b, c, first + i);
            transform.adjoint<Real>(given.view(), part_back.view());
        }
        for_each(
            [&](auto b, auto c, auto there, auto here) { made_back(b, c, there) = part_back(b, c, here); });
    });
    EXPECT_THAT(errors, Each(""));
    // The same numbers go through other transforms together, which round by a unit of samples. These are
    // larger than values by the window's largest transform over its smallest that counts.
    const auto& transforms = whole.samples().implementation().rule->transforms;
    const double tolerance = std::numeric_limits<double>::epsilon() * transforms[0] /
                                 transforms[static_cast<std::size_t>(options.lmax)] +
                             (sizeof(Real) == sizeof(float) ? std::numeric_limits<float>::epsilon() : 0);
    EXPECT_LE(largest_difference(made, values), tolerance * largest(values));
    EXPECT_LE(largest_difference(made_back, back), tolerance * largest(back));
}

TEST(DistributedPoints, AreThoseOfOneProcess) {
    for (const int spin : {0, 1, 2}) {
        PointOptions options = cpu_options_of(60, spin, 1e-11);
        for (const std::int64_t mmax : {60, 41, 3}) {
            options.mmax = mmax;
            SCOPED_TRACE(::testing::Message() << "spin " << spin << ", mmax " << mmax);
            expect_of_one_process<double>(options, dealt(1, mmax), {300}, 2);
            expect_of_one_process<double>(options, dealt(2, mmax), {130, 300}, 1);
            expect_of_one_process<double>(options, dealt(3, mmax), {0, 299, 300}, 3);
            expect_of_one_process<double>(options, to_one(4, mmax), {10, 20, 300, 300}, 1);
            expect_of_one_process<double>(options, dealt(7, mmax), {1, 2, 3, 100, 100, 200, 300}, 5);
        }
        options.mmax = 60;
        expect_of_one_process<float>(options, dealt(3, 60), {100, 150, 300}, 3);
        options.threads = 3;
        expect_of_one_process<double>(options, dealt(2, 60), {130, 300}, 1);
    }
}

TEST(DistributedPoints, TakeMemoryForTheRowsThatTheyReach) {
    const PointOptions options = cpu_options_of(200, 0, 1e-8);
    const Points points = spiral(2000);
    const auto errors = on_ranks(4, [&](const Communicator& ranks) {
        const auto orders = dealt(4, 200)[static_cast<std::size_t>(ranks.rank())];
        const DistributedPointTransform transform(ranks, orders,
                                                  points.theta_view().slice(500 * ranks.rank(), 500),
                                                  points.phi_view().slice(500 * ranks.rank(), 500), options);
        const auto& samples = transform.samples();
        EXPECT_LT(transform.rows().end - transform.rows().first,
                  0.4 * static_cast<double>(samples.all_rows().end - samples.all_rows().first));
    });
    EXPECT_THAT(errors, Each(""));
}

TEST(DistributedPoints, SayOnAllRanksWhatIsWrongOnOne) {
    const Points points = spiral(20);
    const auto theta = points.theta_view(), phi = points.phi_view();
    const auto message = [&](const auto& change) {
        const auto errors = on_ranks(2, [&](const Communicator& ranks) {
            PointOptions options = cpu_options_of(8, 0, 1e-6);
            options.mmax = 8;
            auto orders = dealt(2, 8)[static_cast<std::size_t>(ranks.rank())];
            if (ranks.rank() == 1) change(options, orders);
            DistributedPointTransform(ranks, orders, theta, phi, options);
        });
        EXPECT_EQ(errors[0], errors[1]);
        return errors[0];
    };
    EXPECT_THAT(message([](auto&, auto& orders) { orders.pop_back(); }),
                HasSubstr("m = 7 is that of 0 ranks: must be one rank's"));
    EXPECT_THAT(message([](auto&, auto& orders) { orders[0] = 0; }), HasSubstr("m = 0 is that of 2 ranks"));
    EXPECT_THAT(message([](auto&, auto& orders) { orders.push_back(9); }), HasSubstr("rank 1: "));
    EXPECT_THAT(message([](auto& options, auto&) { options.error = 1e-7; }), HasSubstr("error"));
    EXPECT_THAT(message([](auto& options, auto&) { options.device = Device::cuda(0); }),
                HasSubstr("DistributedPointTransform"));
    const auto errors = on_ranks(2, [&](const Communicator& ranks) {
        const auto orders = dealt(2, 8)[static_cast<std::size_t>(ranks.rank())];
        DistributedPointTransform transform(ranks, orders, theta, phi, cpu_options_of(8, 0, 1e-6));
        const AlmArray alm({1, 1, transform.layout().size()});
        MapArray values({1, 1, ranks.rank() == 1 ? 19 : 20});
        transform.synthesize<double>(alm.view(), values.view());
    });
    EXPECT_EQ(errors[0], errors[1]);
    EXPECT_THAT(errors[0], HasSubstr("rank 1: values: "));
}

}  // namespace
}  // namespace zonal::test
