#include "zonal/device.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "core/cuda_host.hpp"
#include "zonal/error.hpp"

namespace zonal {

Device resolve_device(Device requested, int number) {
    if (requested.kind() == Device::Kind::cpu) return requested;
    const core::CudaDevices devices = core::cuda_devices();
    if (requested.kind() == Device::Kind::automatic) {
        if (devices.count == 0) return Device::cpu();
        const int own = number % devices.count;
        return core::why_not_usable(own).empty() ? Device::cuda(own) : Device::cpu();
    }
    if (devices.count == 0)
        throw BackendUnavailable("device", to_string(requested),
                                 fmt::format("{}; permitted: cpu, auto", devices.reason));
    if (requested.index() < 0 || requested.index() >= devices.count)
        throw BackendUnavailable(
            "device", to_string(requested),
            fmt::format("must be from cuda:0 to cuda:{}, or cpu, or auto", devices.count - 1));
    const std::string reason = core::why_not_usable(requested.index());
    if (!reason.empty()) throw BackendUnavailable("device", to_string(requested), reason);
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

Device parse_device(const std::string& text) {
    if (text == "cpu") return Device::cpu();
    if (text == "auto") return Device::automatic();
    if (text == "cuda") return Device::cuda();
    constexpr std::string_view prefix = "cuda:";
    int index = -1;
    const char* const end = text.data() + text.size();
    if (!text.starts_with(prefix) ||
        std::from_chars(text.data() + prefix.size(), end, index) !=
            std::from_chars_result{end, std::errc()} ||
        index < 0)
        throw InvalidArgument("device", text, "must be cpu, cuda, cuda:0 (or another number) or auto");
    return Device::cuda(index);
}

namespace {

/// A GPU as the CUDA driver describes it.
struct DriverDevice {
    std::string name;
    std::int64_t memory_bytes = 0;
};

/// A function of the driver's library, by the name under which it is exported; null where it is missing.
template <class Function>
Function* find(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

/// Returns the GPUs that the driver shows to this process; none where there is no driver. Its library is
/// opened by name, so that this works without CUDA code, too.
std::vector<DriverDevice> ask_cuda_driver() {
    // Never closed, because the driver has threads of its own; opened again it is the same.
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    auto* const init = find<int(unsigned)>(library, "cuInit");
    auto* const count_devices = find<int(int*)>(library, "cuDeviceGetCount");
    auto* const get = find<int(int*, int)>(library, "cuDeviceGet");
    auto* const get_name = find<int(char*, int, int)>(library, "cuDeviceGetName");
    auto* const get_memory = find<int(std::size_t*, int)>(library, "cuDeviceTotalMem_v2");
    if (init == nullptr || count_devices == nullptr || get == nullptr || get_name == nullptr ||
        get_memory == nullptr)
        return {};
    int count = 0;
    if (init(0) != 0 || count_devices(&count) != 0) return {};
    std::vector<DriverDevice> devices;
    devices.reserve(static_cast<std::size_t>(count));
    for (int index = 0; index < count; ++index) {
        int device = 0;
        std::array<char, 256> name{};
        std::size_t bytes = 0;
        if (get(&device, index) != 0) continue;
        get_name(name.data(), static_cast<int>(name.size()) - 1, device);
        get_memory(&bytes, device);
        devices.push_back({name.data(), static_cast<std::int64_t>(bytes)});
    }
    return devices;
}

}  // namespace

std::vector<DeviceDescription> list_devices() {
    const auto pages = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES));
    std::vector<DeviceDescription> found{{Device::cpu(), simd_target(), pages * sysconf(_SC_PAGESIZE), ""}};
    const core::CudaDevices usable = core::cuda_devices();
    const std::vector<DriverDevice> devices = ask_cuda_driver();
    found.reserve(1 + devices.size());
    for (int index = 0; index < static_cast<int>(devices.size()); ++index) {
        const DriverDevice& device = devices[static_cast<std::size_t>(index)];
        found.push_back({Device::cuda(index), device.name, device.memory_bytes,
                         index < usable.count ? core::why_not_usable(index) : usable.reason});
    }
    return found;
}

}  // namespace zonal
