#include "radial/ring_fft_schedule.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>

#include "radial/pixel_sum_rings.hpp"

namespace zonal::radial {
namespace {

/// Rows start at multiples of this many modes: a cache line and more.
constexpr std::int64_t mode_unit = 32;
/// chord^2 that stands for no row: beyond the sphere.
constexpr double no_row = 8;

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

}  // namespace

SumSchedule::SumSchedule(const RingFftGeometry& geometry) {
    place_modes(geometry);
    for (const auto& nodes : group_outputs(geometry)) add_group(geometry, nodes);
    sort_by_width();
}

void SumSchedule::place_modes(const RingFftGeometry& geometry) {
    const auto place = [](std::int64_t ring, std::int64_t n_modes, std::int64_t& end) -> std::int64_t {
        if (ring < 0 || n_modes == 0) return -1;
        const std::int64_t start = end;
        end += (n_modes + mode_unit - 1) / mode_unit * mode_unit;
        return start;
    };
    for (const RingNode& node : geometry.nodes())
        for (int side = 0; side < 2; ++side) {
            input_modes.push_back(place(node.input[side], node.input_modes, n_input_modes));
            output_modes.push_back(place(node.output[side], node.output_modes, n_output_modes));
        }
}

void SumSchedule::add_group(const RingFftGeometry& geometry, const std::vector<std::int64_t>& nodes) {
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
    group.first_class = static_cast<std::int64_t>(classes.size());
    group.first_entry = static_cast<std::int64_t>(entries.size());
    for (auto& [key, of_class] : found.classes) {
        SumClass& shape = of_class.shape;
        shape.first = static_cast<std::int64_t>(entries.size());
        const double limit = geometry.part(shape.is_minus != 0).limit;
        for (auto& [position, one] : of_class.entries) {
            one.entry.n_values = values_of(one.entry, shape, limit);
            shape.n_values = std::max(shape.n_values, one.entry.n_values);
            entries.push_back(one.entry);
            if (geometry.is_polarized()) turns.push_back(one.turns);
            class_of.push_back(static_cast<std::int32_t>(classes.size()));
        }
        shape.end = static_cast<std::int64_t>(entries.size());
        group.width = std::max(group.width, shape.n_values <= narrow ? narrow : wide);
        classes.push_back(shape);
    }
    group.end_class = static_cast<std::int64_t>(classes.size());
    group.end_entry = static_cast<std::int64_t>(entries.size());
    if (group.end_class > group.first_class) groups.push_back(group);
}

void SumSchedule::sort_by_width() {
    const auto middle = std::stable_partition(groups.begin(), groups.end(),
                                              [](const SumGroup& group) { return group.width == narrow; });
    n_narrow = middle - groups.begin();
}

}  // namespace zonal::radial
