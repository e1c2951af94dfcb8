#include "zonal/spectra/catalogue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "sht/array_checks.hpp"
#include "zonal/alm.hpp"
#include "zonal/error.hpp"
#include "zonal/points/transform.hpp"

namespace zonal {
namespace {

/// A sum of squares over the sphere.
constexpr double per_sphere = 1 / (4 * std::numbers::pi);

Array<double, 1> weights_of(const std::string& name, const CataloguePoints& points) {
    const std::int64_t n = points.theta.size();
    if (n < 1) throw InvalidArgument(name + "theta", "is empty: there must be one point at least");
    sht::check_extent((name + "phi").c_str(), points.phi, 0, "point", n);
    Array<double, 1> weights({n});
    std::fill(weights.begin(), weights.end(), 1.0);
    if (points.weight.size() == 0) return weights;
    const std::string weight = name + "weights";
    sht::check_extent(weight.c_str(), points.weight, 0, "point", n);
    for (std::int64_t i = 0; i < n; ++i) {
        if (!std::isfinite(points.weight[i]))
            throw InvalidArgument(fmt::format("{}[{}]", weight, i), points.weight[i],
                                  "must be a finite number");
        weights(i) = points.weight[i];
    }
    return weights;
}

std::int64_t mask_lmax_of(const CatalogueOptions& options) {
    if (options.lmax < 0) throw InvalidArgument("lmax", options.lmax, "must be 0 or more");
    if (options.mask_lmax < -1) throw InvalidArgument("mask_lmax", options.mask_lmax, "must be 0 or more");
    return options.mask_lmax == -1 ? 2 * options.lmax : options.mask_lmax;
}

/// sum_i values_i conj(sY_lm(i)), [component, coefficient].
Array<std::complex<double>, 2> sums(const CataloguePoints& points, const View<const double, 2>& values,
                                    int spin, std::int64_t lmax, const CatalogueOptions& options) {
    const std::int64_t n = values.extent(1), components = values.extent(0), size = AlmLayout(lmax).size();
    const PointTransform transform(
        points.theta, points.phi,
        {.lmax = lmax, .spin = spin, .error = options.error, .threads = options.threads});
    auto workspace = transform.make_workspace();
    Array<std::complex<double>, 2> alm({components, size});
    transform.adjoint<double>(View<const double, 3>(values.data(), {1, components, n}),
                              View<std::complex<double>, 3>(alm.data(), {1, components, size}), workspace);
    return alm;
}

Array<std::complex<double>, 1> sums(const CataloguePoints& points, const Array<double, 1>& weights,
                                    std::int64_t lmax, const CatalogueOptions& options) {
    const auto alm =
        sums(points, View<const double, 2>(weights.data(), {1, weights.size()}), 0, lmax, options);
    Array<std::complex<double>, 1> row({alm.extent(1)});
    std::copy(alm.begin(), alm.end(), row.begin());
    return row;
}

double squares(const Array<double, 1>& weights) {
    double sum = 0;
    for (const double weight : weights) sum += weight * weight;
    return sum;
}

double total(const std::string& name, const Array<double, 1>& weights) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    if (!(sum > 0) || !std::isfinite(sum))
        throw InvalidArgument(name, fmt::format("have the sum {}: must be positive", sum));
    return sum;
}

}  // namespace

CatalogueAlm catalogue_field(const CataloguePoints& points, View<const double, 2> values,
                             const CatalogueOptions& options) {
    const auto weights = weights_of("", points);
    const std::int64_t n = weights.size(), parts = values.extent(0), mask_lmax = mask_lmax_of(options);
    if (parts != 1 && parts != 2)
        throw InvalidArgument(
            "values", fmt::format("axis 0 (component) has length {}: must be 1, or 2 for Q and U", parts));
    sht::check_extent("values", values, 1, "point", n);
    const int spin = parts == 1 ? 0 : 2;
    if (options.lmax < spin) throw InvalidArgument("lmax", options.lmax, "must be 2 or more for Q and U");
    Array<double, 2> weighted({parts, n});
    double power = 0;
    for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t i = 0; i < n; ++i) {
            if (!std::isfinite(values(part, i)))
                throw InvalidArgument(fmt::format("values[{}, {}]", part, i), values(part, i),
                                      "must be a finite number");
            weighted(part, i) = weights(i) * values(part, i);
            power += weighted(part, i) * weighted(part, i);
        }
    return {sums(points, std::as_const(weighted).view(), spin, options.lmax, options),
            sums(points, weights, mask_lmax, options), per_sphere * power / static_cast<double>(parts),
            per_sphere * squares(weights)};
}

CatalogueAlm catalogue_counts(const CataloguePoints& points, const CataloguePoints& random,
                              const CatalogueOptions& options) {
    const auto weights = weights_of("", points);
    auto of_random = weights_of("random_", random);
    const std::int64_t mask_lmax = mask_lmax_of(options), most = std::max(mask_lmax, options.lmax);
    const double alpha = total("weights", weights) / total("random_weights", of_random);
    for (auto& weight : of_random) weight *= alpha;
    CatalogueAlm found;
    const auto of_points = sums(points, weights, options.lmax, options);
    const auto expected = sums(random, of_random, most, options);  // has the mask's and those to subtract
    const AlmLayout layout(options.lmax), wide(most), mask_layout(mask_lmax);
    found.alm = Array<std::complex<double>, 2>({1, layout.size()});
    found.mask = Array<std::complex<double>, 1>({mask_layout.size()});
    for (std::int64_t m = 0; m <= most; ++m)
        for (std::int64_t l = m; l <= most; ++l) {
            const auto value = expected(wide.index(l, m));
            if (l <= options.lmax) found.alm(0, layout.index(l, m)) = of_points(layout.index(l, m)) - value;
            if (l <= mask_lmax) found.mask(mask_layout.index(l, m)) = value;
        }
    found.mask_noise = per_sphere * squares(of_random);
    found.noise = per_sphere * squares(weights) + found.mask_noise;
    return found;
}

}  // namespace zonal
