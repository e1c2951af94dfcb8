#include "radial/pixel_sum/square_tables.hpp"

#include <algorithm>

#include "radial/pixel_sum/images.hpp"

namespace zonal::radial::cuda {
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
