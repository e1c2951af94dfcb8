#include "beams/cuda/scan_cuda.hpp"
#include "zonal/error.hpp"

namespace zonal::beams::cuda {
namespace {

// Nobody has samples on a GPU here.
[[noreturn]] void refuse() {
    throw BackendUnavailable("this build of Zonal has no CUDA code");
}

}  // namespace

void add_terms(Device, const SetTerms&, const double*, double*) {
    refuse();
}
void set_values(Device, const SetTerms&, const double*, double*) {
    refuse();
}
std::optional<NumberedAngle> first_not_finite(const char*, Device, View<const double, 1>) {
    refuse();
}

}  // namespace zonal::beams::cuda
