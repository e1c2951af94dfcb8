#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "lensing_helpers.hpp"
#include "points/lensing/displacement_math.hpp"
#include "zonal/error.hpp"

namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;
using Wide = long double;

struct Deflected {
    Points points;
    Array<double, 2> deflection, rotation;
    std::vector<double> theta, phi;

    explicit Deflected(Points from) : points(std::move(from)), deflection({2, points.size()}) {}
    void displace(int threads = 1) {
        const std::int64_t n = points.size();
        theta.resize(points.theta.size());
        phi.resize(points.theta.size());
        rotation = Array<double, 2>({2, n});
        zonal::displace(points.theta_view(), points.phi_view(), deflection.view(), {theta.data(), {n}},
                        {phi.data(), {n}}, rotation.view(), threads);
    }
};

/// Deflections of every size and direction.
Deflected some_deflected(std::int64_t n) {
    Deflected all(points_and_poles(n, 5));
    std::mt19937_64 generator(6);
    std::uniform_real_distribution<double> exponent(-12, 0), way(0, 2 * pi);
    for (std::int64_t i = 0; i < all.points.size(); ++i) {
        const double size = i % 7 == 0 ? 0 : 2.9 * std::pow(10, exponent(generator)), psi = way(generator);
        all.deflection(0, i) = size * std::cos(psi);
        all.deflection(1, i) = size * std::sin(psi);
    }
    return all;
}

struct Vector {
    Wide x, y, z;
    friend Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend Vector operator*(Wide f, Vector a) { return {f * a.x, f * a.y, f * a.z}; }
};
Wide dot(Vector a, Vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
Vector radial(Wide t, Wide p) {
    return {std::sin(t) * std::cos(p), std::sin(t) * std::sin(p), std::cos(t)};
}
Vector southward(Wide t, Wide p) {
    return {std::cos(t) * std::cos(p), std::cos(t) * std::sin(p), -std::sin(t)};
}
Vector eastward(Wide p) {
    return {-std::sin(p), std::cos(p), 0};
}

TEST(Displacement, FollowsGeodesics) {
    Deflected all = some_deflected(2000);
    all.displace();
    for (std::int64_t i = 0; i < all.points.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const Wide t = all.points.theta[k], p = all.points.phi[k], d_t = all.deflection(0, i),
                   d_p = all.deflection(1, i), size = std::hypot(d_t, d_p);
        if (size == 0) {
            EXPECT_NEAR(all.theta[k], all.points.theta[k], 4e-16);
            EXPECT_EQ(all.phi[k], all.points.phi[k]);
            EXPECT_NEAR(all.rotation(0, i), 1, 4e-16);
            EXPECT_NEAR(all.rotation(1, i), 0, 4e-16);
            continue;
        }
        const Wide c = d_t / size, s = d_p / size;
        const Vector n = radial(t, p), way = c * southward(t, p) + s * eastward(p);
        const Vector wanted = std::cos(size) * n + std::sin(size) * way,
                     tangent = -std::sin(size) * n + std::cos(size) * way;
        const Wide t2 = all.theta[k], p2 = all.phi[k];
        const Vector miss = wanted + (-1) * radial(t2, p2);
        // A few roundings of numbers up to 1, and of phi up to 7.
        EXPECT_LT(std::sqrt(dot(miss, miss)), 3e-15) << i;
        // gamma = psi - psi', with psi' measured at the displaced point in its frame.
        const std::complex<Wide> there(dot(tangent, southward(t2, p2)), dot(tangent, eastward(p2)));
        const auto gamma = std::complex<Wide>(c, s) * std::conj(there);
        const std::complex<Wide> made(all.rotation(0, i), all.rotation(1, i));
        // Beside a pole the frame turns as the point's longitude does; far away 1 + n . n' is small.
        const Wide near = std::min(std::sin(t), std::sin(t2));
        if (near > 1e-3L) {
            EXPECT_LT(std::abs(made - gamma), 2e-15L / near + 1e-15L / (1 + std::cos(size))) << i;
        }
    }
}

TEST(Displacement, MatchesThePlainFormulas) {
    Deflected all = some_deflected(3000);
    all.displace(2);
    for (std::int64_t i = 0; i < all.points.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const auto wanted = points::displaced(all.points.theta[k], all.points.phi[k], all.deflection(0, i),
                                              all.deflection(1, i));
        const double near = std::min(std::sin(all.points.theta[k]), std::sin(wanted.theta));
        EXPECT_NEAR(all.theta[k], wanted.theta, 2e-15);
        // phi has no meaning beyond rounding over sin theta.
        const double rounding = 2e-15 + 1e-15 / std::max(near, 1e-15);
        EXPECT_LT(std::abs(std::polar(1.0, all.phi[k]) - std::polar(1.0, wanted.phi)), rounding + 3e-15) << i;
        EXPECT_LT(
            std::abs(Complex(all.rotation(0, i) - wanted.cos_gamma, all.rotation(1, i) - wanted.sin_gamma)),
            rounding + 1e-14)
            << i;
    }
}

TEST(Displacement, ReachesReferenceValues) {
    Points points;
    points.add(0.3, 1);
    points.add(1.5, 4);
    points.add(3, 6.2);
    Deflected all(points);
    const double deflections[3][2] = {{-0.01583236407181491, 0.01070649257482849},
                                      {-0.001615593598319928, -0.006288368982219863},
                                      {-0.0001109377150351562, -0.001449764779628964}};
    const double wanted[3][3] = {{0.2843631813976234, 1.038169964138723, 0.03655372089645032},
                                 {1.498385819321369, 3.993695111603697, -0.0004510675171264092},
                                 {2.999881695856641, 6.189735066430697, 0.01016212330324736}};
    for (std::int64_t i = 0; i < 3; ++i)
        for (int c = 0; c < 2; ++c) all.deflection(c, i) = deflections[i][c];
    all.displace();
    for (std::int64_t i = 0; i < 3; ++i) {
        const auto k = static_cast<std::size_t>(i);
        EXPECT_NEAR(all.theta[k], wanted[i][0], 6e-16);
        EXPECT_NEAR(all.phi[k], wanted[i][1], 2e-15);
        // What phi errs by: beside the pole eps / sin(3) = 1.6e-15, which turns the axes as much.
        EXPECT_NEAR(std::atan2(all.rotation(1, i), all.rotation(0, i)), wanted[i][2], 2e-15);
    }
}

TEST(Displacement, DoesNotDependOnThreads) {
    Deflected one = some_deflected(20000), two = some_deflected(20000);
    one.displace(1);
    two.displace(2);
    EXPECT_EQ(one.theta, two.theta);
    EXPECT_EQ(one.phi, two.phi);
    EXPECT_TRUE(std::equal(one.rotation.begin(), one.rotation.end(), two.rotation.begin()));
}

std::string message_of(Deflected& all) {
    try {
        all.displace();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

TEST(Displacement, RefusesPointsAndDeflectionsThatAreNone) {
    const auto refusal = [](double theta, double phi, double d_theta, double d_phi) {
        Deflected all(random_points(700, 1));
        all.points.theta[611] = theta;
        all.points.phi[611] = phi;
        all.deflection(0, 611) = d_theta;
        all.deflection(1, 611) = d_phi;
        return message_of(all);
    };
    EXPECT_EQ(refusal(1, 1, 3, 0), "");
    EXPECT_EQ(refusal(1, 1, 3, 4), "deflection = 5: must be a number of radians up to 3 (point 611)");
    EXPECT_EQ(refusal(1, 1, 0, NAN), "deflection = nan: must be a number of radians up to 3 (point 611)");
    EXPECT_EQ(refusal(4, 1, 0, 0), "theta = 4: must be from 0 to pi (point 611)");
    EXPECT_EQ(refusal(1, INFINITY, 0, 0), "phi = inf: must be finite (point 611)");
    Deflected all(random_points(5, 1));
    all.deflection = Array<double, 2>({2, 4});
    EXPECT_EQ(message_of(all), "deflection: axis 1 (points) has length 4: must be 5");
}

}  // namespace
}  // namespace zonal::test
