#include "radial/pixel_sum_weights.hpp"

#include <algorithm>
#include <array>

namespace zonal::radial {
namespace {

constexpr int n_nodes = weight_degree + 1;
using Values = std::array<double, n_nodes>;

/// Between the nodes, where polynomial and function differ most.
constexpr std::array<double, 3> check_points = {-0.3826834323650898, 0., 0.9238795325112867};

double node(int i) {
    return std::cos((i + 0.5) * std::numbers::pi / n_nodes);
}

/// matrix[d][i]: coefficient d of the polynomial that is 1 at Chebyshev node i and 0 at the others.
struct NodesToPowers {
    std::array<Values, n_nodes> matrix{};

    NodesToPowers() {
        // T_k in powers, by T_{k+1} = 2 x T_k - T_{k-1}; a_k = (2 - delta_k0) / N sum_i f(x_i) T_k(x_i).
        std::array<Values, n_nodes> chebyshev{};
        chebyshev[0][0] = chebyshev[1][1] = 1;
        for (int k = 2; k < n_nodes; ++k)
            for (int d = 0; d < n_nodes; ++d)
                chebyshev[k][d] = (d > 0 ? 2 * chebyshev[k - 1][d - 1] : 0) - chebyshev[k - 2][d];
        for (int i = 0; i < n_nodes; ++i)
            for (int k = 0; k < n_nodes; ++k) {
                const double factor =
                    (k == 0 ? 1. : 2.) / n_nodes * std::cos(k * (i + 0.5) * std::numbers::pi / n_nodes);
                for (int d = 0; d < n_nodes; ++d) matrix[d][i] += factor * chebyshev[k][d];
            }
    }

    Values coefficients(const Values& values) const {
        Values powers{};
        for (int d = 0; d < n_nodes; ++d)
            for (int i = 0; i < n_nodes; ++i) powers[d] += matrix[d][i] * values[i];
        return powers;
    }
};

/// The part of 0 <= u <= 1 of a piece in which a tap is inside.
struct Inside {
    double middle, half;
};

Inside inside_of_piece(const PairTaps& taps, std::int64_t j, std::int64_t piece, std::int64_t n_pieces) {
    if (taps.is_whole) return {0.5, 0.5};
    const double centre = static_cast<double>(j - taps.left), pieces = static_cast<double>(n_pieces);
    const double from = (centre - taps.half_width_pixels) * pieces - static_cast<double>(piece);
    const double to = (centre + taps.half_width_pixels) * pieces - static_cast<double>(piece);
    const double begin = std::max(0., from), end = std::min(1., to);
    return {0.5 * (begin + end), 0.5 * (end - begin)};
}

/// Writes one tap's column of a piece; false where the polynomial misses the tolerance.
template <class T>
bool write_tap(const PairTaps& taps, const SumKernel& kernel, double tolerance, std::int64_t j,
               std::int64_t piece, std::int64_t n_pieces, std::int64_t stride, T* column) {
    static const NodesToPowers nodes_to_powers;
    const Inside inside = inside_of_piece(taps, j, piece, n_pieces);
    if (inside.half < 0) {
        column[stride] = 2;  // a shift beyond 1: never inside
        return true;
    }
    // Narrower than rounding: inside at one point.
    const double half = std::max(inside.half, 1e-13);
    const auto value = [&](double s) {
        const double u = std::clamp(inside.middle + half * s, 0., 1.);
        return taps.value(kernel, j, (static_cast<double>(piece) + u) / static_cast<double>(n_pieces));
    };
    Values values;
    for (int i = 0; i < n_nodes; ++i) values[i] = value(node(i));
    const Values powers = nodes_to_powers.coefficients(values);
    for (const double s : check_points) {
        double sum = 0;
        for (int d = weight_degree; d >= 0; --d) sum = sum * s + powers[d];
        if (!(std::abs(sum - value(s)) <= tolerance)) return false;
    }
    column[0] = static_cast<T>(1 / half);
    column[stride] = static_cast<T>(-inside.middle / half);
    for (int d = 0; d < n_nodes; ++d) column[(2 + d) * stride] = static_cast<T>(powers[d]);
    return true;
}

template <class T>
bool write_table(const PairTaps& taps, const SumKernel& kernel, double tolerance, std::int64_t n_pieces,
                 std::int64_t stride, core::AlignedVector<T>& memory) {
    const std::int64_t piece_size = weight_rows * stride;
    memory.assign(static_cast<std::size_t>(n_pieces * piece_size), T(0));
    for (std::int64_t piece = 0; piece < n_pieces; ++piece) {
        T* const rows = memory.data() + piece * piece_size;
        std::fill(rows + stride + taps.n_taps, rows + 2 * stride, T(2));  // padding is never inside
        for (std::int64_t j = 0; j < taps.n_taps; ++j)
            if (!write_tap(taps, kernel, tolerance, j, piece, n_pieces, stride, rows + j)) return false;
    }
    return true;
}

}  // namespace

template <class T>
PairTable<T> make_pair_table(const PairTaps& taps, const SumKernel& kernel, double tolerance,
                             std::int64_t n_values, core::AlignedVector<T>& memory) {
    constexpr std::int64_t values_per_piece = n_nodes + static_cast<std::int64_t>(check_points.size());
    const std::int64_t stride = padded_taps(taps.n_taps);
    for (std::int64_t n_pieces = 1; n_pieces * values_per_piece < n_values; n_pieces *= 2)
        if (write_table(taps, kernel, tolerance, n_pieces, stride, memory))
            return {n_pieces, stride, memory.data()};
    return {0, stride, nullptr};
}

template PairTable<float> make_pair_table(const PairTaps&, const SumKernel&, double, std::int64_t,
                                          core::AlignedVector<float>&);
template PairTable<double> make_pair_table(const PairTaps&, const SumKernel&, double, std::int64_t,
                                           core::AlignedVector<double>&);

}  // namespace zonal::radial
