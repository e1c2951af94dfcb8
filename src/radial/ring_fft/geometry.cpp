#include "radial/ring_fft/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <tuple>
#include <vector>

#include "core/interruption.hpp"
#include "fft/complex_fft.hpp"
#include "radial/pixel_sum/schedule.hpp"
#include "sht/rings/ring_pairs.hpp"

namespace zonal::radial {
namespace {

/// Lengths of the samples of exact rows: 8, 9, ... 15 times a power of 2, so that neighbours share theirs.
std::int64_t sample_length(std::int64_t least) {
    std::int64_t unit = 1;
    while (15 * unit < least) unit *= 2;
    return std::max<std::int64_t>(8, (least + unit - 1) / unit) * unit;
}

RingNode node_of(const Ring& ring) {
    RingNode node{};
    node.cos_theta = std::abs(ring.cos_theta);
    node.sin_theta = ring.sin_theta;
    node.theta = std::atan2(node.sin_theta, node.cos_theta);
    node.cos_half = std::cos(node.theta / 2);
    node.sin_half = std::sin(node.theta / 2);
    node.phi_0 = ring.phi_0;
    node.n_pixels = ring.n_pixels;
    for (int side = 0; side < 2; ++side) node.input[side] = node.output[side] = -1;
    return node;
}

Latitude latitude_of(const RingNode& node, bool southern) {
    if (southern) return {-node.cos_theta, node.sin_theta, node.sin_half, node.cos_half};
    return {node.cos_theta, node.sin_theta, node.cos_half, node.sin_half};
}

double table_accuracy(double accuracy) {
    return std::max(accuracy / 10, 1e-14);
}

}  // namespace

RingFftGeometry::RingFftGeometry(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                 double accuracy)
    : RingFftGeometry(grid, SumKernel(kernel, table_accuracy(accuracy)), {&kernel, nullptr, false}, grid_out,
                      accuracy) {}

RingFftGeometry::RingFftGeometry(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                                 double accuracy)
    : RingFftGeometry(grid, SumKernel(kernel.plus(), kernel.minus(), table_accuracy(accuracy)),
                      {kernel.plus(), kernel.minus(), true}, grid_out, accuracy) {}

RingFftGeometry::RingFftGeometry(const Grid& grid, SumKernel kernel, const KernelProfiles& profiles,
                                 const Grid& grid_out, double accuracy)
    : grid_(grid), grid_out_(grid_out), kernel_(std::move(kernel)) {
    make_nodes();
    find_twins();
    set_exact_modes(profiles, accuracy);
    count_rows();
}

void RingFftGeometry::make_nodes() {
    // Rings of a node: equal but for the sign of cos theta, to the last bit.
    std::map<std::tuple<double, double, double, std::int64_t>, std::size_t> found;
    const auto add = [&](const Ring& ring, std::int64_t index, std::int64_t(RingNode::*rings)[2]) {
        const std::tuple key(ring.sin_theta, std::abs(ring.cos_theta), ring.phi_0, ring.n_pixels);
        // Rings at one place make nodes of their own.
        const int side = ring.cos_theta < 0 ? 1 : 0;
        auto [entry, is_new] = found.try_emplace(key, nodes_.size());
        if (is_new || (nodes_[entry->second].*rings)[side] >= 0) {
            entry->second = nodes_.size();
            nodes_.push_back(node_of(ring));
        }
        (nodes_[entry->second].*rings)[side] = index;
    };
    for (std::int64_t k = 0; k < grid_.n_rings(); ++k) add(grid_.rings()[k], k, &RingNode::input);
    for (std::int64_t k = 0; k < grid_out_.n_rings(); ++k) add(grid_out_.rings()[k], k, &RingNode::output);
    std::stable_sort(nodes_.begin(), nodes_.end(), [](const RingNode& a, const RingNode& b) {
        return std::tuple(a.theta, a.n_pixels) < std::tuple(b.theta, b.n_pixels);
    });
    for (std::int64_t k = 0; k < n_nodes(); ++k)
        if (nodes_[k].is_output()) outputs_.push_back(k);
}

void RingFftGeometry::find_twins() {
    // A few rings of a length do not pay for tables of their own where exact modes will do.
    constexpr std::int64_t fewest = 3;
    std::map<std::int64_t, std::int64_t> count_of;
    for (const RingNode& node : nodes_) ++count_of[node.n_pixels];
    for (RingNode& node : nodes_) node.has_twins = count_of[node.n_pixels] >= fewest;
}

void RingFftGeometry::set_exact_modes(const KernelProfiles& profiles, double accuracy) {
    std::int64_t highest = 0;
    for (const std::int64_t output : outputs_)
        for_each_row(output, [&](const KernelRow& pair, std::int64_t) {
            const std::int64_t longest = std::max(nodes_[output].n_pixels, nodes_[pair.node].n_pixels);
            // Where more modes than a few times those of the map count, the kernel is narrower than a pixel,
            // and its pixels are few. Rows of equal rings can do without.
            if (pair.kind == RowKind::equal) highest = std::max(highest, longest / 2);
            if (pair.kind == RowKind::exact || pair.kind == RowKind::direct)
                highest = std::max<std::int64_t>({highest, 4 * longest, 64});
        });
    if (highest == 0) return;
    degree_ = series_degree(profiles, accuracy, highest);
    if (degree_ < 0) return;
    const int spin = is_polarized() ? 2 : 0;
    for (RingNode& node : nodes_)
        node.exact_modes = 1 + static_cast<std::int64_t>(std::ceil(sht::pruning_bound(
                                   static_cast<double>(degree_), spin, node.sin_theta, node.cos_theta)));
}

RingFftGeometry::Window RingFftGeometry::window(std::int64_t node) const {
    const double reach = kernel_.theta_end() * (1 + 1e-9) + 1e-14, theta = nodes_[node].theta;
    const std::int64_t n = n_nodes();
    const auto theta_at = [&](std::int64_t p) {
        return p < n ? nodes_[p].theta : std::numbers::pi - nodes_[2 * n - 1 - p].theta;
    };
    const auto first_from = [&](double bound) {
        std::int64_t low = 0, high = 2 * n;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            (theta_at(middle) < bound ? low : high) = theta_at(middle) < bound ? middle + 1 : middle;
        }
        return low;
    };
    return {first_from(theta - reach), first_from(std::nextafter(theta + reach, 8.0))};
}

KernelRow RingFftGeometry::row(std::int64_t node, std::int64_t position, bool is_minus) const {
    KernelRow row;
    row.is_minus = is_minus;
    row.crosses = position >= n_nodes();
    row.node = row.crosses ? 2 * n_nodes() - 1 - position : position;
    const RingNode &a = nodes_[node], &b = nodes_[row.node];
    const int other = row.crosses ? 1 : 0;
    const bool meet =
        (a.output[0] >= 0 && b.input[other] >= 0) || (a.output[1] >= 0 && b.input[1 - other] >= 0);
    if (!meet) return row;
    const PairGeometry pair = pair_geometry(latitude_of(a, false), latitude_of(b, row.crosses));
    row.chord = pair.chord;
    row.turn = is_minus ? pair.minus_turn() : pair.plus_turn();
    const double width = half_width(row.chord, part(is_minus).limit);
    if (width < 0) return row;
    const std::int64_t exact_modes = std::min(a.exact_modes, b.exact_modes);
    const bool converges = exact_modes > 0;
    row.kind = converges ? RowKind::exact : RowKind::direct;
    const std::int64_t exact_length = sample_length(2 * exact_modes);
    const bool is_coarser = converges && exact_length < a.n_pixels;
    if (a.n_pixels == b.n_pixels && (a.has_twins || !converges) && !is_coarser) {
        const HalfPixels offset = half_pixels_between(a.phi_0, b.phi_0, a.n_pixels);
        if (offset.is_whole) {
            row.kind = RowKind::equal;
            row.parity = static_cast<std::int32_t>(offset.shift & 1);
        }
    }
    if (row.kind == RowKind::equal) {
        row.length = a.n_pixels;
        row.n_modes = a.n_pixels / 2 + 1;
    } else if (row.kind == RowKind::exact) {
        row.n_modes = exact_modes;
        row.length = exact_length;
    } else {
        return row;
    }
    // The pixels at the very edge of the support are in, as in the other methods.
    const double last = width * static_cast<double>(row.length) / std::numbers::pi * (1 + 1e-12);
    const auto last_q = std::min(row.length, static_cast<std::int64_t>(last));
    row.n_values = last_q < row.parity ? 0 : (last_q - row.parity) / 2 + 1;
    if (row.n_values == 0) row.kind = RowKind::none;
    return row;
}

void RingFftGeometry::count_rows() {
    const core::InterruptionPoll poll;
    for (const std::int64_t output : outputs_) {
        poll();
        for_each_row(output, [&](const KernelRow& row, std::int64_t) { count(nodes_[output], row); });
        for (const std::int64_t ring : nodes_[output].output)
            if (ring >= 0) work_.fft_pixels += n_components() * static_cast<double>(nodes_[output].n_pixels);
    }
    for (const RingNode& node : nodes_)
        for (const std::int64_t ring : node.input)
            if (ring >= 0 && node.input_modes > 0)
                work_.fft_pixels += n_components() * static_cast<double>(node.n_pixels);
}

void RingFftGeometry::count(RingNode& node, const KernelRow& row) {
    RingNode& other = nodes_[row.node];
    double sides = 0;
    for (int side = 0; side < 2; ++side)
        if (node.output[side] >= 0 && other.input[row.crosses ? 1 - side : side] >= 0) ++sides;
    if (row.kind == RowKind::direct) node.has_direct = true;
    if (row.kind != RowKind::equal && row.kind != RowKind::exact) return;
    node.output_modes = std::max(node.output_modes, row.n_modes);
    other.input_modes = std::max(other.input_modes, row.n_modes);
    // Even and odd rows, or those of m and of -m.
    const double components = n_components();
    node.n_values += n_components() * (row.is_long() ? row.n_modes : row.n_values);
    const auto values = static_cast<double>(row.n_values), modes = static_cast<double>(row.n_modes);
    work_.kernel_values += values;
    work_.row_products += components * values * modes;
    // Two rows share a complex FFT of some 2.5 n log2 n multiply-adds.
    const auto length = static_cast<double>(row.length);
    row_products_with_ffts_ +=
        components * (row.is_long() ? 1.25 * length * std::log2(length) : values * modes);
    work_.mode_products += components * sides * modes;
}

std::pair<std::int64_t, std::int64_t> RingFftGeometry::inputs_of(std::int64_t begin, std::int64_t end) const {
    std::int64_t first = n_nodes(), last = 0;
    for (std::int64_t k = begin; k < end; ++k) {
        const Window rows = window(outputs_[k]);
        const std::int64_t crossing = 2 * n_nodes() - rows.end;
        if (rows.end > n_nodes()) first = std::min(first, crossing), last = n_nodes();
        first = std::min(first, rows.first);
        last = std::max(last, std::min(rows.end, n_nodes()));
    }
    return {std::min(first, last), last};
}

std::vector<std::int64_t> RingFftGeometry::direct_rings() const {
    std::vector<std::int64_t> rings;
    for (const RingNode& node : nodes_)
        for (const std::int64_t ring : node.output)
            if (node.has_direct && ring >= 0) rings.push_back(ring);
    return rings;
}

std::int64_t RingFftGeometry::most_input_modes() const {
    std::int64_t most = 0;
    for (const RingNode& node : nodes_) most = std::max(most, node.input_modes);
    return most;
}

std::int64_t RingFftGeometry::most_output_modes() const {
    std::int64_t most = 0;
    for (const RingNode& node : nodes_) most = std::max(most, node.output_modes);
    return most;
}

namespace {

Latitude latitude_at(double angle) {
    const double theta = std::numbers::pi / 2 - angle;
    return {std::sin(angle), std::cos(angle), std::cos(theta / 2), std::sin(theta / 2)};
}

/// A kernel's profile, and what it is multiplied with between two rings: nothing, or the fourth power.
struct Factors {
    const RadialKernel* profile;
    bool is_minus, is_polarized;
};

/// |k_m| of the profile itself along a ring, sampled at n points, without the factor 1/n, of m or of -m,
/// whichever is larger. (The pieces of a table join with steps, whose modes decay slowly.)
std::vector<double> mode_sizes(const Factors& kernel, const PairGeometry& pair, std::int64_t n) {
    std::vector<double> theta;
    std::vector<std::complex<double>> factors;
    const Turn turn = kernel.is_minus ? pair.minus_turn() : pair.plus_turn();
    for (std::int64_t j = 0; j <= n / 2; ++j) {
        const double x = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
        const double angle = 2 * std::asin(std::min(1.0, std::sqrt(pair.chord.chord_squared(x)) / 2));
        if (angle > kernel.profile->support()) break;
        theta.push_back(angle);
        const auto power = turn.fourth_power(std::cos(x / 2), std::sin(x / 2));
        factors.push_back(kernel.is_polarized ? std::complex(power.even, power.odd) : 1.0);
    }
    const std::vector<double> values = kernel.profile->profile(theta);
    std::vector<std::complex<double>> samples(n);
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(values.size()); ++j) {
        samples[(n - j) % n] = values[j] * std::conj(factors[j]);
        samples[j] = values[j] * factors[j];
    }
    fft::ComplexFft transform;
    transform.prepare(n);
    transform.forward(samples.data());
    std::vector<double> sizes(n / 2 + 1);
    for (std::int64_t m = 0; m <= n / 2; ++m)
        sizes[m] = std::max(std::abs(samples[m]), std::abs(samples[(n - m) % n]));
    return sizes;
}

/// Sizes for each of the kernel's parts.
using PartSizes = std::vector<std::vector<double>>;

PartSizes mode_sizes(const KernelProfiles& profiles, const PairGeometry& pair, std::int64_t n) {
    PartSizes sizes;
    for (const bool is_minus : {false, true}) {
        const RadialKernel* const profile = is_minus ? profiles.minus : profiles.plus;
        if (profile != nullptr)
            sizes.push_back(mode_sizes(Factors{profile, is_minus, profiles.is_polarized}, pair, n));
    }
    return sizes;
}

/// sum over all m of both signs
double sum_of(const PartSizes& parts) {
    double sum = 0;
    for (const std::vector<double>& sizes : parts) {
        sum -= sizes[0];
        for (const double size : sizes) sum += 2 * size;
    }
    return sum;
}

/// Smallest L with 2 sum_{m > L} sizes[m] <= bound for each part.
std::int64_t last_mode(const PartSizes& parts, double bound) {
    std::int64_t most = 0;
    for (const std::vector<double>& sizes : parts) {
        double tail = 0;
        auto last = static_cast<std::int64_t>(sizes.size()) - 1;
        for (; last > 0; --last) {
            tail += 2 * sizes[last];
            if (tail > bound) break;
        }
        most = std::max(most, last);
    }
    return most;
}

}  // namespace

std::int64_t series_degree(const KernelProfiles& profiles, double accuracy, std::int64_t highest) {
    const double support = std::max(profiles.plus != nullptr ? profiles.plus->support() : 0,
                                    profiles.minus != nullptr ? profiles.minus->support() : 0);
    const double apart = support / 4;  // each ring from the equator
    const PairGeometry middle = pair_geometry(latitude_at(0), latitude_at(0));
    const PairGeometry beside = pair_geometry(latitude_at(apart), latitude_at(-apart));
    for (std::int64_t n = 64; n <= 16 * highest; n *= 2) {
        const PartSizes sizes = mode_sizes(profiles, middle, n);
        const double bound = accuracy * sum_of(sizes);
        const std::int64_t first = last_mode(sizes, bound);
        if (first > n / 4) continue;
        const std::int64_t second = last_mode(mode_sizes(profiles, beside, n), bound);
        if (second > n / 4) continue;
        // On a ring of this radius modes end at L sin theta.
        const auto scaled =
            static_cast<std::int64_t>(std::ceil(static_cast<double>(second) / std::cos(apart)));
        const std::int64_t degree = std::max(first, scaled);
        return degree <= highest ? degree : -1;
    }
    return -1;
}

}  // namespace zonal::radial
