#include "radial/ring_fft_schedule.hpp"

#include <algorithm>
#include <map>
#include <numbers>
#include <tuple>

#include "radial/pixel_sum_rings.hpp"

namespace zonal::radial {
namespace {

/// Rows start at multiples of this many modes: a cache line and more.
constexpr std::int64_t mode_unit = 32;

/// Rows of one class: equal rings of a length and parity, or exact modes.
using ClassKey = std::tuple<RowKind, std::int64_t, std::int64_t>;

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
    SumGroup group{};
    std::map<ClassKey, std::map<std::int64_t, SumEntry>> found;  // by class, by position
    std::map<ClassKey, SumClass> shapes;
    std::int64_t exact_length = 0;
    for (int a = 0; a < static_cast<int>(nodes.size()); ++a) {
        const RingNode& node = geometry.nodes()[nodes[a]];
        for (int side = 0; side < 2; ++side) group.modes[a][side] = output_modes[2 * nodes[a] + side];
        group.n_modes[a] = static_cast<std::int32_t>(node.output_modes);
        group.most_modes = std::max(group.most_modes, group.n_modes[a]);
        const RingFftGeometry::Window window = geometry.window(nodes[a]);
        for (std::int64_t position = window.first; position < window.end; ++position) {
            const KernelRow row = geometry.row(nodes[a], position);
            if (row.kind != RowKind::equal && row.kind != RowKind::exact) continue;
            const bool exact = row.kind == RowKind::exact;
            const ClassKey key(row.kind, exact ? 0 : row.length, row.parity);
            if (exact) exact_length = std::max(exact_length, row.length);
            SumClass& shape =
                shapes
                    .try_emplace(
                        key,
                        SumClass{row.length, row.parity, 0, 0, group.most_modes,
                                 row.halves_last_mode() ? static_cast<std::int32_t>(row.n_modes - 1) : -1, 0})
                    .first->second;
            shape.n_modes =
                exact ? std::numeric_limits<std::int32_t>::max() : static_cast<std::int32_t>(row.n_modes);
            auto [entry, is_new] = found[key].try_emplace(position);
            if (is_new) {
                for (int side = 0; side < 2; ++side)
                    entry->second.modes[side] = input_modes[2 * row.node + (row.crosses ? 1 - side : side)];
                for (ChordOfLongitude& chord : entry->second.chord) chord = {8, 0};
            }
            entry->second.chord[a] = row.chord;
            // Never above half the samples' length, where modes alias.
            entry->second.limit = std::max(entry->second.limit, static_cast<std::int32_t>(row.n_modes));
        }
    }
    for (int a = static_cast<int>(nodes.size()); a < group_size; ++a)
        group.modes[a][0] = group.modes[a][1] = -1;
    group.first_class = static_cast<std::int64_t>(classes.size());
    group.first_entry = static_cast<std::int64_t>(entries.size());
    for (auto& [key, of_class] : found) {
        SumClass shape = shapes.at(key);
        if (std::get<0>(key) == RowKind::exact) shape.length = exact_length;
        shape.first = static_cast<std::int64_t>(entries.size());
        for (auto& [position, entry] : of_class) {
            for (const ChordOfLongitude& chord : entry.chord) {
                const double width = chord.offset > 4 ? -1 : half_width(chord, geometry.limit());
                if (width < 0) continue;
                const auto last = std::min(
                    shape.length, static_cast<std::int64_t>(width * static_cast<double>(shape.length) /
                                                            std::numbers::pi * (1 + 1e-12)));
                if (last < shape.parity) continue;
                entry.n_values =
                    std::max(entry.n_values, static_cast<std::int32_t>((last - shape.parity) / 2 + 1));
            }
            shape.n_values = std::max(shape.n_values, entry.n_values);
            entries.push_back(entry);
            class_of.push_back(static_cast<std::int32_t>(classes.size()));
        }
        shape.end = static_cast<std::int64_t>(entries.size());
        classes.push_back(shape);
        group.width = std::max(group.width, shape.n_values <= narrow ? narrow : wide);
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
