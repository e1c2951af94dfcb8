#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {

std::unique_ptr<const Transform> make_cuda_transform(const Grid&, const ShtOptions& options) {
    throw BackendUnavailable("device = " + to_string(options.device) +
                             ": this build of Zonal has no CUDA code");
}

}  // namespace zonal::sht
