#include "spectra/coupling_diagonals.hpp"
#include "zonal/error.hpp"

namespace zonal::coupling {

void coupling_matrices_on_cuda(const CouplingTables&, const core::AlignedVector<double>&, std::int64_t,
                               const std::vector<CouplingKind>&, const View<double, 4>&, int device, int) {
    throw BackendUnavailable("device", to_string(Device::cuda(device)),
                             "this build of Zonal has no CUDA code");
}

}  // namespace zonal::coupling
