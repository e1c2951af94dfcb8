#include "radial/pixel_sum/cuda_tables.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "radial/pixel_sum/images.hpp"
#include "radial/pixel_sum/weights.hpp"

namespace zonal::radial::cuda {
namespace {

/// A ring's mirror image; rotation: of the image's pixels against the ring's.
CudaRing mirror_image(const SumRing& ring, const SumRing& mirrored) {
    CudaRing image = cuda_ring(mirrored);
    image.rotation = modulo(mirrored.rotation - ring.rotation, ring.n_pixels);
    return image;
}

CudaRing itself(const SumRing& ring) {
    CudaRing image = cuda_ring(ring);
    image.rotation = 0;
    return image;
}

class TableMaker {
  public:
    TableMaker(const PixelSumSchedule& schedule, const DirectPairs& pairs, bool sets_lone_rings)
        : schedule_(schedule),
          sets_lone_rings_(sets_lone_rings),
          inputs_(static_cast<std::size_t>(schedule.outputs().size())) {
        for (const auto& [output, input] : pairs) inputs_[static_cast<std::size_t>(output)].push_back(input);
        for (auto& inputs : inputs_) std::sort(inputs.begin(), inputs.end());
    }

    DirectTables make() {
        for (std::int64_t output = 0; output < schedule_.outputs().size(); ++output) {
            const bool is_set = !(sets_lone_rings_ && schedule_.is_alone(output));
            if (inputs_of(output).empty() && is_set) continue;
            const bool is_paired = goes_with_mirror(output);
            if (is_paired && schedule_.outputs()[output].mirror < output) continue;
            add_ring(output, is_paired, is_set);
        }
        return std::move(tables_);
    }

  private:
    const std::vector<std::int64_t>& inputs_of(std::int64_t output) const {
        return inputs_[static_cast<std::size_t>(output)];
    }

    /// Whether the mirrored ring has the mirrored pairs.
    bool goes_with_mirror(std::int64_t output) const {
        if (!schedule_.is_paired(output)) return false;
        const std::int64_t mirror = schedule_.outputs()[output].mirror;
        if (schedule_.is_alone(output) != schedule_.is_alone(mirror)) return false;
        std::vector<std::int64_t> mirrored;
        for (const std::int64_t input : inputs_of(output))
            mirrored.push_back(schedule_.inputs()[input].mirror);
        std::sort(mirrored.begin(), mirrored.end());
        return mirrored == inputs_of(mirror);
    }

    void add_ring(std::int64_t output, bool is_paired, bool is_set) {
        const SumRing& out = schedule_.outputs()[output];
        std::int64_t n_turns = std::gcd(out.n_pixels, std::int64_t{most_turns});
        for (const std::int64_t input : inputs_of(output))
            n_turns = std::gcd(n_turns, schedule_.inputs()[input].n_pixels);
        for (std::int64_t k = 0; k < out.n_pixels / n_turns; k += direct_threads)
            tables_.tasks.push_back({static_cast<int>(tables_.rings.size()), k});
        DirectRing ring{{itself(out), itself(out)},
                        is_paired ? 2 : 1,
                        static_cast<int>(n_turns),
                        is_set,
                        static_cast<std::int64_t>(tables_.pairs.size()),
                        0};
        if (is_paired) ring.side[1] = mirror_image(out, schedule_.outputs()[out.mirror]);
        for (const std::int64_t input : inputs_of(output))
            add_pair(out, schedule_.inputs()[input], is_paired, n_turns);
        ring.end_pair = static_cast<std::int64_t>(tables_.pairs.size());
        tables_.rings.push_back(ring);
    }

    void add_pair(const SumRing& out, const SumRing& in, bool is_paired, std::int64_t n_turns) {
        const PairTaps taps(out, in, schedule_.kernel().limit());
        const auto n = static_cast<double>(in.n_pixels);
        const double origin = (out.phi_0 - in.phi_0) / taps.pixel;
        DirectPair pair{{itself(in), itself(in)},
                        taps.geometry,
                        n / static_cast<double>(out.n_pixels),
                        origin - std::floor(origin / n) * n,
                        0.5 * taps.pixel,
                        std::cos(0.5 * taps.pixel),
                        std::sin(0.5 * taps.pixel),
                        {half_width_of(taps, schedule_.kernel().plus(), n),
                         half_width_of(taps, schedule_.kernel().minus(), n)},
                        static_cast<int>(taps.left),
                        static_cast<int>(taps.n_taps),
                        static_cast<int>(in.n_pixels / n_turns)};
        if (is_paired) pair.side[1] = mirror_image(in, schedule_.inputs()[in.mirror]);
        tables_.pairs.push_back(pair);
    }

    /// The whole ring's is a pixel more than any tap is away.
    static double half_width_of(const PairTaps& taps, const SumKernel::Part& part, double n_pixels) {
        const double width = half_width(taps.geometry.chord, part.limit);
        return width >= std::numbers::pi ? n_pixels : width / taps.pixel;
    }

    const PixelSumSchedule& schedule_;
    const bool sets_lone_rings_;
    std::vector<std::vector<std::int64_t>> inputs_;  ///< [output], ascending
    DirectTables tables_;
};

}  // namespace

DirectTables make_direct_tables(const PixelSumSchedule& schedule, const DirectPairs& pairs,
                                bool sets_lone_rings) {
    return TableMaker(schedule, pairs, sets_lone_rings).make();
}

namespace {

/// Numbers of all tables together, at most: beyond it every weight is evaluated where it is needed.
constexpr double max_numbers = 1 << 28;

/// From [piece][row][stride] to [piece][tap][tap_numbers].
template <class T>
void append_table(const PairTable<T>& table, std::int64_t n_taps, std::vector<T>& weights) {
    for (std::int64_t piece = 0; piece < table.n_pieces; ++piece)
        for (std::int64_t j = 0; j < n_taps; ++j)
            for (int row = 0; row < tap_numbers<T>; ++row)
                weights.push_back(row < weight_rows<T>
                                      ? table.rows[(piece * weight_rows<T> + row) * table.stride + j]
                                      : T(0));
}

}  // namespace

template <class T>
bool square_tables_fit(const PixelSumSchedule& schedule, const std::vector<std::int64_t>& outputs) {
    double numbers = 0;
    for (const std::int64_t output : outputs)
        for (const std::int64_t input : schedule.near(output, PairKind::square)) {
            const PairTaps taps(schedule.outputs()[output], schedule.inputs()[input],
                                schedule.kernel().limit());
            numbers += static_cast<double>(taps.n_taps) * tap_numbers<T>;
        }
    return numbers <= max_numbers;
}

template <class T>
SquareTables<T> make_square_tables(const PixelSumSchedule& schedule, std::int64_t output,
                                   std::int64_t least_pixels) {
    SquareTables<T> part;
    const SumRing& out = schedule.outputs()[output];
    PairTableScratch<T> scratch;
    for (const std::int64_t input : schedule.near(output, PairKind::square)) {
        const SumRing& in = schedule.inputs()[input];
        const PairTaps taps(out, in, schedule.kernel().limit());
        const std::int64_t pixels = least_pixels == 0 ? 0 : std::max(least_pixels, n_distinct(out));
        const PairTable<T> table =
            make_pair_table(taps, schedule.kernel(), schedule.tolerance(), pixels, scratch);
        if (table.n_pieces == 0) {
            part.left_out.emplace_back(output, input);
            if (schedule.is_paired(output)) part.left_out.emplace_back(out.mirror, in.mirror);
            continue;
        }
        const PixelPositions positions = positions_of(out, in);
        const double denominator = static_cast<double>(positions.denominator);
        part.inputs.push_back(input);
        part.taps.push_back({static_cast<double>(positions.step) / denominator,
                             static_cast<double>(positions.first) / denominator, -taps.left,
                             static_cast<std::int64_t>(part.weights.size()), static_cast<int>(taps.n_taps),
                             static_cast<int>(table.n_pieces)});
        append_table(table, taps.n_taps, part.weights);
    }
    return part;
}

template bool square_tables_fit<float>(const PixelSumSchedule&, const std::vector<std::int64_t>&);
template bool square_tables_fit<double>(const PixelSumSchedule&, const std::vector<std::int64_t>&);
template SquareTables<float> make_square_tables(const PixelSumSchedule&, std::int64_t, std::int64_t);
template SquareTables<double> make_square_tables(const PixelSumSchedule&, std::int64_t, std::int64_t);

}  // namespace zonal::radial::cuda
