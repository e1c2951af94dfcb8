#include "spectra/narrow_kernel.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "spectra/masked_sky.hpp"
#include "zonal/error.hpp"
#include "zonal/spectra/coupling.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::masked {
namespace {

/// S(p, q) of a block (i, j).
struct Term {
    int i, j;
    std::pair<int, int> p, q;  ///< pairs of components
};
using Key = std::pair<int, int>;  ///< two products of masks

class NarrowKernel {
  public:
    NarrowKernel(const MaskedSky& sky, const View<const double, 3>& means, int threads)
        : components_(components_of(sky.maps)),
          n_masks_(static_cast<int>(sky.masks.extent(0))),
          lmax_(means.extent(2) - 1),
          layout_(2 * lmax_),
          products_(product_alm(sky, 2 * lmax_, threads)),
          threads_(threads),
          levels_({means.extent(0), means.extent(1), means.extent(2)}) {
        for (std::int64_t a = 0; a < means.extent(0); ++a)
            for (std::int64_t b = 0; b < means.extent(1); ++b) {
                const double factor = level_factor(static_cast<int>(a), static_cast<int>(b));
                for (std::int64_t l = 0; l <= lmax_; ++l) levels_(a, b, l) = factor * means(a, b, l);
            }
    }

    /// The kernels that the blocks need, with all that needs each.
    std::map<Key, std::vector<Term>> terms_of(const std::vector<ComponentPair>& spectra) const {
        std::map<Key, std::vector<Term>> terms;
        const auto n = static_cast<int>(spectra.size());
        for (int i = 0; i < n; ++i)
            for (int j = i; j < n; ++j) {
                const auto [a, b] = spectra[static_cast<std::size_t>(i)];
                const auto [c, d] = spectra[static_cast<std::size_t>(j)];
                terms[key_of({a, c}, {b, d})].push_back({i, j, {a, c}, {b, d}});
                terms[key_of({a, d}, {b, c})].push_back({i, j, {a, d}, {b, c}});
            }
        return terms;
    }

    /// M^00 of the products' cross spectrum, [l, l'].
    Array<double, 4> matrix(const Key& key) const {
        const auto spectrum =
            cross_spectrum<double>(layout_, products_.view()[key.first], products_.view()[key.second]);
        Array<double, 4> matrix({1, 1, lmax_ + 1, lmax_ + 1});
        coupling_matrices(View<const double, 2>(spectrum.data(), {1, std::ssize(spectrum)}),
                          {CouplingKind::spin00}, matrix.view(), threads_);
        return matrix;
    }

    /// Adds S(p, q) Xi for degrees l' from first on.
    void add(const Term& term, const View<const double, 2>& matrix, std::int64_t l, std::int64_t first,
             double* row) const {
        const double* const p = &levels_(term.p.first, term.p.second, 0);
        const double* const q = &levels_(term.q.first, term.q.second, 0);
        const double p_l = p[l] / 2, q_l = q[l] / 2;
        for (std::int64_t k = first; k <= lmax_; ++k)
            row[k] += (p_l * q[k] + p[k] * q_l) * matrix(l, k) / static_cast<double>(2 * k + 1);
    }

  private:
    int product_of(int a, int b) const {
        return pair_number(components_[static_cast<std::size_t>(a)].mask,
                           components_[static_cast<std::size_t>(b)].mask, n_masks_);
    }
    Key key_of(std::pair<int, int> p, std::pair<int, int> q) const {
        return std::minmax({product_of(p.first, p.second), product_of(q.first, q.second)});
    }
    /// 1 / mean(u_a u_b), or 0 where the product is 0 everywhere.
    double level_factor(int a, int b) const {
        const auto alm = products_.view()[product_of(a, b)];
        const double mean = alm[0].real() / std::sqrt(4 * std::numbers::pi);
        if (mean != 0) return 1 / mean;
        for (std::int64_t k = 0; k < alm.size(); ++k)
            if (alm[k] != 0.0)
                throw InvalidArgument(
                    "masks", fmt::format("those of components {} and {} have a product whose mean is "
                                         "0: there is no narrow-kernel approximation for them",
                                         a, b));
        return 0;
    }

    const std::vector<Component> components_;
    const int n_masks_;
    const std::int64_t lmax_;
    const AlmLayout layout_;
    const Array<std::complex<double>, 2> products_;
    const int threads_;
    Array<double, 3> levels_;
};

}  // namespace

void add_narrow_kernel(const MaskedSky& sky, const std::vector<ComponentPair>& spectra,
                       View<const double, 3> means, std::int64_t exact_lmax, CovarianceSink& sink,
                       int threads) {
    const std::int64_t lmax = means.extent(2) - 1;
    if (exact_lmax >= lmax) return;
    const NarrowKernel kernel(sky, means, threads);
    for (const auto& of_key : kernel.terms_of(spectra)) {
        const auto matrix = kernel.matrix(of_key.first);
        const auto& terms = of_key.second;
        const auto of_kernel = matrix.view()[0][0];
        for (std::size_t first = 0, last; first < terms.size(); first = last) {
            // Those of a block stand together.
            const auto& begin = terms[first];
            for (last = first; last < terms.size() && terms[last].i == begin.i && terms[last].j == begin.j;)
                ++last;
            sink.add(begin.i, begin.j, lmax, [&](std::int64_t l, double* row) {
                for (std::size_t k = first; k < last; ++k)
                    kernel.add(terms[k], of_kernel, l, l <= exact_lmax ? exact_lmax + 1 : 0, row);
            });
        }
    }
}

}  // namespace zonal::masked
