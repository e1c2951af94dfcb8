#include "spectra/exact_covariance.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <optional>

#include "core/parallel.hpp"
#include "spectra/masked_sky.hpp"
#include "zonal/memory.hpp"
#include "zonal/sht.hpp"

// A pseudo-alm is a~ = Q u S a: synthesis S of the sky, the mask u, and the transpose Q of synthesis with the
// weights of the pixels. In a basis of real functions, Re and Im of a_lm sqrt(2) for m > 0, the covariance of
// those of two maps is
//   Sigma = Q u S C S^T w S^T ... = Q u S C (Q' w S')^T,
// with Q', S' between the low degrees of the pseudo-alm and all of the sky: one column is a low basis
// function times the mask, its coefficients times C, and the same way back. Sums over pixels of the user's
// grid are exact integrals here if masks have their coefficients by such sums: up to the sum of the two
// degrees, which is as far as products of two basis functions reach.
namespace zonal::masked {
namespace {

using Complex = std::complex<double>;

/// Columns that are made at once.
constexpr std::int64_t batch = 8;

/// Scratch of one thread.
struct Scratch {
    std::optional<ShtWorkspace> low[2], high[2];  ///< by spin / 2
};

std::int64_t mode_of(std::int64_t l, std::int64_t m, int part) {
    return l * l + (m == 0 ? 0 : 2 * m - 1 + part);
}

/// Integrals of products of two basis functions with one of as high a degree as both are exact.
Grid grid_to(std::int64_t both) {
    return Grid::gauss_legendre(both + 1, 2 * both + 2);
}

class ExactSigma {
  public:
    ExactSigma(const MaskedSky& sky, std::int64_t lmax, std::int64_t sky_lmax, int threads)
        : sky_(sky),
          components_(components_of(sky.maps)),
          lmax_(lmax),
          sky_lmax_(sky_lmax),
          threads_(core::resolve_threads(threads)),
          grid_(grid_to(lmax + std::max(lmax, sky_lmax))),
          modes_((lmax + 1) * (lmax + 1)) {
        const auto n = std::ssize(components_);
        require_memory(8.0 * static_cast<double>(n * n * modes_ * modes_),
                       "the exact covariance (exact_lmax)");
        sigma_ = Array<double, 4>({n, n, modes_, modes_});
        masks_ = on_grid(plain_alm(sky.grid, sky.masks, lmax + sky_lmax, threads), lmax + sky_lmax);
        if (sky.variances.size() > 0) noise_ = on_grid(noise_alm(sky, 2 * lmax, threads), 2 * lmax);
        for (const int spin : {0, 2})
            if (std::any_of(sky.maps.begin(), sky.maps.end(),
                            [&](const auto& map) { return map.spin == spin; })) {
                low_[spin / 2] = plan(lmax, spin, 1);
                high_[spin / 2] = plan(sky_lmax, spin, 1);
            }
        compute();
    }

    /// Sigma of components a and b, [mode, mode].
    View<const double, 2> of(int a, int b) const { return sigma_.view()[a][b]; }

  private:
    std::shared_ptr<const ShtPlan> plan(std::int64_t lmax, int spin, int threads) const {
        return kept_plan(grid_, {.lmax = lmax, .spin = spin, .threads = threads, .device = Device::cpu()});
    }

    Array<double, 2> on_grid(const Array<Complex, 2>& alm, std::int64_t lmax) const {
        const std::int64_t n = alm.extent(0);
        Array<double, 2> maps({n, grid_.n_pixels()});
        plan(lmax, 0, threads_)
            ->synthesize<double>(View<const Complex, 3>(alm.data(), {n, 1, alm.extent(1)}),
                                 View<double, 3>(maps.data(), {n, 1, grid_.n_pixels()}));
        return maps;
    }

    struct Column {
        std::int64_t l, m;
        int part;
    };

    void compute() {
        std::vector<Column> columns;
        for (std::int64_t l = 0; l <= lmax_; ++l)
            for (std::int64_t m = 0; m <= l; ++m)
                for (int part = 0; part < (m == 0 ? 1 : 2); ++part) columns.push_back({l, m, part});
        std::vector<Scratch> scratch(static_cast<std::size_t>(threads_));
        const std::int64_t per_component = (std::ssize(columns) + batch - 1) / batch;
        core::parallel_for(
            std::ssize(components_) * per_component, threads_, [&](std::int64_t task, int thread) {
                const std::int64_t first = task % per_component * batch;
                const std::vector<Column> some(
                    columns.begin() + first, columns.begin() + std::min(first + batch, std::ssize(columns)));
                make(static_cast<int>(task / per_component), some, scratch[static_cast<std::size_t>(thread)]);
            });
    }

    void make(int c, const std::vector<Column>& columns, Scratch& scratch) {
        const auto& component = components_[static_cast<std::size_t>(c)];
        const int from = component.map, spin = component.spin / 2, parts = spin == 0 ? 1 : 2;
        const auto n = std::ssize(columns);
        Array<Complex, 3> low({n, parts, low_[spin]->layout().size()});
        for (std::int64_t k = 0; k < n; ++k) {
            const auto& [l, m, part] = columns[static_cast<std::size_t>(k)];
            if (l < component.spin) continue;
            const double size = m == 0 ? 1 : std::numbers::sqrt2 / 2;
            low(k, component.part, low_[spin]->layout().index(l, m)) =
                part == 0 ? Complex(size, 0) : Complex(0, size);
        }
        Array<double, 3> function({n, parts, grid_.n_pixels()});
        synthesize(*low_[spin], low, function, scratch.low[spin]);
        Array<double, 3> masked = function;
        multiply(masked, masks_.view()[component.mask]);
        Array<Complex, 3> high({n, parts, high_[spin]->layout().size()});
        integrate(*high_[spin], masked, high, scratch.high[spin]);
        for (int to = from; to < static_cast<int>(sky_.maps.size()); ++to)
            make_rows(c, to, columns, high, function, scratch);
    }

    /// Sigma of all components of map `to` with these columns of component c. high: C-weighted on the way.
    void make_rows(int c, int to, const std::vector<Column>& columns, const Array<Complex, 3>& high,
                   const Array<double, 3>& function, Scratch& scratch) {
        const auto& map = sky_.maps[static_cast<std::size_t>(to)];
        const int from = components_[static_cast<std::size_t>(c)].map, spin = map.spin / 2,
                  parts = spin == 0 ? 1 : 2;
        const int first_to = first_component(sky_.maps, to), first_from = first_component(sky_.maps, from);
        const auto n = std::ssize(columns);
        const auto& layout = high_[spin]->layout();
        Array<Complex, 3> sky({n, parts, layout.size()});
        for (int y = 0; y < parts; ++y)
            for (int x = 0; x < high.extent(1); ++x) {
                const auto c_l = sky_.c_l[first_to + y][first_from + x];
                for (std::int64_t m = 0; m <= sky_lmax_; ++m)
                    for (std::int64_t l = std::max<std::int64_t>(m, map.spin); l <= sky_lmax_; ++l)
                        for (std::int64_t k = 0; k < n; ++k)
                            sky(k, y, layout.index(l, m)) += c_l[l] * high(k, x, layout.index(l, m));
            }
        Array<double, 3> observed({n, parts, grid_.n_pixels()});
        synthesize(*high_[spin], sky, observed, scratch.high[spin]);
        multiply(observed, masks_.view()[map.mask]);
        if (to == from && noise_.size() > 0)
            for (std::int64_t k = 0; k < n; ++k)
                for (int y = 0; y < parts; ++y)
                    for (std::int64_t p = 0; p < grid_.n_pixels(); ++p)
                        observed(k, y, p) += noise_(to, p) * function(k, y, p);
        Array<Complex, 3> found({n, parts, low_[spin]->layout().size()});
        integrate(*low_[spin], observed, found, scratch.low[spin]);
        for (std::int64_t k = 0; k < n; ++k)
            for (int y = 0; y < parts; ++y)
                store(c, first_to + y, columns[static_cast<std::size_t>(k)], found.view()[k][y], to != from);
    }

    void store(int c, int row_component, const Column& column, const View<Complex, 1>& alm,
               bool transposed_too) {
        const std::int64_t mode = mode_of(column.l, column.m, column.part);
        const AlmLayout layout(lmax_);
        for (std::int64_t m = 0; m <= lmax_; ++m)
            for (std::int64_t l = m; l <= lmax_; ++l) {
                const Complex value = (m == 0 ? 1 : std::numbers::sqrt2) * alm[layout.index(l, m)];
                for (int part = 0; part < (m == 0 ? 1 : 2); ++part) {
                    const double x = part == 0 ? value.real() : value.imag();
                    sigma_(row_component, c, mode_of(l, m, part), mode) = x;
                    if (transposed_too) sigma_(c, row_component, mode, mode_of(l, m, part)) = x;
                }
            }
    }

    static void synthesize(const ShtPlan& plan, const Array<Complex, 3>& alm, Array<double, 3>& map,
                           std::optional<ShtWorkspace>& workspace) {
        if (!workspace) workspace.emplace(plan.make_workspace(batch));
        plan.synthesize<double>(alm.view(), map.view(), *workspace);
    }
    static void integrate(const ShtPlan& plan, const Array<double, 3>& map, Array<Complex, 3>& alm,
                          std::optional<ShtWorkspace>& workspace) {
        if (!workspace) workspace.emplace(plan.make_workspace(batch));
        plan.quadrature<double>(map.view(), alm.view(), *workspace);
    }
    static void multiply(Array<double, 3>& maps, const View<const double, 1>& mask) {
        for (std::int64_t k = 0; k < maps.extent(0); ++k)
            for (std::int64_t part = 0; part < maps.extent(1); ++part)
                for (std::int64_t p = 0; p < maps.extent(2); ++p) maps(k, part, p) *= mask[p];
    }

    const MaskedSky& sky_;
    const std::vector<Component> components_;
    const std::int64_t lmax_, sky_lmax_;
    const int threads_;
    const Grid grid_;
    const std::int64_t modes_;
    Array<double, 4> sigma_;
    Array<double, 2> masks_, noise_;
    std::shared_ptr<const ShtPlan> low_[2], high_[2];
};

/// sum over m, m' of the product of two covariances of degrees l and k.
double contraction(const View<const double, 2>& p, const View<const double, 2>& q, std::int64_t l,
                   std::int64_t k) {
    double sum = 0;
    for (std::int64_t i = l * l; i < (l + 1) * (l + 1); ++i) {
        const double *const x = &p(i, k * k), *const y = &q(i, k * k);
        for (std::int64_t j = 0; j < 2 * k + 1; ++j) sum += x[j] * y[j];
    }
    return sum;
}

}  // namespace

void add_exact(const MaskedSky& sky, const std::vector<ComponentPair>& spectra, std::int64_t exact_lmax,
               std::int64_t sky_lmax, CovarianceSink& sink, int threads) {
    const ExactSigma sigma(sky, exact_lmax, sky_lmax, threads);
    const auto n = static_cast<int>(spectra.size());
    for (int i = 0; i < n; ++i)
        for (int j = i; j < n; ++j) {
            const auto [a, b] = spectra[static_cast<std::size_t>(i)];
            const auto [c, d] = spectra[static_cast<std::size_t>(j)];
            const auto ac = sigma.of(a, c), bd = sigma.of(b, d), ad = sigma.of(a, d), bc = sigma.of(b, c);
            sink.add(i, j, exact_lmax, [&](std::int64_t l, double* row) {
                for (std::int64_t k = 0; k <= exact_lmax; ++k)
                    row[k] += (contraction(ac, bd, l, k) + contraction(ad, bc, l, k)) /
                              static_cast<double>((2 * l + 1) * (2 * k + 1));
            });
        }
}

}  // namespace zonal::masked
