#include "radial/ring_fft/schedule.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>
#include <utility>

#include "radial/pixel_sum/schedule.hpp"

namespace zonal::radial {
namespace {

/// Rows start at multiples of this many modes: a cache line and more.
constexpr std::int64_t mode_unit = 32;
/// A slice has at least this many entries, so that they share the waves that the device computes for them.
constexpr std::int64_t least_entries = 8;
/// chord^2 that stands for no row: beyond the sphere.
constexpr double no_row = 8;

/// Complex numbers from one row of modes to the next.
std::int64_t row_stride(std::int64_t n_modes) {
    return (n_modes + mode_unit - 1) / mode_unit * mode_unit;
}

/// Rows of one class: equal rings of a length and parity, or exact modes; of one of the kernel's parts.
using ClassKey = std::tuple<RowKind, std::int64_t, std::int64_t, bool>;

/// Outputs that stand together see the same parities: twins at whole pixels from the first one.
std::vector<std::vector<std::int64_t>> group_outputs(const RingFftGeometry& geometry) {
    constexpr std::size_t most_open = 4;
    std::vector<std::vector<std::int64_t>> done, open;
    const auto& nodes = geometry.nodes();
    const auto fits = [&](const std::vector<std::int64_t>& group, std::int64_t node) {
        if (group.size() >= group_size) return false;
        const RingNode &a = nodes[group.front()], &b = nodes[node];
        if (a.has_twins != b.has_twins) return false;
        if (!a.has_twins) return true;
        if (a.n_pixels != b.n_pixels) return false;
        const HalfPixels offset = half_pixels_between(a.phi_0, b.phi_0, a.n_pixels);
        return offset.is_whole && offset.shift % 2 == 0;
    };
    for (const std::int64_t node : geometry.outputs()) {
        const auto found =
            std::find_if(open.begin(), open.end(), [&](const auto& group) { return fits(group, node); });
        if (found != open.end()) {
            found->push_back(node);
            continue;
        }
        if (open.size() == most_open) {
            done.push_back(open.front());
            open.erase(open.begin());
        }
        open.push_back({node});
    }
    done.insert(done.end(), open.begin(), open.end());
    return done;
}

/// What a group's outputs need, sorted.
struct ClassesOfGroup {
    struct Entry {
        SumEntry entry{};
        EntryTurns turns{};
    };
    struct Class {
        SumClass shape{};
        std::map<std::int64_t, Entry> entries;  ///< by position
    };
    std::map<ClassKey, Class> classes;

    std::vector<UnplacedEntry> unplaced() const {
        std::vector<UnplacedEntry> all;
        for (const auto& [key, of_class] : classes)
            for (const auto& [position, one] : of_class.entries)
                all.push_back({&of_class.shape, one.entry, one.turns});
        return all;
    }

    /// The row of output a of the group; input_modes: where the modes of the input's nodes start.
    void add(const KernelRow& row, std::int64_t position, int a,
             const std::vector<std::int64_t>& input_modes) {
        if (row.kind != RowKind::equal && row.kind != RowKind::exact) return;
        const bool exact = row.kind == RowKind::exact;
        Class& found = classes[ClassKey(row.kind, exact ? 0 : row.length, row.parity, row.is_minus)];
        const auto n_modes = static_cast<std::int32_t>(row.n_modes);
        SumClass& shape = found.shape;
        // Exact rows of a group are all sampled as finely as one of them needs.
        shape.length = std::max(shape.length, row.length);
        shape.parity = row.parity;
        shape.is_minus = row.is_minus ? 1 : 0;
        shape.n_modes = exact ? std::numeric_limits<std::int32_t>::max() : n_modes;
        shape.halved = row.halves_last_mode() ? n_modes - 1 : -1;
        const auto [place, is_new] = found.entries.try_emplace(position);
        SumEntry& entry = place->second.entry;
        if (is_new) {
            for (int side = 0; side < 2; ++side)
                entry.modes[side] = input_modes[2 * row.node + (row.crosses ? 1 - side : side)];
            for (ChordOfLongitude& chord : entry.chord) chord = {no_row, 0};
        }
        entry.chord[a] = row.chord;
        place->second.turns.of[a] = row.turn;
        // Never above half the samples' length, where modes alias.
        entry.limit = std::max(entry.limit, n_modes);
    }
};

/// Values of the longest row of an entry.
std::int32_t values_of(const SumEntry& entry, const SumClass& shape, double limit) {
    const auto length = static_cast<double>(shape.length);
    std::int64_t most = 0;
    for (const ChordOfLongitude& chord : entry.chord) {
        if (chord.offset == no_row) continue;
        const double last = half_width(chord, limit) * length / std::numbers::pi * (1 + 1e-12);
        const auto last_q = std::min(shape.length, static_cast<std::int64_t>(last));
        if (last_q >= shape.parity) most = std::max(most, (last_q - shape.parity) / 2 + 1);
    }
    return static_cast<std::int32_t>(most);
}

/// Into how many slices groups should be cut.
std::int64_t slices_wanted(const RingFftGeometry& geometry,
                           const std::vector<std::vector<std::int64_t>>& groups, const Sharing& sharing) {
    std::int64_t n_blocks = 1;
    for (const auto& nodes : groups) {
        std::int64_t most_modes = 0;
        for (const std::int64_t node : nodes)
            most_modes = std::max(most_modes, geometry.nodes()[node].output_modes);
        n_blocks += (most_modes + sharing.modes_per_block - 1) / sharing.modes_per_block;
    }
    return sharing.n_blocks / n_blocks + 1;
}

}  // namespace

SumSchedule::SumSchedule(const RingFftGeometry& geometry, const Sharing& sharing) {
    place_modes(geometry);
    const auto nodes_of_groups = group_outputs(geometry);
    const std::int64_t most_slices = slices_wanted(geometry, nodes_of_groups, sharing);
    for (const auto& nodes : nodes_of_groups) add_group(geometry, nodes, most_slices);
    sort_by_width();
}

void SumSchedule::place_modes(const RingFftGeometry& geometry) {
    const auto place = [](std::int64_t ring, std::int64_t n_modes, std::int64_t& end) -> std::int64_t {
        if (ring < 0 || n_modes == 0) return -1;
        return std::exchange(end, end + row_stride(n_modes));
    };
    for (const RingNode& node : geometry.nodes())
        for (int side = 0; side < 2; ++side) {
            input_modes.push_back(place(node.input[side], node.input_modes, n_input_modes));
            output_modes.push_back(place(node.output[side], node.output_modes, n_output_modes));
        }
}

void SumSchedule::add_group(const RingFftGeometry& geometry, const std::vector<std::int64_t>& nodes,
                            std::int64_t most_slices) {
    ClassesOfGroup found;
    SumGroup group{};
    for (int a = 0; a < group_size; ++a) {
        const bool used = a < static_cast<int>(nodes.size());
        for (int side = 0; side < 2; ++side)
            group.modes[a][side] = used ? output_modes[2 * nodes[a] + side] : -1;
        if (!used) continue;
        group.n_modes[a] = static_cast<std::int32_t>(geometry.nodes()[nodes[a]].output_modes);
        group.most_modes = std::max(group.most_modes, group.n_modes[a]);
        geometry.for_each_row(nodes[a], [&](const KernelRow& row, std::int64_t position) {
            found.add(row, position, a, input_modes);
        });
    }
    const std::vector<UnplacedEntry> all = found.unplaced();
    if (all.empty()) return;
    const std::int64_t n = std::ssize(all),
                       n_slices = std::clamp<std::int64_t>(n / least_entries, 1, most_slices);
    const std::vector<SumGroup> slices = slices_of(group, n_slices);
    for (std::int64_t slice = 0; slice < n_slices; ++slice) {
        const std::int64_t first = n * slice / n_slices, end = n * (slice + 1) / n_slices;
        add_entries(geometry, slices[slice], std::span(all).subspan(first, end - first));
    }
}

std::vector<SumGroup> SumSchedule::slices_of(const SumGroup& group, std::int64_t n_slices) {
    std::vector<SumGroup> slices(n_slices, group);
    if (n_slices == 1) return slices;
    for (int a = 0; a < group_size; ++a)
        for (int side = 0; side < 2; ++side) {
            if (group.modes[a][side] < 0) continue;
            const std::int64_t stride = row_stride(group.n_modes[a]);
            sliced_rows.push_back({group.modes[a][side], n_output_modes, stride, group.n_modes[a],
                                   static_cast<std::int32_t>(n_slices)});
            for (SumGroup& slice : slices)
                slice.modes[a][side] = std::exchange(n_output_modes, n_output_modes + stride);
        }
    return slices;
}

void SumSchedule::add_entries(const RingFftGeometry& geometry, SumGroup group,
                              std::span<const UnplacedEntry> unplaced) {
    group.first_class = std::ssize(classes);
    group.first_entry = std::ssize(entries);
    const SumClass* shape = nullptr;
    for (const UnplacedEntry& one : unplaced) {
        if (shape != one.shape) {
            shape = one.shape;
            classes.push_back(*shape);
            classes.back().first = std::ssize(entries);
        }
        SumClass& placed = classes.back();
        entries.push_back(one.entry);
        entries.back().n_values = values_of(one.entry, placed, geometry.part(placed.is_minus != 0).limit);
        placed.n_values = std::max(placed.n_values, entries.back().n_values);
        placed.end = std::ssize(entries);
        group.width = std::max(group.width, placed.n_values <= narrow ? narrow : wide);
        if (geometry.is_polarized()) turns.push_back(one.turns);
        class_of.push_back(static_cast<std::int32_t>(classes.size() - 1));
    }
    group.end_class = std::ssize(classes);
    group.end_entry = std::ssize(entries);
    groups.push_back(group);
}

void SumSchedule::sort_by_width() {
    const auto middle = std::stable_partition(groups.begin(), groups.end(),
                                              [](const SumGroup& group) { return group.width == narrow; });
    n_narrow = middle - groups.begin();
}

}  // namespace zonal::radial
