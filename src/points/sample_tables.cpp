#include <algorithm>
#include <numeric>

#include "points/sample_stage.hpp"
#include "sht/rings/meridian.hpp"

namespace zonal::points {
namespace {

/// Doubles of a row: those of its samples and their copies, a vector more that interpolation may read, and
/// room for the F_m of its orders. Rows whose distance is a multiple of 4 KiB would share their lines of a
/// cache.
std::int64_t row_stride(std::int64_t n, std::int64_t border, std::int64_t padded_orders) {
    constexpr std::int64_t line = 8, page = 512;
    const std::int64_t needed = std::max(n + 2 * border + longest_vector, 2 * padded_orders);
    std::int64_t stride = (needed + line - 1) / line * line;
    while (stride % page < 2 * line || stride % page > page - 2 * line) stride += line;
    return stride;
}

}  // namespace

SampleTables::SampleTables(const PointOptions& options, const Sampling& sampling, const Window& window,
                           const std::vector<double>& transforms)
    : spin(options.spin),
      lmax(options.lmax),
      mmax(options.mmax),
      n_rings(fft::good_length(options.lmax + 1)),
      n(sampling.n),
      border(window.width() / 2 + 1),
      stride(row_stride(n, border, padded_orders())),
      legendre(AlmLayout(options.lmax, options.mmax), options.spin),
      pairs(sht::equidistant_rings(n_rings), options.lmax, options.mmax, options.spin) {
    circle.prepare(2 * n_rings, false);
    samples.prepare(n, false);
    core::AlignedVector<double> roots(static_cast<std::size_t>(2 * (lmax + 1)));
    fft::write_roots(4 * n_rings, lmax + 1, roots.data());
    factors.assign(static_cast<std::size_t>(padded_orders()), 0.0);
    phase_re.reserve(static_cast<std::size_t>(lmax) + 1);
    phase_im.reserve(static_cast<std::size_t>(lmax) + 1);
    for (std::int64_t k = 0; k <= lmax; ++k) {
        const double inverse = 1 / transforms[static_cast<std::size_t>(k)];
        const double scale = inverse / static_cast<double>(2 * n_rings);
        phase_re.push_back(scale * roots[static_cast<std::size_t>(2 * k)]);
        phase_im.push_back(-scale * roots[static_cast<std::size_t>(2 * k + 1)]);
        if (k <= mmax) factors[static_cast<std::size_t>(k)] = inverse / 2;
    }
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(2 * n_blocks() + 1), 0);
    std::iota(offsets.begin() + n_blocks(), offsets.end(), 0);
    rows = std::make_shared<const std::vector<std::int64_t>>(std::move(offsets));
    places = std::make_shared<const std::vector<sht::FourierBand::Place>>(static_cast<std::size_t>(mmax + 1),
                                                                          sht::FourierBand::Place{0, 0});
}

void copy_beyond_poles(const SampleTables& t, std::int64_t row, const SampleView& field) {
    const std::int64_t other = row < 0 ? -row : t.n - row, half = t.n / 2;
    const double sign = t.sign();
    const double* const from = field.row(other) + t.border;
    double* const to = field.row(row) + t.border;
    for (std::int64_t j = 0; j < half; ++j) {
        to[j] = sign * from[j + half];
        to[j + half] = sign * from[j];
    }
    std::copy(to + t.n - t.border, to + t.n, to - t.border);
    std::copy(to, to + t.border + longest_vector, to + t.n);
}

void fold_columns(const SampleTables& t, std::int64_t row, const SampleView& field) {
    double* const x = field.row(row);
    for (std::int64_t c = 0; c < t.border; ++c) x[t.n + c] += x[c];
    for (std::int64_t c = t.border + t.n; c < t.n + 2 * t.border; ++c) x[c - t.n] += x[c];
}

void fold_beyond_poles(const SampleTables& t, std::int64_t row, const SampleView& field) {
    const std::int64_t other = row < 0 ? -row : t.n - row, half = t.n / 2;
    const double sign = t.sign();
    const double* const from = field.row(row) + t.border;
    double* const to = field.row(other) + t.border;
    for (std::int64_t j = 0; j < half; ++j) {
        to[j + half] += sign * from[j];
        to[j] += sign * from[j + half];
    }
}

}  // namespace zonal::points
