#pragma once

#include "sht/legendre/legendre_cuda.cuh"

/// Between F_m as the device works on them and the bands (FourierBand) in which ranks send them to each
/// other: those of the CPU, whatever ranks compute on, and those with zones, where all compute on GPUs.
namespace zonal::sht::cuda {

/// What the kernels read of a band, on the device; the memory that a call fills, and keeps for the next one.
struct BandTables {
    core::DeviceArray<FourierBand::Place> places;
    core::DeviceArray<std::int64_t> offsets;
    core::DeviceArray<std::int32_t> zones;
    core::DeviceArray<std::int64_t> origins;

    /// Copies the band's, which must stay as it is until the stream has passed this.
    void fill(const FourierBand& band, cudaStream_t stream);
};

/// modes: [band.n_fields] of layout.size() each, whose first pair is the first one of the band's first block.
/// band: has runs of the orders and lies on the device or in page-locked memory, which the kernels read and
/// write themselves.
/// tables: filled with the band. Copies all pairs of the orders, those that fill up the last block as zeros.
/// A band with zones begins with the layout's first pair, too.
void to_band(const FourierLayout& layout, Orders orders, const PairModes* modes, const BandTables& tables,
             const FourierBand& band, cudaStream_t stream);
void from_band(const FourierLayout& layout, Orders orders, const BandTables& tables, const FourierBand& band,
               PairModes* modes, cudaStream_t stream);

}  // namespace zonal::sht::cuda
