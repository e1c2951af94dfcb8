#include "zonal/spectra/purification.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/alm.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectra/coupling.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {
namespace purification {
namespace {

using Complex = std::complex<double>;

/// (l+s)! / (l-s)!, s from 0 to 2.
double ratio_of_factorials(std::int64_t l, int spin) {
    const auto x = static_cast<double>(l * (l + 1));
    return spin == 0 ? 1 : spin == 1 ? x : x * (x - 2);
}

/// What the analysis of a spin is multiplied by, and 0 where E and B have no degrees.
double share_of_spin(std::int64_t l, int spin) {
    if (l < 2) return 0;
    if (spin == 2) return 1;
    const auto x = static_cast<double>(l * (l + 1));
    return spin == 1 ? -2 / std::sqrt(x - 2) : 1 / std::sqrt(x * (x - 2));
}

std::shared_ptr<const ShtPlan> plan_of(const Grid& grid, std::int64_t lmax, int spin,
                                       const PurificationOptions& options) {
    ShtOptions how;
    how.lmax = lmax;
    how.spin = spin;
    how.threads = options.threads;
    how.device = options.device;
    return kept_plan(grid, how);
}

/// The mask's alm, and what it and they say of each other.
class MaskField {
  public:
    MaskField(const Grid& grid, const View<const double, 1>& mask, std::int64_t lmax,
              const PurificationOptions& options)
        : grid_(grid), mask_(mask), lmax_(lmax), options_(options), alm_({1, 1, AlmLayout(lmax).size()}) {
        AnalysisOptions how;
        if (exact_lmax(grid) < lmax) how.iterations = options.mask_iterations;
        const auto plan = plan_of(grid, lmax, 0, options);
        analyze<double>(*plan, View<const double, 3>(mask.data(), {1, 1, mask.size()}), alm_.view(), how);
    }

    /// w_s, [2, pixel], and 0 where the mask is. spin: 1 or 2.
    Array<double, 3> derivative(int spin) const {
        const AlmLayout layout(lmax_);
        Array<Complex, 3> field({1, 2, layout.size()});
        for (std::int64_t m = 0; m <= lmax_; ++m)
            for (auto l = std::max<std::int64_t>(m, spin); l <= lmax_; ++l)
                field(0, 0, layout.index(l, m)) =
                    std::sqrt(ratio_of_factorials(l, spin)) * alm_(0, 0, layout.index(l, m));
        Array<double, 3> result({1, 2, grid_.n_pixels()});
        plan_of(grid_, lmax_, spin, options_)->synthesize<double>(std::as_const(field).view(), result.view());
        for (std::int64_t p = 0; p < mask_.size(); ++p)
            if (mask_[p] == 0) result(0, 0, p) = result(0, 1, p) = 0;
        return result;
    }

    MaskSmoothness smoothness() const {
        MaskSmoothness result;
        Array<double, 3> sum({1, 1, grid_.n_pixels()});
        plan_of(grid_, lmax_, 0, options_)->synthesize<double>(alm_.view(), sum.view());
        for (std::int64_t p = 0; p < mask_.size(); ++p)
            result.remainder = std::max(result.remainder, std::abs(sum(0, 0, p) - mask_[p]));
        const AlmLayout layout(lmax_);
        double lower = 0, upper = 0;
        for (std::int64_t m = 0; m <= lmax_; ++m)
            for (auto l = std::max(m, lmax_ / 4 + 1); l <= lmax_; ++l)
                (l > lmax_ / 2 ? upper : lower) +=
                    (m == 0 ? 1 : 2) * ratio_of_factorials(l, 2) * std::norm(alm_(0, 0, layout.index(l, m)));
        result.growth = lower > 0 ? upper / lower : 0;
        return result;
    }

  private:
    const Grid& grid_;
    const View<const double, 1> mask_;
    const std::int64_t lmax_;
    const PurificationOptions& options_;
    Array<Complex, 3> alm_;
};

void require_values(const View<const double, 3>& maps, const View<const double, 1>& mask) {
    for (std::int64_t p = 0; p < mask.size(); ++p) {
        if (!std::isfinite(mask[p]) || is_unseen_value(mask[p]))
            throw InvalidArgument("mask", fmt::format("pixel {} is {}: must be finite", p, mask[p]));
        if (mask[p] == 0) continue;
        for (std::int64_t row = 0; row < 2 * maps.extent(0); ++row) {
            const double value = maps(row / 2, row % 2, p);
            if (!std::isfinite(value) || is_unseen_value(value))
                throw InvalidArgument(
                    "maps", fmt::format("pixel {} is {}: must be finite where the mask is not 0", p, value));
        }
    }
}

/// conj(factor) P, or factor P of a real factor of one component; 0 where the mask is.
void multiply(const View<const double, 3>& maps, std::int64_t batch, const View<const double, 1>& mask,
              const double* real, const double* imaginary, Array<double, 3>& product, int threads) {
    core::for_pieces(mask.size(), threads, [&](std::int64_t first, std::int64_t end) {
        for (auto p = first; p < end; ++p) {
            const bool none = mask[p] == 0;
            const double q = none ? 0 : maps(batch, 0, p), u = none ? 0 : maps(batch, 1, p);
            const double a = none ? 0 : real[p], b = none || imaginary == nullptr ? 0 : imaginary[p];
            product(0, 0, p) = a * q + b * u;
            product(0, 1, p) = a * u - b * q;
        }
    });
}

/// Adds what the analysis of `product` by a spin has of E and B to those that have it.
void add_analysis(const Grid& grid, int spin, const Array<double, 3>& product, const View<Complex, 2>& alm,
                  const PurificationOptions& options) {
    const AlmLayout layout(options.lmax);
    Array<Complex, 3> found({1, 2, layout.size()});
    const auto plan = plan_of(grid, options.lmax, spin, options);
    if (spin == 0)  // two fields
        analyze<double>(*plan, View<const double, 3>(product.data(), {2, 1, grid.n_pixels()}),
                        View<Complex, 3>(found.data(), {2, 1, layout.size()}), options.analysis);
    else
        analyze<double>(*plan, product.view(), found.view(), options.analysis);
    for (std::int64_t part = 0; part < 2; ++part) {
        if (spin != 2 && !(part == 0 ? options.pure_e : options.pure_b)) continue;
        for (std::int64_t m = 0; m <= options.lmax; ++m)
            for (auto l = m; l <= options.lmax; ++l)
                alm(part, layout.index(l, m)) += share_of_spin(l, spin) * found(0, part, layout.index(l, m));
    }
}

void check(const Grid& grid, const View<const double, 3>& maps, const View<const double, 1>& mask,
           const View<Complex, 3>& alm, const PurificationOptions& options) {
    if (options.lmax < 2) throw InvalidArgument("lmax", options.lmax, "must be 2 or more for E and B");
    if (mask.size() != grid.n_pixels())
        throw InvalidArgument(
            "mask", fmt::format("{} pixels: must be {} for {}", mask.size(), grid.n_pixels(), grid.name()));
    if (maps.extent(1) != 2 || maps.extent(2) != grid.n_pixels())
        throw InvalidArgument("maps", fmt::format("[{}, {}, {}]: must be [batch, 2, {}]", maps.extent(0),
                                                  maps.extent(1), maps.extent(2), grid.n_pixels()));
    if (alm.extent(0) != maps.extent(0) || alm.extent(1) != 2 ||
        alm.extent(2) != AlmLayout(options.lmax).size())
        throw InvalidArgument("alm",
                              fmt::format("[{}, {}, {}]: must be [{}, 2, {}]", alm.extent(0), alm.extent(1),
                                          alm.extent(2), maps.extent(0), AlmLayout(options.lmax).size()));
    require_values(maps, mask);
}

}  // namespace
}  // namespace purification

std::int64_t default_mask_lmax(const Grid& grid) {
    if (grid.healpix_nside() > 0) return 2 * grid.healpix_nside();
    const auto exact = exact_lmax(grid);
    return exact >= 0 ? exact : invertible_lmax(grid);
}

MaskSmoothness pure_alm(const Grid& grid, View<const double, 3> maps, View<const double, 1> mask,
                        View<std::complex<double>, 3> alm, const PurificationOptions& options) {
    purification::check(grid, maps, mask, alm, options);
    const auto mask_lmax = options.mask_lmax < 0 ? default_mask_lmax(grid) : options.mask_lmax;
    if (mask_lmax < 2) throw InvalidArgument("mask_lmax", mask_lmax, "must be 2 or more");
    const purification::MaskField field(grid, mask, mask_lmax, options);
    const auto smoothness = field.smoothness();
    if (smoothness.has_jumps() && !options.any_mask)
        throw InvalidArgument(
            "mask",
            fmt::format("has jumps: the power of its second derivatives grows {:.3g} times in the last "
                        "octave up to mask_lmax = {} (smooth masks: below 1), and its alm miss it by "
                        "{:.2g}: apodize it, such as by zonal.masks.apodize",
                        smoothness.growth, mask_lmax, smoothness.remainder));
    const int last = options.pure_e || options.pure_b ? 0 : 2;
    for (std::int64_t batch = 0; batch < maps.extent(0); ++batch)
        for (std::int64_t part = 0; part < 2; ++part)
            for (std::int64_t i = 0; i < alm.extent(2); ++i) alm(batch, part, i) = 0;
    Array<double, 3> product({1, 2, grid.n_pixels()});
    std::vector<double> values(static_cast<std::size_t>(grid.n_pixels()));
    for (std::int64_t p = 0; p < mask.size(); ++p) values[static_cast<std::size_t>(p)] = mask[p];
    for (int spin = 2; spin >= last; --spin) {
        Array<double, 3> derivative;
        if (spin < 2) derivative = field.derivative(2 - spin);
        const double* real = spin == 2 ? values.data() : derivative.data();
        const double* imaginary = spin == 2 ? nullptr : derivative.data() + grid.n_pixels();
        for (std::int64_t batch = 0; batch < maps.extent(0); ++batch) {
            purification::multiply(maps, batch, mask, real, imaginary, product, options.threads);
            purification::add_analysis(grid, spin, product, alm[batch], options);
        }
    }
    return smoothness;
}

void pure_coupling_matrices(View<const double, 2> mask_spectra, const std::vector<PureCouplingKind>& kinds,
                            View<double, 4> matrices, int threads, Device device) {
    sht::check_host("matrices", matrices);
    std::vector<CouplingKind> plain;
    plain.reserve(kinds.size());
    for (const auto kind : kinds)
        plain.push_back(kind == PureCouplingKind::plain_pure ? CouplingKind::spin02 : CouplingKind::spin00);
    coupling_matrices(mask_spectra, plain, matrices, threads, device);
    const auto size = matrices.extent(2);
    const auto n_tasks = matrices.extent(0) * matrices.extent(1) * size;
    core::parallel_for(n_tasks, core::resolve_threads(threads), [&](std::int64_t task, int) {
        const auto l = task % size, kind = task / size % matrices.extent(1),
                   mask = task / size / matrices.extent(1);
        const bool twice = kinds[static_cast<std::size_t>(kind)] == PureCouplingKind::pure_pure;
        for (std::int64_t p = 0; p < size; ++p) {
            // 0 below 2, where there is no E and B
            const double squared = l < 2 || p < 2 ? 0
                                                  : purification::ratio_of_factorials(p, 2) /
                                                        purification::ratio_of_factorials(l, 2);
            matrices(mask, kind, l, p) *= twice ? squared : std::sqrt(squared);
        }
    });
}

}  // namespace zonal
