#include <algorithm>
#include <array>
#include <cmath>

#include "core/interruption.hpp"
#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/kernels.hpp"
#include "radial/pixel_sum/stages.hpp"

// The symmetries of a square (4 rotations, the reflection phi -> -phi) and the mirror theta -> pi - theta
// give every pixel 16 images, which need the same weights. Rings are folded, [pixel][image], so that images
// are vector lanes and a weight serves all of them; only pixels up to phi = pi/4 are summed.
namespace zonal::radial {
namespace {

/// Pixels of which weights are made at once.
constexpr std::int64_t pixels_at_once = 32;
/// Calls visit(first, count, index, direction) for runs of pixels k that are apart by `direction` in the
/// ring.
template <class Visit>
void for_each_run(const SumRing& ring, std::int64_t image, std::int64_t from, std::int64_t count,
                  const Visit& visit) {
    const Image place = image_of(ring, image);
    std::int64_t done = 0;
    while (done < count) {
        const std::int64_t index = modulo(place.start + place.direction * (from + done), ring.n_pixels);
        const std::int64_t room = place.direction > 0 ? ring.n_pixels - index : index + 1;
        const std::int64_t run = std::min(room, count - done);
        visit(done, run, index, place.direction);
        done += run;
    }
}

/// The sign of an image of a field that changes sign under reflections, of longitude and of colatitude.
template <class T>
T sign_of(bool is_odd, std::int64_t image) {
    const bool reflected = (image & 4) != 0, mirrored = (image & 8) != 0;
    return is_odd && reflected != mirrored ? T(-1) : T(1);
}

template <class T>
using FoldBlock = T[n_images * fold_pixels];

/// row[k - from][image] of count pixels, times the rings' weights; 0 of rings that are null.
template <class T, class Map>
void fold_row(const SumRing* ring, const SumRing* mirrored, bool is_odd, View<const Map, 1> map,
              std::int64_t from, std::int64_t count, T* row) {
    alignas(core::cache_line) FoldBlock<T> images = {};
    for (std::int64_t begin = 0; begin < count; begin += fold_pixels) {
        const std::int64_t size = std::min(fold_pixels, count - begin);
        for (std::int64_t image = 0; image < n_images; ++image) {
            const SumRing* const source = image < n_images / 2 ? ring : mirrored;
            if (source == nullptr) continue;
            const T weight = sign_of<T>(is_odd, image) * static_cast<T>(source->weight);
            for_each_run(*source, image, from + begin, size,
                         [&](std::int64_t first, std::int64_t run, std::int64_t index, std::int64_t step) {
                             const Map* const in = map.data() + source->first_pixel + index;
                             T* const out = images + image * fold_pixels + first;
                             if (step > 0)
                                 for (std::int64_t k = 0; k < run; ++k)
                                     out[k] = weight * static_cast<T>(in[k]);
                             else
                                 for (std::int64_t k = 0; k < run; ++k)
                                     out[k] = weight * static_cast<T>(in[-k]);
                         });
        }
        sum_loops<T>().images_to_lanes(images, size, row + begin * n_images);
    }
}

/// Adds the sums of pixels [begin, end) of an image to its ring, or sets these to them.
template <class T, class Map>
void unfold_image(const SumRing& ring, std::int64_t image, std::int64_t begin, std::int64_t end, T sign,
                  const T* sums, bool add, View<Map, 1> map) {
    for_each_run(ring, image, begin, end - begin,
                 [&](std::int64_t first, std::int64_t run, std::int64_t index, std::int64_t step) {
                     Map* const out = map.data() + ring.first_pixel + index;
                     const T* const in = sums + first;
                     if (add)
                         for (std::int64_t k = 0; k < run; ++k)
                             out[step * k] = static_cast<Map>(out[step * k] + sign * in[k]);
                     else if (step > 0)
                         for (std::int64_t k = 0; k < run; ++k) out[k] = static_cast<Map>(sign * in[k]);
                     else
                         for (std::int64_t k = 0; k < run; ++k) out[-k] = static_cast<Map>(sign * in[k]);
                 });
}

/// The folded sums to the rings.
template <class T, class Map>
void unfold(const SumRing& ring, const SumRing* mirrored, bool is_odd, const T* sums, bool add,
            View<Map, 1> map) {
    alignas(core::cache_line) FoldBlock<T> images;
    const std::int64_t count = n_distinct(ring);
    for (std::int64_t begin = 0; begin < count; begin += fold_pixels) {
        const std::int64_t size = std::min(fold_pixels, count - begin);
        sum_loops<T>().lanes_to_images(sums + begin * n_images, size, images);
        for (std::int64_t image = 0; image < n_images; ++image) {
            const SumRing* const target = image < n_images / 2 ? &ring : mirrored;
            if (target == nullptr) continue;
            const OwnPixels own = own_pixels(ring, image);
            const std::int64_t first = std::max(own.first, begin), end = std::min(own.end, begin + size);
            if (first < end)
                unfold_image(*target, image, first, end, sign_of<T>(is_odd, image),
                             images + image * fold_pixels + first - begin, add, map);
        }
    }
}

/// One band's work.
template <class T, class Map>
class SquareBand {
  public:
    SquareBand(const SumPass<Map>& pass, const RingBand& band, SumScratch<T>& scratch)
        : pass_(pass), schedule_(pass.schedule), band_(band), scratch_(scratch), n_maps_(pass.in.extent(0)) {
        for (const std::int64_t output : band.outputs) {
            first_sum_.push_back(n_pixels_);
            n_pixels_ += n_distinct(schedule_.outputs()[output]);
            near_.push_back(schedule_.near(output, PairKind::square));
        }
        scratch.sums.assign(static_cast<std::size_t>(n_maps_ * n_pixels_ * n_images), T(0));
    }

    void run() {
        std::vector<std::int64_t> inputs;
        for (const auto& near : near_) inputs.insert(inputs.end(), near.begin(), near.end());
        std::sort(inputs.begin(), inputs.end());
        inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
        const core::InterruptionPoll poll;
        for (const std::int64_t input : inputs) {
            poll();
            find_rows(input);
            if (!rows_.empty()) add_input(input);
        }
        for (std::size_t i = 0; i < band_.outputs.size(); ++i) {
            const SumRing& ring = schedule_.outputs()[band_.outputs[i]];
            const SumRing* const mirrored =
                schedule_.is_paired(band_.outputs[i]) ? &schedule_.outputs()[ring.mirror] : nullptr;
            for (std::int64_t map = 0; map < n_maps_; ++map)
                unfold(ring, mirrored, pass_.out_is_odd, sums(map, i),
                       pass_.add || !schedule_.is_alone(band_.outputs[i]), pass_.out[map]);
        }
    }

  private:
    T* sums(std::int64_t map, std::size_t i) {
        return scratch_.sums.data() + (map * n_pixels_ + first_sum_[i]) * n_images;
    }

    /// The input ring and its mirror image in the maps where not both are spread.
    void find_rows(std::int64_t input) {
        rows_.clear();
        const SumRing& in = schedule_.inputs()[input];
        for (std::int64_t map = 0; map < n_maps_; ++map) {
            const bool has_mirror =
                schedule_.both_mirrored() && !pass_.is_spread(map, in.mirror, PairKind::square);
            const Row row{map, pass_.is_spread(map, input, PairKind::square) ? nullptr : &in,
                          has_mirror ? &schedule_.inputs()[in.mirror] : nullptr};
            if (row.ring != nullptr || row.mirrored != nullptr) rows_.push_back(row);
        }
    }

    void add_input(std::int64_t input) {
        const SumRing& in = schedule_.inputs()[input];
        // The pixels of the input ring that any of the outputs needs.
        std::int64_t from = 0, end = 0;
        std::vector<std::size_t> outputs;
        for (std::size_t i = 0; i < near_.size(); ++i) {
            if (!std::binary_search(near_[i].begin(), near_[i].end(), input)) continue;
            const SumRing& out = schedule_.outputs()[band_.outputs[i]];
            const PairTaps taps(out, in, schedule_.kernel().limit());
            const PixelPositions positions = positions_of(out, in);
            const std::int64_t first = base_at(positions, 0) - taps.left;
            const std::int64_t last = base_at(positions, n_distinct(out) - 1) - taps.left;
            from = outputs.empty() ? first : std::min(from, first);
            end = std::max(outputs.empty() ? last : end, last + padded_taps(taps.n_taps));
            outputs.push_back(i);
        }
        const std::int64_t row_size = (end - from) * n_images;
        scratch_.rows.resize(rows_.size() * static_cast<std::size_t>(row_size));
        T* row = scratch_.rows.data();
        for (const auto& [map, ring, mirrored] : rows_) {
            fold_row(ring, mirrored, pass_.in_is_odd, pass_.in[map], from, end - from, row);
            row += row_size;
        }
        for (const std::size_t i : outputs) add_pair(i, in, from, row_size);
    }

    void add_pair(std::size_t i, const SumRing& in, std::int64_t from, std::int64_t row_size) {
        const SumRing& out = schedule_.outputs()[band_.outputs[i]];
        const SumKernel& kernel = pass_.kernel;
        const PairTaps taps(out, in, kernel.limit());
        const PixelPositions positions = positions_of(out, in);
        const std::int64_t count = n_distinct(out);
        const PairTable<T> table =
            make_pair_table(taps, kernel, schedule_.tolerance(), count, scratch_.table);
        scratch_.weights.assign(static_cast<std::size_t>(pixels_at_once * table.stride), T(0));
        std::array<std::int64_t, pixels_at_once> bases;
        T* const weights = scratch_.weights.data();
        const std::int64_t row_begin = (-taps.left - from) * n_images;
        for (std::int64_t k = 0; k < count; k += pixels_at_once) {
            const std::int64_t size = std::min(pixels_at_once, count - k);
            if (table.n_pieces > 0)
                sum_loops<T>().weights_of_pixels(table, positions, k, size, weights, bases.data());
            else
                evaluate_weights(taps, positions, k, size, table.stride, weights, bases.data());
            const T* row = scratch_.rows.data() + row_begin;
            for (const Row& of : rows_) {
                sum_loops<T>().add_images(weights, table.stride, taps.n_taps, bases.data(), size, row,
                                          sums(of.map, i) + k * n_images);
                row += row_size;
            }
        }
    }

    void evaluate_weights(const PairTaps& taps, const PixelPositions& positions, std::int64_t first,
                          std::int64_t count, std::int64_t stride, T* weights, std::int64_t* bases) {
        const double denominator = static_cast<double>(positions.denominator);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t numerator = positions.first + (first + i) * positions.step;
            bases[i] = base_at(positions, first + i);
            const double t = static_cast<double>(modulo(numerator, positions.denominator)) / denominator;
            taps.evaluate(pass_.kernel, t, weights + i * stride);
        }
    }

    const SumPass<Map>& pass_;
    const PixelSumSchedule& schedule_;
    const RingBand& band_;
    SumScratch<T>& scratch_;
    std::int64_t n_maps_, n_pixels_ = 0;
    std::vector<std::int64_t> first_sum_;
    std::vector<std::vector<std::int64_t>> near_;
    /// A row of folded input: a ring and its mirror image, null where the row has none of it.
    struct Row {
        std::int64_t map;
        const SumRing *ring, *mirrored;
    };
    std::vector<Row> rows_;
};

}  // namespace

template <class T, class Map>
void add_square_band(const SumPass<Map>& pass, const RingBand& band, SumScratch<T>& scratch) {
    SquareBand<T, Map>(pass, band, scratch).run();
}

template void add_square_band(const SumPass<float>&, const RingBand&, SumScratch<float>&);
template void add_square_band(const SumPass<float>&, const RingBand&, SumScratch<double>&);
template void add_square_band(const SumPass<double>&, const RingBand&, SumScratch<float>&);
template void add_square_band(const SumPass<double>&, const RingBand&, SumScratch<double>&);

}  // namespace zonal::radial
