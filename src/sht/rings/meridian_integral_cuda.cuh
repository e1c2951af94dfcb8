#pragma once

#include <mutex>
#include <vector>

#include "fft/fft_batch.cuh"
#include "sht/legendre/legendre_cuda.cuh"
#include "sht/rings/meridian_integral.hpp"

/// Exact integrals over theta on CUDA, as on the CPU (meridian_integral.hpp): circles of many orders at once,
/// through cuFFT.
namespace zonal::sht::cuda {

/// The device memory of a call's integrals.
struct MeridianScratch {
    core::DeviceArray<double2> circles, fine;
    core::DeviceArray<char> library;
    core::DeviceArray<PairModes> modes;  ///< F_m of all orders on all rings of one field
};

/// What the kernels read; device pointers.
struct MeridianView {
    /// Orders that share a circle; -1 for none.
    struct Row {
        std::int32_t m, other;
    };
    /// Which F_m a sample is, of a ring pair; pair < 0: none.
    struct Sample {
        std::int32_t pair;
        std::int8_t south, mirrored, at_pole;
    };
    /// The samples of a pair's rings, at theta and at -theta; -1 for a missing ring.
    struct Pair {
        std::int32_t north, north_mirror, south, south_mirror;
    };
    const Row* rows;
    const Sample* samples;  ///< [length]
    const Pair* pairs;      ///< [n_pairs]
    const double* weights;  ///< [fine_length]
    /// [n_missing][n_pairs]: factors of the northern and the southern ring at a pole without a ring.
    const double2* pole_factors;
    std::int32_t missing[2];
    int n_missing, spin;
    std::int32_t length, fine_length, n_pairs;
};

/// F_m of a field, where a layout has them.
struct ModesView {
    PairModes* modes;
    const std::int64_t *origin, *first_pair;
};
inline ModesView view_of(const FourierLayout& layout, PairModes* modes) {
    return {modes, layout.origin(), layout.first_pairs()};
}

class CudaMeridianIntegral {
  public:
    /// alm: whose orders there are.
    CudaMeridianIntegral(const MeridianTables& tables, const RingPairs& pairs, const AlmLayout& alm);

    void fit(MeridianScratch& scratch) const;
    std::int64_t scratch_bytes() const;

    /// to = scale G from, of one field, where orders that `from` lacks count as 0; the two may be the same.
    void apply(Orders orders, ModesView from, ModesView to, double scale, const MeridianScratch& scratch,
               cudaStream_t stream) const;

  private:
    MeridianView view_;
    std::vector<std::int64_t> first_row_;  ///< [order number, and the end]: rows before it
    std::vector<std::int64_t> row_of_spin_;
    core::DeviceArray<MeridianView::Row> rows_;
    core::DeviceArray<MeridianView::Sample> samples_;
    core::DeviceArray<MeridianView::Pair> pairs_;
    core::DeviceArray<double> weights_;
    core::DeviceArray<double2> pole_factors_;
    std::int64_t rows_at_once_;
    fft::cuda::FftBatch circles_, fine_;
    mutable std::mutex library_mutex_;  ///< of the handles
};

}  // namespace zonal::sht::cuda
