#pragma once

namespace zonal::cli {

/// Floating point operations per second (a fused multiply-add counts two) of double-precision FMA on this
/// many threads at once, with the widest vectors of the machine: the best of a few short runs. Where the
/// machine has no FMA instruction, of what replaces it.
double measured_fma_flops(int threads);

}  // namespace zonal::cli
