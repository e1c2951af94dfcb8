#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/host_device.hpp"
#include "core/multiply_add.hpp"
#include "radial/convolver.hpp"
#include "radial/kernels/sum_kernel.hpp"
#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/weights.hpp"

/// What the direct stage of the pixel sum on CUDA reads, made when a plan is.
namespace zonal::radial::cuda {

/// Pairs (output ring, input ring) for which no other way serves.
using DirectPairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// A tap's numbers: factor, shift, coefficients (pixel_sum_weights.hpp), padded to whole groups of four.
template <class T>
inline constexpr int tap_numbers = (weight_rows<T> + 3) / 4 * 4;

/// An input ring's part in one output ring: pixel k lies at x = k ratio + origin, in input pixels; tap j of
/// floor(x) is pixel floor(x) + j of the folded row from `first` on.
struct SquareTaps {
    double ratio, origin;
    std::int64_t first, first_weight;
    int n_taps, n_pieces;
};

/// What one output ring needs.
template <class T>
struct SquareTables {
    std::vector<SquareTaps> taps;      ///< first: still from pixel 0 on
    std::vector<std::int64_t> inputs;  ///< ascending
    std::vector<T> weights;            ///< [tap of a piece of a pair][tap_numbers]
    DirectPairs left_out;
};

/// Whether the tables of these rings, of one piece each, have no more than 2^28 numbers. Beyond that every
/// weight is evaluated where it is needed.
template <class T>
bool square_tables_fit(const PixelSumSchedule& schedule, const std::vector<std::int64_t>& outputs);

/// least_pixels: tables are made as if the ring had at least this many pixels; 0: none are made.
template <class T>
SquareTables<T> make_square_tables(const PixelSumSchedule& schedule, std::int64_t output,
                                   std::int64_t least_pixels);

/// A ring as the kernels need it.
struct CudaRing {
    std::int64_t first_pixel, n_pixels, rotation;
    double weight;
    int half;
};

/// Images of a pixel: turned by parts of the circle that take the pixels of all rings concerned onto each
/// other, and mirrored at the equator.
inline constexpr int most_turns = 4, most_sides = 2;

/// Sums for the images of a pixel.
template <class T, int sides, int turns, int components>
using ImageSums = T[sides][turns][components];

/// An output ring of the direct stage.
struct DirectRing {
    CudaRing side[most_sides];  ///< the ring and its mirror image; rotation: that much further the pixels lie
    int n_sides;                ///< 1: the mirror image is not concerned
    int n_turns;                ///< 1, 2 or 4; 4 where n_sides = 2
    bool is_set;                ///< by an earlier stage, so that sums are added
    std::int64_t first_pair, end_pair;
};

/// An input ring's part in it: pixel k lies at x = k ratio + origin, in input pixels, 0 <= origin <= n'; tap
/// j is input pixel floor(x) - left + j.
struct DirectPair {
    CudaRing side[most_sides];
    PairGeometry geometry;
    double ratio, origin;
    double half_pixel;              ///< half the longitude of an input pixel, rad
    double step_cosine, step_sine;  ///< of half_pixel
    double half_width[2];           ///< of the kernel's parts, in input pixels; negative: none is inside
    int left, n_taps, turn;         ///< turn: pixels of one
};

/// The radial kernel's table, or those of K+ and K-.
template <class T, int components>
struct KernelTables {
    ChordTableView<T> part[components];
};

template <class T, int components>
struct DirectView {
    const DirectRing* rings;
    const DirectPair* pairs;
    KernelTables<T, components> tables;
};

/// Taps from `begin` to `end`.
struct TapRange {
    int begin, end;
    ZONAL_HOST_DEVICE bool contains(int tap) const { return begin <= tap && tap < end; }
};

/// Taps that are no more than half_width from t, both in input pixels from tap 0.
ZONAL_HOST_DEVICE inline TapRange taps_inside(double t, double half_width, int n_taps) {
    const double begin = ceil(t - half_width), end = floor(t + half_width) + 1;
    return {begin > 0 ? static_cast<int>(begin) : 0, end < n_taps ? static_cast<int>(end) : n_taps};
}

/// cos and sin of half the difference of longitudes, from tap to tap.
struct HalfAngle {
    double cosine, sine;

    ZONAL_HOST_DEVICE explicit HalfAngle(double angle) : cosine(cos(angle)), sine(sin(angle)) {}
    ZONAL_HOST_DEVICE void step(const DirectPair& pair) {
        using core::multiply_add;
        const double before = cosine;
        cosine = multiply_add(cosine, pair.step_cosine, sine * pair.step_sine);
        sine = multiply_add(sine, pair.step_cosine, -(before * pair.step_sine));
    }
};

/// Steps before the angle is computed anew: so few roundings are far below the kernel's tables' errors.
inline constexpr int taps_per_angle = 32;

/// weights[to][from] of one tap; inside: for each part of the kernel.
template <class T, int components>
ZONAL_HOST_DEVICE inline void tap_weights(const PairGeometry& geometry,
                                          const KernelTables<T, components>& tables,
                                          const bool (&inside)[components], const HalfAngle& angle,
                                          T (&weights)[components][components]) {
    const T cosine = static_cast<T>(angle.cosine), sine = static_cast<T>(angle.sine);
    const T chord_squared = core::multiply_add(static_cast<T>(geometry.chord.factor), sine * sine,
                                               static_cast<T>(geometry.chord.offset));
    // What is inside but for rounding counts as at the edge.
    const auto value = [&](const ChordTableView<T>& table) {
        return evaluate(table, chord_squared < table.end ? chord_squared : table.end);
    };
    if constexpr (components == 1) {
        weights[0][0] = inside[0] ? value(tables.part[0]) : T(0);
    } else {
        T plus = 0, minus = 0;
        Turn::Power<T> p{}, q{};
        if (inside[0]) {
            plus = value(tables.part[0]);
            p = geometry.plus_turn().fourth_power(cosine, sine);
        }
        if (inside[1]) {
            minus = value(tables.part[1]);
            q = geometry.minus_turn().fourth_power(cosine, sine);
        }
        const PolarizedWeights<T> all = polarized_weights(plus, minus, p, q);
        weights[0][0] = all.qq;
        weights[0][1] = all.qu;
        weights[1][0] = all.uq;
        weights[1][1] = all.uu;
    }
}

/// Where a tap's images are in the input ring and its mirror image.
template <int sides, int turns>
struct TapImages {
    std::int32_t index[sides][turns];

    /// tap: from -n to 2n - 1.
    ZONAL_HOST_DEVICE TapImages(const DirectPair& pair, std::int64_t tap) {
        const std::int64_t n = pair.side[0].n_pixels;
        for (int side = 0; side < sides; ++side) {
            std::int64_t at = wrapped(wrapped(tap, n) + pair.side[side].rotation, n);
            for (int turn = 0; turn < turns; ++turn, at = wrapped(at + pair.turn, n))
                index[side][turn] = static_cast<std::int32_t>(at);
        }
    }
    ZONAL_HOST_DEVICE void step(const DirectPair& pair) {
        const auto n = static_cast<std::int32_t>(pair.side[0].n_pixels);
        for (auto& of_side : index)
            for (std::int32_t& at : of_side) at = at + 1 == n ? 0 : at + 1;
    }
};

/// Adds what one tap gives to all images.
template <int sides, int turns, class T, int components, class Map>
ZONAL_HOST_DEVICE inline void add_tap(const DirectPair& pair, const TapImages<sides, turns>& images,
                                      const T (&weights)[components][components], const Fields<const Map>& in,
                                      ImageSums<T, sides, turns, components>& sums) {
    for (int side = 0; side < sides; ++side) {
        const Map* const pixels = in.pixels + pair.side[side].first_pixel;
        for (int turn = 0; turn < turns; ++turn)
            for (int from = 0; from < components; ++from) {
                const T value = static_cast<T>(pixels[from * in.stride + images.index[side][turn]]);
                for (int to = 0; to < components; ++to) {
                    const bool is_opposite = side == 1 && to != from;
                    const T weight = is_opposite ? -weights[to][from] : weights[to][from];
                    sums[side][turn][to] = core::multiply_add(weight, value, sums[side][turn][to]);
                }
            }
    }
}

/// Adds an input ring's own sums times its weight: in two steps, as fewer roundings add up.
template <int sides, int turns, class T, int components>
ZONAL_HOST_DEVICE inline void add_ring(const DirectPair& pair,
                                       const ImageSums<T, sides, turns, components>& of_ring,
                                       ImageSums<T, sides, turns, components>& sums) {
    for (int side = 0; side < sides; ++side) {
        const T weight = static_cast<T>(pair.side[side].weight);
        for (int turn = 0; turn < turns; ++turn)
            for (int c = 0; c < components; ++c)
                sums[side][turn][c] = core::multiply_add(weight, of_ring[side][turn][c], sums[side][turn][c]);
    }
}

/// Adds an input ring's part in the sums for pixel k and its images.
template <int sides, int turns, class T, int components, class Map>
ZONAL_HOST_DEVICE inline void add_pair(const DirectPair& pair, const KernelTables<T, components>& tables,
                                       std::int64_t k, const Fields<const Map>& in,
                                       ImageSums<T, sides, turns, components>& sums) {
    const double x = core::multiply_add(static_cast<double>(k), pair.ratio, pair.origin), below = floor(x);
    const double t = x - below + pair.left;
    TapRange inside[components], all{pair.n_taps, 0};
    for (int part = 0; part < components; ++part) {
        inside[part] = taps_inside(t, pair.half_width[part], pair.n_taps);
        if (inside[part].begin >= inside[part].end) continue;
        all.begin = inside[part].begin < all.begin ? inside[part].begin : all.begin;
        all.end = inside[part].end > all.end ? inside[part].end : all.end;
    }
    if (all.begin >= all.end) return;
    const std::int64_t first = static_cast<std::int64_t>(below) - pair.left;
    TapImages<sides, turns> images(pair, wrapped(first, pair.side[0].n_pixels) + all.begin);
    ImageSums<T, sides, turns, components> of_ring = {};
    for (int from = all.begin; from < all.end; from += taps_per_angle) {
        const int end = from + taps_per_angle < all.end ? from + taps_per_angle : all.end;
        HalfAngle angle((t - from) * pair.half_pixel);
        for (int tap = from; tap < end; ++tap) {
            bool is_inside[components];
            for (int part = 0; part < components; ++part) is_inside[part] = inside[part].contains(tap);
            T weights[components][components];
            tap_weights(pair.geometry, tables, is_inside, angle, weights);
            add_tap<sides, turns>(pair, images, weights, in, of_ring);
            images.step(pair);
            angle.step(pair);
        }
    }
    add_ring<sides, turns>(pair, of_ring, sums);
}

template <int sides, int turns, class T, int components, class Map>
ZONAL_HOST_DEVICE inline void sum_images(const DirectView<T, components>& direct, const DirectRing& ring,
                                         std::int64_t k, const Fields<const Map>& in,
                                         const Fields<Map>& out) {
    ImageSums<T, sides, turns, components> sums = {};
    for (std::int64_t p = ring.first_pair; p < ring.end_pair; ++p)
        add_pair<sides, turns>(direct.pairs[p], direct.tables, k, in, sums);
    const std::int64_t n = ring.side[0].n_pixels;
    for (int side = 0; side < sides; ++side) {
        std::int64_t place = wrapped(k + ring.side[side].rotation, n);
        for (int turn = 0; turn < turns; ++turn, place = wrapped(place + n / turns, n))
            for (int c = 0; c < components; ++c) {
                Map& pixel = out.pixels[c * out.stride + ring.side[side].first_pixel + place];
                const T sum = sums[side][turn][c];
                pixel = static_cast<Map>(ring.is_set ? static_cast<T>(pixel) + sum : sum);
            }
    }
}

/// The sums for pixel k of a ring and its images, 0 <= k < n_pixels / n_turns.
template <class T, int components, class Map>
ZONAL_HOST_DEVICE inline void sum_pixel(const DirectView<T, components>& direct, const DirectRing& ring,
                                        std::int64_t k, const Fields<const Map>& in, const Fields<Map>& out) {
    if (ring.n_sides == 2)
        sum_images<2, 4>(direct, ring, k, in, out);
    else if (ring.n_turns == 4)
        sum_images<1, 4>(direct, ring, k, in, out);
    else if (ring.n_turns == 2)
        sum_images<1, 2>(direct, ring, k, in, out);
    else
        sum_images<1, 1>(direct, ring, k, in, out);
}

inline CudaRing cuda_ring(const SumRing& ring) {
    return {ring.first_pixel, ring.n_pixels, ring.rotation, ring.weight, ring.half};
}

/// Some pixels of a ring, or of a band: what a block does.
struct CudaTask {
    int index;
    std::int64_t first;
};

/// Pixels of a task, a thread for each and its images: two warps, as the rings of caps are short.
inline constexpr int direct_threads = 64;

struct DirectTables {
    std::vector<DirectRing> rings;
    std::vector<DirectPair> pairs;
    std::vector<CudaTask> tasks;
};

/// pairs: in any order. sets_lone_rings: those output rings that are alone have not been set before, and are
/// where they have no pairs too.
DirectTables make_direct_tables(const PixelSumSchedule& schedule, const DirectPairs& pairs,
                                bool sets_lone_rings);

}  // namespace zonal::radial::cuda
