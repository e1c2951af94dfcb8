#include "sht/rings/resampling_cpu.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sht/rings/resampling_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/parallel.hpp"
#include "sht/rings/meridian.hpp"
#include "sht/rings/resampling-inl.hpp"

#if HWY_ONCE
namespace zonal::sht {

HWY_EXPORT(interpolate);
HWY_EXPORT(adjoint);

namespace {

/// Samples per degree: with fewer the window must be wider, and more of the digits are lost in its transform.
constexpr double least_oversampling = 1.5;

/// exp(-beta) I_0(beta sqrt(1 - x^2)), |x| <= 1, and its Fourier transform over `width`.
class KaiserBessel {
  public:
    KaiserBessel(double width, double beta) : width_(width), beta_(beta), at_edge_(std::exp(-beta)) {
        // The power series in (beta / 2)^2 (1 - x^2), as far as its terms count in the middle, where it is
        // longest.
        double term = at_edge_, sum = term;
        for (int k = 1; term > 1e-18 * sum; ++k) {
            reciprocals_.push_back(1 / (k * static_cast<double>(k)));
            term *= beta * beta / 4 * reciprocals_.back();
            sum += term;
        }
    }

    /// values[k] = window(first + k), 0 <= k < n, in samples. Eight at a time, which a compiler's vectors
    /// take: thousands of values are all but what a plan takes to make.
    void write(double first, std::int64_t n, double* values) const {
        constexpr std::int64_t lanes = 8;
        for (std::int64_t k = 0; k < n; k += lanes) {
            double quarter[lanes], term[lanes], sum[lanes];
            for (std::int64_t j = 0; j < lanes; ++j) {
                const double ratio = 2 * (first + static_cast<double>(k + j)) / width_;
                const double inside = std::max(1 - ratio * ratio, 0.0);
                quarter[j] = beta_ * beta_ * inside / 4;
                term[j] = sum[j] = inside > 0 ? at_edge_ : 0;
            }
            for (const double reciprocal : reciprocals_)
                for (std::int64_t j = 0; j < lanes; ++j) {
                    term[j] *= quarter[j] * reciprocal;
                    sum[j] += term[j];
                }
            std::copy_n(sum, std::min(lanes, n - k), values + k);
        }
    }
    /// omega: rad per sample.
    double transform(double omega) const {
        const double root = std::sqrt(beta_ * beta_ - omega * omega * width_ * width_ / 4);
        return width_ * (std::exp(root - beta_) - std::exp(-root - beta_)) / (2 * root);
    }

  private:
    const double width_, beta_, at_edge_;
    std::vector<double> reciprocals_;  ///< of k^2, k = 1, 2, ...
};

/// What of the largest value the window may add: a hundredth of what the caller allows, since the bound is
/// an estimate and the sums round.
std::int64_t window_width(double oversampling, double accuracy) {
    return static_cast<std::int64_t>(
        std::ceil(std::log(100 / accuracy) / (std::numbers::pi * std::sqrt(1 - 1 / oversampling))));
}

/// Lengths whose transforms are quick.
bool is_good_length(std::int64_t n) {
    for (const std::int64_t p : {2, 3, 5, 7, 11, 13})
        while (n % p == 0) n /= p;
    return n == 1;
}

/// Work of one field and order, in operations of the Legendre stage that take as long; fitted.
double work_of_values(std::int64_t n) {
    return 1.6 * fft::cost(n) + 40 * static_cast<double>(n);
}
double work_of_windows(std::int64_t width, std::int64_t n_pairs) {
    return static_cast<double>((16 * width + 60) * n_pairs);
}

struct Samples {
    std::int64_t length, width;
    double work;
};

/// The cheapest that are fine enough.
Samples samples_for(std::int64_t lmax, double accuracy, std::int64_t n_pairs) {
    Samples best{0, 0, HUGE_VAL};
    const auto least =
        static_cast<std::int64_t>(std::ceil(least_oversampling * static_cast<double>(lmax + 1)));
    for (std::int64_t n = (least + 3) / 4 * 4; n <= 4 * (lmax + 1); n += 4) {
        if (!is_good_length(n)) continue;
        const std::int64_t width =
            window_width(static_cast<double>(n) / static_cast<double>(lmax + 1), accuracy);
        const double work = work_of_values(n) + work_of_windows(width, n_pairs);
        if (work < best.work && width < n / 4) best = {n, width, work};
    }
    return best;
}

void write_roots_of(std::int64_t n, CosineRoots& roots) {
    roots.length = n;
    core::AlignedVector<double> pairs(static_cast<std::size_t>(2 * n));
    fft::write_roots(4 * n, n, pairs.data());
    roots.re.reserve(static_cast<std::size_t>(n));
    roots.im.reserve(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) {
        roots.re.push_back(pairs[static_cast<std::size_t>(2 * k)]);
        roots.im.push_back(pairs[static_cast<std::size_t>(2 * k + 1)]);
    }
}

}  // namespace

TransformRings cheapest_rings(double flops, std::int64_t n_pairs, std::int64_t lmax, std::int64_t mmax,
                              double accuracy) {
    TransformRings best{0, flops};
    if (accuracy == 0 || 2 * n_pairs <= lmax + 1) return best;
    constexpr double least_gain = 1.1;  // less is not worth the memory for F_m of all rings
    const Samples samples = samples_for(lmax, accuracy, n_pairs);
    double least = flops / least_gain;
    // Whole blocks of ring pairs; a few more than needed where their transform is quicker.
    constexpr std::int64_t unit = 2 * block_size;
    for (std::int64_t n = (lmax + unit) / unit * unit; n <= lmax + lmax / 16 + unit; n += unit) {
        if (!is_good_length(n)) continue;
        const double legendre = flops * static_cast<double>(n) / static_cast<double>(2 * n_pairs);
        const double work = legendre + static_cast<double>(mmax + 1) * (work_of_values(n) + samples.work);
        if (work >= least) continue;
        best = {n, work};
        least = work;
    }
    return best;
}

CpuResampling::CpuResampling(const RingPairs& grid, const ShtOptions& options, std::int64_t n_rings)
    : grid_(grid), pairs_(equidistant_rings(n_rings), options.lmax, options.mmax, options.spin) {
    const std::int64_t lmax = options.lmax, n_pairs = grid.n_pairs();
    const Samples samples = samples_for(lmax, options.accuracy, n_pairs);
    const auto n = static_cast<double>(samples.length);
    tables_.spin = options.spin;
    tables_.lmax = lmax;
    tables_.margin = (samples.width + 2) / 2 * 2;
    write_roots_of(n_rings, tables_.rings);
    write_roots_of(samples.length, tables_.samples);
    const auto width = static_cast<double>(samples.width);
    const KaiserBessel window{width,
                              std::numbers::pi * width * (1 - static_cast<double>(lmax + 1) / (2 * n))};
    tables_.factors.reserve(static_cast<std::size_t>(lmax) + 1);
    for (std::int64_t k = 0; k <= lmax; ++k)
        tables_.factors.push_back(1 / (static_cast<double>(n_rings) *
                                       window.transform(std::numbers::pi * static_cast<double>(k) / n)));
    const auto places = places_of(grid, n_pairs, samples.length);
    // Sample j lies at j + 1/2; lowest: the first that the window of a pair reaches, from its cell on.
    const auto lowest = [&](std::int64_t pair) {
        return static_cast<std::int64_t>(std::ceil(places[pair].fraction - 0.5 - width / 2));
    };
    const auto sample = [&](std::int64_t pair) { return places[pair].cell + lowest(pair); };
    tables_.windows.reserve(static_cast<std::size_t>(grid.n_blocks()));
    std::int64_t n_weights = 0;
    for (std::int64_t block = 0; block < grid.n_blocks(); ++block) {
        const std::int64_t first = block * block_size, end = std::min(first + block_size, n_pairs);
        const std::int64_t from = (sample(first) + tables_.margin) / 2 * 2 - tables_.margin;
        const std::int64_t n_samples = (sample(end - 1) + samples.width - from + 1) / 2 * 2;
        tables_.windows.push_back({(from + tables_.margin) / 2, n_samples / 2, n_weights});
        n_weights += n_samples * block_size;
    }
    tables_.weights.resize(static_cast<std::size_t>(n_weights), 0.0);
    constexpr double microseconds_of_value = 8e-3;
    const double work = microseconds_of_value * width * static_cast<double>(n_pairs);
    core::parallel_for(
        grid.n_blocks(), core::paying_threads(options.threads, work), [&](std::int64_t block, int) {
            const auto& placed = tables_.windows[static_cast<std::size_t>(block)];
            double* const weights = tables_.weights.data() + placed.weights;
            const std::int64_t first = block * block_size, from = 2 * placed.first_pair - tables_.margin;
            std::vector<double> values(static_cast<std::size_t>(samples.width));
            for (auto pair = first; pair < std::min(first + block_size, n_pairs); ++pair) {
                // The window is even.
                window.write(static_cast<double>(lowest(pair)) + 0.5 - places[pair].fraction, samples.width,
                             values.data());
                for (std::int64_t k = 0; k < samples.width; ++k) {
                    const std::int64_t at = sample(pair) - from + k;
                    weights[(at / 2 * block_size + pair - first) * 2 + at % 2] = values[k];
                }
            }
        });
    const auto n_blocks = static_cast<std::size_t>(pairs_.n_blocks());
    std::vector<std::int64_t> rows(2 * n_blocks + 1, 0);
    std::iota(rows.begin() + pairs_.n_blocks(), rows.end(), 0);
    rows_ = std::make_shared<const std::vector<std::int64_t>>(std::move(rows));
    places_ = std::make_shared<const std::vector<FourierBand::Place>>(
        static_cast<std::size_t>(options.mmax + 1), FourierBand::Place{0, 0});
}

FourierBand CpuResampling::band_of(std::int64_t m, std::int64_t n_fields, ResamplingScratch& scratch) const {
    const auto begin = pairs_.last_m.begin();
    const std::int64_t reached = std::lower_bound(begin, pairs_.last_m.end(), m) - begin;
    FourierBand band(reached, pairs_.n_blocks(), n_fields, rows_, places_);
    scratch.modes.resize(static_cast<std::size_t>(pairs_.n_blocks() * n_fields * fourier_block));
    band.data = scratch.modes.data();
    return band;
}

std::int64_t CpuResampling::scratch_bytes(std::int64_t n_fields) const {
    // Values, and series and line of the samples; both transforms take as much again twice.
    const std::int64_t complex_numbers = 3 * tables_.rings.length + 4 * tables_.samples.length,
                       samples = (tables_.samples.length / 2 + 2 * tables_.margin) * 4;
    return 8 * (2 * complex_numbers + samples + pairs_.n_blocks() * n_fields * fourier_block);
}

void CpuResampling::interpolate(std::int64_t m, const FourierBand& from, const FourierBand& band,
                                ResamplingScratch& scratch) const {
    HWY_DYNAMIC_DISPATCH(interpolate)(tables_, pairs_, grid_, m, from, band, scratch);
}

void CpuResampling::adjoint(std::int64_t m, const FourierBand& band, const FourierBand& to,
                            ResamplingScratch& scratch) const {
    HWY_DYNAMIC_DISPATCH(adjoint)(tables_, pairs_, grid_, m, band, to, scratch);
}

}  // namespace zonal::sht
#endif
