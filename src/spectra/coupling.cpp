#include "zonal/spectra/coupling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "spectra/coupling_diagonals.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace coupling {
namespace {

/// Diagonals of a task, and pairs of each that are written together: what a task writes then lies in whole
/// lines of a cache.
constexpr std::int64_t block = 16;

struct Wanted {
    explicit Wanted(const std::vector<CouplingKind>& of) : kinds(of) {
        for (const auto kind : of) {
            spin = spin || kind == CouplingKind::spin02 || kind == CouplingKind::plus;
            even = even || kind != CouplingKind::minus;
            odd = odd || kind == CouplingKind::minus;
        }
    }
    const std::vector<CouplingKind>& kinds;
    bool spin = false, even = false, odd = false;
};

double sum_of(const PairSums& sums, CouplingKind kind, int mask, bool has_spin) {
    switch (kind) {
        case CouplingKind::spin00:
            return sums.spin00[mask];
        case CouplingKind::spin02:
            return has_spin ? sums.spin02[mask] : 0;
        case CouplingKind::plus:
            return has_spin ? sums.plus[mask] : 0;
        case CouplingKind::minus:
            return has_spin ? sums.minus[mask] : 0;
    }
    return 0;
}

/// Some of the masks' matrices.
class Coupling {
  public:
    Coupling(const CouplingTables& tables, std::int64_t lmax, const Wanted& wanted, std::int64_t first_mask,
             int n_masks, const core::AlignedVector<double>& weights, std::int64_t degrees,
             const View<double, 4>& matrices)
        : tables_(tables),
          lmax_(lmax),
          wanted_(wanted),
          first_mask_(first_mask),
          n_masks_(n_masks),
          weights_(weights),
          degrees_(degrees),
          matrices_(matrices) {}

    std::int64_t n_tasks() const { return (2 * lmax_ + block) / block; }

    /// Diagonals s from `block` number `task` on.
    void run(std::int64_t task) const {
        const std::int64_t first = task * block, end = std::min(first + block, 2 * lmax_ + 1);
        Diagonal diagonal(tables_, lmax_);
        // [diagonal][l][mask][kind], l from the first of any of them on
        const std::int64_t first_l = std::max<std::int64_t>(0, first - lmax_), end_l = (end - 1) / 2 + 1;
        const std::int64_t n_kinds = std::ssize(wanted_.kinds), values = n_masks_ * n_kinds;
        std::vector<double> sums(static_cast<std::size_t>((end - first) * (end_l - first_l) * values));
        for (std::int64_t s = first; s < end; ++s) {
            diagonal.set(s, weights_.data() + first_mask_ * degrees_, degrees_, n_masks_);
            double* at = sums.data() + (s - first) * (end_l - first_l) * values;
            for (std::int64_t l = first_l; l < end_l; ++l, at += values)
                if (l >= s - lmax_ && 2 * l <= s) sum_pair(diagonal, l, at);
        }
        for (std::int64_t l = first_l; l < end_l; l += block)
            for (int mask = 0; mask < n_masks_; ++mask)
                for (std::int64_t k = 0; k < n_kinds; ++k)
                    write(l, std::min(l + block, end_l), first, end, mask, k,
                          sums.data() + (l - first_l) * values + mask * n_kinds + k,
                          (end_l - first_l) * values, values);
    }

  private:
    void sum_pair(const Diagonal& diagonal, std::int64_t l, double* values) const {
        const bool has_spin = l >= 2;
        PairSums sums{};
        if (wanted_.even) sum_even(diagonal, l, wanted_.spin && has_spin, sums);
        if (wanted_.odd && has_spin) sum_odd(diagonal, l, sums);
        for (int mask = 0; mask < n_masks_; ++mask)
            for (const auto kind : wanted_.kinds) *values++ = sum_of(sums, kind, mask, has_spin);
    }

    /// M of the pairs l, l' = s - l and of l', l.
    void write(std::int64_t l_begin, std::int64_t l_end, std::int64_t s_begin, std::int64_t s_end, int mask,
               std::int64_t kind, const double* sums, std::int64_t s_stride, std::int64_t l_stride) const {
        const auto matrix = matrices_[first_mask_ + mask][kind];
        for (std::int64_t l = l_begin; l < l_end; ++l)
            for (std::int64_t s = std::max(s_begin, 2 * l); s < std::min(s_end, l + lmax_ + 1); ++s) {
                const std::int64_t p = s - l;
                const double sum = sums[(s - s_begin) * s_stride + (l - l_begin) * l_stride];
                matrix(l, p) = static_cast<double>(2 * p + 1) * sum;
                matrix(p, l) = static_cast<double>(2 * l + 1) * sum;
            }
    }

    const CouplingTables& tables_;
    const std::int64_t lmax_;
    const Wanted& wanted_;
    const std::int64_t first_mask_;
    const int n_masks_;
    const core::AlignedVector<double>& weights_;
    const std::int64_t degrees_;
    const View<double, 4> matrices_;
};

void check(const View<const double, 2>& mask_spectra, const std::vector<CouplingKind>& kinds,
           const View<double, 4>& matrices, Device device) {
    sht::check_host("mask_spectra", mask_spectra);
    if (device.kind() == Device::Kind::cuda)
        sht::check_space("matrices", matrices, MemorySpace::cuda);
    else
        sht::check_host("matrices", matrices);
    if (kinds.empty()) throw InvalidArgument("kinds", "is empty: name at least one");
    if (mask_spectra.extent(1) < 1)
        throw InvalidArgument("mask_spectra", "has no degrees: must have W_0 at least");
    sht::check_extent("matrices", matrices, 0, "mask", mask_spectra.extent(0));
    sht::check_extent("matrices", matrices, 1, "kind", std::ssize(kinds));
    if (matrices.extent(2) < 1)
        throw InvalidArgument("matrices", "axis 2 (l) has length 0: must be lmax + 1, at least 1");
    sht::check_extent("matrices", matrices, 3, "l'", matrices.extent(2));
    constexpr std::int64_t most =
        100'000;  // products of four degrees are right to a double's last bits below it
    if (matrices.extent(2) > most)
        throw InvalidArgument("lmax", matrices.extent(2) - 1, fmt::format("must be at most {}", most - 1));
    for (std::int64_t mask = 0; mask < mask_spectra.extent(0); ++mask)
        for (std::int64_t l = 0; l < mask_spectra.extent(1); ++l)
            if (!std::isfinite(mask_spectra(mask, l)))
                throw InvalidArgument(fmt::format("mask_spectra[{}, {}]", mask, l), mask_spectra(mask, l),
                                      "must be a finite number");
}

}  // namespace
}  // namespace coupling

void coupling_matrices(View<const double, 2> mask_spectra, const std::vector<CouplingKind>& kinds,
                       View<double, 4> matrices, int threads, Device device) {
    using coupling::check;
    using coupling::Coupling;
    using coupling::CouplingTables;
    using coupling::most_masks;
    using coupling::Wanted;
    device = resolve_device(device);
    check(mask_spectra, kinds, matrices, device);
    const std::int64_t lmax = matrices.extent(2) - 1, n_masks = mask_spectra.extent(0);
    const std::int64_t degrees = std::min(mask_spectra.extent(1), 2 * lmax + 1);
    core::AlignedVector<double> weights;
    for (std::int64_t mask = 0; mask < n_masks; ++mask)
        for (std::int64_t l = 0; l < degrees; ++l)
            weights.push_back(static_cast<double>(2 * l + 1) * mask_spectra(mask, l) /
                              (4 * std::numbers::pi));
    const CouplingTables tables(lmax);
    if (device.kind() == Device::Kind::cuda)
        return coupling::coupling_matrices_on_cuda(tables, weights, degrees, kinds, matrices, device.index(),
                                                   core::resolve_threads(threads));
    const Wanted wanted(kinds);
    for (std::int64_t mask = 0; mask < n_masks; mask += most_masks) {
        const auto at_once = static_cast<int>(std::min<std::int64_t>(most_masks, n_masks - mask));
        const Coupling some(tables, lmax, wanted, mask, at_once, weights, degrees, matrices);
        // The last tasks are the shortest: diagonals of few pairs with few terms.
        core::parallel_for(some.n_tasks(), core::resolve_threads(threads),
                           [&](std::int64_t task, int) { some.run(some.n_tasks() - 1 - task); });
    }
}

}  // namespace zonal
