#include "planning/certificate/map_certificate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "sht/transform.hpp"
#include "zonal/mask.hpp"

namespace zonal::planning {
namespace {

/// The factors by which the pixels of maps are multiplied before they are convolved.
template <class T>
struct PixelFactors {
    View<const T, 1> mask;
    const ConvolutionOptions& options;

    bool are_one() const {
        return mask.size() == 0 && options.ring_weights.empty() && options.pixel_weights.size() == 0;
    }
    double operator()(std::size_t ring, std::int64_t pixel) const {
        double factor = mask.size() > 0 ? static_cast<double>(mask[pixel]) : 1;
        if (!options.ring_weights.empty()) factor *= options.ring_weights[ring];
        if (options.pixel_weights.size() > 0) factor *= options.pixel_weights[pixel];
        return factor;
    }
};
struct NoFactors {
    double operator()(std::size_t, std::int64_t) const { return 1; }
};

/// Sums over pixels with the grid's weights w, for the rows as they are and for each row less a constant. The
/// latter keep the digits of what varies about a large mean.
struct WeightedSums {
    double squares = 0, weights = 0;
    double shifted[2] = {0, 0}, shifted_squares = 0;

    double deviation(double area) const {
        if (!(weights > 0)) return 0;
        const double of_mean = (shifted[0] * shifted[0] + shifted[1] * shifted[1]) / weights;
        return std::sqrt(std::max(0.0, shifted_squares - of_mean) / area);
    }
};

/// Values are multiplied by `scale`, so that their squares neither overflow nor vanish; then `shift` is
/// subtracted.
struct Conversion {
    double scale = 1, shift[2] = {0, 0};
};

/// Returns the sums over a ring's pixels that are seen in all rows, one or two.
template <class T, class Factors>
WeightedSums sums_of_ring(View<const T, 2> rows, const Ring& ring, std::size_t r, const Factors& factors,
                          const Conversion& conversion) {
    WeightedSums sums;
    const std::int64_t n_rows = rows.extent(0);
    // Several sums, so that one addition need not wait for the other.
    constexpr int n_sums = 4;
    double squares[n_sums] = {}, first_sum[n_sums] = {}, second_sum[n_sums] = {}, shifted[n_sums] = {},
           seen[n_sums] = {};
    const auto add = [&](int k, std::int64_t pixel) {
        const double first = static_cast<double>(rows(0, pixel));
        const double second = n_rows > 1 ? static_cast<double>(rows(1, pixel)) : 0;
        const bool is_seen = !is_unseen_value(first) && !is_unseen_value(second);
        const double factor = factors(r, pixel) * conversion.scale;
        const double x = is_seen ? factor * first : 0, y = is_seen ? factor * second : 0;
        const double a = is_seen ? x - conversion.shift[0] : 0, b = is_seen ? y - conversion.shift[1] : 0;
        squares[k] += x * x + y * y;
        first_sum[k] += a;
        second_sum[k] += b;
        shifted[k] += a * a + b * b;
        seen[k] += is_seen ? 1 : 0;
    };
    const auto end = ring.first_pixel + ring.n_pixels;
    auto pixel = ring.first_pixel;
    for (; pixel + n_sums <= end; pixel += n_sums)
        for (int k = 0; k < n_sums; ++k) add(k, pixel + k);
    for (; pixel < end; ++pixel) add(0, pixel);
    for (int k = 0; k < n_sums; ++k) {
        sums.squares += squares[k];
        sums.shifted[0] += first_sum[k];
        sums.shifted[1] += second_sum[k];
        sums.shifted_squares += shifted[k];
        sums.weights += seen[k];
    }
    for (double* sum :
         {&sums.squares, &sums.weights, &sums.shifted[0], &sums.shifted[1], &sums.shifted_squares})
        *sum *= ring.weight;
    return sums;
}

/// Adds up the rings of the whole sky in their order, so that neither threads nor ranks change the result.
template <class T, class Factors>
WeightedSums sums_of(const SkyPart& part, View<const T, 2> rows, const Factors& factors, int threads,
                     const Conversion& conversion) {
    const auto& rings = part.grid().rings();
    Array<double, 2> of_rings({std::ssize(rings), 5});
    core::parallel_for(std::ssize(rings), core::resolve_threads(threads), [&](std::int64_t r, int) {
        const auto index = static_cast<std::size_t>(r);
        const auto sums = sums_of_ring(rows, rings[index], index, factors, conversion);
        const std::array all = {sums.squares, sums.weights, sums.shifted[0], sums.shifted[1],
                                sums.shifted_squares};
        std::copy(all.begin(), all.end(), of_rings.view()[r].data());
    });
    const auto all = part.sum_rings(of_rings.view());
    return {all[0], all[1], {all[2], all[3]}, all[4]};
}

/// The first seen value of a row among the first pixels of the sky's rings; 0 where there is none.
template <class T>
double first_value(const SkyPart& part, View<const T, 1> row) {
    double value = 0;
    auto pixel = std::numeric_limits<double>::infinity();
    for (const Ring& ring : part.grid().rings()) {
        const double here = static_cast<double>(row[ring.first_pixel]);
        if (is_unseen_value(here)) continue;
        value = here;
        pixel = static_cast<double>(part.whole_pixel(ring.first_pixel));
        break;
    }
    const auto values = part.gather(value), pixels = part.gather(pixel);
    return values[static_cast<std::size_t>(std::min_element(pixels.begin(), pixels.end()) - pixels.begin())];
}

/// rms of a map of one or two rows, and of the map without its mean.
struct Size {
    double rms = 0, deviation = 0;
};

template <class T>
double largest_value(View<const T, 2> rows) {
    double largest = 0;
    for (std::int64_t i = 0; i < rows.size(); ++i) {
        const double value = std::abs(static_cast<double>(rows.data()[i]));
        if (!is_unseen_value(static_cast<double>(rows.data()[i]))) largest = std::max(largest, value);
    }
    return largest;
}

double area_of(const Grid& grid) {
    double area = 0;
    for (const Ring& ring : grid.rings()) area += ring.weight * static_cast<double>(ring.n_pixels);
    return area;
}

template <class T, class Factors>
Size size_of(const SkyPart& part, View<const T, 2> rows, const Factors& factors, int threads) {
    constexpr double least = 1e-200, most = 1e200;
    Conversion conversion;
    for (std::int64_t row = 0; row < rows.extent(0); ++row)
        conversion.shift[row] = first_value<T>(part, rows[row]);
    auto sums = sums_of(part, rows, factors, threads, conversion);
    if (!(sums.squares >= least && sums.squares <= most)) {
        const double largest = part.largest(largest_value(rows));
        if (!(largest > 0)) return {};
        conversion.scale = 1 / largest;
        for (double& shift : conversion.shift) shift /= largest;
        sums = sums_of(part, rows, factors, threads, conversion);
    }
    const double area = area_of(part.whole_grid());
    return {std::sqrt(sums.squares / area) / conversion.scale, sums.deviation(area) / conversion.scale};
}

}  // namespace

template <class T>
std::vector<double> rms_of_input(const SkyPart& part, int n_components, const ConvolutionOptions& options,
                                 View<const T, 2> maps, View<const T, 1> mask, int threads) {
    const PixelFactors<T> factors{mask, options};
    std::vector<double> all;
    for (std::int64_t row = 0; row < maps.extent(0); row += n_components) {
        const auto rows = maps.slice(row, n_components);
        all.push_back(factors.are_one() ? size_of(part, rows, NoFactors{}, threads).rms
                                        : size_of(part, rows, factors, threads).rms);
    }
    return all;
}

template <class T>
std::vector<Certificate> certificates_of(const ErrorBound& bound, const std::vector<double>& rms_in,
                                         const SkyPart& part, View<const T, 2> convolved, int threads) {
    auto rounded = bound;
    if (sizeof(T) == sizeof(float)) rounded.of_output += 0x1p-24;
    std::vector<Certificate> certificates;
    certificates.reserve(rms_in.size());
    const std::int64_t n_components =
        rms_in.empty() ? 1 : convolved.extent(0) / static_cast<std::int64_t>(rms_in.size());
    for (const double in : rms_in) {
        const auto row = std::ssize(certificates) * n_components;
        const auto out = size_of(part, convolved.slice(row, n_components), NoFactors{}, threads);
        Certificate one{0, 0, in, out.rms, rounded};
        one.error = certified_error(rounded, in, out.rms);
        one.error_of_variations = certified_error_of_variations(rounded, in, out.rms, out.deviation);
        certificates.push_back(one);
    }
    return certificates;
}

double largest_weight(const std::vector<double>& ring_weights, View<const double, 1> pixel_weights,
                      const SkyPart& part) {
    double largest = 1;
    for (const double weight : ring_weights) largest = std::max(largest, weight);
    for (std::int64_t pixel = 0; pixel < pixel_weights.size(); ++pixel)
        largest = std::max(largest, pixel_weights[pixel]);
    return part.largest(largest);
}

double largest_error(const std::vector<Certificate>& certificates) {
    double largest = 0;
    for (const auto& one : certificates) {
        if (std::isnan(one.error)) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, one.error);
    }
    return largest;
}

double smallest_gain(const std::vector<Certificate>& certificates) {
    double smallest = std::numeric_limits<double>::infinity();
    for (const auto& one : certificates)
        if (one.rms_in > 0) smallest = std::min(smallest, one.rms_out / one.rms_in);
    return smallest;
}

#define ZONAL_INSTANTIATE(T)                                                                         \
    template std::vector<double> rms_of_input(const SkyPart&, int, const ConvolutionOptions&,        \
                                              View<const T, 2>, View<const T, 1>, int);              \
    template std::vector<Certificate> certificates_of(const ErrorBound&, const std::vector<double>&, \
                                                      const SkyPart&, View<const T, 2>, int);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal::planning
