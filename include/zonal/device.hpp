#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zonal {

/// The hardware that a plan runs on.
class Device {
  public:
    enum class Kind { automatic, cpu, cuda };

    /// The first GPU if this build can use it, else the CPU, whatever the size of the work. Over several
    /// ranks each takes a GPU of its own (Communicator::own_device). Decided once, when a plan is made.
    static Device automatic() { return Device(Kind::automatic, 0); }
    static Device cpu() { return Device(Kind::cpu, 0); }
    static Device cuda(int index = 0) { return Device(Kind::cuda, index); }

    Kind kind() const { return kind_; }
    int index() const { return index_; }
    bool operator==(const Device&) const = default;

  private:
    Device(Kind kind, int index) : kind_(kind), index_(index) {}
    Kind kind_;
    int index_;
};

/// The device that `requested` stands for on this machine: never automatic. number: counts the callers on
/// this machine from 0, so that automatic gives each its own GPU; after the last GPU it starts again at the
/// first. Throws BackendUnavailable, with the reason, when a CUDA device is asked for and cannot be used.
Device resolve_device(Device requested, int number = 0);

/// "cpu" or "cuda:0".
std::string to_string(Device device);

/// Returns the device that to_string gives the text for, or "cuda" for the first GPU. Throws InvalidArgument.
Device parse_device(const std::string& text);

/// What a machine has to compute on.
struct DeviceDescription {
    Device device = Device::cpu();
    std::string name;               ///< such as "NVIDIA H100 80GB HBM3"; of the CPU, simd_target()
    std::int64_t memory_bytes = 0;  ///< in all
    std::string reason;             ///< why it cannot be used; empty if it can
};

/// Returns the CPU and all GPUs that the CUDA driver shows to this process, also those that this build of
/// Zonal cannot use.
std::vector<DeviceDescription> list_devices();

/// The instruction set of the CPU kernels, such as "AVX3". Throws BackendUnavailable if the CPU lacks it.
std::string simd_target();

/// Number of CPUs that this process may use: those of its affinity mask (not the machine's count), or the
/// quota of CPU time of its control groups (container), rounded up, if that is less.
int available_cpus();

}  // namespace zonal
