#pragma once

#include "radial/call_storage.cuh"

namespace zonal::radial::cuda {

/// Device memory of one call of the pixel sum, and what fills it. A plan of one field takes none of a plan of
/// Q and U, nor the other way round.
template <int components>
struct PixelSumStorage : CallStorage {
    using CallStorage::CallStorage;

    core::DeviceArray<char> folded;
};

}  // namespace zonal::radial::cuda
