#include "zonal/chebyshev/approximation.hpp"

#include <fmt/core.h>

#include "zonal/error.hpp"

namespace zonal::chebyshev {

double largest_value(const double* values, std::int64_t n, std::int64_t n_expected) {
    if (n != n_expected)
        throw InvalidArgument("function", fmt::format("gives {} values at {} points", n, n_expected));
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (!std::isfinite(values[i]))
            throw InvalidArgument("function",
                                  fmt::format("a value is {}: all must be finite in the domain",
                                              std::isnan(values[i]) ? "not a number" : "infinite"));
        largest = std::max(largest, std::abs(values[i]));
    }
    return largest;
}

void refuse_unresolved(std::int64_t n, double tolerance) {
    throw ErrorNotKept("function",
                       fmt::format("is not resolved to tolerance = {:.2g} by {} coefficients. It may have a "
                                   "jump or a kink: divide the domain there, ask for less, or name a degree",
                                   tolerance, n));
}

void require_divisor(const ChebyshevSeries<double, 1, ChebyshevConvention::plain>& f,
                     const ChebyshevSeries<double, 1, ChebyshevConvention::plain>& g) {
    const auto on = f.domain()[0], other = g.domain()[0];
    if (!(on == other))
        throw InvalidArgument("g", fmt::format("is a series on [{}, {}]: must be on [{}, {}], as f",
                                               other.lower, other.upper, on.lower, on.upper));
    const auto is_zero = [](double a) { return a == 0; };
    if (std::all_of(g.data(), g.data() + g.size(), is_zero))
        throw InvalidArgument("g", "is 0, which nothing can be divided by");
    const auto zeros = roots(g);
    if (!zeros.empty())
        throw InvalidArgument(
            "g", fmt::format("is 0 at {}: must have no root in [{}, {}]", zeros.front(), on.lower, on.upper));
}

double sum_beyond(const SeriesArray<const double>& f, const std::array<std::int64_t, 3>& kept) {
    double sum = 0;
    for (std::int64_t i = 0; i < f.extents[1]; ++i)
        for (std::int64_t j = 0; j < f.extents[2]; ++j)
            for (std::int64_t k = 0; k < f.extents[3]; ++k) {
                if (i < kept[0] && j < kept[1] && k < kept[2]) continue;
                double share = std::abs(f.data[i * f.strides[1] + j * f.strides[2] + k * f.strides[3]]);
                if (f.convention == ChebyshevConvention::primed)
                    for (const auto index : {i, f.dimensions > 1 ? j : 1, f.dimensions > 2 ? k : 1})
                        if (index == 0) share /= 2;
                sum += share;
            }
    return sum;
}

}  // namespace zonal::chebyshev
