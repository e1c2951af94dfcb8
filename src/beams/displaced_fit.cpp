#include "beams/displaced_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "zonal/sht.hpp"

namespace zonal::beams {
namespace {

using Complex = std::complex<double>;
using Lines = std::vector<std::vector<double>>;
using std::numbers::pi;

/// Orders that a place at u has: those above add less than 1e-18 of rms (the margin of the transforms).
std::int64_t orders_of(std::int64_t lmax, double u) {
    const double waves = static_cast<double>(lmax) * std::sin(std::min(u, pi / 2));
    const auto orders = static_cast<std::int64_t>(std::ceil(waves + 11 * std::cbrt(waves) + 6));
    return u == 0 ? 0 : std::min(lmax, orders);
}

/// Hermite's functions He_i(x) / (i!)^1/2, i = 0 to n.
std::vector<double> hermite(int n, double x) {
    std::vector<double> h = {1, x};
    h.reserve(static_cast<std::size_t>(n) + 2);
    for (int i = 1; i < n; ++i)
        h.push_back((x * h[static_cast<std::size_t>(i)] -
                     std::sqrt(static_cast<double>(i)) * h[static_cast<std::size_t>(i) - 1]) /
                    std::sqrt(static_cast<double>(i + 1)));
    return h;
}

/// Places of the Gauss-Hermite rule for exp(-x^2 / 2) / (2 pi)^1/2: zeros of He_n, which lie between those of
/// He_{n - 1}.
std::vector<double> hermite_zeros(int n) {
    const double furthest = std::sqrt(static_cast<double>(4 * n + 2));
    std::vector<double> zeros;
    for (int degree = 1; degree <= n; ++degree) {
        std::vector<double> ends = {-furthest};
        ends.insert(ends.end(), zeros.begin(), zeros.end());
        ends.push_back(furthest);
        zeros.clear();
        for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
            double low = ends[i], high = ends[i + 1];
            const auto value = [&](double x) { return hermite(degree, x)[static_cast<std::size_t>(degree)]; };
            const bool rises = value(low) < 0;
            constexpr int halvings = 60;
            for (int h = 0; h < halvings; ++h) {
                const double middle = (low + high) / 2;
                ((value(middle) < 0) == rises ? low : high) = middle;
            }
            zeros.push_back(2 * i + 1 == static_cast<std::size_t>(degree) ? 0 : (low + high) / 2);
        }
    }
    return zeros;
}

/// Places, and weights 1 / sum_i<n (He_i^2 / i!), which add up to 1.
std::pair<std::vector<double>, std::vector<double>> gauss_hermite(int n) {
    std::vector<double> x = hermite_zeros(n), w;
    w.reserve(x.size());
    for (const double place : x) {
        const auto h = hermite(n, place);
        double sum = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) sum += h[i] * h[i];
        w.push_back(1 / sum);
    }
    return {std::move(x), std::move(w)};
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Least squares for the places and weights of kernels, with the best window for each l.
class LineProblem {
  public:
    LineProblem(const CentredBeam& beam, const std::vector<double>& weights, double furthest, int threads)
        : layout(beam.layout.lmax(), std::max(beam.layout.mmax(), orders_of(beam.layout.lmax(), furthest))),
          furthest(furthest),
          threads_(threads) {
        beam_.resize(size());
        root_.resize(size());
        for (std::int64_t k = 0; k <= layout.mmax(); ++k)
            for (std::int64_t l = k; l <= layout.lmax(); ++l) {
                const auto i = static_cast<std::size_t>(layout.index(l, k));
                root_[i] = std::sqrt((k == 0 ? 1 : 2) * weights[static_cast<std::size_t>(l)]);
                if (k <= beam.layout.mmax())
                    beam_[i] = beam.alm[static_cast<std::size_t>(beam.layout.index(l, k))].real();
            }
    }
    std::size_t size() const { return static_cast<std::size_t>(layout.size()); }

    /// [place][coefficient] lambda_lk at each place, (-1)^k of it on the other side of the pole.
    Lines functions(const std::vector<double>& places) const {
        const auto n = std::ssize(places);
        std::vector<Ring> rings;
        for (std::int64_t j = 0; j < n; ++j) {
            const double u = places[static_cast<std::size_t>(j)];
            rings.push_back(make_ring(std::abs(u), u < 0 ? pi : 0, 1, 1, j));
        }
        const ShtPlan plan(
            Grid(std::move(rings), -1, "places"),
            {.lmax = layout.lmax(), .mmax = layout.mmax(), .threads = threads_, .device = Device::cpu()});
        Array<double, 3> one({n, 1, n});
        for (std::int64_t j = 0; j < n; ++j) one(j, 0, j) = 1;
        Array<Complex, 3> alm({n, 1, layout.size()});
        plan.adjoint_synthesis<double>(one.view(), alm.view());
        Lines made(places.size(), std::vector<double>(size()));
        for (std::int64_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < size(); ++i)
                made[static_cast<std::size_t>(j)][i] = alm(j, 0, static_cast<std::int64_t>(i)).real();
        return made;
    }

    std::vector<double> sum(const Lines& functions, const std::vector<double>& weight) const {
        std::vector<double> made(size());
        for (std::size_t j = 0; j < weight.size(); ++j)
            for (std::size_t i = 0; i < size(); ++i) made[i] += weight[j] * functions[j][i];
        return made;
    }
    /// [l] K_l with the least sum_k |b_lk - K_l a_lk|^2.
    std::vector<double> window(const std::vector<double>& a) const {
        std::vector<double> product(static_cast<std::size_t>(layout.lmax()) + 1), square(product);
        for (std::int64_t k = 0; k <= layout.mmax(); ++k)
            for (std::int64_t l = k; l <= layout.lmax(); ++l) {
                const auto i = static_cast<std::size_t>(layout.index(l, k)), n = static_cast<std::size_t>(l);
                product[n] += (k == 0 ? 1 : 2) * a[i] * beam_[i];
                square[n] += (k == 0 ? 1 : 2) * a[i] * a[i];
            }
        for (std::size_t l = 0; l < product.size(); ++l)
            product[l] = square[l] > 0 ? product[l] / square[l] : 0;
        return product;
    }
    /// [coefficient] (b_lk - K_l a_lk) times the roots of their weights.
    std::vector<double> residual(const std::vector<double>& a) const {
        const std::vector<double> factor = window(a);
        std::vector<double> made(size());
        for (std::int64_t k = 0; k <= layout.mmax(); ++k)
            for (std::int64_t l = k; l <= layout.lmax(); ++l) {
                const auto i = static_cast<std::size_t>(layout.index(l, k));
                made[i] = root_[i] * (beam_[i] - factor[static_cast<std::size_t>(l)] * a[i]);
            }
        return made;
    }

    const AlmLayout layout;
    const double furthest;  ///< places beyond are not tried

  private:
    const int threads_;
    std::vector<double> beam_, root_;
};

/// Where a fit is.
struct State {
    State(const LineProblem& problem, std::vector<double> places, std::vector<double> weights)
        : place(std::move(places)),
          weight(std::move(weights)),
          functions(problem.functions(place)),
          sum(problem.sum(functions, weight)),
          residual(problem.residual(sum)),
          square(dot(residual, residual)) {}

    std::vector<double> place, weight;
    Lines functions;
    std::vector<double> sum;
    std::vector<double> residual;
    double square;
};

/// [2 kernels][coefficient] derivatives of the residual by places, then by weights, as differences.
Lines derivatives(const LineProblem& problem, const State& at) {
    const std::size_t n = at.place.size();
    const double step = 1e-5 * problem.furthest;
    constexpr double weight_step = 1e-6;
    std::vector<double> moved = at.place;
    for (double& u : moved) u += step;
    const Lines there = problem.functions(moved);
    Lines made(2 * n);
    std::vector<double> sum(at.sum.size());
    for (std::size_t i = 0; i < 2 * n; ++i) {
        const std::size_t j = i % n;
        for (std::size_t c = 0; c < sum.size(); ++c)
            sum[c] = at.sum[c] + (i < n ? at.weight[j] * (there[j][c] - at.functions[j][c])
                                        : weight_step * at.functions[j][c]);
        made[i] = problem.residual(sum);
        for (std::size_t c = 0; c < sum.size(); ++c)
            made[i][c] = (made[i][c] - at.residual[c]) / (i < n ? step : weight_step);
    }
    return made;
}

/// The step of Levenberg and Marquardt: (J^T J + damping diag(J^T J)) x = - J^T r. Nothing where there is
/// none.
std::optional<Eigen::VectorXd> step_of(const Eigen::MatrixXd& normal, const Eigen::VectorXd& slope,
                                       double damping) {
    constexpr double rounding = 1e-14;
    const Eigen::VectorXd diagonal = normal.diagonal();
    Eigen::MatrixXd damped = normal;
    damped.diagonal() += damping * diagonal;
    damped.diagonal().array() += rounding * diagonal.maxCoeff();
    const Eigen::LLT<Eigen::MatrixXd> factor(damped);
    if (factor.info() != Eigen::Success) return std::nullopt;
    return -factor.solve(slope);
}

bool is_within(const LineProblem& problem, const std::vector<double>& places) {
    return std::all_of(places.begin(), places.end(),
                       [&](double u) { return std::abs(u) <= problem.furthest; });
}

/// Levenberg's and Marquardt's steps, while they gain more than a hundredth.
State descend(const LineProblem& problem, State at) {
    constexpr int most_steps = 60, most_tries = 8;
    constexpr double least_gain = 0.01;
    double damping = 1e-3;
    const auto n = std::ssize(at.place);
    for (int step = 0; step < most_steps; ++step) {
        const Lines by = derivatives(problem, at);
        Eigen::MatrixXd normal(2 * n, 2 * n);
        Eigen::VectorXd slope(2 * n);
        for (std::ptrdiff_t i = 0; i < 2 * n; ++i) {
            const auto& of_i = by[static_cast<std::size_t>(i)];
            slope(i) = dot(of_i, at.residual);
            for (std::ptrdiff_t j = 0; j <= i; ++j)
                normal(i, j) = normal(j, i) = dot(of_i, by[static_cast<std::size_t>(j)]);
        }
        const double before = at.square;
        for (int attempt = 0; attempt < most_tries; ++attempt, damping *= 5) {
            const auto change = step_of(normal, slope, damping);
            if (!change) continue;
            std::vector<double> place = at.place, weight = at.weight;
            for (std::ptrdiff_t j = 0; j < n; ++j) {
                place[static_cast<std::size_t>(j)] += (*change)(j);
                weight[static_cast<std::size_t>(j)] += (*change)(n + j);
            }
            if (!is_within(problem, place)) continue;
            State next(problem, std::move(place), std::move(weight));
            if (!(next.square < at.square)) continue;
            at = std::move(next);
            damping = std::max(damping / 10, 1e-12);
            break;
        }
        if (!(at.square < (1 - least_gain) * before)) break;
    }
    return at;
}

/// The weights become 1 together, where they do not cancel.
void normalise(State& at) {
    double sum = 0, size = 0;
    for (const double c : at.weight) {
        sum += c;
        size += std::abs(c);
    }
    const double factor = std::abs(sum) > 1e-3 * size ? sum : size;
    for (double& c : at.weight) c /= factor;
    for (double& a : at.sum) a /= factor;
}

}  // namespace

LineFit fit_line(const CentredBeam& beam, const std::vector<double>& weights, int n_kernels, int threads) {
    auto [place, weight] = gauss_hermite(n_kernels);
    for (double& x : place) x = n_kernels == 1 ? 0 : x * std::sqrt(beam.elongation);
    const double furthest = std::min(1.5 * std::abs(place.back()), pi / 2);
    const LineProblem problem(beam, weights, furthest, threads);
    for (double& x : place) x = std::clamp(x, -furthest, furthest);
    State at(problem, std::move(place), std::move(weight));
    if (furthest > 0) at = descend(problem, std::move(at));
    normalise(at);
    LineFit fit{.place = at.place,
                .weight = at.weight,
                .window = problem.window(at.sum),
                .layout = problem.layout,
                .residual = std::vector<Complex>(problem.size())};
    for (std::int64_t k = 0; k <= fit.layout.mmax(); ++k)
        for (std::int64_t l = k; l <= fit.layout.lmax(); ++l) {
            const auto i = static_cast<std::size_t>(fit.layout.index(l, k));
            const Complex b = k <= beam.layout.mmax()
                                  ? beam.alm[static_cast<std::size_t>(beam.layout.index(l, k))]
                                  : Complex(0);
            fit.residual[i] = b - fit.window[static_cast<std::size_t>(l)] * at.sum[i];
        }
    return fit;
}

}  // namespace zonal::beams
