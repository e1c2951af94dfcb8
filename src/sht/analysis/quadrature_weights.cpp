#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sht/transform.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sht.hpp"
#include "zonal/weights.hpp"

namespace zonal::healpix {
namespace {

using Alm = Array<std::complex<double>, 3>;

/// Finds the weights 1 + delta nearest to 1 (smallest sum of delta_p^2) with S^T W (1 + delta) = sqrt(4 pi)
/// e_00: delta = S c, where (S^T W S) c = sqrt(4 pi) e_00 - S^T W 1 is solved by conjugate gradients. W: the
/// plan's weights.
class WeightSolver {
  public:
    WeightSolver(const ShtPlan& plan, const WeightOptions& options)
        : plan_(plan),
          options_(options),
          workspace_(make_workspace(plan, options)),
          map_({1, 1, plan.grid().n_pixels()}),
          solution_({1, 1, plan.layout().size()}),
          residual_(solution_.extents()),
          direction_(solution_.extents()),
          product_(solution_.extents()) {}

    QuadratureWeights run() {
        QuadratureWeights result;
        result.lmax = plan_.layout().lmax();
        double previous = 0;
        for (bool first = true;; first = false) {
            compute_residual();
            result.residual = largest_residual();
            result.converged = result.residual <= options_.tolerance;
            // When a restart from the true residual does not halve it, rounding is all that is left.
            const bool stagnates = !first && result.residual > previous / 2;
            if (result.converged || stagnates || result.iterations >= options_.max_iterations) return result;
            previous = result.residual;
            iterate(result.iterations);
        }
    }

    /// delta on the plan's grid, after run().
    const Array<double, 3>& deviations() {
        synthesize(solution_);
        return map_;
    }

  private:
    /// Checks the memory of all members first. The map's weights are copied at the end.
    static ShtWorkspace make_workspace(const ShtPlan& plan, const WeightOptions& options) {
        const auto pixels = plan.grid().n_pixels() * std::int64_t{sizeof(double)},
                   alm = plan.layout().size() * std::int64_t{sizeof(std::complex<double>)};
        const auto bytes = 2 * pixels + 4 * alm + sht::host_workspace_bytes(plan, 1);
        options.check_memory(static_cast<double>(bytes),
                             fmt::format("quadrature weights up to lmax = {}", plan.layout().lmax()));
        return plan.make_workspace();
    }

    void synthesize(const Alm& alm) {
        plan_.synthesize<double>(alm.view(), map_.view(), workspace_, progress());
    }

    /// S^T W of the map, without what the symmetry of the grid (quarter turns, mirrors, north and south)
    /// makes zero.
    void quadrature(Alm& alm) {
        plan_.quadrature<double>(std::as_const(map_).view(), alm.view(), workspace_, progress());
        const AlmLayout& layout = plan_.layout();
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (auto l = m; l <= layout.lmax(); ++l) {
                auto& a = alm(0, 0, layout.index(l, m));
                a = m % 4 == 0 && l % 2 == 0 ? a.real() : 0;
            }
    }

    void compute_residual() {
        synthesize(solution_);
        for (double& weight : map_) weight += 1;
        quadrature(residual_);
        for (auto& a : residual_) a = -a;
        residual_(0, 0, 0) += std::sqrt(4 * std::numbers::pi);
    }

    void iterate(int& iterations) {
        std::copy(residual_.begin(), residual_.end(), direction_.begin());
        double square = dot(residual_, residual_);
        while (iterations < options_.max_iterations && largest_residual() > 0.5 * options_.tolerance) {
            synthesize(direction_);
            quadrature(product_);
            const double step = square / dot(direction_, product_);
            add_scaled(step, direction_, solution_);
            add_scaled(-step, product_, residual_);
            const double next = dot(residual_, residual_);
            for (std::int64_t i = 0; i < direction_.size(); ++i)
                direction_.data()[i] = residual_.data()[i] + next / square * direction_.data()[i];
            square = next;
            ++iterations;
            const double gained = std::log(largest_residual()) / std::log(options_.tolerance);
            done_ = std::clamp(gained, done_, 1.0);
        }
    }

    /// <a, b> = sum_{m>=0} (2 - delta_m0) a_lm b_lm, all real.
    double dot(const Alm& a, const Alm& b) const {
        double sum = 0;
        for (std::int64_t i = 0; i < a.size(); ++i)
            sum += (i <= plan_.layout().lmax() ? 1 : 2) * a.data()[i].real() * b.data()[i].real();
        return sum;
    }

    static void add_scaled(double factor, const Alm& x, Alm& y) {
        for (std::int64_t i = 0; i < x.size(); ++i) y.data()[i] += factor * x.data()[i];
    }

    /// Relative to the sphere's own integral, sqrt(4 pi).
    double largest_residual() const {
        double largest = 0;
        for (const auto& a : residual_) largest = std::max(largest, std::abs(a.real()));
        return largest / std::sqrt(4 * std::numbers::pi);
    }

    Progress progress() const {
        if (!options_.progress) return {};
        return [this](double) { return options_.progress(done_); };
    }

    const ShtPlan& plan_;
    const WeightOptions& options_;
    ShtWorkspace workspace_;
    Array<double, 3> map_;
    Alm solution_, residual_, direction_, product_;
    double done_ = 0;
};

std::int64_t checked_lmax(std::int64_t nside, const WeightOptions& options, std::int64_t usual,
                          std::int64_t most) {
    if (!(options.tolerance > 0 && options.tolerance < 1))
        throw InvalidArgument("tolerance", options.tolerance, "must be above 0 and below 1");
    if (options.max_iterations < 1)
        throw InvalidArgument("max_iterations", options.max_iterations, "must be at least 1");
    const auto lmax = options.lmax == -1 ? std::min(usual, most) : options.lmax;
    if (lmax < 0 || lmax > most)
        throw InvalidArgument("lmax", lmax,
                              fmt::format("must be from 0 to {} for weights of nside = {}", most, nside));
    return lmax;
}

/// The rings of the grid with one pixel each, which stands for all: enough for m = 0.
Grid meridian(std::int64_t nside) {
    std::vector<Ring> rings = Grid::healpix(nside).rings();
    std::int64_t index = 0;
    for (Ring& ring : rings) {
        ring.weight *= static_cast<double>(ring.n_pixels);
        ring.n_pixels = 1;
        ring.phi_0 = 0;
        ring.first_pixel = index++;
    }
    return Grid(std::move(rings));
}

}  // namespace

QuadratureWeights compute_ring_weights(std::int64_t nside, const WeightOptions& options) {
    check_nside(nside);
    // As many even degrees as pairs of rings.
    const auto lmax = checked_lmax(nside, options, 3 * nside, 4 * nside - 2);
    const ShtPlan plan(meridian(nside),
                       {.lmax = lmax, .mmax = 0, .threads = options.threads, .device = options.device});
    WeightSolver solver(plan, options);
    auto result = solver.run();
    result.nside = nside;
    const auto& deviations = solver.deviations();
    result.deviations.assign(deviations.begin(), deviations.begin() + n_ring_weights(nside));
    return result;
}

QuadratureWeights compute_pixel_weights(std::int64_t nside, const WeightOptions& options) {
    check_nside(nside);
    // Above this there are more conditions than classes of pixels: lmax^2 / 16 against 3 nside^2 / 4.
    const auto most = static_cast<std::int64_t>(std::sqrt(12.0) * static_cast<double>(nside)) - 1;
    const auto lmax = checked_lmax(nside, options, 5 * nside / 2, most);
    const ShtPlan plan(Grid::healpix(nside),
                       {.lmax = lmax, .threads = options.threads, .device = options.device});
    WeightSolver solver(plan, options);
    auto result = solver.run();
    result.nside = nside;
    const auto& deviations = solver.deviations();
    std::vector<double> weights(deviations.begin(), deviations.end());
    for (double& weight : weights) weight += 1;
    result.kind = QuadratureWeights::Kind::pixel;
    result.deviations = compress_pixel_weights(nside, weights);
    return result;
}

namespace {

/// A northern or equatorial ring: its pixels are four equal quadrants, and each quadrant is symmetric about
/// its middle and about its start.
struct RingClasses {
    std::int64_t n_quadrant;  ///< pixels of a quadrant
    bool starts_at_zero;      ///< the first pixel is centred on phi = 0, else half a pixel beyond

    std::int64_t count() const { return starts_at_zero ? n_quadrant / 2 + 1 : (n_quadrant + 1) / 2; }
    /// Class of pixel k of the ring.
    std::int64_t of(std::int64_t k) const {
        const auto j = k % n_quadrant;
        return starts_at_zero ? std::min(j, n_quadrant - j) : std::min(j, n_quadrant - 1 - j);
    }
};

/// i = 1 .. 2 nside, from the north.
RingClasses ring_classes(std::int64_t nside, std::int64_t i) {
    if (i < nside) return {i, false};
    return {nside, (i - nside) % 2 == 1};
}

/// Calls visit(class, pixel) for each pixel in ring order.
template <class Visit>
void for_each_pixel(std::int64_t nside, const Visit& visit) {
    const auto n_rings = 4 * nside - 1;
    std::int64_t first_class = 0, north = 0, south = n_pixels(nside);
    for (std::int64_t i = 1; i <= 2 * nside; ++i) {
        const auto classes = ring_classes(nside, i);
        const auto n = 4 * classes.n_quadrant;
        south -= n;
        for (std::int64_t k = 0; k < n; ++k) {
            visit(first_class + classes.of(k), north + k);
            if (2 * i != n_rings + 1) visit(first_class + classes.of(k), south + k);
        }
        north += n;
        first_class += classes.count();
    }
}

void check_count(const char* name, std::size_t count, std::int64_t expected, std::int64_t nside) {
    if (static_cast<std::int64_t>(count) != expected)
        throw InvalidArgument(
            name, fmt::format("has {} values: must be {} for nside = {}", count, expected, nside));
}

}  // namespace

std::int64_t n_ring_weights(std::int64_t nside) {
    check_nside(nside);
    return 2 * nside;
}

std::int64_t n_pixel_weights(std::int64_t nside) {
    check_nside(nside);
    return (3 * nside + 1) * (nside + 1) / 4;
}

std::vector<double> expand_ring_weights(std::int64_t nside, const std::vector<double>& deviations) {
    check_count("ring weights", deviations.size(), n_ring_weights(nside), nside);
    std::vector<double> weights(4 * nside - 1);
    for (std::int64_t i = 0; i < 2 * nside; ++i)
        weights[i] = weights[weights.size() - 1 - static_cast<std::size_t>(i)] = 1 + deviations[i];
    return weights;
}

std::vector<double> expand_pixel_weights(std::int64_t nside, const std::vector<double>& deviations) {
    check_count("pixel weights", deviations.size(), n_pixel_weights(nside), nside);
    std::vector<double> weights(n_pixels(nside));
    for_each_pixel(nside, [&](std::int64_t c, std::int64_t pixel) { weights[pixel] = 1 + deviations[c]; });
    return weights;
}

std::vector<double> compress_pixel_weights(std::int64_t nside, const std::vector<double>& weights) {
    check_count("weights", weights.size(), n_pixels(nside), nside);
    std::vector<double> deviations(n_pixel_weights(nside)), members(deviations.size());
    for_each_pixel(nside, [&](std::int64_t c, std::int64_t pixel) {
        deviations[c] += weights[pixel] - 1;
        members[c] += 1;
    });
    for (std::size_t c = 0; c < deviations.size(); ++c) deviations[c] /= members[c];
    return deviations;
}

}  // namespace zonal::healpix
