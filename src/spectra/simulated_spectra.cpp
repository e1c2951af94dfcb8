#include "zonal/spectra/simulated_spectra.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numeric>
#include <optional>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "spectra/level_factors.hpp"
#include "spectra/masked_sky.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {
namespace masked {
namespace {

using Complex = std::complex<double>;

/// Where a component's random numbers are from.
struct Draw {
    int group;      ///< a sky of its own
    int component;  ///< 0: T, 1: E, 2: B of that
};

std::vector<Draw> draws_of(const std::vector<Component>& components) {
    std::vector<Draw> draws;
    int n_of_spin[2] = {};
    for (const auto& component : components) {
        auto& n = n_of_spin[component.spin / 2];
        draws.push_back({n, component.spin == 0 ? 0 : 1 + component.part});
        if (component.spin == 0 || component.part == 1) ++n;
    }
    return draws;
}

/// Draws skies of one request.
class Simulation {
  public:
    Simulation(const MaskedSky& sky, const std::vector<ComponentPair>& spectra, std::int64_t lmax)
        : sky_(sky),
          spectra_(spectra),
          components_(components_of(sky.maps)),
          draws_(draws_of(components_)),
          sky_layout_(sky.c_l.extent(2) - 1),
          layout_(lmax) {
        std::vector<int> order(components_.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            const auto &x = draws_[static_cast<std::size_t>(a)], &y = draws_[static_cast<std::size_t>(b)];
            return std::pair(x.group, x.component) < std::pair(y.group, y.component);
        });
        factors_ = level_factors("c_l", sky.c_l, order);
        for (const auto& draw : draws_) n_groups_ = std::max(n_groups_, draw.group + 1);
        for (const int spin : {0, 2})
            if (std::any_of(sky.maps.begin(), sky.maps.end(),
                            [&](const auto& map) { return map.spin == spin; })) {
                synthesis_[spin / 2] = plan(sky_layout_.lmax(), spin);
                analysis_[spin / 2] = plan(lmax, spin);
            }
    }

    /// Scratch of one thread.
    struct Scratch {
        std::optional<ShtWorkspace> synthesis[2], analysis[2];
    };

    /// Pseudo-spectra, [spectrum, l], of the sky of a seed.
    Array<double, 2> operator()(std::uint64_t seed, Scratch& scratch) const {
        const auto alm = draw(seed);
        Array<double, 2> maps({std::ssize(components_), sky_.grid.n_pixels()});
        Array<Complex, 2> observed({std::ssize(components_), layout_.size()});
        if (sky_.variances.size() > 0)
            white_noise<double>(seed, View<double, 1>(maps.data(), {maps.size()}), 1);
        for (int map = 0, first = 0; map < static_cast<int>(sky_.maps.size()); ++map)
            first += observe(map, first, alm, maps, observed, scratch);
        Array<double, 2> found({std::ssize(spectra_), layout_.lmax() + 1});
        for (std::int64_t i = 0; i < std::ssize(spectra_); ++i) {
            const auto [a, b] = spectra_[static_cast<std::size_t>(i)];
            const auto values = cross_spectrum<double>(layout_, std::as_const(observed).view()[a],
                                                       std::as_const(observed).view()[b]);
            std::copy(values.begin(), values.end(), &found(i, 0));
        }
        return found;
    }

  private:
    std::shared_ptr<const ShtPlan> plan(std::int64_t lmax, int spin) const {
        return kept_plan(sky_.grid, {.lmax = lmax, .spin = spin, .threads = 1, .device = Device::cpu()});
    }

    /// alm of all components.
    Array<Complex, 2> draw(std::uint64_t seed) const {
        const std::vector<double> ones(static_cast<std::size_t>(sky_layout_.lmax() + 1), 1.0);
        std::vector<Array<Complex, 2>> numbers;
        for (int group = 0; group < n_groups_; ++group) {
            constexpr std::uint64_t apart =
                0x9e3779b97f4a7c15;  // seeds of users are not as far from each other
            numbers.emplace_back(View<Complex, 2>::Extents{3, sky_layout_.size()});
            realize<double>({.tt = ones, .ee = ones, .bb = ones},
                            seed + static_cast<std::uint64_t>(group) * apart, sky_layout_,
                            numbers.back().view(), 1);
        }
        Array<Complex, 2> alm({std::ssize(components_), sky_layout_.size()});
        for (std::size_t a = 0; a < components_.size(); ++a)
            for (std::size_t b = 0; b < components_.size(); ++b) {
                const auto from =
                    numbers[static_cast<std::size_t>(draws_[b].group)].view()[draws_[b].component];
                for (std::int64_t m = 0; m <= sky_layout_.lmax(); ++m)
                    for (std::int64_t l = std::max<std::int64_t>(m, components_[a].spin);
                         l <= sky_layout_.lmax(); ++l)
                        alm(a, sky_layout_.index(l, m)) += factors_(l, a, b) * from[sky_layout_.index(l, m)];
            }
        return alm;
    }

    /// Returns the number of the map's components.
    int observe(int map, int first, const Array<Complex, 2>& alm, Array<double, 2>& maps,
                Array<Complex, 2>& observed, Scratch& scratch) const {
        const auto& of = sky_.maps[static_cast<std::size_t>(map)];
        const int kind = of.spin / 2, parts = kind == 0 ? 1 : 2;
        const ShtPlan &synthesis = *synthesis_[kind], &analysis = *analysis_[kind];
        auto &forth = scratch.synthesis[kind], &back = scratch.analysis[kind];
        if (!forth) forth.emplace(synthesis.make_workspace());
        if (!back) back.emplace(analysis.make_workspace());
        Array<double, 3> signal({1, parts, sky_.grid.n_pixels()});
        synthesis.synthesize<double>(View<const Complex, 3>(&alm(first, 0), {1, parts, alm.extent(1)}),
                                     signal.view(), *forth);
        const auto mask = sky_.masks[of.mask];
        for (int part = 0; part < parts; ++part)
            for (std::int64_t p = 0; p < mask.size(); ++p) {
                double& value = maps(first + part, p);  // white noise of variance 1, or 0
                if (sky_.variances.size() > 0) value *= std::sqrt(sky_.variances(map, p));
                value = mask[p] * (value + signal(0, part, p));
            }
        analysis.quadrature<double>(View<const double, 3>(&maps(first, 0), {1, parts, mask.size()}),
                                    View<Complex, 3>(&observed(first, 0), {1, parts, layout_.size()}), *back);
        return parts;
    }

    const MaskedSky& sky_;
    const std::vector<ComponentPair>& spectra_;
    const std::vector<Component> components_;
    const std::vector<Draw> draws_;
    const AlmLayout sky_layout_, layout_;
    Array<double, 3> factors_;
    int n_groups_ = 1;
    std::shared_ptr<const ShtPlan> synthesis_[2], analysis_[2];
};

}  // namespace
}  // namespace masked

void simulate_spectra(const MaskedSky& sky, const std::vector<ComponentPair>& spectra, std::int64_t lmax,
                      View<const double, 3> values, std::uint64_t first_seed, View<double, 2> result,
                      int threads, const Progress& progress) {
    masked::check_sky(sky, threads);
    masked::check_spectra(sky, spectra);
    const bool all = values.size() == 0;
    if (!all) {
        masked::check_values(values, spectra);
        sht::check_extent("values", values, 2, "l", lmax + 1);
    }
    sht::check_host("result", result);
    sht::check_extent("result", result, 1, "value",
                      all ? std::ssize(spectra) * (lmax + 1) : values.extent(0));
    const masked::Simulation simulation(sky, spectra, lmax);
    const int n_threads = core::resolve_threads(threads);
    std::vector<masked::Simulation::Scratch> scratch(static_cast<std::size_t>(n_threads));
    const std::int64_t n = result.extent(0), step = std::max<std::int64_t>(n_threads, (n + 99) / 100);
    for (std::int64_t first = 0; first < n; first += step) {
        core::parallel_for(std::min(step, n - first), n_threads, [&](std::int64_t task, int thread) {
            const std::int64_t k = first + task;
            const auto found = simulation(first_seed + static_cast<std::uint64_t>(k),
                                          scratch[static_cast<std::size_t>(thread)]);
            for (std::int64_t v = 0; v < result.extent(1); ++v) {
                if (all) {
                    result(k, v) = found.data()[v];
                    continue;
                }
                double sum = 0;
                for (std::int64_t i = 0; i < found.extent(0); ++i)
                    for (std::int64_t l = 0; l <= lmax; ++l) sum += values(v, i, l) * found(i, l);
                result(k, v) = sum;
            }
        });
        if (progress && !progress(static_cast<double>(std::min(first + step, n)) / static_cast<double>(n)))
            throw Cancelled("stopped by the progress callback");
    }
}

SkyShare share_of_skies(std::int64_t n, int part, int parts) {
    if (n < 1) throw InvalidArgument("n", n, "must be 1 or more");
    const std::int64_t each = n / parts, more = n % parts;  // which the first parts take
    return {part * each + std::min<std::int64_t>(part, more), each + (part < more ? 1 : 0)};
}

void sample_covariance(View<const double, 2> samples, View<double, 1> mean, View<double, 2> covariance,
                       int threads) {
    const std::int64_t n = samples.extent(0), size = samples.extent(1);
    sht::check_host("samples", samples);
    if (n < 2) throw InvalidArgument("samples", fmt::format("are {}: must be 2 or more", n));
    sht::check_extent("mean", mean, 0, "value", size);
    for (const int axis : {0, 1}) sht::check_extent("covariance", covariance, axis, "value", size);
    Eigen::MatrixXd from_mean(n, size);
    for (std::int64_t v = 0; v < size; ++v) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) sum += samples(k, v);
        mean[v] = sum / static_cast<double>(n);
        for (std::int64_t k = 0; k < n; ++k) from_mean(k, v) = samples(k, v) - mean[v];
    }
    constexpr std::int64_t columns = 64;  // of a product, whatever the number of threads
    core::parallel_for(
        (size + columns - 1) / columns, core::resolve_threads(threads), [&](std::int64_t task, int) {
            const std::int64_t first = task * columns, width = std::min(columns, size - first);
            const Eigen::MatrixXd sums =
                from_mean.rightCols(size - first).transpose() * from_mean.middleCols(first, width);
            for (std::int64_t w = 0; w < width; ++w)
                for (std::int64_t v = w; v < size - first; ++v)
                    covariance(first + v, first + w) = covariance(first + w, first + v) =
                        sums(v, w) / static_cast<double>(n - 1);
        });
}

double hartlap_factor(std::int64_t n_samples, std::int64_t n_values) {
    if (n_values < 1) throw InvalidArgument("n_values", n_values, "must be 1 or more");
    if (n_samples <= n_values + 2)
        throw InvalidArgument(
            "n_samples", n_samples,
            fmt::format("must be above {} for {} values: the inverse of their covariance has no mean",
                        n_values + 2, n_values));
    return static_cast<double>(n_samples - n_values - 2) / static_cast<double>(n_samples - 1);
}

}  // namespace zonal
