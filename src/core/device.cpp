#include "zonal/device.hpp"

#include <fmt/core.h>

#include "core/cuda_host.hpp"
#include "zonal/error.hpp"

namespace zonal {

Device resolve_device(Device requested) {
    if (requested.kind() == Device::Kind::cpu) return requested;
    const core::CudaDevices devices = core::cuda_devices();
    if (requested.kind() == Device::Kind::automatic)
        return devices.count > 0 ? Device::cuda(0) : Device::cpu();
    if (devices.count == 0)
        throw BackendUnavailable(
            fmt::format("device = {}: {}; permitted: cpu, auto", to_string(requested), devices.reason));
    if (requested.index() < 0 || requested.index() >= devices.count)
        throw BackendUnavailable(fmt::format("device = {}: must be from cuda:0 to cuda:{}, or cpu, or auto",
                                             to_string(requested), devices.count - 1));
    return requested;
}

std::string to_string(Device device) {
    switch (device.kind()) {
        case Device::Kind::cpu:
            return "cpu";
        case Device::Kind::cuda:
            return fmt::format("cuda:{}", device.index());
        case Device::Kind::automatic:
            break;
    }
    return "auto";
}

}  // namespace zonal
