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
const std::vector<grids::Node>& nodes() {
    static const auto kept = grids::gauss_legendre_nodes(n_nodes);
    return kept;
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
    constexpr int steps = 60;
    for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 1; i < n; ++i) series_[i] -= beside[i - 1] * series_[i - 1];
        for (std::size_t i = 0; i < n; ++i) series_[i] /= diagonal[i];
        for (std::size_t i = n - 1; i > 0; --i) series_[i - 1] -= beside[i - 1] * series_[i];
        double norm = 0;
        for (const double x : series_) norm += x * x;
        for (double& x : series_) x /= std::sqrt(norm);
    }
    for (std::size_t i = 0; i < n; ++i) series_[i] *= std::sqrt(2 * static_cast<double>(i) + 0.5);
    const double at_0 = (*this)(0);
    for (double& x : series_) x /= at_0;
}

double Prolate::operator()(double x) const {
    double before = 1, now = x, sum = 0;  // P_k, P_{k+1}
    for (std::size_t i = 0; i < series_.size(); ++i) {
        sum += series_[i] * before;
        for (int step = 0; step < 2; ++step) {
            const auto k = static_cast<double>(2 * i) + step;
            before = std::exchange(now, ((2 * k + 3) * x * now - (k + 1) * before) / (k + 2));
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

Window::Window(std::int64_t width, const Sampling& sampling) : width_(width), sampling_(sampling), shape_(1) {
    // Wider than (1 - 1 / 2 sigma) pi W the window's transform would not have fallen before the first alias.
    const double largest = pi * static_cast<double>(width) * (1 - 1 / (2 * sampling.oversampling()));
    constexpr double narrowest = 0.958, step = 0.002;
    constexpr int steps = 23;
    double best = 0, least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < steps; ++i) {
        set_shape((narrowest + step * i) * largest);
        const double alias = largest_alias();
        if (alias >= least) continue;
        least = alias;
        best = c_;
    }
    set_shape(best);
}

void Window::set_shape(double c) {
    c_ = c;
    shape_ = Prolate(c);
    values_.clear();
    for (const grids::Node& node : nodes()) values_.push_back(node.weight * shape_(node.cos_theta));
}

double Window::operator()(double x) const {
    const double y = 2 * x / static_cast<double>(width_);
    return std::abs(y) <= 1 ? shape_(y) : 0;
}

double Window::transform_at(double omega) const {
    double sum = 0;  // the nodes of the other half add as much
    for (std::size_t i = 0; i < values_.size(); ++i)
        sum += values_[i] * std::cos(omega * static_cast<double>(width_) / 2 * nodes()[i].cos_theta);
    return static_cast<double>(width_) * sum;
}

double Window::transform(std::int64_t k) const {
    // The Fourier transform of psi_0 over its interval is psi_0 again: it is transform_at(0) psi_0(omega W /
    // 2 c).
    const double omega = 2 * pi * static_cast<double>(k) / static_cast<double>(sampling_.n);
    return transform_at(0) * shape_(omega * static_cast<double>(width_) / (2 * c_));
}

double Window::largest_alias() const {
    constexpr int parts = 8;
    double largest = 0;
    for (int part = 0; part <= parts; ++part) {
        const double omega = 2 * pi / static_cast<double>(sampling_.n) *
                             std::round(static_cast<double>(sampling_.degree) * part / parts);
        const double near = transform_at(omega - 2 * pi), far = transform_at(omega + 2 * pi),
                     next = transform_at(omega - 4 * pi), own = transform_at(omega);
        largest = std::max(largest, (near * near + far * far + next * next) / (own * own));
    }
    return largest;
}

std::vector<double> Window::aliases() const {
    constexpr int shifts = 3;  // the window's ends, where it is about 1e-3 of its error, leave 1 / p^2
    std::vector<double> sums;
    sums.reserve(static_cast<std::size_t>(sampling_.degree) + 1);
    for (std::int64_t k = 0; k <= sampling_.degree; ++k) {
        const double omega = 2 * pi * static_cast<double>(k) / static_cast<double>(sampling_.n),
                     own = transform(k);
        double sum = 0;
        for (int p = 1; p <= shifts; ++p)
            for (const double alias : {transform_at(omega - 2 * pi * p), transform_at(omega + 2 * pi * p)})
                sum += alias * alias / (own * own);
        sums.push_back(sum);
    }
    return sums;
}

double Window::rounding() const {
    constexpr double seen = 5 * std::numeric_limits<double>::epsilon() / 2;
    return seen * transform(0) / transform(sampling_.degree);
}

double Window::aliasing_bound() const {
    const std::int64_t degree = sampling_.degree;
    // Offsets of a cell; the window's ends reach samples at 0 (even W) or 1/2 (odd W), from both sides.
    constexpr int n_offsets = 33;
    constexpr double beside = 1e-9;
    std::vector<double> offsets{-0.5 + beside, 0.5 - beside, beside, -beside};
    for (int i = 0; i < n_offsets; ++i) offsets.push_back(-0.5 + i / (n_offsets - 1.0));
    std::vector<double> own;
    for (std::int64_t k = 0; k <= degree; ++k) own.push_back(transform(k));
    const auto multiplier = [&](std::int64_t k, double offset) {
        std::complex<double> sum = 0;
        for (std::int64_t j = -width_; j <= width_; ++j) {
            const double d = offset - static_cast<double>(j);
            sum += (*this)(d)*std::polar(
                1.0, -2 * pi * static_cast<double>(k) / static_cast<double>(sampling_.n) * d);
        }
        return sum / own[static_cast<std::size_t>(std::abs(k))] - 1.0;
    };
    std::vector<std::vector<std::complex<double>>> multipliers;  // [offset][k], k >= 0: those of -k conjugate
    for (const double offset : offsets) {
        auto& of_offset = multipliers.emplace_back();
        for (std::int64_t k = 0; k <= degree; ++k) of_offset.push_back(multiplier(k, offset));
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

/// Chebyshev coefficients of w_j(y), of which those from the first on whose tail is below accuracy are 0.
std::vector<double> series_of(const Window& window, std::int64_t j, double accuracy, std::size_t& terms) {
    constexpr int n = 32;  // more than any cell needs
    std::vector<double> values, series;
    for (int i = 0; i < n; ++i) {
        const double y = std::cos(pi * (i + 0.5) / n);
        values.push_back(window((static_cast<double>(window.width() - 1) + y) / 2 - static_cast<double>(j)));
    }
    for (int k = 0; k < n; ++k) {
        double sum = 0;
        for (int i = 0; i < n; ++i)
            sum += values[static_cast<std::size_t>(i)] * std::cos(pi * k * (i + 0.5) / n);
        series.push_back((k == 0 ? 1 : 2) * sum / n);
    }
    double tail = 0;
    std::size_t needed = series.size();
    while (needed > 1 && tail + std::abs(series[needed - 1]) <= accuracy) tail += std::abs(series[--needed]);
    terms = std::max(terms, needed);
    return series;
}

}  // namespace

WindowPolynomials::WindowPolynomials(const Window& window, double accuracy)
    : width(window.width()), n_pairs((window.width() + 1) / 2), n_terms(0) {
    std::vector<std::vector<double>> series;
    std::size_t terms = 2;
    for (std::int64_t j = 0; j < n_pairs; ++j) series.push_back(series_of(window, j, accuracy, terms));
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
