#include <gmock/gmock.h>

#include <numbers>

#include "backend/chebyshev_device.cuh"
#include "chebyshev/roots/roots.hpp"
#include "chebyshev_roots_helpers.hpp"
#include "zonal/chebyshev/roots.hpp"

// Roots of batches of Chebyshev series on a device: by a warp for each series, and of long ones by cuSOLVER.
namespace zonal::test {
namespace {

class ChebyshevRootsOnCuda : public OnCuda {};
class LongChebyshevRootsOnCuda : public OnCuda {};

template <class T, ChebyshevConvention C>
void expect_roots_of_the_host(const Array<T, 2>& host) {
    const DeviceBatch<T, 1> f(host);
    const auto found = all_roots(f.template series<C>());
    const auto expected = all_roots(ChebyshevView<const T, 1, C>(host.view()));
    ASSERT_EQ(found.size(), expected.size());
    for (std::int64_t s = 0; s < host.extent(0); ++s) {
        SCOPED_TRACE(s);
        auto a = plain_coefficients(host.extent(1), C == primed, [&](std::int64_t k) { return host(s, k); });
        while (a.back() == 0.0) a.pop_back();
        const auto at = static_cast<std::size_t>(s);
        expect_same_roots(a, found[at], expected[at]);
    }
}

template <class T>
void expect_roots_of_many_lengths() {
    for (const std::int64_t n : {1, 2, 3, 4, 12, 33, 64}) {
        SCOPED_TRACE(n);
        auto host = random_batch<T, 1>(scaled(37) + 2, {n}, static_cast<unsigned>(n));
        if (n > 3) host(1, n - 1) = host(1, n - 2) = 0;  // a shorter one
        expect_roots_of_the_host<T, primed>(host);
        expect_roots_of_the_host<T, plain>(host);
    }
}

TEST_F(ChebyshevRootsOnCuda, EqualTheHostsInSinglePrecision) {
    expect_roots_of_many_lengths<float>();
}
TEST_F(ChebyshevRootsOnCuda, EqualTheHostsInDoublePrecision) {
    expect_roots_of_many_lengths<double>();
}
TEST_F(ChebyshevRootsOnCuda, EqualTheHostsOfComplexSeries) {
    expect_roots_of_many_lengths<std::complex<float>>();
    expect_roots_of_many_lengths<std::complex<double>>();
}

TEST_F(ChebyshevRootsOnCuda, SayWhichSeriesHasNone) {
    auto host = random_batch<double, 1>(3, {5}, 1);
    const auto message = [&] {
        const DeviceBatch<double, 1> f(host);
        return message_of([&] { all_roots(f.series<primed>()); });
    };
    host(2, 3) = NAN;
    EXPECT_EQ(message(), "f: series 2: coefficient 3 is not finite");
    for (std::int64_t k = 0; k < 5; ++k) host(1, k) = 0;
    EXPECT_EQ(message(), "f: series 1: all coefficients are 0: every number is a root");
    EXPECT_TRUE(
        all_roots(ChebyshevView<double, 1>(View<double, 2>(nullptr, {0, 5}, MemorySpace::cuda))).empty());
}

TEST_F(LongChebyshevRootsOnCuda, AreThoseOfChebyshevPolynomials) {
    const DeviceBatch<double, 1> one(random_batch<double, 1>(1, {2}, 1));
    const std::int64_t most = chebyshev::cuda::most_rows(one.memory.data());
    EXPECT_GE(most, 60);
    for (const std::int64_t n : {most, most + 1, std::int64_t{400}}) {
        Array<double, 2> host({2, n + 1});
        host(0, n) = 1;
        host(1, n - 1) = 2;
        const auto found = all_roots(DeviceBatch<double, 1>(host).series<plain>());
        for (const std::int64_t s : {0, 1}) {
            auto roots = found[static_cast<std::size_t>(s)];
            const std::int64_t degree = n - s;
            ASSERT_EQ(std::ssize(roots), degree);
            std::sort(roots.begin(), roots.end(), [](auto a, auto b) { return a.real() > b.real(); });
            for (std::int64_t j = 0; j < degree; ++j) {
                const double angle =
                    std::numbers::pi * (static_cast<double>(j) + 0.5) / static_cast<double>(degree);
                // The matrix is symmetric and of norm 1.
                EXPECT_LE(std::abs(roots[static_cast<std::size_t>(j)] - std::cos(angle)),
                          static_cast<double>(n) * 0x1p-52)
                    << n << " " << j;
            }
        }
    }
}

TEST_F(LongChebyshevRootsOnCuda, EqualTheHosts) {
    expect_roots_of_the_host<double, primed>(random_batch<double, 1>(2, {150}, 3));
    expect_roots_of_the_host<std::complex<double>, plain>(random_batch<std::complex<double>, 1>(2, {150}, 4));
}

}  // namespace
}  // namespace zonal::test
