#pragma once

#include <functional>
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

/// Gives the system back the memory that was freed and that malloc keeps for what comes next. How much that
/// is depends on which thread freed it when: 20 to 140 MB after a plan. Does nothing where the C library is
/// not glibc.
void return_freed_memory();

/// Throws OutOfMemory, "WHAT needs 12 GB of memory; this machine has 8 GB left: free some, or ask for less".
/// For the moment before much is allocated: systems that promise more memory than they have end a process
/// instead of failing its allocation. Freed memory is returned to the system before anything is refused.
void require_memory(double bytes, const std::string& what);

/// What is told of memory before work takes it, such as require_memory: bytes beside what the process has by
/// then, and what for.
using MemoryCheck = std::function<void(double bytes, const std::string& what)>;

/// Bytes of memory that this process has in use; 0 where the system does not say.
struct ResidentMemory {
    double now = 0;
    double most = 0;  ///< since the process began
};
/// root: the folder that holds proc.
ResidentMemory resident_memory(const std::string& root = "/");

}  // namespace zonal
