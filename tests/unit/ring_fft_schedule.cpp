// The order in which CUDA sums over rings, carried out in plain loops.
#include "radial/ring_fft_schedule.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "convolution_helpers.hpp"

namespace zonal::radial {
namespace {

using tests::degree;
using tests::random_map;

using Modes = std::vector<std::complex<double>>;

/// k_m of a row sampled at x_j = pi (parity + 2 j) / length.
double mode_of(const RingFftGeometry& geometry, const ChordOfLongitude& chord, std::int64_t length,
               std::int64_t parity, std::int64_t m) {
    double sum = 0;
    for (std::int64_t q = parity; q <= length; q += 2) {
        const double x = std::numbers::pi * static_cast<double>(q) / static_cast<double>(length);
        const double weight = (q == 0 || q == length ? 1.0 : 2.0) / static_cast<double>(length);
        sum += weight * geometry.value(chord.chord_squared(x)) * std::cos(static_cast<double>(m) * x);
    }
    return sum;
}

/// G(m) from the rows one by one.
Modes summed_by_rows(const RingFftGeometry& geometry, const SumSchedule& schedule, const Modes& input) {
    Modes output(schedule.n_output_modes);
    for (const std::int64_t node : geometry.outputs()) {
        const RingFftGeometry::Window window = geometry.window(node);
        for (std::int64_t position = window.first; position < window.end; ++position) {
            const KernelRow row = geometry.row(node, position);
            if (row.kind != RowKind::equal && row.kind != RowKind::exact) continue;
            for (int side = 0; side < 2; ++side) {
                const std::int64_t to = schedule.output_modes[2 * node + side];
                const std::int64_t from =
                    schedule.input_modes[2 * row.node + (row.crosses ? 1 - side : side)];
                if (to < 0 || from < 0) continue;
                for (std::int64_t m = 0; m < row.n_modes; ++m) {
                    const bool half = row.halves_last_mode() && m + 1 == row.n_modes;
                    output[to + m] += (half ? 0.5 : 1.0) *
                                      mode_of(geometry, row.chord, row.length, row.parity, m) *
                                      input[from + m];
                }
            }
        }
    }
    return output;
}

Modes summed_by_groups(const RingFftGeometry& geometry, const SumSchedule& schedule, const Modes& input) {
    Modes output(schedule.n_output_modes);
    for (const SumGroup& group : schedule.groups)
        for (std::int64_t c = group.first_class; c < group.end_class; ++c) {
            const SumClass& shape = schedule.classes[c];
            for (std::int64_t e = shape.first; e < shape.end; ++e) {
                const SumEntry& entry = schedule.entries[e];
                EXPECT_EQ(schedule.class_of[e], c);
                for (int a = 0; a < group_size; ++a)
                    for (int side = 0; side < 2; ++side) {
                        if (group.modes[a][side] < 0 || entry.modes[side] < 0) continue;
                        for (std::int64_t m = 0; m < std::min(group.n_modes[a], entry.limit); ++m) {
                            if (m >= shape.n_modes || entry.chord[a].offset > 4) continue;
                            output[group.modes[a][side] + m] +=
                                (m == shape.halved ? 0.5 : 1.0) *
                                mode_of(geometry, entry.chord[a], shape.length, shape.parity, m) *
                                input[entry.modes[side] + m];
                        }
                    }
            }
        }
    return output;
}

TEST(RingFftSchedule, GroupsMakeTheSumsOfTheirRows) {
    for (const Grid& grid : {Grid::healpix(8), Grid::healpix(5), Grid::gauss_legendre(14, 20),
                             Grid::healpix(8).subset({0, 3, 4, 7, 8, 9, 14, 15, 16, 30})})
        for (const double fwhm : {20.0, 60.0}) {
            const double accuracy = 1e-12;
            const RingFftGeometry geometry(grid, RadialKernel::gaussian(fwhm * degree), grid, accuracy);
            ASSERT_TRUE(geometry.direct_rings().empty());
            const SumSchedule schedule(geometry);
            const auto random = random_map(2 * schedule.n_input_modes);
            Modes input(schedule.n_input_modes);
            for (std::size_t k = 0; k < input.size(); ++k) input[k] = {random[2 * k], random[2 * k + 1]};
            const Modes rows = summed_by_rows(geometry, schedule, input);
            const Modes groups = summed_by_groups(geometry, schedule, input);
            double most = 0, difference = 0;
            for (std::size_t k = 0; k < rows.size(); ++k) {
                most = std::max(most, std::abs(rows[k]));
                difference = std::max(difference, std::abs(rows[k] - groups[k]));
            }
            // Rows of a group may count modes that single ones leave out, which are below the accuracy.
            EXPECT_LT(difference, accuracy * most) << grid.name() << " " << fwhm;
        }
}

}  // namespace
}  // namespace zonal::radial
