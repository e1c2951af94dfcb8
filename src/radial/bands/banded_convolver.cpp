#include "radial/bands/banded_convolver.hpp"

#include <fmt/core.h>

#include "zonal/error.hpp"

namespace zonal::radial {

Device resolve_devices(const PixelConvolutionOptions& options) {
    const auto& devices = options.devices;
    for (std::size_t k = 0; k < devices.size(); ++k)
        if (devices[k].kind() != Device::Kind::cuda)
            throw InvalidArgument(fmt::format("devices[{}]", k), to_string(devices[k]),
                                  "must be a CUDA device");
    if (!devices.empty() && options.device.kind() != Device::Kind::automatic && options.device != devices[0])
        throw InvalidArgument("device", to_string(options.device),
                              fmt::format("must be auto or the first of devices, {}", to_string(devices[0])));
    if (options.max_workspace_bytes < 0)
        throw InvalidArgument("max_workspace_bytes", options.max_workspace_bytes,
                              "must be 0 (what is free) or positive");
    for (const Device device : devices) resolve_device(device);
    const Device first = resolve_device(devices.empty() ? options.device : devices[0]);
    if (first.kind() != Device::Kind::cuda && options.max_workspace_bytes > 0)
        throw InvalidArgument("max_workspace_bytes", options.max_workspace_bytes, "must be 0 on the CPU");
    return first;
}

}  // namespace zonal::radial
