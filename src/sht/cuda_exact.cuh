#pragma once

#include "sht/cuda_zones.cuh"
#include "sht/rings/meridian_integral_cuda.cuh"

namespace zonal::sht::cuda {

/// Exact integrals over theta between the pixels of all rings and F_m as a zone has them. All orders of every
/// ring take part, of one component at a time.
class ExactIntegrals {
  public:
    /// zone: of all of the grid's rings. Keeps a reference.
    ExactIntegrals(const Grid& grid, const ShtOptions& options, const Zone& zone);

    std::int64_t bytes() const;
    void fit(CudaStorage& storage) const;

    /// Zone::of_grid(0, ...) = G F_m of the map's components.
    template <class T>
    void modes_of_map(const T* map, std::int64_t component_stride, CudaStorage& storage,
                      cudaStream_t stream) const;
    /// The transpose: writes all pixels of the rings.
    template <class T>
    void map_of_modes(T* map, std::int64_t component_stride, CudaStorage& storage, cudaStream_t stream) const;

  private:
    const Zone& zone_;
    const ExactRings host_;
    const FourierLayout layout_;
    const RingStage rings_;
    const CudaMeridianIntegral integral_;
    const double scale_;
};

}  // namespace zonal::sht::cuda
