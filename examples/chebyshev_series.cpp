// Approximates a function by a Chebyshev series, and finds its derivative, integral and roots from that.
#include <zonal/chebyshev/calculus.hpp>
#include <zonal/chebyshev/evaluation.hpp>
#include <zonal/chebyshev/roots.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>

int main() {
    // exp(-x) cos(8 x) on [0, 2] in 40 coefficients, which represent it to rounding.
    const auto f = zonal::interpolate<double, 1>(
        [](const std::array<double, 1>& x) { return std::exp(-x[0]) * std::cos(8 * x[0]); }, {40},
        {zonal::Interval{0, 2}});

    const double x = 0.7;
    const double slope = evaluate(derivative(f), x);
    const double exact_slope = -std::exp(-x) * (std::cos(8 * x) + 8 * std::sin(8 * x));
    const double area = definite_integral(f);
    const double exact_area = (std::exp(-2.0) * (8 * std::sin(16.0) - std::cos(16.0)) + 1) / 65;
    std::printf("f'(0.7) = %.15f, exact %.15f\n", slope, exact_slope);
    std::printf("integral = %.15f, exact %.15f\n", area, exact_area);

    const auto found = roots(f);
    bool good =
        std::abs(slope - exact_slope) < 1e-11 && std::abs(area - exact_area) < 1e-13 && found.size() == 5;
    for (std::size_t k = 0; k < found.size(); ++k) {
        const double exact = (double(k) + 0.5) * std::numbers::pi / 8;
        std::printf("root %.15f, exact %.15f\n", found[k], exact);
        good = good && std::abs(found[k] - exact) < 1e-11;
    }
    return good ? 0 : 1;
}
