#pragma once

#include <cstddef>

#include "zonal/view.hpp"

/// Where memory that callers hand in really lies.
namespace zonal::core {

/// The device whose memory this is; of managed memory the current one. Throws InvalidArgument where it is
/// none.
int device_of(const char* name, const void* data);

/// Throws InvalidArgument for memory that is said to lie on the device and does not, or the other way round,
/// and for memory on it that is not aligned to `alignment` bytes.
void require_place(const char* name, const void* data, MemorySpace space, int device, std::size_t alignment);

}  // namespace zonal::core
