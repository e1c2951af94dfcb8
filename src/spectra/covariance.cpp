#include "zonal/spectra/covariance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "sht/array_checks.hpp"
#include "spectra/covariance_sink.hpp"
#include "spectra/exact_covariance.hpp"
#include "spectra/level_factors.hpp"
#include "spectra/masked_sky.hpp"
#include "spectra/narrow_kernel.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace masked {
namespace {

/// The share of their mean that pseudo-spectra may lose where the exact part's sky is cut: as much of the
/// variances, which simulations of a million skies would notice.
constexpr double permitted_share = 1e-3;

/// A note is due above it: variances lose twice what their means lose, and error bars as much.
constexpr double noticeable_share = 1e-2;

CovarianceReport fill(const MaskedSky& sky, const std::vector<ComponentPair>& spectra, std::int64_t lmax,
                      const CovarianceOptions& options, CovarianceSink& sink) {
    const auto n = std::ssize(components_of(sky.maps));
    const std::int64_t exact = std::min(options.exact_lmax, lmax), top = sky.c_l.extent(2) - 1;
    if (options.exact_lmax < -1)
        throw InvalidArgument("exact_lmax", options.exact_lmax, "must be 0 or more, or -1 for nowhere");
    for (const auto& map : sky.maps)
        if (exact >= 0 && exact < map.spin)
            throw InvalidArgument("exact_lmax", exact, "must be 2 or more where a map has spin 2, or -1");
    require_covariance("c_l", sky.c_l);
    const std::int64_t asked = options.exact_sky_lmax;
    if (asked != -1 && (asked < exact || asked > top))
        throw InvalidArgument("exact_sky_lmax", asked,
                              fmt::format("must be from exact_lmax = {} to {}, where c_l ends", exact, top));
    Array<double, 3> means({n, n, lmax + 1});
    const auto shares = mean_spectra(sky, means.view(), exact, options.threads);
    CovarianceReport report{.exact_lmax = exact};
    if (exact >= 0) {
        // A sky that ends below exact_lmax has zeros from there on.
        const std::int64_t lowest = std::min(exact, top),
                           most = std::min(top, std::max<std::int64_t>(128, 4 * exact));
        std::int64_t cut = asked;
        if (asked == -1)
            for (cut = lowest; cut < most && shares[static_cast<std::size_t>(cut)] > permitted_share;) ++cut;
        report.exact_sky_lmax = cut;
        report.lost_share = shares[static_cast<std::size_t>(cut)];
        add_exact(sky, spectra, exact, cut, sink, options.threads);
    }
    add_narrow_kernel(sky, spectra, std::as_const(means).view(), exact, sink, options.threads);
    return report;
}

}  // namespace
}  // namespace masked

std::string CovarianceReport::note_of_loss(const std::string& remedy) const {
    if (lost_share <= masked::noticeable_share) return "";
    return fmt::format(
        "the exact covariance up to l = {} is that of the sky up to l = {}, without which pseudo-spectra "
        "there lose {:.1f} % of their mean: {}",
        exact_lmax, exact_sky_lmax, 100 * lost_share, remedy);
}

void mean_pseudo_spectra(const MaskedSky& sky, View<double, 3> means, int threads) {
    masked::check_sky(sky, threads);
    sht::check_host("means", means);
    if (means.extent(2) < 1) throw InvalidArgument("means", "axis 2 (l) has length 0: must be lmax + 1");
    masked::mean_spectra(sky, means, -1, threads);
}

CovarianceReport pseudo_covariance(const MaskedSky& sky, const std::vector<ComponentPair>& spectra,
                                   View<double, 4> covariance, const CovarianceOptions& options) {
    masked::check_sky(sky, options.threads);
    masked::check_spectra(sky, spectra);
    sht::check_host("covariance", covariance);
    for (const int axis : {0, 2})
        sht::check_extent("covariance", covariance, axis, "spectrum", std::ssize(spectra));
    if (covariance.extent(1) < 1)
        throw InvalidArgument("covariance", "axis 1 (l) has length 0: must be lmax + 1, at least 1");
    sht::check_extent("covariance", covariance, 3, "l'", covariance.extent(1));
    for (std::int64_t i = 0; i < covariance.extent(0); ++i)
        for (std::int64_t l = 0; l < covariance.extent(1); ++l)
            for (std::int64_t j = 0; j < covariance.extent(2); ++j)
                for (std::int64_t k = 0; k < covariance.extent(3); ++k) covariance(i, l, j, k) = 0;
    masked::WholeCovariance sink(covariance, options.threads);
    return masked::fill(sky, spectra, covariance.extent(1) - 1, options, sink);
}

CovarianceReport value_covariance(const MaskedSky& sky, const std::vector<ComponentPair>& spectra,
                                  View<const double, 3> values, View<double, 2> covariance,
                                  const CovarianceOptions& options) {
    masked::check_sky(sky, options.threads);
    masked::check_spectra(sky, spectra);
    masked::check_values(values, spectra);
    sht::check_host("covariance", covariance);
    for (const int axis : {0, 1})
        sht::check_extent("covariance", covariance, axis, "value", values.extent(0));
    for (std::int64_t v = 0; v < covariance.extent(0); ++v)
        for (std::int64_t w = 0; w < covariance.extent(1); ++w) covariance(v, w) = 0;
    masked::ValueCovariance sink(values, covariance, options.threads);
    return masked::fill(sky, spectra, values.extent(2) - 1, options, sink);
}

}  // namespace zonal
