#include "sht/analysis/field_arithmetic.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numeric>

#include "core/parallel.hpp"
#include "sht/analysis/field_math.hpp"
#include "sht/analysis/nearest_pixel.hpp"
#include "sht/array_checks.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

// Rings per task: small enough that the polar rings' short tasks even out, large enough to cost nothing.
constexpr std::int64_t rings_per_task = 16;

/// What one pass over a map or over the real and imaginary parts of alm takes on one core for each number.
constexpr double microseconds_of_value = 5e-4;

template <class T>
class CpuMapArithmetic final : public MapArithmetic<T> {
  public:
    using typename MapArithmetic<T>::Map;
    using typename MapArithmetic<T>::ConstMap;

    CpuMapArithmetic(const Grid& grid, const PixelWeights& weights, int threads, const Transform* transform)
        : grid_(grid), weights_(weights), threads_(threads), transform_(transform) {
        for (std::int64_t i = 0; i < weights.pixel.size(); ++i)
            check_weight("pixel_weights", i, weights.pixel[i]);
    }

    void weigh(ConstMap map, Map out) override {
        for_each_run(map, [&](std::int64_t ring, std::int64_t b, std::int64_t c, std::int64_t begin,
                              std::int64_t end) {
            const T* from = &map(b, c, 0);
            T* to = &out(b, c, 0);
            for (auto p = begin; p < end; ++p) to[p] = static_cast<T>(from[p] * relative_weight(ring, p));
        });
    }
    void subtract_from(ConstMap map, Map out) override {
        for_each_run(map,
                     [&](std::int64_t, std::int64_t b, std::int64_t c, std::int64_t begin, std::int64_t end) {
                         const T* minuend = &map(b, c, 0);
                         T* difference = &out(b, c, 0);
                         for (auto p = begin; p < end; ++p) difference[p] = minuend[p] - difference[p];
                     });
    }
    void add_scaled(const std::vector<double>& factors, ConstMap x, Map y) override {
        for_each_run(x,
                     [&](std::int64_t, std::int64_t b, std::int64_t c, std::int64_t begin, std::int64_t end) {
                         const T* from = &x(b, c, 0);
                         T* to = &y(b, c, 0);
                         const double factor = factors[b];
                         for (auto p = begin; p < end; ++p) to[p] = static_cast<T>(to[p] + factor * from[p]);
                     });
    }
    std::vector<double> weighted_squares(ConstMap map) override {
        Array<double, 2> partial({grid_.n_rings(), map.extent(0)});
        for_each_run(map, [&](std::int64_t ring, std::int64_t b, std::int64_t c, std::int64_t begin,
                              std::int64_t end) {
            const T* from = &map(b, c, 0);
            double sum = 0;
            for (auto p = begin; p < end; ++p) {
                const auto value = static_cast<double>(from[p]);
                sum += value * value * (weights_.any() ? relative_weight(ring, p) : 1);
            }
            partial(ring, b) += sum * grid_.rings()[ring].weight;
        });
        return transform_ != nullptr ? transform_->sum_rings(partial.view()) : sum_rows(partial.view());
    }

    BadPixels count_bad(View<const T, 1> map) override { return count_bad_pixels<T>(grid_, map, threads_); }
    void keep_share(View<const T, 2> fields, View<const T, 1> mask, View<T, 1> kept) override {
        for_each_pixel(grid_, [&](std::int64_t pixel) {
            T share = mask.size() > 0 ? share_of_mask(mask[pixel]) : static_cast<T>(1);
            if (!is_share(share)) reject_mask_value(pixel, share);
            for (std::int64_t c = 0; c < fields.extent(0); ++c)
                if (is_unseen_pixel(fields(c, pixel))) share = 0;
            kept[pixel] = share;
        });
    }
    std::int64_t count_zeros(View<const T, 1> map) override {
        std::int64_t zeros = 0;
        for_each_pixel(grid_, [&](std::int64_t pixel) { zeros += map[pixel] == 0 ? 1 : 0; });
        return zeros;
    }
    void multiply_by_share(View<const T, 2> fields, View<const T, 1> kept, View<T, 2> product) override {
        for_each_pixel(grid_, [&](std::int64_t pixel) {
            for (std::int64_t c = 0; c < fields.extent(0); ++c)
                product(c, pixel) = times_share(fields(c, pixel), kept[pixel]);
        });
    }
    void divide_by_share(View<const T, 1> divisor, double threshold, View<T, 2> fields) override {
        for_each_pixel(grid_, [&](std::int64_t pixel) {
            for (std::int64_t c = 0; c < fields.extent(0); ++c)
                fields(c, pixel) = over_share(fields(c, pixel), divisor[pixel], threshold);
        });
    }
    void restore_unseen(const NearestPixel& nearest, View<const T, 1> kept, View<T, 2> fields) override {
        for (std::int64_t ring = 0; ring < grid_.n_rings(); ++ring)
            for (std::int64_t k = 0; k < grid_.rings()[ring].n_pixels; ++k)
                if (kept[nearest(ring, k)] == 0)
                    for (std::int64_t c = 0; c < fields.extent(0); ++c)
                        fields(c, grid_.rings()[ring].first_pixel + k) = static_cast<T>(unseen_value);
    }

  private:
    double relative_weight(std::int64_t ring, std::int64_t pixel) const {
        return weights_.of_ring(ring) * (weights_.pixel.size() == 0 ? 1 : weights_.pixel[pixel]);
    }
    /// visit(ring, b, c, the ring's first pixel and end) for all rings, on all threads.
    template <class Visit>
    void for_each_run(ConstMap map, const Visit& visit) const {
        const auto& rings = grid_.rings();
        const auto n_tasks = (grid_.n_rings() + rings_per_task - 1) / rings_per_task;
        const int threads =
            core::paying_threads(threads_, microseconds_of_value * static_cast<double>(map.size()));
        core::parallel_for(n_tasks, threads, [&](std::int64_t task, int) {
            for (auto i = task * rings_per_task; i < std::min((task + 1) * rings_per_task, grid_.n_rings());
                 ++i)
                for (std::int64_t b = 0; b < map.extent(0); ++b)
                    for (std::int64_t c = 0; c < map.extent(1); ++c)
                        visit(i, b, c, rings[i].first_pixel, rings[i].first_pixel + rings[i].n_pixels);
        });
    }
    template <class Visit>
    static void for_each_pixel(const Grid& grid, const Visit& visit) {
        for (const Ring& ring : grid.rings())
            for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
                visit(pixel);
    }

    const Grid& grid_;
    const PixelWeights weights_;
    const int threads_;
    const Transform* const transform_;
};

template <class T>
class CpuAlmArithmetic final : public AlmArithmetic<T> {
  public:
    using typename AlmArithmetic<T>::Alm;
    using typename AlmArithmetic<T>::ConstAlm;

    CpuAlmArithmetic(const AlmLayout& layout, int threads, const Transform* transform)
        : layout_(layout), threads_(threads), transform_(transform) {}

    void set_zero(Alm alm) override {
        for (std::int64_t b = 0; b < alm.extent(0); ++b)
            for (std::int64_t c = 0; c < alm.extent(1); ++c)
                for (std::int64_t i = 0; i < alm.extent(2); ++i) alm(b, c, i) = 0;
    }
    void scale_and_add(ConstAlm x, const std::vector<double>& factors, Alm y) override {
        for_each_part(x, y,
                      [&](std::int64_t b, T from, T& to) { to = from + static_cast<T>(factors[b]) * to; });
    }
    void add_scaled(const std::vector<double>& factors, ConstAlm x, Alm y) override {
        for_each_part(x, y, [&](std::int64_t b, T from, T& to) { to += static_cast<T>(factors[b]) * from; });
    }
    std::vector<double> squares(ConstAlm alm) override {
        Array<double, 2> partial({layout_.n_orders(), alm.extent(0)});
        for_each_order(2 * alm.size(), [&](std::int64_t i) {
            for (std::int64_t b = 0; b < alm.extent(0); ++b) partial(i, b) = square(alm, b, layout_.order(i));
        });
        return transform_ != nullptr ? transform_->sum_orders(partial.view()) : sum_rows(partial.view());
    }
    std::vector<std::vector<double>> powers(ConstAlm alm) override {
        // Some degrees at a time: the sums over orders need a row for each order.
        constexpr std::int64_t n_together = 64;
        std::vector<std::vector<double>> powers;
        for (std::int64_t b = 0; b < alm.extent(0); ++b)
            for (std::int64_t c = 0; c < alm.extent(1); ++c) {
                auto& power = powers.emplace_back();
                for (std::int64_t first = 0; first <= layout_.lmax(); first += n_together) {
                    const auto end = std::min(first + n_together, layout_.lmax() + 1);
                    Array<double, 2> partial({layout_.n_orders(), end - first});
                    for_each_order(2 * layout_.n_orders() * (end - first), [&](std::int64_t i) {
                        const std::int64_t m = layout_.order(i);
                        for (std::int64_t l = std::max(first, m); l < end; ++l) {
                            const std::complex<double> value = alm(b, c, layout_.index(l, m));
                            partial(i, l - first) =
                                m == 0 ? value.real() * value.real() : 2 * std::norm(value);
                        }
                    });
                    const auto sums = transform_ != nullptr ? transform_->sum_orders(partial.view())
                                                            : sum_rows(partial.view());
                    power.insert(power.end(), sums.begin(), sums.end());
                }
            }
        return powers;
    }
    void multiply(const Beam& beam, Alm alm) override {
        for (std::int64_t b = 0; b < alm.extent(0); ++b) apply_beam<T>(layout_, beam, alm[b]);
    }

  private:
    /// The sum of squares of one order.
    double square(ConstAlm alm, std::int64_t b, std::int64_t m) const {
        // Several sums, so that one addition need not wait for the other.
        constexpr std::int64_t n_sums = 8;
        double sum[n_sums] = {};
        for (std::int64_t c = 0; c < alm.extent(1); ++c) {
            const T* a = reinterpret_cast<const T*>(&alm(b, c, layout_.index(m, m)));
            const std::int64_t count = 2 * (layout_.lmax() + 1 - m);
            const double imaginary = m == 0 ? 0 : 1;  // of m = 0 only the real parts count
            for (std::int64_t k = 0; k < count; ++k) {
                const double value = k % 2 == 0 ? a[k] : imaginary * a[k];
                sum[k % n_sums] += value * value;
            }
        }
        return (m == 0 ? 1 : 2) * std::accumulate(sum, sum + n_sums, 0.0);
    }
    /// visit(number) for all orders of alm that hold n_values numbers.
    template <class Visit>
    void for_each_order(std::int64_t n_values, const Visit& visit) const {
        const int threads =
            core::paying_threads(threads_, microseconds_of_value * static_cast<double>(n_values));
        core::parallel_for(layout_.n_orders(), threads, [&](std::int64_t i, int) { visit(i); });
    }
    /// visit(b, x, y) for the real and imaginary parts.
    template <class Visit>
    void for_each_part(ConstAlm x, Alm y, const Visit& visit) const {
        for_each_order(2 * x.size(), [&](std::int64_t i) {
            const std::int64_t m = layout_.order(i);
            for (std::int64_t b = 0; b < x.extent(0); ++b)
                for (std::int64_t c = 0; c < x.extent(1); ++c) {
                    const T* from = reinterpret_cast<const T*>(&x(b, c, layout_.index(m, m)));
                    T* to = reinterpret_cast<T*>(&y(b, c, layout_.index(m, m)));
                    for (std::int64_t k = 0; k < 2 * (layout_.lmax() + 1 - m); ++k) visit(b, from[k], to[k]);
                }
        });
    }

    const AlmLayout layout_;
    const int threads_;
    const Transform* const transform_;
};

}  // namespace

void check_weights(const Grid& grid, const std::vector<double>& ring_weights,
                   View<const double, 1> pixel_weights) {
    if (!ring_weights.empty() && std::ssize(ring_weights) != grid.n_rings())
        throw InvalidArgument("ring_weights",
                              fmt::format("has length {}: must be {}, the grid's number of rings",
                                          ring_weights.size(), grid.n_rings()));
    for (std::int64_t i = 0; i < std::ssize(ring_weights); ++i)
        check_weight("ring_weights", i, ring_weights[static_cast<std::size_t>(i)]);
    if (pixel_weights.size() > 0) check_extent("pixel_weights", pixel_weights, 0, "pixel", grid.n_pixels());
}

void check_weight(const char* name, std::int64_t index, double value) {
    if (!(value >= 0) || !std::isfinite(value))
        throw InvalidArgument(fmt::format("{}[{}]", name, index), value, "must be 0 or positive");
}

const std::vector<double>& window_of(const Beam& beam, std::int64_t n_components, std::int64_t component) {
    if (n_components == 1) return beam.temperature;
    return component == 0 ? beam.gradient : beam.curl;
}

void check_window(const std::vector<double>& window, std::int64_t lmax) {
    if (static_cast<std::int64_t>(window.size()) <= lmax)
        throw InvalidArgument(
            "window", fmt::format("has {} values: lmax = {} needs {}", window.size(), lmax, lmax + 1));
}

void reject_mask_value(std::int64_t pixel, double value) {
    throw InvalidArgument("mask", fmt::format("value {} at pixel {}: must be from 0 to 1", value, pixel));
}

template <class T>
std::unique_ptr<MapArithmetic<T>> make_map_arithmetic(const Grid& grid, const PixelWeights& weights,
                                                      int threads, ShtWorkspace::Storage& storage,
                                                      const Transform* transform) {
    if (storage.space() == MemorySpace::cuda) return make_cuda_map_arithmetic<T>(grid, weights, storage);
    return std::make_unique<CpuMapArithmetic<T>>(grid, weights, threads, transform);
}

template <class T>
std::unique_ptr<AlmArithmetic<T>> make_alm_arithmetic(const AlmLayout& layout, int threads,
                                                      ShtWorkspace::Storage& storage,
                                                      const Transform* transform) {
    if (storage.space() == MemorySpace::cuda) return make_cuda_alm_arithmetic<T>(layout, storage);
    return std::make_unique<CpuAlmArithmetic<T>>(layout, threads, transform);
}

template std::unique_ptr<MapArithmetic<float>> make_map_arithmetic(const Grid&, const PixelWeights&, int,
                                                                   ShtWorkspace::Storage&, const Transform*);
template std::unique_ptr<AlmArithmetic<float>> make_alm_arithmetic(const AlmLayout&, int,
                                                                   ShtWorkspace::Storage&, const Transform*);
template std::unique_ptr<MapArithmetic<double>> make_map_arithmetic(const Grid&, const PixelWeights&, int,
                                                                    ShtWorkspace::Storage&, const Transform*);
template std::unique_ptr<AlmArithmetic<double>> make_alm_arithmetic(const AlmLayout&, int,
                                                                    ShtWorkspace::Storage&, const Transform*);

}  // namespace zonal::sht
