#include "gwrm/backend.hpp"
#include "zonal/error.hpp"

namespace zonal::gwrm {

std::unique_ptr<Backend> make_cuda_backend(Device device, int) {
    throw BackendUnavailable("device", to_string(device),
                             "this build of Zonal has no CUDA code for initial-value problems");
}

}  // namespace zonal::gwrm
