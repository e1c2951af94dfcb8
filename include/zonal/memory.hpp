#pragma once

#include <string>

namespace zonal {

/// What this process can still take.
struct AvailableMemory {
    double bytes = 0;
    std::string
        limit;  ///< what sets it, for messages: "this machine", "the control group (container)", "ulimit -v"
    bool is_shared = true;  ///< with other processes; ulimit holds for each by itself
};

/// The least of what the system has available, swap included, of what the control groups of the process leave
/// (versions 1 and 2; containers and batch systems set them), and of its limits on address space and data
/// (ulimit -v, -d). root: the folder that holds proc and sys.
AvailableMemory available_memory(const std::string& root = "/");

/// Throws OutOfMemory, "WHAT needs 12 GB of memory; this machine has 8 GB left". For the moment before much
/// is allocated: systems that promise more memory than they have end a process instead of failing its
/// allocation.
void require_memory(double bytes, const std::string& what);

}  // namespace zonal
