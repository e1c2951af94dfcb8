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
template <class From, class To>
void copy_signal(Device, View<const From, 1>, View<To, 1>) {
    refuse();
}
std::optional<NumberedAngle> first_not_finite(const char*, Device, View<const double, 1>) {
    refuse();
}

template void copy_signal(Device, View<const double, 1>, View<double, 1>);
template void copy_signal(Device, View<const double, 1>, View<float, 1>);
template void copy_signal(Device, View<const float, 1>, View<double, 1>);

}  // namespace zonal::beams::cuda
