#include "spectra/masked_sky.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "spectra/level_factors.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectra/coupling.hpp"
#include "zonal/spectra/pseudo_spectra.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::masked {
namespace {

template <int N>
void require_finite(const char* name, const View<const double, N>& values, int threads) {
    if constexpr (N > 1) {
        for (std::int64_t i = 0; i < values.extent(0); ++i) require_finite<N - 1>(name, values[i], threads);
    } else {
        core::for_pieces(values.size(), threads, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i)
                if (!std::isfinite(values[i]))
                    throw InvalidArgument(name, fmt::format("has {}: must hold finite numbers", values[i]));
        });
    }
}

/// The two components' parts, and how a mask takes them there: <C~> = first M_first C + second M_second C.
struct Mixture {
    CouplingKind kind;     ///< of the same pair of components
    int other_a, other_b;  ///< the pair that the mask mixes in, of the kind `minus`; -1 where there is none
    double sign;           ///< of that
};

Mixture mixture_of(const std::vector<Component>& components, int a, int b) {
    const auto &x = components[static_cast<std::size_t>(a)], &y = components[static_cast<std::size_t>(b)];
    if (x.spin != y.spin) return {CouplingKind::spin02, -1, -1, 0};
    if (x.spin == 0) return {CouplingKind::spin00, -1, -1, 0};
    // EE takes up BB and the other way; EB takes up -BE.
    return {CouplingKind::plus, a + (x.part == 0 ? 1 : -1), b + (y.part == 0 ? 1 : -1),
            x.part == y.part ? 1.0 : -1.0};
}

/// Largest shares of one mean auto spectrum that come from above each degree.
void note_shares(const View<const double, 1>& terms, double mean, std::vector<double>& shares) {
    double above = 0;
    for (std::int64_t degree = terms.size(); degree-- > 0;) {
        auto& share = shares[static_cast<std::size_t>(degree)];
        if (mean > 0) share = std::max(share, above / mean);
        above += std::abs(terms[degree]);
    }
}

/// Matrices of all kinds that maps with two masks need.
class PairMatrices {
  public:
    PairMatrices(const std::vector<double>& spectrum, std::int64_t lmax, const bool (&spins)[3],
                 int threads) {
        std::vector<CouplingKind> kinds;
        if (spins[0]) kinds.push_back(CouplingKind::spin00);
        if (spins[1]) kinds.push_back(CouplingKind::spin02);
        if (spins[2]) kinds.insert(kinds.end(), {CouplingKind::plus, CouplingKind::minus});
        for (std::size_t k = 0; k < kinds.size(); ++k) place_[static_cast<int>(kinds[k])] = std::int64_t(k);
        matrices_ = Array<double, 4>({1, std::ssize(kinds), lmax + 1, lmax + 1});
        coupling_matrices(View<const double, 2>(spectrum.data(), {1, std::ssize(spectrum)}), kinds,
                          matrices_.view(), threads);
    }
    View<const double, 2> of(CouplingKind kind) const {
        return std::as_const(matrices_).view()[0][place_[static_cast<int>(kind)]];
    }

  private:
    std::int64_t place_[4] = {};
    Array<double, 4> matrices_;
};

class Means {
  public:
    Means(const MaskedSky& sky, const View<double, 3>& means, std::int64_t low)
        : sky_(sky),
          components_(components_of(sky.maps)),
          means_(means),
          low_(low),
          shares(static_cast<std::size_t>(low < 0 ? 0 : sky.c_l.extent(2)), 0.0) {}

    void of_masks(int u, int w, const std::vector<double>& spectrum, int threads) {
        std::vector<std::pair<int, int>> pairs;
        bool spins[3] = {};
        const auto n = static_cast<int>(components_.size());
        for (int a = 0; a < n; ++a)
            for (int b = a; b < n; ++b) {
                const auto &x = components_[static_cast<std::size_t>(a)],
                           &y = components_[static_cast<std::size_t>(b)];
                if (std::minmax(x.mask, y.mask) != std::minmax(u, w)) continue;
                pairs.emplace_back(a, b);
                spins[(x.spin + y.spin) / 2] = true;
            }
        if (pairs.empty()) return;
        const auto top = std::max(means_.extent(2), sky_.c_l.extent(2)) - 1;
        const PairMatrices matrices(spectrum, top, spins, threads);
        for (const auto& [a, b] : pairs) of_pair(a, b, matrices, threads);
    }

  private:
    void of_pair(int a, int b, const PairMatrices& matrices, int threads) {
        const auto mixture = mixture_of(components_, a, b);
        const auto direct = matrices.of(mixture.kind);
        const bool mixes = mixture.other_a >= 0;
        const auto mixed = mixes ? matrices.of(CouplingKind::minus) : direct;
        const std::int64_t degrees = sky_.c_l.extent(2);
        Array<double, 2> terms({std::max<std::int64_t>(low_ + 1, 0), degrees});
        core::parallel_for(means_.extent(2), core::resolve_threads(threads), [&](std::int64_t l, int) {
            double sum = 0;
            for (std::int64_t p = 0; p < degrees; ++p) {
                double term = direct(l, p) * sky_.c_l(a, b, p);
                if (mixes) term += mixture.sign * mixed(l, p) * sky_.c_l(mixture.other_a, mixture.other_b, p);
                if (l <= low_) terms(l, p) = term;
                sum += term;
            }
            means_(a, b, l) = means_(b, a, l) = sum;
        });
        if (a == b)
            for (std::int64_t l = components_[static_cast<std::size_t>(a)].spin; l <= low_; ++l)
                note_shares(std::as_const(terms).view()[l], means_(a, a, l), shares);
    }

    const MaskedSky& sky_;
    const std::vector<Component> components_;
    const View<double, 3> means_;
    const std::int64_t low_;

  public:
    std::vector<double> shares;
};

}  // namespace

std::vector<Component> components_of(const std::vector<MaskedMap>& maps) {
    std::vector<Component> components;
    for (std::size_t k = 0; k < maps.size(); ++k)
        for (int part = 0; part < (maps[k].spin == 0 ? 1 : 2); ++part)
            components.push_back({static_cast<int>(k), maps[k].spin, maps[k].mask, part});
    return components;
}

int first_component(const std::vector<MaskedMap>& maps, int map) {
    int first = 0;
    for (int k = 0; k < map; ++k) first += maps[static_cast<std::size_t>(k)].spin == 0 ? 1 : 2;
    return first;
}

void check_sky(const MaskedSky& sky, int threads) {
    sht::check_host("masks", sky.masks);
    sht::check_contiguous("masks", sky.masks);
    sht::check_host("c_l", sky.c_l);
    if (sky.maps.empty()) throw InvalidArgument("maps", "is empty: there must be one map at least");
    for (std::size_t k = 0; k < sky.maps.size(); ++k) {
        const auto& map = sky.maps[k];
        if (map.spin != 0 && map.spin != 2)
            throw InvalidArgument(fmt::format("maps[{}].spin", k), map.spin, "must be 0 or 2");
        if (map.mask < 0 || map.mask >= sky.masks.extent(0))
            throw InvalidArgument(fmt::format("maps[{}].mask", k), map.mask,
                                  fmt::format("must be from 0 to {}", sky.masks.extent(0) - 1));
    }
    sht::check_extent("masks", sky.masks, 1, "pixel", sky.grid.n_pixels());
    const auto n = std::ssize(components_of(sky.maps));
    sht::check_extent("c_l", sky.c_l, 0, "component", n);
    sht::check_extent("c_l", sky.c_l, 1, "component", n);
    if (sky.c_l.extent(2) < 3)
        throw InvalidArgument(
            "c_l", fmt::format("has {} degrees: must have 3 (l = 0, 1, 2) or more", sky.c_l.extent(2)));
    require_finite("masks", sky.masks, threads);
    check_levels("c_l", sky.c_l);
    if (sky.variances.size() == 0) return;
    sht::check_host("variances", sky.variances);
    sht::check_extent("variances", sky.variances, 0, "map", std::ssize(sky.maps));
    sht::check_extent("variances", sky.variances, 1, "pixel", sky.grid.n_pixels());
    require_finite("variances", sky.variances, threads);
    for (std::int64_t k = 0; k < sky.variances.extent(0); ++k)
        for (std::int64_t p = 0; p < sky.variances.extent(1); ++p)
            if (sky.variances(k, p) < 0)
                throw InvalidArgument(fmt::format("variances[{}, {}]", k, p), sky.variances(k, p),
                                      "must be 0 or more");
}

void check_spectra(const MaskedSky& sky, const std::vector<ComponentPair>& spectra) {
    if (spectra.empty()) throw InvalidArgument("spectra", "is empty: there must be one at least");
    const auto n = static_cast<int>(components_of(sky.maps).size());
    for (const auto& [a, b] : spectra)
        if (std::min(a, b) < 0 || std::max(a, b) >= n)
            throw InvalidArgument(
                "spectra", fmt::format("has ({}, {}): must name components from 0 to {}", a, b, n - 1));
}

void check_values(View<const double, 3> values, const std::vector<ComponentPair>& spectra) {
    sht::check_host("values", values);
    if (values.extent(0) < 1 || values.extent(2) < 1)
        throw InvalidArgument("values",
                              fmt::format("has {} values of {} degrees: must have one of each at least",
                                          values.extent(0), values.extent(2)));
    sht::check_extent("values", values, 1, "spectrum", std::ssize(spectra));
    require_finite("values", values, 1);
}

int pair_number(int i, int j, int n) {
    const auto [low, high] = std::minmax(i, j);
    return low * n - low * (low - 1) / 2 + high - low;
}

void plain_sums(const Grid& grid, View<const double, 3> maps, std::int64_t lmax,
                View<std::complex<double>, 3> alm, int threads, Device device) {
    const int spin = maps.extent(1) == 2 ? 2 : 0;
    const auto plan = kept_plan(grid, {.lmax = lmax, .spin = spin, .threads = threads, .device = device});
    auto workspace = take_workspace(*plan, maps.extent(0));
    plan->quadrature<double>(maps, alm, workspace);
    leave_workspace(*plan, std::move(workspace));
}

Array<std::complex<double>, 2> plain_alm(const Grid& grid, View<const double, 2> rows, std::int64_t lmax,
                                         int threads) {
    const std::int64_t n = rows.extent(0), size = AlmLayout(lmax).size();
    Array<std::complex<double>, 2> alm({n, size});
    plain_sums(grid, {rows.data(), {n, 1, rows.extent(1)}, {rows.stride(0), 0, rows.stride(1)}}, lmax,
               {alm.data(), {n, 1, size}}, threads);
    return alm;
}

Array<std::complex<double>, 2> product_alm(const MaskedSky& sky, std::int64_t lmax, int threads) {
    const std::int64_t n = sky.masks.extent(0), pixels = sky.masks.extent(1);
    Array<double, 2> products({n * (n + 1) / 2, pixels});
    std::int64_t row = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i; j < n; ++j, ++row)
            core::for_pieces(pixels, threads, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t p = first; p < last; ++p)
                    products(row, p) = sky.masks(i, p) * sky.masks(j, p);
            });
    return plain_alm(sky.grid, std::as_const(products).view(), lmax, threads);
}

Array<std::complex<double>, 2> noise_alm(const MaskedSky& sky, std::int64_t lmax, int threads) {
    const auto n = std::ssize(sky.maps);
    if (sky.variances.size() == 0) return Array<std::complex<double>, 2>({n, AlmLayout(lmax).size()});
    Array<double, 2> rows({n, sky.grid.n_pixels()});
    for (std::int64_t k = 0; k < n; ++k) {
        const auto mask = sky.masks[sky.maps[static_cast<std::size_t>(k)].mask];
        for (const auto& ring : sky.grid.rings())
            for (std::int64_t p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p)
                rows(k, p) = ring.weight * mask[p] * mask[p] * sky.variances(k, p);
    }
    return plain_alm(sky.grid, std::as_const(rows).view(), lmax, threads);
}

std::vector<double> mean_spectra(const MaskedSky& sky, View<double, 3> means, std::int64_t low, int threads) {
    const auto components = components_of(sky.maps);
    const std::int64_t n = std::ssize(components), lmax = means.extent(2) - 1;
    sht::check_extent("means", means, 0, "component", n);
    sht::check_extent("means", means, 1, "component", n);
    const std::int64_t top = lmax + sky.c_l.extent(2) - 1;
    const AlmLayout layout(top);
    const auto alm = plain_alm(sky.grid, sky.masks, top, threads);
    Means of(sky, means, low);
    for (int u = 0; u < static_cast<int>(sky.masks.extent(0)); ++u)
        for (int w = u; w < static_cast<int>(sky.masks.extent(0)); ++w)
            of.of_masks(u, w, cross_spectrum<double>(layout, alm.view()[u], alm.view()[w]), threads);
    for (std::int64_t a = 0; a < n && sky.variances.size() > 0; ++a) {
        const auto& component = components[static_cast<std::size_t>(a)];
        const double level =
            white_noise_spectrum(sky.grid, sky.masks[component.mask], sky.variances[component.map]);
        for (std::int64_t l = component.spin; l <= lmax; ++l) means(a, a, l) += level;
    }
    return of.shares;
}

}  // namespace zonal::masked
