#pragma once

#include <functional>
#include <memory>

#include "radial/convolver.hpp"

/// Convolutions of maps that a device has no memory for, or by several devices: in latitude bands.
namespace zonal::radial {

/// options.device or the first of options.devices, resolved. Throws InvalidArgument for devices and
/// max_workspace_bytes that are no good, and BackendUnavailable.
Device resolve_devices(const PixelConvolutionOptions& options);

/// The convolver of some rings on options.device.
template <int Rank>
using MakeConvolver = std::function<std::unique_ptr<const BasicConvolver<Rank>>(
    const Grid& grid, const Grid& grid_out, const PixelConvolutionOptions& options)>;

/// On CUDA: the convolver that `make` makes of all rings or, where the device has no memory for it and for
/// copies of the maps (options.max_workspace_bytes, or what is free) or there are several devices, of as few
/// bands as keep within it, at most 64 on each device. support: of the kernel, rad. Throws InvalidArgument
/// where these do not keep within options.max_workspace_bytes; where they do not keep within what is free,
/// calls may run out of memory.
template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_cuda_convolver(const Grid& grid, double support,
                                                                const Grid& grid_out,
                                                                const PixelConvolutionOptions& options,
                                                                const MakeConvolver<Rank>& make);

}  // namespace zonal::radial
