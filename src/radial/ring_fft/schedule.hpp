#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "radial/ring_fft/geometry.hpp"

/// The sum over rings as CUDA does it: a few rings of the output at a time share what they read.
namespace zonal::radial {

/// Nodes of the output in a group.
inline constexpr int group_size = 4;

/// One node of the input for a group.
struct SumEntry {
    std::int64_t modes[2];  ///< where F of the input for the outputs in the north and in the south starts
                            ///< (complex numbers); -1: none
    std::int64_t values;    ///< where [n_values, a multiple of the group's width][group_size] start
    std::int32_t limit;     ///< modes of F that count
    std::int32_t n_values;  ///< of the longest row
    ChordOfLongitude chord[group_size];  ///< offset above 4: no row
};

/// How an entry's rows turn Q and U.
struct EntryTurns {
    Turn of[group_size];
};

/// Entries of a group whose rows are sampled alike: K_m = sum_j v_j cos(pi m (parity + 2 j) / length), and
/// the same with sines of the odd parts of rows of Q and U.
struct SumClass {
    std::int64_t length, parity;
    std::int64_t first, end;  ///< entries
    std::int32_t n_modes;
    std::int32_t halved;  ///< mode that counts half; -1: none
    std::int32_t n_values;
    std::int32_t is_minus;  ///< KernelRow's
};

struct SumGroup {
    std::int64_t modes[group_size][2];  ///< where G of the outputs starts (complex numbers); -1: none
    std::int32_t n_modes[group_size];   ///< of each output; 0: none
    std::int32_t most_modes;
    std::int32_t width;  ///< values that the kernel takes at once
    std::int64_t first_class, end_class;
    std::int64_t first_entry, end_entry;
};

/// An entry that has no place yet, of a class that has none.
struct UnplacedEntry {
    const SumClass* shape;
    SumEntry entry;
    EntryTurns turns;
};

/// The modes of an output whose group is shared among blocks.
struct SlicedRow {
    std::int64_t sum;             ///< where G starts
    std::int64_t slices, stride;  ///< where G of the first slice starts; of the next
    std::int32_t n_modes, n_slices;
};

/// Small maps and wide kernels, which have few modes, make too few groups to keep a device busy. A group's
/// rings are then shared among several groups, called slices, until there are about n_blocks blocks of
/// modes_per_block modes.
struct Sharing {
    std::int64_t n_blocks = 0, modes_per_block = 1;
};

struct SumSchedule {
    explicit SumSchedule(const RingFftGeometry& geometry, const Sharing& sharing = {});

    std::vector<SumGroup> groups;  ///< of the narrow width first
    std::vector<SumClass> classes;
    std::vector<SumEntry> entries;
    std::vector<EntryTurns> turns;       ///< of each entry; empty but for Q and U
    std::vector<std::int32_t> class_of;  ///< of each entry
    std::vector<std::int64_t> input_modes,
        output_modes;  ///< [node][side]: where F and G start, of a component; -1: none
    std::int64_t n_input_modes = 0, n_output_modes = 0;  ///< of a component
    std::int64_t n_narrow = 0;                           ///< groups of the narrow width
    std::vector<SlicedRow> sliced_rows;                  ///< to be added up in the end

    static constexpr std::int32_t narrow = 8, wide = 16;

  private:
    void place_modes(const RingFftGeometry& geometry);
    void add_group(const RingFftGeometry& geometry, const std::vector<std::int64_t>& nodes,
                   std::int64_t most_slices);
    std::vector<SumGroup> slices_of(const SumGroup& group, std::int64_t n_slices);
    void add_entries(const RingFftGeometry& geometry, SumGroup group,
                     std::span<const UnplacedEntry> unplaced);
    void sort_by_width();
};

}  // namespace zonal::radial
