#pragma once

// Include before <hwy/highway.h>. The instruction sets that a portable binary carries: fixed-length vectors
// only, because the kernels keep arrays of vectors in registers, and only those that differ for this code
// (SSSE3 adds nothing to SSE2 here, AVX3_DL nothing to AVX3).
#define HWY_DISABLED_TARGETS \
    (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | HWY_AVX3_DL)

// The one instruction set of a build with ZONAL_TARGETS=native, by Highway's name. To Highway it is the
// baseline; nothing but kernels is compiled for it.
#ifdef ZONAL_ONLY_TARGET
#define HWY_BASELINE_TARGETS ZONAL_ONLY_TARGET
#define HWY_COMPILE_ONLY_STATIC
#endif

// On ARM the one target left is NEON, which every 64-bit processor has. Told that it cannot choose at run
// time, Highway compiles it for the baseline; otherwise with an attribute for cryptography, with which GCC
// refuses vectors as members of structs (docs/decisions/compile-flags.md).
#if defined(__aarch64__) && !defined(TOOLCHAIN_MISS_SYS_AUXV_H)
#define TOOLCHAIN_MISS_SYS_AUXV_H
#endif
