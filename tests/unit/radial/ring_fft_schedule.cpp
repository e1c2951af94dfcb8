// The order in which CUDA sums over rings, carried out in plain loops.
#include "radial/ring_fft/schedule.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <utility>

#include "convolution_helpers.hpp"

namespace zonal::radial {
namespace {

using test::degree;
using test::random_map;

using Modes = std::vector<std::complex<double>>;

/// What a row is samples of.
struct Samples {
    ChordOfLongitude chord;
    Turn turn;
    bool is_minus;
    std::int64_t length, parity;
};

/// k_m of a row sampled at x_j = pi (parity + 2 j) / length, m of either sign.
double mode_of(const RingFftGeometry& geometry, const Samples& row, std::int64_t m) {
    double sum = 0;
    for (std::int64_t q = row.parity; q <= row.length; q += 2) {
        const double x = std::numbers::pi * static_cast<double>(q) / static_cast<double>(row.length);
        const double weight = (q == 0 || q == row.length ? 1.0 : 2.0) / static_cast<double>(row.length);
        const double value = weight * geometry.value(row.chord.chord_squared(x), row.is_minus);
        const auto power = row.turn.fourth_power(std::cos(x / 2), std::sin(x / 2));
        const double angle = static_cast<double>(m) * x;
        sum += geometry.is_polarized() ? value * (power.even * std::cos(angle) + power.odd * std::sin(angle))
                                       : value * std::cos(angle);
    }
    return sum;
}

/// Adds mode m of a row to the components of an output ring on one side; to, from: where its modes and those
/// of the input's ring start.
void add_products(const RingFftGeometry& geometry, const SumSchedule& schedule, const Samples& row,
                  std::int64_t m, double factor, int side, std::int64_t to, std::int64_t from,
                  const Modes& input, Modes& output) {
    for (int c = 0; c < geometry.n_components(); ++c) {
        const bool opposite = (c ^ side) == 1 && geometry.is_polarized();
        const int source = row.is_minus ? 1 - c : c;
        output[c * schedule.n_output_modes + to + m] += factor * mode_of(geometry, row, opposite ? -m : m) *
                                                        input[source * schedule.n_input_modes + from + m];
    }
}

/// G(m) from the rows one by one.
Modes summed_by_rows(const RingFftGeometry& geometry, const SumSchedule& schedule, const Modes& input) {
    Modes output(geometry.n_components() * schedule.n_output_modes);
    for (const std::int64_t node : geometry.outputs())
        geometry.for_each_row(node, [&](const KernelRow& row, std::int64_t) {
            if (row.kind != RowKind::equal && row.kind != RowKind::exact) return;
            for (int side = 0; side < 2; ++side) {
                const std::int64_t to = schedule.output_modes[2 * node + side];
                const std::int64_t from =
                    schedule.input_modes[2 * row.node + (row.crosses ? 1 - side : side)];
                if (to < 0 || from < 0) continue;
                for (std::int64_t m = 0; m < row.n_modes; ++m) {
                    const bool half = row.halves_last_mode() && m + 1 == row.n_modes;
                    add_products(geometry, schedule,
                                 {row.chord, row.turn, row.is_minus, row.length, row.parity}, m,
                                 half ? 0.5 : 1.0, side, to, from, input, output);
                }
            }
        });
    return output;
}

Modes summed_by_groups(const RingFftGeometry& geometry, const SumSchedule& schedule, const Modes& input) {
    Modes output(geometry.n_components() * schedule.n_output_modes);
    for (const SumGroup& group : schedule.groups)
        for (std::int64_t c = group.first_class; c < group.end_class; ++c) {
            const SumClass& shape = schedule.classes[c];
            for (std::int64_t e = shape.first; e < shape.end; ++e) {
                const SumEntry& entry = schedule.entries[e];
                EXPECT_EQ(schedule.class_of[e], c);
                for (int a = 0; a < group_size; ++a)
                    for (int side = 0; side < 2; ++side) {
                        if (group.modes[a][side] < 0 || entry.modes[side] < 0) continue;
                        const Turn turn = geometry.is_polarized() ? schedule.turns[e].of[a] : Turn{};
                        for (std::int64_t m = 0; m < std::min(group.n_modes[a], entry.limit); ++m) {
                            if (m >= shape.n_modes || entry.chord[a].offset > 4) continue;
                            add_products(
                                geometry, schedule,
                                {entry.chord[a], turn, shape.is_minus != 0, shape.length, shape.parity}, m,
                                m == shape.halved ? 0.5 : 1.0, side, group.modes[a][side], entry.modes[side],
                                input, output);
                        }
                    }
            }
        }
    for (const SlicedRow& row : schedule.sliced_rows)
        for (int c = 0; c < geometry.n_components(); ++c)
            for (std::int64_t k = 0; k < row.n_slices; ++k)
                for (std::int64_t m = 0; m < row.n_modes; ++m) {
                    const auto first = output.begin() + c * schedule.n_output_modes + m;
                    first[row.sum] += std::exchange(first[row.slices + k * row.stride], 0);
                }
    return output;
}

/// Of a geometry with no direct rows, made to an accuracy.
void expect_same_sums(const RingFftGeometry& geometry, const SumSchedule& schedule, double accuracy) {
    ASSERT_TRUE(geometry.direct_rings().empty());
    const std::int64_t n = geometry.n_components() * schedule.n_input_modes;
    const auto random = random_map(2 * n);
    Modes input(n);
    for (std::size_t k = 0; k < input.size(); ++k) input[k] = {random[2 * k], random[2 * k + 1]};
    const Modes rows = summed_by_rows(geometry, schedule, input);
    const Modes groups = summed_by_groups(geometry, schedule, input);
    // Rows of a group may count modes that single ones leave out, which are below the accuracy.
    EXPECT_LT(test::relative_difference(groups, rows), accuracy) << geometry.grid().name();
}

/// By groups that are whole, and by slices of them where their entries are enough.
void expect_same_sums(const RingFftGeometry& geometry, double accuracy) {
    const SumSchedule whole(geometry), shared(geometry, {1000, 4});
    EXPECT_TRUE(whole.sliced_rows.empty());
    std::size_t n_slices = 0;
    for (const SumGroup& group : whole.groups)
        n_slices +=
            static_cast<std::size_t>(std::max<std::int64_t>(1, (group.end_entry - group.first_entry) / 8));
    EXPECT_EQ(shared.groups.size(), n_slices);
    EXPECT_EQ(shared.entries.size(), whole.entries.size());
    for (const SumSchedule* schedule : {&whole, &shared}) expect_same_sums(geometry, *schedule, accuracy);
}

TEST(RingFftSchedule, GroupsMakeTheSumsOfTheirRows) {
    for (const Grid& grid : {Grid::healpix(8), Grid::healpix(5), Grid::gauss_legendre(14, 20),
                             Grid::healpix(8).subset({0, 3, 4, 7, 8, 9, 14, 15, 16, 30})})
        for (const double fwhm : {20.0, 60.0}) {
            const double accuracy = 1e-12;
            const auto kernel = RadialKernel::gaussian(fwhm * degree);
            expect_same_sums(RingFftGeometry(grid, kernel, grid, accuracy), accuracy);
        }
}

TEST(RingFftSchedule, GroupsMakeTheSumsOfTheirRowsOfQAndU) {
    const PolarizationKernel both({0, 0, 1, -2, 3, 1, 2}, {0, 0, -2, 1, 1, 0.5});
    for (const Grid& grid : {Grid::healpix(4), Grid::gauss_legendre(10, 16),
                             Grid::healpix(8).subset({0, 3, 4, 7, 8, 9, 14, 15, 16, 30})})
        for (const PolarizationKernel& kernel : {both, PolarizationKernel::gaussian(40 * degree)}) {
            const double accuracy = 1e-12;
            expect_same_sums(RingFftGeometry(grid, kernel, grid, accuracy), accuracy);
        }
}

TEST(RingFftSchedule, SharesFewGroupsAmongTheBlocksWanted) {
    const Grid grid = Grid::healpix(16);
    const RingFftGeometry geometry(grid, RadialKernel::gaussian(60 * degree), grid, 1e-12);
    const auto count = [&](std::int64_t n_blocks) {
        return std::ssize(SumSchedule(geometry, {n_blocks, 1 << 20}).groups);
    };
    const std::int64_t n_groups = count(0);
    EXPECT_EQ(count(n_groups), n_groups);
    EXPECT_EQ(count(2 * n_groups + 2), 3 * n_groups);
}

}  // namespace
}  // namespace zonal::radial
