#pragma once

#include <cstdint>
#include <vector>

#include "core/cuda.cuh"
#include "sht/cuda_replay.cuh"
#include "sht/legendre/coefficients_cuda.cuh"

/// The whole Legendre stage, from a_lm to the Fourier coefficients F_m of ring pairs and back.
namespace zonal::sht::cuda {

/// Device memory of the stage, and streams beside the caller's.
class ModesScratch {
  public:
    /// Makes room for n_maps maps at once, and for the sums of these orders in adjoints.
    void fit(const LegendreStage& stage, std::int64_t n_maps, Orders adjoint);
    static std::int64_t bytes(const LegendreStage& stage, std::int64_t n_maps, Orders adjoint);
    /// The next sums are of these orders, which take no more room than those of fit().
    void sum_only(Orders adjoint) { summed_ = adjoint; }
    void add_addresses(CallKey& key) const { key.add(steps).add(rows).add(sums).add(polar).add(equatorial); }

    /// Streams beside `stream`, after what it has been given so far; it goes on when their work is done.
    JacobiStreams fork_sides(cudaStream_t stream) { return {side_.fork(stream), other_side_.fork(stream)}; }
    void join_sides(cudaStream_t stream) {
        side_.join(stream);
        other_side_.join(stream);
    }

    /// Begins, beside what `stream` is given next, what alm_from_modes needs of the orders that no F_m is
    /// needed for.
    void begin_adjoint(const LegendreStage& stage, Orders orders, cudaStream_t stream);
    /// `stream` goes on when that is done.
    void join_adjoint(cudaStream_t stream) { early_.join(stream); }

    /// What alm_from_modes and its parts leave in `sums` and the like.
    AdjointSums adjoint_sums(const LegendreStage& stage, int n_maps) {
        return {
            {stage.has_ishioka() ? sums.data() : nullptr, summed_}, polar.data(), equatorial.data(), n_maps};
    }

    core::DeviceArray<double> steps, rows, sums;  ///< of Ishioka's recurrence
    core::DeviceArray<double> polar, equatorial;  ///< adjoint_jacobi

  private:
    Orders summed_{0, 0};  ///< whose sums there is room for
    // These kernels have few blocks with long recurrences; if they began behind kernels that fill the device,
    // they would end after them.
    core::SideStream side_{core::OwnStream::Urgency::first}, other_side_{core::OwnStream::Urgency::first};
    core::SideStream early_{core::OwnStream::Urgency::first};  ///< for which the others' sums wait
};

/// How many of n_maps maps share the recurrences.
std::int64_t maps_at_once(const LegendreStage& stage, std::int64_t n_maps);

/// All orders in parts of about as many coefficients, so that the copies of one map's alm overlap with the
/// work on them: one for little, four for much.
std::vector<Orders> orders_in_parts(const AlmLayout& layout);
/// The same in at most n_parts.
std::vector<Orders> orders_in_parts(const AlmLayout& layout, std::int64_t n_parts);
/// Past the orders' last coefficient.
std::int64_t end_of(const AlmLayout& layout, Orders orders);

/// fourier: [map][component] of stage.layout().size() each, the part of the orders overwritten. It is
/// begin_modes, once for some orders, and finish_modes, which may be several calls for bands of them.
template <class T>
void modes_from_alm(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                    ModesScratch& scratch, PairModes* fourier, cudaStream_t stream);
template <class T>
void begin_modes(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                 ModesScratch& scratch, cudaStream_t stream);
template <class T>
void finish_modes(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                  ModesScratch& scratch, PairModes* fourier, cudaStream_t stream);

/// The transpose: the orders' a_lm. After ModesScratch::begin_adjoint. It is sum_modes, which may be several
/// calls for bands, and gather_alm, once for the orders.
template <class T>
void alm_from_modes(const LegendreStage& stage, Orders orders, const PairModes* fourier,
                    ModesScratch& scratch, const std::vector<AlmTargets<T>>& maps, cudaStream_t stream);
void sum_modes(const LegendreStage& stage, Orders orders, int n_maps, const PairModes* fourier,
               ModesScratch& scratch, cudaStream_t stream);
template <class T>
void gather_alm(const LegendreStage& stage, Orders orders, ModesScratch& scratch,
                const std::vector<AlmTargets<T>>& maps, cudaStream_t stream);

}  // namespace zonal::sht::cuda
