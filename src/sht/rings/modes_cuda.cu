#include "sht/rings/modes_cuda.cuh"

#include <algorithm>

namespace zonal::sht::cuda {
namespace {

bool is_scalar(const LegendreStage& stage) {
    return stage.view().spin == 0;
}

/// Whether a synthesis does without steps in memory.
bool makes_own_steps(const LegendreStage& stage, int n_fields) {
    return is_scalar(stage) && n_fields == 1 && stage.tiles().few;
}

/// Doubles of each array for n_maps maps at once; 0 for what is not needed.
struct ModesSizes {
    std::int64_t steps = 0, rows = 0, sums = 0, polar, equatorial;

    ModesSizes(const LegendreStage& stage, std::int64_t n_maps, Orders adjoint)
        : polar(n_maps * stage.polar().n_sums), equatorial(n_maps * stage.equatorial().n_sums) {
        if (!stage.has_ishioka()) return;
        const std::int64_t fields = stage.view().components * n_maps;
        steps = stage.n_steps() * step_layout(static_cast<int>(fields)).stride;
        sums = stage.most_step_sums(static_cast<int>(fields), adjoint);
        if (!is_scalar(stage)) rows = 2 * fields * stage.view().n_rows;
    }
};

/// What Ishioka's recurrence sees of the maps.
template <class T>
void make_steps(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                int n_fields, ModesScratch& scratch, cudaStream_t stream) {
    const StepLayout layout = step_layout(n_fields);
    if (is_scalar(stage)) {
        RowPointers<T> rows{};
        for (std::size_t k = 0; k < maps.size(); ++k) rows.row[k] = maps[k].alm[0];
        return write_steps<T>(stage, orders, rows, n_fields, layout, scratch.steps.data(), stream);
    }
    RowPointers<double> rows{};
    const std::int64_t row = 2 * stage.view().n_rows;
    for (int f = 0; f < n_fields; ++f) rows.row[f] = scratch.rows.data() + f * row;
    for (std::size_t k = 0; k < maps.size(); ++k)
        spin_to_scalar<T>(stage, orders, maps[k],
                          scratch.rows.data() + 2 * static_cast<std::int64_t>(k) * row, stream);
    write_steps<double>(stage, orders, rows, n_fields, layout, scratch.steps.data(), stream);
}

}  // namespace

std::int64_t maps_at_once(const LegendreStage& stage, std::int64_t n_maps) {
    if (!stage.has_ishioka()) return 1;
    return std::clamp<std::int64_t>(n_maps, 1, stage.tiles().max_fields / stage.view().components);
}

std::int64_t end_of(const AlmLayout& layout, Orders orders) {
    if (orders.end == layout.n_orders()) return layout.size();
    const std::int64_t m = layout.order(orders.end);
    return layout.index(m, m);
}

std::vector<Orders> orders_in_parts(const AlmLayout& layout) {
    // Few, so that each fills the device.
    constexpr std::int64_t smallest = 1 << 20, most = 4;
    return orders_in_parts(layout, std::clamp<std::int64_t>(layout.size() / smallest, 1, most));
}

std::vector<Orders> orders_in_parts(const AlmLayout& layout, std::int64_t n_parts) {
    std::vector<Orders> parts;
    Orders part{0, 0};
    while (part.end < layout.n_orders()) {
        ++part.end;
        const std::int64_t wanted = (static_cast<std::int64_t>(parts.size()) + 1) * layout.size() / n_parts;
        if (part.end < layout.n_orders() && end_of(layout, part) < wanted) continue;
        parts.push_back(part);
        part.first = part.end;
    }
    return parts;
}

void ModesScratch::fit(const LegendreStage& stage, std::int64_t n_maps, Orders adjoint) {
    const ModesSizes sizes(stage, n_maps, adjoint);
    summed_ = adjoint;
    steps.reserve(sizes.steps);
    rows.reserve(sizes.rows);
    sums.reserve(sizes.sums);
    polar.reserve(sizes.polar);
    equatorial.reserve(sizes.equatorial);
}

void ModesScratch::begin_adjoint(const LegendreStage& stage, Orders orders, cudaStream_t stream) {
    if (stage.has_ishioka()) write_recurrence(stage, orders, steps.data(), early_.fork(stream));
}

std::int64_t ModesScratch::bytes(const LegendreStage& stage, std::int64_t n_maps, Orders adjoint) {
    const ModesSizes sizes(stage, n_maps, adjoint);
    return static_cast<std::int64_t>(sizeof(double)) *
           (sizes.steps + sizes.rows + sizes.sums + sizes.polar + sizes.equatorial);
}

template <class T>
void begin_modes(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                 ModesScratch& scratch, cudaStream_t stream) {
    const int n_fields = stage.view().components * static_cast<int>(maps.size());
    if (stage.has_ishioka() && !makes_own_steps(stage, n_fields))
        make_steps<T>(stage, orders, maps, n_fields, scratch, stream);
}

template <class T>
void finish_modes(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                  ModesScratch& scratch, PairModes* fourier, cudaStream_t stream) {
    synthesize_jacobi<T>(stage, orders, maps, fourier, scratch.fork_sides(stream));
    if (stage.has_ishioka()) {
        const int n_fields = stage.view().components * static_cast<int>(maps.size());
        if (makes_own_steps(stage, n_fields))
            synthesize_ishioka_alm<T>(stage, orders, maps[0].alm[0], fourier, stream);
        else
            synthesize_ishioka(stage, orders, scratch.steps.data(), n_fields, fourier, stream);
    }
    scratch.join_sides(stream);
}

template <class T>
void modes_from_alm(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                    ModesScratch& scratch, PairModes* fourier, cudaStream_t stream) {
    begin_modes<T>(stage, orders, maps, scratch, stream);
    finish_modes<T>(stage, orders, maps, scratch, fourier, stream);
}

void sum_modes(const LegendreStage& stage, Orders orders, int n_maps, const PairModes* fourier,
               ModesScratch& scratch, cudaStream_t stream) {
    adjoint_jacobi(stage, orders, n_maps, fourier, scratch.polar.data(), scratch.equatorial.data(),
                   scratch.fork_sides(stream));
    if (!stage.has_ishioka()) return;
    scratch.join_adjoint(stream);
    adjoint_ishioka(stage, orders, scratch.steps.data(), stage.view().components * n_maps, fourier,
                    scratch.adjoint_sums(stage, n_maps).steps, stream);
}

template <class T>
void gather_alm(const LegendreStage& stage, Orders orders, ModesScratch& scratch,
                const std::vector<AlmTargets<T>>& maps, cudaStream_t stream) {
    const int n_maps = static_cast<int>(maps.size()), n_fields = stage.view().components * n_maps;
    const AdjointSums sums = scratch.adjoint_sums(stage, n_maps);
    if (stage.has_ishioka() && stage.tiles().takes_passes()) {
        scratch.join_sides(stream);
        return alm_from_passes<T>(stage, orders, scratch.steps.data(), sums, maps, stream);
    }
    const bool has_rows = stage.has_ishioka() && !is_scalar(stage);
    if (has_rows) rows_from_sums(stage, orders, sums.steps, n_fields, scratch.rows.data(), stream);
    scratch.join_sides(stream);
    for (int k = 0; k < n_maps; ++k) {
        const double* const rows = has_rows ? scratch.rows.data() + 4 * k * stage.view().n_rows : nullptr;
        store_alm<T>(stage, orders, sums, k, rows, maps[k], stream);
    }
}

template <class T>
void alm_from_modes(const LegendreStage& stage, Orders orders, const PairModes* fourier,
                    ModesScratch& scratch, const std::vector<AlmTargets<T>>& maps, cudaStream_t stream) {
    sum_modes(stage, orders, static_cast<int>(maps.size()), fourier, scratch, stream);
    gather_alm<T>(stage, orders, scratch, maps, stream);
}

#define ZONAL_INSTANTIATE(T)                                                                                 \
    template void modes_from_alm(const LegendreStage&, Orders, const std::vector<AlmPointers<T>>&,           \
                                 ModesScratch&, PairModes*, cudaStream_t);                                   \
    template void begin_modes(const LegendreStage&, Orders, const std::vector<AlmPointers<T>>&,              \
                              ModesScratch&, cudaStream_t);                                                  \
    template void finish_modes(const LegendreStage&, Orders, const std::vector<AlmPointers<T>>&,             \
                               ModesScratch&, PairModes*, cudaStream_t);                                     \
    template void alm_from_modes(const LegendreStage&, Orders, const PairModes*, ModesScratch&,              \
                                 const std::vector<AlmTargets<T>>&, cudaStream_t);                           \
    template void gather_alm(const LegendreStage&, Orders, ModesScratch&, const std::vector<AlmTargets<T>>&, \
                             cudaStream_t);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal::sht::cuda
