#include "sht/analysis_operator.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

void check_weight(const char* name, std::int64_t index, double value) {
    if (!(value >= 0) || !std::isfinite(value))
        throw InvalidArgument(fmt::format("{}[{}] = {}: must be 0 or positive", name, index, value));
}

// Rings per task: small enough that the polar rings' short tasks even out, large enough to cost nothing.
constexpr std::int64_t rings_per_task = 16;

}  // namespace

template <class T>
AnalysisOperator<T>::AnalysisOperator(const ShtPlan& plan, const AnalysisOptions& options,
                                      ShtWorkspace& workspace)
    : plan_(plan),
      ring_weights_(options.ring_weights),
      pixel_weights_(options.pixel_weights),
      has_weights_(!options.ring_weights.empty() || options.pixel_weights.size() > 0),
      workspace_(workspace) {
    const auto n_rings = plan.grid().n_rings();
    if (!ring_weights_.empty() && static_cast<std::int64_t>(ring_weights_.size()) != n_rings)
        throw InvalidArgument(
            fmt::format("ring_weights: has length {}: must be {}, the grid's number of rings",
                        ring_weights_.size(), n_rings));
    for (std::size_t i = 0; i < ring_weights_.size(); ++i)
        check_weight("ring_weights", static_cast<std::int64_t>(i), ring_weights_[i]);
    if (pixel_weights_.size() == 0) return;
    check_extent("pixel_weights", pixel_weights_, 0, "pixel", plan.grid().n_pixels());
    check_host("pixel_weights", pixel_weights_);
    for (std::int64_t i = 0; i < pixel_weights_.size(); ++i)
        check_weight("pixel_weights", i, pixel_weights_[i]);
}

template <class T>
double AnalysisOperator<T>::relative_weight(std::int64_t ring, std::int64_t pixel) const {
    return (ring_weights_.empty() ? 1 : ring_weights_[ring]) *
           (pixel_weights_.size() == 0 ? 1 : pixel_weights_[pixel]);
}

template <class T>
template <class Visit>
void AnalysisOperator<T>::for_each_ring(const Visit& visit) const {
    const auto& rings = plan_.grid().rings();
    const auto n_rings = plan_.grid().n_rings();
    const auto n_tasks = (n_rings + rings_per_task - 1) / rings_per_task;
    core::parallel_for(n_tasks, plan_.options().threads, [&](std::int64_t task, int) {
        for (auto i = task * rings_per_task; i < std::min((task + 1) * rings_per_task, n_rings); ++i)
            visit(i, rings[i].first_pixel, rings[i].first_pixel + rings[i].n_pixels);
    });
}

template <class T>
template <class Visit>
void AnalysisOperator<T>::for_each_order(const Visit& visit) const {
    core::parallel_for(plan_.layout().mmax() + 1, plan_.options().threads,
                       [&](std::int64_t m, int) { visit(m); });
}

template <class T>
void AnalysisOperator<T>::quadrature(ConstMap map, Map scratch, Alm alm, const Progress& progress) {
    if (!has_weights_) return plan_.quadrature<T>(map, alm, workspace_, progress);
    for_each_ring([&](std::int64_t ring, std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = 0; b < map.extent(0); ++b)
            for (std::int64_t c = 0; c < map.extent(1); ++c) {
                const auto from = map[b][c];
                const auto to = scratch[b][c];
                for (auto p = begin; p < end; ++p) to[p] = static_cast<T>(from[p] * relative_weight(ring, p));
            }
    });
    plan_.quadrature<T>(scratch, alm, workspace_, progress);
}

template <class T>
void AnalysisOperator<T>::project_residual(ConstAlm alm, ConstMap map, Map scratch, Alm update,
                                           const Progress& progress) {
    if (!has_weights_) return plan_.project_residual<T>(alm, map, update, workspace_, progress);
    synthesize(alm, scratch, part_of(progress, 0, 0.5));
    subtract_from(map, scratch);
    quadrature(scratch, scratch, update, part_of(progress, 0.5, 1));
}

template <class T>
void AnalysisOperator<T>::subtract_from(ConstMap map, Map out) const {
    for_each_ring([&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = 0; b < map.extent(0); ++b)
            for (std::int64_t c = 0; c < map.extent(1); ++c) {
                const T* minuend = &map(b, c, 0);
                T* difference = &out(b, c, 0);
                for (auto p = begin; p < end; ++p) difference[p] = minuend[p] - difference[p];
            }
    });
}

template <class T>
void AnalysisOperator<T>::add_scaled(const std::vector<double>& factors, ConstMap x, Map y) const {
    for_each_ring([&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = 0; b < x.extent(0); ++b)
            for (std::int64_t c = 0; c < x.extent(1); ++c) {
                const T* from = &x(b, c, 0);
                T* to = &y(b, c, 0);
                const double factor = factors[b];
                for (auto p = begin; p < end; ++p) to[p] = static_cast<T>(to[p] + factor * from[p]);
            }
    });
}

template <class T>
template <class Visit>
void AnalysisOperator<T>::for_each_part(ConstAlm x, Alm y, std::int64_t b, std::int64_t c, std::int64_t m,
                                        const Visit& visit) const {
    const AlmLayout& layout = plan_.layout();
    const T* from = reinterpret_cast<const T*>(&x(b, c, layout.index(m, m)));
    T* to = reinterpret_cast<T*>(&y(b, c, layout.index(m, m)));
    for (std::int64_t k = 0; k < 2 * (layout.lmax() + 1 - m); ++k) visit(from[k], to[k]);
}

template <class T>
void AnalysisOperator<T>::scale_and_add(ConstAlm x, const std::vector<double>& factors, Alm y) const {
    for_each_order([&](std::int64_t m) {
        for (std::int64_t b = 0; b < x.extent(0); ++b)
            for (std::int64_t c = 0; c < x.extent(1); ++c)
                for_each_part(x, y, b, c, m,
                              [&](T from, T& to) { to = from + static_cast<T>(factors[b]) * to; });
    });
}

template <class T>
void AnalysisOperator<T>::add_scaled(const std::vector<double>& factors, ConstAlm x, Alm y) const {
    for_each_order([&](std::int64_t m) {
        for (std::int64_t b = 0; b < x.extent(0); ++b)
            for (std::int64_t c = 0; c < x.extent(1); ++c)
                for_each_part(x, y, b, c, m, [&](T from, T& to) { to += static_cast<T>(factors[b]) * from; });
    });
}

template <class T>
std::vector<double> AnalysisOperator<T>::weighted_squares(ConstMap map) const {
    const auto& rings = plan_.grid().rings();
    Array<double, 2> partial({plan_.grid().n_rings(), map.extent(0)});
    for_each_ring([&](std::int64_t ring, std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = 0; b < map.extent(0); ++b) {
            double sum = 0;
            for (std::int64_t c = 0; c < map.extent(1); ++c)
                for (auto p = begin; p < end; ++p) {
                    const auto value = static_cast<double>(map(b, c, p));
                    sum += value * value * (has_weights_ ? relative_weight(ring, p) : 1);
                }
            partial(ring, b) = sum * rings[ring].weight;
        }
    });
    std::vector<double> sums(map.extent(0));
    for (std::int64_t ring = 0; ring < partial.extent(0); ++ring)
        for (std::int64_t b = 0; b < map.extent(0); ++b) sums[b] += partial(ring, b);
    return sums;
}

template <class T>
std::vector<double> AnalysisOperator<T>::squares(ConstAlm alm) const {
    const AlmLayout& layout = plan_.layout();
    Array<double, 2> partial({layout.mmax() + 1, alm.extent(0)});
    for_each_order([&](std::int64_t m) {
        for (std::int64_t b = 0; b < alm.extent(0); ++b) {
            // Several sums, so that one addition need not wait for the other.
            constexpr std::int64_t n_sums = 8;
            double sum[n_sums] = {};
            for (std::int64_t c = 0; c < alm.extent(1); ++c) {
                const T* a = reinterpret_cast<const T*>(&alm(b, c, layout.index(m, m)));
                const std::int64_t count = 2 * (layout.lmax() + 1 - m);
                const double imaginary = m == 0 ? 0 : 1;  // of m = 0 only the real parts count
                for (std::int64_t k = 0; k < count; ++k) {
                    const double value = k % 2 == 0 ? a[k] : imaginary * a[k];
                    sum[k % n_sums] += value * value;
                }
            }
            partial(m, b) = (m == 0 ? 1 : 2) * std::accumulate(sum, sum + n_sums, 0.0);
        }
    });
    std::vector<double> sums(alm.extent(0));
    for (std::int64_t m = 0; m <= layout.mmax(); ++m)
        for (std::int64_t b = 0; b < alm.extent(0); ++b) sums[b] += partial(m, b);
    return sums;
}

template class AnalysisOperator<float>;
template class AnalysisOperator<double>;

}  // namespace zonal::sht
