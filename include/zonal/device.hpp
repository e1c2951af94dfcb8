#pragma once

#include <string>

namespace zonal {

/// The hardware that a plan runs on.
class Device {
  public:
    enum class Kind { automatic, cpu, cuda };

    /// The fastest device that is there; decided once, when a plan is made.
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

/// The device that `requested` stands for on this machine: never automatic.
/// Throws BackendUnavailable, with the reason, when a CUDA device is asked for and cannot be used.
Device resolve_device(Device requested);

/// "cpu" or "cuda:0".
std::string to_string(Device device);

/// Name of the SIMD instruction set that the CPU kernels use on this machine, such as "AVX3" or "AVX2".
std::string simd_target();

/// Number of CPUs that this process may use: those of its affinity mask (not the machine's count), or the
/// quota of CPU time of its control groups (container), rounded up, if that is less.
int available_cpus();

}  // namespace zonal
