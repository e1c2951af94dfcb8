#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "core/parallel.hpp"
#include "sht/progress_part.hpp"
#include "split/spline_norm.hpp"
#include "split/spline_windows.hpp"
#include "split/split_checks.hpp"
#include "split/split_progress.hpp"
#include "split/tail_fits.hpp"
#include "zonal/error.hpp"
#include "zonal/split.hpp"

namespace zonal {
namespace {

double largest_size(const std::vector<double>& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return largest;
}

/// What is below the spin does not matter.
std::vector<double> without_lowest(std::vector<double> window, int spin) {
    std::fill_n(window.begin(), spin, 0.0);
    return window;
}

}  // namespace

struct KernelSplitter::Problem {
    Problem(std::vector<double> kernel_window, const KernelSplitOptions& given, const Progress& progress)
        : options(split::resolve(kernel_window, given)),
          window(without_lowest(std::move(kernel_window), options.spin)),
          basis(split::graded_knots(options.theta_cut, options.n_intervals, options.knot_density)),
          norm(basis) {
        constexpr double share_of_windows = 0.3;  // of the time
        choose_rows();
        options.check_memory(
            bytes(), fmt::format("a split into {} splines up to l = {}", basis.size(), last_degree()));
        make_windows(sht::part_of(progress, 0, share_of_windows));
        auto rows = windows;
        Array<double, 1> target({std::ssize(degrees)});
        for (std::int64_t row = 0; row < std::ssize(degrees); ++row) {
            const double weight = weights[row] * (row > lmax() ? options.leakage_weight : 1);
            for (std::int64_t c = 0; c < basis.size(); ++c) rows(row, c) *= weight;
            if (row > lmax()) continue;  // the kernel ends there
            target(row) = weight * window[row];
            norm_of_kernel += target(row) * target(row);
        }
        if (norm_of_kernel == 0) throw InvalidArgument("input_spectrum", "zero wherever the window is not");
        norm_of_kernel = std::sqrt(norm_of_kernel);
        fits.emplace(std::as_const(rows).view(), std::as_const(target).view(),
                     sht::part_of(progress, share_of_windows, 1));
    }

    /// What it takes to be made, and to be searched for the best l_cut, whichever is more.
    double bytes() const {
        const auto n_rows = std::ssize(degrees);
        const auto of_windows = [&](std::int64_t n) {
            return sizeof(double) * static_cast<double>(n * basis.size());
        };
        const double kept = of_windows(n_rows), all = of_windows(last_degree() + 1);
        return std::max({split::bytes_of_basis_windows(basis, last_degree()), all + kept,
                         2 * kept + split::TailFits::bytes(n_rows, basis.size(), 0),
                         kept + split::TailFits::bytes(n_rows, basis.size(), options.threads)});
    }

    void make_windows(const Progress& progress) {
        auto all = split::basis_windows(basis, last_degree(), options.spin, options.threads, progress);
        norm.orthonormalize(all.view());
        windows = Array<double, 2>({std::ssize(degrees), basis.size()});
        for (std::int64_t row = 0; row < std::ssize(degrees); ++row)
            for (std::int64_t c = 0; c < basis.size(); ++c) windows(row, c) = all(degrees[row], c);
    }

    /// Splines of knots d apart hold degrees up to pi / d; each comes again at 2 pi / d -+ l and, fourth
    /// powers of the ratio smaller, at 4 pi / d -+ l and above. What is not counted, the fit would make
    /// large.
    std::int64_t last_degree() const {
        double closest = basis.end();
        for (std::size_t i = 1; i < basis.knots().size(); ++i)
            closest = std::min(closest, basis.knots()[i] - basis.knots()[i - 1]);
        return std::max(lmax() + 1, static_cast<std::int64_t>(3 * std::numbers::pi / closest));
    }

    /// Up to lmax every degree; beyond, where the profile's window shall be small, every so many: a profile
    /// that ends at theta_cut has a window that changes over pi / theta_cut degrees.
    void choose_rows() {
        const auto step =
            std::max<std::int64_t>(1, static_cast<std::int64_t>(std::numbers::pi / (4 * basis.end())));
        for (std::int64_t l = 0; l <= lmax(); ++l) add_row(l, l < options.spin ? 0 : 1);
        // each in the middle of those that it stands for
        for (auto l = lmax() + (step + 1) / 2; l <= last_degree(); l += step) add_row(l, step);
    }

    /// count: degrees that the row stands for.
    void add_row(std::int64_t l, std::int64_t count) {
        const bool is_beyond = l > lmax() && options.spectrum_beyond > 0;
        const double known = options.input_spectrum.empty() ? 1 : options.input_spectrum[std::min(l, lmax())];
        const double c_l = is_beyond ? options.spectrum_beyond : known;
        degrees.push_back(l);
        weights.push_back(std::sqrt(static_cast<double>((2 * l + 1) * count) * c_l));
    }

    std::int64_t lmax() const { return std::ssize(window) - 1; }

    /// Window of the profile, [row], from the windows of the orthonormal splines.
    std::vector<double> profile_window(const std::vector<double>& x) const {
        std::vector<double> result(degrees.size());
        for (std::int64_t row = 0; row < std::ssize(degrees); ++row)
            for (std::int64_t c = 0; c < basis.size(); ++c) result[row] += windows(row, c) * x[c];
        return result;
    }

    /// Root of the sum over rows [first, end) of weight^2 (of_profile - kernel)^2, over the kernel's.
    double error(const std::vector<double>& of_profile, std::int64_t first, std::int64_t end) const {
        double sum = 0;
        for (auto row = first; row < end; ++row) {
            const double e = weights[row] * (of_profile[row] - (row <= lmax() ? window[row] : 0));
            sum += e * e;
        }
        return std::sqrt(sum) / norm_of_kernel;
    }

    double amplification(const std::vector<double>& of_profile) const {
        return largest_size(of_profile) / largest_size(window);
    }

    SplitQuality quality(const split::TailFits::Solution& fit, std::int64_t l_cut) const {
        const auto of_profile = profile_window(fit.x);
        return {l_cut, options.alpha * error(of_profile, l_cut + 1, lmax() + 1), amplification(of_profile),
                error(of_profile, lmax() + 1, std::ssize(degrees)), fit.rank};
    }

    SplitQuality quality(std::int64_t l_cut) const {
        return quality(fits->solve(l_cut, options.cutoff), l_cut);
    }

    KernelSplit split(std::int64_t l_cut) const {
        const auto fit = fits->solve(l_cut, options.cutoff);
        const SplineProfile profile(basis.knots(), norm.coefficients(fit.x));
        const auto of_profile = profile.window(lmax(), options.spin);
        std::vector<double> harmonic(l_cut + 1);
        for (std::int64_t l = 0; l <= l_cut; ++l) harmonic[l] = window[l] - of_profile[l];
        return {quality(fit, l_cut),
                harmonic,
                profile,
                of_profile,
                split_error(window, harmonic, of_profile, options.input_spectrum),
                options.spin};
    }

    bool pass(const SplitQuality& quality, double error) const {
        return quality.estimated_error <= error && quality.amplification <= options.max_amplification &&
               quality.leakage <= (options.max_leakage > 0 ? options.max_leakage : error / 2);
    }

    /// The smallest of these l_cut, ascending, that passes; computed at the same time.
    std::optional<std::int64_t> first_passing(const std::vector<std::int64_t>& l_cuts, double error,
                                              const std::function<void()>& step) const {
        std::vector<char> passes(l_cuts.size());
        core::parallel_for(std::ssize(l_cuts), options.threads, [&](std::int64_t i, int thread) {
            if (thread == 0) step();
            passes[i] = pass(quality(l_cuts[i]), error) ? 1 : 0;
        });
        const auto first = std::find(passes.begin(), passes.end(), 1);
        return first == passes.end() ? std::nullopt : std::optional(l_cuts[first - passes.begin()]);
    }

    KernelSplitOptions options;
    std::vector<double> window;  ///< [lmax + 1]
    split::SplineBasis basis;
    split::SplineNorm norm;
    std::vector<std::int64_t> degrees;  ///< of the rows
    /// Each row's weight is the root of (2l+1) C_l times the degrees that it stands for. Weights are only
    /// compared with one another.
    std::vector<double> weights;
    Array<double, 2> windows;  ///< of the orthonormal splines, [row, function]
    double norm_of_kernel = 0;
    std::optional<split::TailFits> fits;
};

KernelSplitter::KernelSplitter(std::vector<double> window, const KernelSplitOptions& options,
                               const Progress& progress)
    : problem_(std::make_unique<Problem>(std::move(window), options, progress)) {}
KernelSplitter::~KernelSplitter() = default;
KernelSplitter::KernelSplitter(KernelSplitter&&) noexcept = default;
KernelSplitter& KernelSplitter::operator=(KernelSplitter&&) noexcept = default;

std::int64_t KernelSplitter::lmax() const {
    return problem_->lmax();
}

const KernelSplitOptions& KernelSplitter::options() const {
    return problem_->options;
}

SplitQuality KernelSplitter::quality(std::int64_t l_cut) const {
    split::check_l_cut(l_cut, lmax());
    return problem_->quality(l_cut);
}

KernelSplit KernelSplitter::split(std::int64_t l_cut) const {
    split::check_l_cut(l_cut, lmax());
    return problem_->split(l_cut);
}

std::optional<std::int64_t> KernelSplitter::find_l_cut(double error, std::int64_t neighbourhood,
                                                       const Progress& progress) const {
    split::check_search(error, neighbourhood);
    // Not even the largest need pass: the fewer rows, the worse their fit is conditioned.
    std::int64_t n_parts = most_parts(0);
    const auto evenly_spaced = [&] {
        std::vector<std::int64_t> all;
        all.reserve(static_cast<std::size_t>(n_parts + 1));
        for (std::int64_t part = 0; part <= n_parts; ++part) all.push_back(part * (lmax() - 1) / n_parts);
        return all;
    };
    auto tries = evenly_spaced();
    std::int64_t fails = -1, passes = lmax();
    // Each step leaves a share of those between fails and passes.
    const auto step = [&] {
        const auto left = std::log2(static_cast<double>(std::max<std::int64_t>(1, passes - fails)));
        split::report(progress, 1 - left / std::log2(static_cast<double>(lmax() + 1)));
    };
    while (passes - fails > 1) {
        const auto found = problem_->first_passing(tries, error, step);
        if (!found && passes == lmax()) {
            if (n_parts == most_parts(neighbourhood)) return std::nullopt;
            n_parts = most_parts(neighbourhood);
            tries = evenly_spaced();
            continue;
        }
        const auto end = std::find(tries.begin(), tries.end(), found.value_or(-1));
        if (end != tries.begin()) fails = *(end - 1);
        passes = found.value_or(passes);
        // A binary search two steps at a time: what both outcomes of the first need is computed at once.
        const auto middle = (fails + passes) / 2;
        tries = {(fails + middle) / 2, middle, (middle + passes) / 2};
        std::erase_if(tries, [&](std::int64_t l_cut) { return l_cut <= fails || l_cut >= passes; });
    }
    while (passes > 0) {
        std::vector<std::int64_t> below;
        for (auto l_cut = std::max<std::int64_t>(0, passes - neighbourhood); l_cut < passes; ++l_cut)
            below.push_back(l_cut);
        const auto found = problem_->first_passing(below, error, step);
        if (!found) break;
        passes = *found;
    }
    return passes;
}

double split_error(const std::vector<double>& kernel, const std::vector<double>& window,
                   const std::vector<double>& profile_window, const std::vector<double>& c_l) {
    split::check_lengths(kernel, window, profile_window, c_l);
    double error = 0, all = 0;
    for (std::size_t l = 0; l < kernel.size(); ++l) {
        const double weight = static_cast<double>(2 * l + 1) * (c_l.empty() ? 1 : c_l[l]);
        const double e = profile_window[l] + (l < window.size() ? window[l] : 0) - kernel[l];
        error += weight * e * e;
        all += weight * kernel[l] * kernel[l];
    }
    return std::sqrt(error / all);
}

}  // namespace zonal
