#include "points/window.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>

#include "fft/complex_fft.hpp"
#include "grids/latitude_nodes.hpp"

namespace zonal::points {
namespace {

constexpr double pi = std::numbers::pi;

/// Nodes x > 0 and weights of the Gauss-Legendre rule over [-1, 1] for even functions: those of cos(a x), a
/// <= pi max_width, times the window, to rounding.
constexpr std::int64_t n_nodes = 128;
struct Rule {
    std::vector<double> nodes, weights;
    Rule() {
        for (const grids::Node& node : grids::gauss_legendre_nodes(n_nodes)) {
            nodes.push_back(node.cos_theta);
            weights.push_back(node.weight);
        }
    }
};
const Rule& rule() {
    static const Rule kept;
    return kept;
}

constexpr double rounding_seen = 5 * std::numeric_limits<double>::epsilon() / 2;
/// The bandwidth with which the window's transform falls until the first alias.
double largest_bandwidth(std::int64_t width, const Sampling& sampling) {
    return pi * static_cast<double>(width) * (1 - 1 / (2 * sampling.oversampling()));
}
/// The share of it whose window errs least: a little less, as the steps at the window's ends count, too.
/// Found by trying, for 1.2 to 2.6 samples for each frequency; aliasing_for holds for these.
double best_share(std::int64_t width) {
    return width <= 10 ? 0.99 : 0.995;
}

}  // namespace

Prolate::Prolate(double c) {
    // (1 - x^2) psi'' - 2 x psi' + (chi - c^2 x^2) psi = 0 in normalised Legendre polynomials of even degree
    // k: a symmetric tridiagonal matrix, of which the least eigenvalue's vector is wanted (Xiao, Rokhlin &
    // Yarvin 2001, eq. 35). It is positive definite, its eigenvalues lie a factor 4 and more apart, so that
    // inverse iteration from nothing finds the vector.
    const auto n = static_cast<std::size_t>(24 + c);
    std::vector<double> diagonal(n), beside(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto k = static_cast<double>(2 * i);
        diagonal[i] = k * (k + 1) + (2 * k * (k + 1) - 1) / ((2 * k + 3) * (2 * k - 1)) * c * c;
        beside[i] = (k + 2) * (k + 1) / ((2 * k + 3) * std::sqrt((2 * k + 1) * (2 * k + 5))) * c * c;
    }
    for (std::size_t i = 1; i < n; ++i) {  // L D L^T; beside becomes L
        const double factor = beside[i - 1] / diagonal[i - 1];
        diagonal[i] -= factor * beside[i - 1];
        beside[i - 1] = factor;
    }
    series_.assign(n, 0.0);
    series_[0] = 1;
    for (double& x : diagonal) x = 1 / x;
    constexpr int steps = 30;  // 4^-30 = 1e-18
    for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 1; i < n; ++i) series_[i] -= beside[i - 1] * series_[i - 1];
        for (std::size_t i = 0; i < n; ++i) series_[i] *= diagonal[i];
        for (std::size_t i = n - 1; i > 0; --i) series_[i - 1] -= beside[i - 1] * series_[i];
        double norm = 0;
        for (const double x : series_) norm += x * x;
        for (double& x : series_) x /= std::sqrt(norm);
    }
    for (std::size_t i = 0; i < n; ++i) series_[i] *= std::sqrt(2 * static_cast<double>(i) + 0.5);
    const double at_0 = (*this)(0);
    for (double& x : series_) x /= at_0;
}

std::vector<double> Prolate::at(const std::vector<double>& x) const {
    const std::size_t n = x.size();
    std::vector<double> before(n, 1.0), now = x, sum(n, 0.0);  // P_k, P_{k+1}
    for (std::size_t i = 0; i < series_.size(); ++i) {
        for (std::size_t j = 0; j < n; ++j) sum[j] += series_[i] * before[j];
        for (int step = 0; step < 2; ++step) {
            const auto k = static_cast<double>(2 * i) + step;
            const double a = (2 * k + 3) / (k + 2), b = (k + 1) / (k + 2);
            for (std::size_t j = 0; j < n; ++j)
                before[j] = std::exchange(now[j], a * x[j] * now[j] - b * before[j]);
        }
    }
    return sum;
}

double aliasing_for(std::int64_t width, double oversampling) {
    return 64 * std::exp(-pi * static_cast<double>(width) * std::sqrt(1 - 1 / oversampling));
}
std::int64_t width_for(double error, double oversampling) {
    return static_cast<std::int64_t>(
        std::ceil(std::log(64 / error) / (pi * std::sqrt(1 - 1 / oversampling))));
}

Window::Window(std::int64_t width, const Sampling& sampling)
    : width_(width),
      sampling_(sampling),
      c_(best_share(width) * largest_bandwidth(width, sampling)),
      shape_(c_),
      values_(shape_.at(rule().nodes)) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] *= rule().weights[i];
    integral_ = transform_at(0);
}

double Window::operator()(double x) const {
    return at({x})[0];
}

std::vector<double> Window::at(const std::vector<double>& x) const {
    std::vector<double> inside;
    inside.reserve(x.size());
    for (const double place : x)
        inside.push_back(std::clamp(2 * place / static_cast<double>(width_), -1.0, 1.0));
    auto values = shape_.at(inside);
    for (std::size_t i = 0; i < x.size(); ++i)
        if (2 * std::abs(x[i]) > static_cast<double>(width_)) values[i] = 0;
    return values;
}

double Window::transform_at(double omega) const {
    double sum = 0;  // the nodes of the other half add as much
    for (std::size_t i = 0; i < values_.size(); ++i)
        sum += values_[i] * std::cos(omega * static_cast<double>(width_) / 2 * rule().nodes[i]);
    return static_cast<double>(width_) * sum;
}

double Window::transform(std::int64_t k) const {
    // The Fourier transform of psi_0 over its interval is psi_0 again: it is transform_at(0) psi_0(omega W /
    // 2 c).
    const double omega = 2 * pi * static_cast<double>(k) / static_cast<double>(sampling_.n);
    return integral_ * shape_(omega * static_cast<double>(width_) / (2 * c_));
}

std::vector<double> Window::transforms() const {
    std::vector<double> places;
    const double step = pi * static_cast<double>(width_) / (static_cast<double>(sampling_.n) * c_);
    for (std::int64_t k = 0; k <= sampling_.degree; ++k) places.push_back(step * static_cast<double>(k));
    auto values = shape_.at(places);
    for (double& value : values) value *= integral_;
    return values;
}

std::vector<double> Window::aliases() const {
    // At an offset from the samples exp(i k x) is multiplied by 1 + M; the mean of |M|^2 over a cell, in
    // which the window's weights are smooth and M(-y) = conj M(y), by the rule of Gauss and Legendre.
    constexpr std::int64_t n_offsets = 32;
    std::vector<double> sums(static_cast<std::size_t>(sampling_.degree) + 1, 0.0);
    const auto own = transforms();
    for (const grids::Node& node : grids::gauss_legendre_nodes(n_offsets)) {
        std::vector<double> samples;
        const double first = (static_cast<double>(width_ - 1) + node.cos_theta) / 2;
        for (std::int64_t j = 0; j < width_; ++j) samples.push_back(first - static_cast<double>(j));
        const auto weights = at(samples);
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const double omega = 2 * pi * static_cast<double>(k) / static_cast<double>(sampling_.n);
            const std::complex<double> turn = std::polar(1.0, omega);
            std::complex<double> sum = 0;
            for (std::size_t j = weights.size(); j-- > 0;) sum = sum * turn + weights[j];
            sums[k] += node.weight * std::norm(sum * std::polar(1.0, -omega * first) / own[k] - 1.0);
        }
    }
    return sums;
}

double Window::rounding() const {
    return rounding_seen * transform(0) / transform(sampling_.degree);
}

double Window::rounding_of(std::int64_t width, const Sampling& sampling) {
    const double c = best_share(width) * largest_bandwidth(width, sampling);
    const double omega = 2 * pi * static_cast<double>(sampling.degree) / static_cast<double>(sampling.n);
    return rounding_seen / Prolate(c)(omega * static_cast<double>(width) / (2 * c));
}

double Window::aliasing_bound() const {
    const std::int64_t degree = sampling_.degree;
    // Offsets of a cell; the window's ends reach samples at 0 (even W) or 1/2 (odd W), from both sides.
    constexpr int n_offsets = 33;
    constexpr double beside = 1e-9;
    std::vector<double> offsets{-0.5 + beside, 0.5 - beside, beside, -beside};
    for (int i = 0; i < n_offsets; ++i) offsets.push_back(-0.5 + i / (n_offsets - 1.0));
    const auto own = transforms();
    const auto multiplier = [&](std::int64_t k, double offset, const std::vector<double>& weights) {
        std::complex<double> sum = 0;
        for (std::int64_t j = -width_; j <= width_; ++j) {
            const double d = offset - static_cast<double>(j);
            sum += weights[static_cast<std::size_t>(j + width_)] *
                   std::polar(1.0, -2 * pi * static_cast<double>(k) / static_cast<double>(sampling_.n) * d);
        }
        return sum / own[static_cast<std::size_t>(std::abs(k))] - 1.0;
    };
    std::vector<std::vector<std::complex<double>>> multipliers;  // [offset][k], k >= 0: those of -k conjugate
    for (const double offset : offsets) {
        std::vector<double> samples;
        for (std::int64_t j = -width_; j <= width_; ++j) samples.push_back(offset - static_cast<double>(j));
        const auto weights = at(samples);
        auto& of_offset = multipliers.emplace_back();
        for (std::int64_t k = 0; k <= degree; ++k) of_offset.push_back(multiplier(k, offset, weights));
    }
    double best = 0;
    for (const auto& m : multipliers) best = std::max(best, std::abs(m[0]));
    if (degree == 0) return best;
    best = std::numeric_limits<double>::infinity();
    for (const std::int64_t part : {8, 4, 2, 1}) {
        const std::int64_t taper = std::max<std::int64_t>(1, degree / part);
        constexpr std::int64_t finer = 8;  // samples of the kernel for each frequency
        const std::int64_t n = fft::good_length(finer * (2 * degree + 1 + 2 * taper));
        fft::ComplexFft fft;
        fft.prepare(n);
        double largest = 0;
        for (const auto& m : multipliers) {
            std::vector<std::complex<double>> kernel(static_cast<std::size_t>(n), 0.0);
            const auto set = [&](std::int64_t k, std::complex<double> value) {
                kernel[static_cast<std::size_t>(k)] = value;
                if (k > 0) kernel[static_cast<std::size_t>(n - k)] = std::conj(value);
            };
            for (std::int64_t k = 0; k <= degree; ++k) set(k, m[static_cast<std::size_t>(k)]);
            for (std::int64_t t = 1; t <= taper; ++t)
                set(degree + t,
                    m[static_cast<std::size_t>(degree - t)] * 0.5 *
                        (1 + std::cos(pi * static_cast<double>(t) / static_cast<double>(taper + 1))));
            fft.backward(kernel.data());
            double norm = 0;
            for (const auto& value : kernel) norm += std::abs(value) / static_cast<double>(n);
            largest = std::max(largest, norm);
        }
        best = std::min(best, largest);
    }
    return best;
}

namespace {

/// Coefficients of the polynomial sum_i c_i T_i(y) in powers of y.
std::vector<double> to_powers(const std::vector<double>& chebyshev) {
    const std::size_t n = chebyshev.size();
    std::vector<double> sum(n, 0.0), before(n, 0.0), now(n, 0.0);
    before[0] = 1;
    if (n > 1) now[1] = 1;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) sum[k] += chebyshev[i] * before[k];
        std::vector<double> next(n, 0.0);
        for (std::size_t k = 0; k + 1 < n; ++k) next[k + 1] = 2 * now[k];
        for (std::size_t k = 0; k < n; ++k) next[k] -= before[k];
        before = std::exchange(now, std::move(next));
    }
    return sum;
}

constexpr std::size_t most_terms = 32;  // more than any cell needs

/// Chebyshev coefficients of w_j(y).
std::vector<double> series_of(const Window& window, std::int64_t j) {
    constexpr auto n = static_cast<double>(most_terms);
    std::vector<double> places, series;
    for (std::size_t i = 0; i < most_terms; ++i) {
        const double y = std::cos(pi * (static_cast<double>(i) + 0.5) / n);
        places.push_back((static_cast<double>(window.width() - 1) + y) / 2 - static_cast<double>(j));
    }
    const auto values = window.at(places);
    for (std::size_t k = 0; k < most_terms; ++k) {
        double sum = 0;
        for (std::size_t i = 0; i < most_terms; ++i)
            sum += values[i] * std::cos(pi * static_cast<double>(k) * (static_cast<double>(i) + 0.5) / n);
        series.push_back((k == 0 ? 1 : 2) * sum / n);
    }
    return series;
}

/// How many coefficients leave at most `error` out, summed over all samples of the window.
std::size_t terms_for(const std::vector<std::vector<double>>& series, double error) {
    constexpr double rounding = 2e-15;  // of the series of psi: coefficients below it say nothing
    double left = 0;
    for (std::size_t terms = most_terms; terms > 2; --terms) {
        for (const auto& one : series)
            if (const double size = std::abs(one[terms - 1]); size > rounding) left += 2 * size;
        if (left > error) return terms;
    }
    return 2;
}

}  // namespace

WindowPolynomials::WindowPolynomials(const Window& window, double error)
    : width(window.width()), n_pairs((window.width() + 1) / 2), n_terms(0) {
    std::vector<std::vector<double>> series;
    for (std::int64_t j = 0; j < n_pairs; ++j) series.push_back(series_of(window, j));
    std::size_t terms = terms_for(series, error);
    terms += terms % 2;
    n_terms = static_cast<std::int64_t>(terms) / 2;
    for (auto& chebyshev : series) {
        chebyshev.resize(terms);
        const auto powers = to_powers(chebyshev);
        for (std::size_t i = 0; i < terms; i += 2) {
            even.push_back(powers[i]);
            odd.push_back(powers[i + 1]);
            // d/dx = 2 d/dy
            slope_even.push_back(2 * static_cast<double>(i + 1) * powers[i + 1]);
            slope_odd.push_back(i + 2 < terms ? 2 * static_cast<double>(i + 2) * powers[i + 2] : 0);
        }
    }
    if (width % 2 != 0) {  // the one in the middle is its own mirror image
        std::fill(odd.end() - n_terms, odd.end(), 0.0);
        std::fill(slope_even.end() - n_terms, slope_even.end(), 0.0);
    }
}

}  // namespace zonal::points
