#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/interruption.hpp"
#include "radial/pixel_sum/filters.hpp"
#include "radial/pixel_sum/kernels.hpp"
#include "radial/pixel_sum/stages.hpp"

namespace zonal::radial {
namespace {

/// Bytes of weights that a band keeps at once; more input rings than that are taken in several turns.
constexpr double weight_bytes = 1 << 24;

/// The filters of a band over some of its input rings.
template <class T>
class BandFilters {
  public:
    BandFilters(const PixelSumSchedule& schedule, const SumKernel& kernel,
                const std::vector<FilterBlock>& blocks, const std::vector<std::int64_t>& inputs,
                const std::vector<Aligned>& aligned, core::AlignedVector<T>& weights)
        : is_odd_(kernel.is_odd()), weights_(weights) {
        weights.clear();
        const core::InterruptionPoll poll;
        for (const FilterBlock& block : blocks) {
            filters_.emplace_back();
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                poll();
                const FilterTaps taps =
                    append_taps(schedule, kernel, block, inputs[i], aligned[i].half, weights);
                if (taps.n_taps == 0) continue;
                filters_.back().push_back({static_cast<std::int64_t>(i), taps});
                halo_ = std::max(halo_, taps.n_taps + 1);
            }
        }
    }

    /// Pixels that are needed on either side of those that are summed.
    std::int64_t halo() const { return halo_; }
    /// Filters block b over rows that lie stride apart, pixel 0 after the halo.
    void apply(std::size_t b, const T* rows, std::int64_t stride, std::int64_t n_pixels, T* sums) {
        inputs_.clear();
        for (const auto& [row, taps] : filters_[b])
            inputs_.push_back({row * stride + halo_, taps.left, taps.right, taps.n_taps,
                               weights_.data() + taps.first_weight});
        sum_loops<T>().filter(rows, inputs_.data(), static_cast<std::int64_t>(inputs_.size()), n_pixels,
                              is_odd_, sums);
    }

  private:
    struct Filter {
        std::int64_t row;
        FilterTaps taps;
    };
    bool is_odd_;
    core::AlignedVector<T>& weights_;
    std::vector<std::vector<Filter>> filters_;
    std::vector<FilterInput<T>> inputs_;
    std::int64_t halo_ = 0;
};

/// Pixels from, .. of a ring (counted in the band's way) times its weight.
template <class T, class Map>
void load_tile(const SumRing& ring, const Aligned& aligned, View<const Map, 1> map, std::int64_t from,
               std::int64_t count, T* row) {
    const std::int64_t n = ring.n_pixels;
    const Map* const pixels = map.data() + ring.first_pixel;
    const T weight = static_cast<T>(ring.weight);
    constexpr std::int64_t line = static_cast<std::int64_t>(core::cache_line / sizeof(Map));
    std::int64_t k = (from + aligned.rotation) % n;
    if (k < 0) k += n;
    while (count > 0) {
        const std::int64_t run = std::min(count, n - k);
        for (std::int64_t i = 0; i < run; i += line) __builtin_prefetch(pixels + k + count + i);
        for (std::int64_t i = 0; i < run; ++i) row[i] = weight * static_cast<T>(pixels[k + i]);
        row += run;
        count -= run;
        k = 0;
    }
}

template <class T, class Map>
void store_tile(const SumRing& ring, const Aligned& aligned, const T* sums, std::int64_t from,
                std::int64_t count, bool add, View<Map, 1> map) {
    Map* const pixels = map.data() + ring.first_pixel;
    std::int64_t k = (from + aligned.rotation) % ring.n_pixels;
    while (count > 0) {
        const std::int64_t run = std::min(count, ring.n_pixels - k);
        if (add)
            for (std::int64_t i = 0; i < run; ++i) pixels[k + i] = static_cast<Map>(pixels[k + i] + sums[i]);
        else
            for (std::int64_t i = 0; i < run; ++i) pixels[k + i] = static_cast<Map>(sums[i]);
        sums += run;
        count -= run;
        k = 0;
    }
}

/// Input rings at a time.
std::size_t inputs_per_turn(const PixelSumSchedule& schedule, const RingBand& band,
                            const std::vector<std::int64_t>& inputs) {
    double taps = 1;
    for (const std::int64_t input : inputs) {
        const double width = schedule.pair_half_width(band.outputs.front(), input);
        taps = std::max(
            taps, width / (2 * std::numbers::pi) * static_cast<double>(schedule.inputs()[input].n_pixels));
    }
    const double bytes_per_input = 8 * taps * static_cast<double>(band.outputs.size() + filter_rings);
    return static_cast<std::size_t>(std::max(1., weight_bytes / bytes_per_input));
}

/// The rows of a tile, apart by an odd number of cache lines, so that they do not fall on each other's place
/// in the cache.
template <class T>
std::int64_t row_stride(std::int64_t pixels) {
    constexpr std::int64_t line = static_cast<std::int64_t>(core::cache_line / sizeof(T));
    return ((pixels + line - 1) / line | 1) * line;
}

}  // namespace

template <class T, class Map>
void sum_equal_band(const SumPass<Map>& pass, const RingBand& band, SumScratch<T>& scratch) {
    const PixelSumSchedule& schedule = pass.schedule;
    const std::vector<FilterBlock> blocks = filter_blocks(schedule, band);
    const std::vector<std::int64_t> all_inputs = filter_inputs(schedule, band);
    const std::size_t per_turn = inputs_per_turn(schedule, band, all_inputs);
    const double reference = schedule.reference_phi(band.outputs.front());
    const std::int64_t n = schedule.outputs()[band.outputs.front()].n_pixels;
    const core::InterruptionPoll poll;
    std::size_t begin = 0;
    do {
        std::vector<std::int64_t> inputs;
        for (std::size_t i = begin; i < std::min(begin + per_turn, all_inputs.size()); ++i)
            if (!pass.is_spread(all_inputs[i], PairKind::equal)) inputs.push_back(all_inputs[i]);
        std::vector<Aligned> aligned;
        aligned.reserve(inputs.size());
        for (const std::int64_t input : inputs) aligned.push_back(align(reference, schedule.inputs()[input]));
        BandFilters<T> filters(schedule, pass.kernel, blocks, inputs, aligned, scratch.weights);
        const std::int64_t unit = filter_unit<T>, halo = filters.halo();
        const std::int64_t tile = std::max<std::int64_t>(4, std::min(2 * halo, n) / unit) * unit;
        const std::int64_t stride = row_stride<T>(tile + 2 * halo);
        scratch.rows.resize(inputs.size() * static_cast<std::size_t>(stride));
        scratch.sums.resize(static_cast<std::size_t>(filter_rings * tile));
        for (std::int64_t map = 0; map < pass.in.extent(0); ++map)
            for (std::int64_t from = 0; from < n; from += tile) {
                poll();
                bool is_empty = true;  // as most tiles of a small part of the sky
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                    T* const row = scratch.rows.data() + static_cast<std::int64_t>(i) * stride;
                    if (pass.is_spread(map, inputs[i], PairKind::equal)) {
                        std::fill_n(row, tile + 2 * halo, T(0));
                        continue;
                    }
                    load_tile(schedule.inputs()[inputs[i]], aligned[i], pass.in[map], from - halo,
                              tile + 2 * halo, row);
                    is_empty =
                        is_empty && std::all_of(row, row + tile + 2 * halo, [](T x) { return x == 0; });
                }
                if (is_empty) std::fill(scratch.sums.begin(), scratch.sums.end(), T(0));
                for (std::size_t b = 0; b < blocks.size(); ++b) {
                    if (!is_empty) filters.apply(b, scratch.rows.data(), stride, tile, scratch.sums.data());
                    for (std::size_t r = 0; r < blocks[b].outputs.size(); ++r) {
                        const SumRing& out = schedule.outputs()[blocks[b].outputs[r]];
                        store_tile(out, align(reference, out),
                                   scratch.sums.data() + static_cast<std::int64_t>(r) * tile, from,
                                   std::min(tile, n - from), pass.add || begin > 0, pass.out[map]);
                    }
                }
            }
        begin += per_turn;
    } while (begin < all_inputs.size());
}

template void sum_equal_band(const SumPass<float>&, const RingBand&, SumScratch<float>&);
template void sum_equal_band(const SumPass<float>&, const RingBand&, SumScratch<double>&);
template void sum_equal_band(const SumPass<double>&, const RingBand&, SumScratch<float>&);
template void sum_equal_band(const SumPass<double>&, const RingBand&, SumScratch<double>&);

}  // namespace zonal::radial
