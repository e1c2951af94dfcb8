#include "radial/pixel_sum/weights.hpp"

#include <algorithm>

#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/schedule.hpp"

namespace zonal::radial {
namespace {

/// The part of a piece, 0 <= u <= 1, in which a tap is inside; half < 0: none.
struct Inside {
    double middle, half;
};

Inside inside_of_piece(const PairTaps& taps, std::int64_t j, std::int64_t piece, std::int64_t n_pieces) {
    if (taps.is_whole) return {0.5, 0.5};
    const double centre = static_cast<double>(j - taps.left), pieces = static_cast<double>(n_pieces);
    const double from = (centre - taps.half_width_pixels) * pieces - static_cast<double>(piece);
    const double to = (centre + taps.half_width_pixels) * pieces - static_cast<double>(piece);
    const double begin = std::max(0., from), end = std::min(1., to);
    // Narrower than rounding: inside at one point.
    return {0.5 * (begin + end), begin > end ? -1. : std::max(0.5 * (end - begin), 1e-13)};
}

template <class T>
class TableWriter {
  public:
    TableWriter(const PairTaps& taps, const SumKernel& kernel, double tolerance, std::int64_t n_pieces,
                PairTableScratch<T>& scratch)
        : taps_(taps),
          kernel_(kernel),
          tolerance_(tolerance),
          n_pieces_(n_pieces),
          stride_(padded_taps(taps.n_taps)),
          scratch_(scratch) {
        scratch.rows.assign(static_cast<std::size_t>(n_pieces * weight_rows<T> * stride_), T(0));
        scratch.middle.resize(static_cast<std::size_t>(stride_));
        scratch.half.resize(static_cast<std::size_t>(stride_));
    }

    // Tap j at t is as far on one side as tap n_taps - 1 - j at 1 - t on the other, unless the taps are the
    // whole ring.
    bool write(double& n_values) {
        const bool is_mirrored = !taps_.is_whole;
        const std::int64_t pieces = is_mirrored ? (n_pieces_ + 1) / 2 : n_pieces_;
        const std::int64_t n_fitted = is_mirrored && n_pieces_ == 1 ? taps_.n_taps / 2 : taps_.n_taps;
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            n_values += static_cast<double>(n_fitted) * fit_values<T>;
            if (!write_piece(piece, n_fitted)) return false;
            if (is_mirrored)
                for (std::int64_t j = 0; j < n_fitted; ++j) mirror(piece, j);
        }
        return true;
    }

  private:
    T* rows(std::int64_t piece) { return scratch_.rows.data() + piece * weight_rows<T> * stride_; }

    bool write_piece(std::int64_t piece, std::int64_t n_fitted) {
        T* const factor = rows(piece);
        T* const shift = factor + stride_;
        const double pieces = static_cast<double>(n_pieces_), radians = 0.5 * taps_.pixel;
        for (std::int64_t j = 0; j < stride_; ++j) {
            Inside inside{0.5, -1};
            if (j < n_fitted) inside = inside_of_piece(taps_, j, piece, n_pieces_);
            const bool exists = inside.half >= 0;
            const double t = (static_cast<double>(piece) + inside.middle) / pieces;
            const std::size_t at = static_cast<std::size_t>(j);
            scratch_.middle[at] = exists ? radians * taps_.pixels_apart(j, t) : 0;
            scratch_.half[at] = exists ? radians * inside.half / pieces : 0;
            factor[j] = exists ? static_cast<T>(1 / inside.half) : T(0);
            shift[j] = exists ? static_cast<T>(-inside.middle / inside.half) : T(2);  // never inside
        }
        const std::int64_t n = (n_fitted + value_padding - 1) / value_padding * value_padding;
        return fit_weights(kernel_, taps_.geometry, scratch_.middle.data(), scratch_.half.data(), n, stride_,
                           factor + 2 * stride_) <= tolerance_;
    }

    /// s of the mirrored tap is -s.
    void mirror(std::int64_t piece, std::int64_t j) {
        const T* const from = rows(piece) + j;
        T* const to = rows(n_pieces_ - 1 - piece) + taps_.n_taps - 1 - j;
        to[0] = from[0];
        to[stride_] = from[0] == 0 ? T(2) : -from[0] - from[stride_];
        for (int d = 0; d <= weight_degree<T>; ++d) {
            const T coefficient = from[(2 + d) * stride_];
            to[(2 + d) * stride_] = (d % 2 != 0) == kernel_.is_odd() ? coefficient : -coefficient;
        }
    }

    const PairTaps& taps_;
    const SumKernel& kernel_;
    double tolerance_;
    std::int64_t n_pieces_, stride_;
    PairTableScratch<T>& scratch_;
};

/// Rings that are looked at.
constexpr std::int64_t n_outputs = 12, n_inputs = 6;

std::int64_t stride_of(std::int64_t n, std::int64_t n_samples) {
    return std::max<std::int64_t>(1, n / n_samples);
}

template <class T>
double values_per_tap(const PixelSumSchedule& schedule, std::int64_t output) {
    const SumRing& out = schedule.outputs()[output];
    const auto inputs = schedule.near(output, PairKind::square);
    const std::int64_t n_pixels = n_distinct(out), stride = stride_of(std::ssize(inputs), n_inputs);
    PairTableScratch<T> scratch;
    double values = 0, n_taps = 0;
    for (std::int64_t i = stride / 2; i < std::ssize(inputs); i += stride) {
        const PairTaps taps(out, schedule.inputs()[inputs[i]], schedule.kernel().limit());
        const auto table = make_pair_table(taps, schedule.kernel(), schedule.tolerance(), n_pixels, scratch);
        values += table.n_values;
        if (table.n_pieces == 0) values += static_cast<double>(n_pixels * taps.n_taps);
        n_taps += static_cast<double>(taps.n_taps);
    }
    return values / n_taps;
}

template <class T>
double of_square_rings(const PixelSumSchedule& schedule) {
    std::vector<std::int64_t> outputs;
    for (std::int64_t output = 0; output < schedule.outputs().size(); ++output) {
        const bool is_second = schedule.is_paired(output) && schedule.outputs()[output].mirror < output;
        if (!is_second && schedule.weights_inside(output, PairKind::square) > 0) outputs.push_back(output);
    }
    const std::int64_t stride = stride_of(std::ssize(outputs), n_outputs);
    double values = 0, per_tap = 0;
    for (std::int64_t i = 0; i < std::ssize(outputs); ++i) {
        if (i % stride == 0)
            per_tap = values_per_tap<T>(schedule, outputs[std::min(i + stride / 2, std::ssize(outputs) - 1)]);
        values += per_tap * schedule.weights_inside(outputs[i], PairKind::square);
    }
    return values;
}

}  // namespace

template <class T>
PairTable<T> make_pair_table(const PairTaps& taps, const SumKernel& kernel, double tolerance,
                             std::int64_t n_values, PairTableScratch<T>& scratch) {
    const std::int64_t stride = padded_taps(taps.n_taps);
    double n_made = 0;
    for (std::int64_t n_pieces = 1; n_pieces * fit_values<T> < n_values; n_pieces *= 2)
        if (TableWriter<T>(taps, kernel, tolerance, n_pieces, scratch).write(n_made))
            return {n_pieces, stride, scratch.rows.data(), n_made};
    return {0, stride, nullptr, n_made};
}

template PairTable<float> make_pair_table(const PairTaps&, const SumKernel&, double, std::int64_t,
                                          PairTableScratch<float>&);
template PairTable<double> make_pair_table(const PairTaps&, const SumKernel&, double, std::int64_t,
                                           PairTableScratch<double>&);

// Equal rings take half of their taps, which lie symmetrically; others one for each pixel, at most.
template <class T>
double count_weight_values(const PixelSumSchedule& schedule) {
    double values = of_square_rings<T>(schedule);
    for (std::int64_t output = 0; output < schedule.outputs().size(); ++output)
        values += 0.5 * schedule.weights_inside(output, PairKind::equal) +
                  static_cast<double>(schedule.outputs()[output].n_pixels) *
                      schedule.weights_inside(output, PairKind::general);
    return values;
}

template double count_weight_values<float>(const PixelSumSchedule&);
template double count_weight_values<double>(const PixelSumSchedule&);

}  // namespace zonal::radial
