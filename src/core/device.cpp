#include "zonal/device.hpp"

#include <fmt/format.h>

#include "zonal/error.hpp"

namespace zonal {

Device resolve_device(Device requested) {
    if (requested.kind() == Device::Kind::cuda)
        throw BackendUnavailable(fmt::format(
            "device = {}: this build of Zonal has no CUDA code; permitted: cpu, auto", to_string(requested)));
    return Device::cpu();
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
