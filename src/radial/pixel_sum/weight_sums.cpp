#include "radial/pixel_sum/weight_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "radial/pixel_sum/filters.hpp"
#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/kernels.hpp"
#include "radial/pixel_sum/weights.hpp"

namespace zonal::radial {
namespace {

double sum_of_taps(const double* weights, std::int64_t n_taps) {
    return std::accumulate(weights, weights + n_taps, 0.);
}

/// The sums of some pixels of an output ring; those of their mirror images are the same.
class RingWeightSums {
  public:
    /// pixels: of the ring, those that are wanted.
    RingWeightSums(const PixelSumSchedule& schedule, std::int64_t output, std::vector<std::int64_t> pixels,
                   WeightSource source)
        : schedule_(schedule),
          source_(source),
          output_(output),
          out_(schedule.outputs()[output]),
          pixels_(std::move(pixels)) {
        for (const std::int64_t pixel : pixels_)
            if (out_.is_square) distinct_.push_back(distinct_pixel(out_, pixel));
        std::sort(distinct_.begin(), distinct_.end());
        distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
        of_square_.resize(distinct_.size());
        of_general_.resize(pixels_.size());
        const core::InterruptionPoll poll;
        const auto [first, end] = schedule.inputs().near(out_.theta, schedule.kernel().theta_end());
        for (std::int64_t input = first; input < end; ++input) {
            if (schedule.pair_half_width(output, input) < 0) continue;
            poll();
            add(schedule.inputs()[input], schedule.kind(output, input));
        }
    }

    /// Returns the sum of the pixel with index i.
    double operator[](std::size_t i) const {
        double sum = of_equal_ + of_general_[i];
        if (out_.is_square) {
            const auto at =
                std::lower_bound(distinct_.begin(), distinct_.end(), distinct_pixel(out_, pixels_[i]));
            sum += of_square_[static_cast<std::size_t>(at - distinct_.begin())];
        }
        return sum;
    }

  private:
    void add(const SumRing& in, PairKind kind) {
        if (kind == PairKind::equal)
            add_equal(in);
        else if (kind == PairKind::square)
            add_square(in);
        else
            add_general(in);
    }

    void add_equal(const SumRing& in) {
        const double reference = schedule_.reference_phi(output_);
        const PairTaps taps(out_, in, schedule_.kernel().limit());
        weights_.resize(static_cast<std::size_t>(taps.n_taps));
        taps.evaluate(schedule_.kernel(), align(reference, out_).half == align(reference, in).half ? 0 : 0.5,
                      weights_.data());
        of_equal_ += sum_of_taps(weights_.data(), taps.n_taps);
    }

    void add_square(const SumRing& in) {
        const PairTaps taps(out_, in, schedule_.kernel().limit());
        const PixelPositions positions = positions_of(out_, in);
        if (source_ == WeightSource::tables) {
            const auto table =
                make_pair_table(taps, schedule_.kernel(), schedule_.tolerance(), n_distinct(out_), table_);
            if (table.n_pieces > 0) return add_square(taps, positions, table);
        }
        weights_.resize(static_cast<std::size_t>(taps.n_taps));
        for (std::size_t i = 0; i < distinct_.size(); ++i) {
            const std::int64_t numerator = positions.first + distinct_[i] * positions.step;
            const double t = static_cast<double>(modulo(numerator, positions.denominator)) /
                             static_cast<double>(positions.denominator);
            taps.evaluate(schedule_.kernel(), t, weights_.data());
            of_square_[i] += sum_of_taps(weights_.data(), taps.n_taps);
        }
    }

    void add_square(const PairTaps& taps, const PixelPositions& positions, const PairTable<double>& table) {
        constexpr std::size_t at_once = 32;
        std::array<std::int64_t, at_once> bases;
        weights_.resize(at_once * static_cast<std::size_t>(table.stride));
        for (std::size_t i = 0, size; i < distinct_.size(); i += size) {
            const std::int64_t first = distinct_[i];
            for (size = 1; size < at_once && i + size < distinct_.size() &&
                           distinct_[i + size] == first + static_cast<std::int64_t>(size);)
                ++size;
            sum_loops<double>().weights_of_pixels(table, positions, first, static_cast<std::int64_t>(size),
                                                  weights_.data(), bases.data());
            for (std::size_t k = 0; k < size; ++k)
                of_square_[i + k] +=
                    sum_of_taps(weights_.data() + static_cast<std::int64_t>(k) * table.stride, taps.n_taps);
        }
    }

    // gcd(n, n') pixels share their weights.
    void add_general(const SumRing& in) {
        const PairTaps taps(out_, in, schedule_.kernel().limit());
        weights_.resize(static_cast<std::size_t>(taps.n_taps));
        made_.assign(static_cast<std::size_t>(out_.n_pixels / std::gcd(out_.n_pixels, in.n_pixels)), -1);
        made_sums_.resize(made_.size());
        const double pixels_per_radian = static_cast<double>(in.n_pixels) / (2 * std::numbers::pi);
        for (std::size_t i = 0; i < pixels_.size(); ++i) {
            const std::size_t k = static_cast<std::size_t>(pixels_[i]) % made_.size();
            if (made_[k] < 0) {
                const double phi = out_.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) /
                                                    static_cast<double>(out_.n_pixels);
                const double x = (phi - in.phi_0) * pixels_per_radian;
                taps.evaluate(schedule_.kernel(), x - std::floor(x), weights_.data());
                made_sums_[k] = sum_of_taps(weights_.data(), taps.n_taps);
                made_[k] = 1;
            }
            of_general_[i] += made_sums_[k];
        }
    }

    const PixelSumSchedule& schedule_;
    WeightSource source_;
    std::int64_t output_;
    const SumRing& out_;
    std::vector<std::int64_t> pixels_, distinct_;  ///< wanted; those of square rings from phi = 0 to pi/4
    double of_equal_ = 0;
    std::vector<double> of_square_, of_general_;  ///< of distinct_, of pixels_
    core::AlignedVector<double> weights_;
    PairTableScratch<double> table_;
    std::vector<signed char> made_;
    std::vector<double> made_sums_;
};

}  // namespace

std::vector<double> weight_sums(const PixelSumSchedule& schedule, const std::vector<bool>& wanted,
                                WeightSource source, int threads) {
    std::vector<double> sums(wanted.size());
    const auto is_wanted = [&](const SumRing& ring, std::int64_t k) {
        return wanted[static_cast<std::size_t>(ring.first_pixel + k)];
    };
    core::parallel_for(schedule.outputs().size(), threads, [&](std::int64_t output, int) {
        const SumRing& ring = schedule.outputs()[output];
        const bool is_paired = schedule.is_paired(output);
        if (is_paired && ring.mirror < output) return;
        const SumRing& mirrored = is_paired ? schedule.outputs()[ring.mirror] : ring;
        const std::int64_t shift = ring.n_pixels + mirrored.rotation - ring.rotation;
        const auto image = [&](std::int64_t k) { return (k + shift) % ring.n_pixels; };
        std::vector<std::int64_t> pixels;
        for (std::int64_t k = 0; k < ring.n_pixels; ++k)
            if (is_wanted(ring, k) || is_wanted(mirrored, image(k))) pixels.push_back(k);
        if (pixels.empty()) return;
        const RingWeightSums of_ring(schedule, output, pixels, source);
        for (std::size_t i = 0; i < pixels.size(); ++i)
            for (const auto& [to, k] : {std::pair{&ring, pixels[i]}, std::pair{&mirrored, image(pixels[i])}})
                if (is_wanted(*to, k)) sums[static_cast<std::size_t>(to->first_pixel + k)] = of_ring[i];
    });
    return sums;
}

}  // namespace zonal::radial
