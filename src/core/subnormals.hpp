#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace zonal::core {

/// While it lives, this thread takes numbers below 2.2e-308 as zero. CPUs handle them by microcode: a
/// synthesis whose alm fade through that range, as the window of a wide beam makes them, takes up to four
/// times as long with them.
class SubnormalsAsZero {
  public:
    SubnormalsAsZero() : before_(control()) { set_control(before_ | kFlush); }
    ~SubnormalsAsZero() { set_control(before_); }
    SubnormalsAsZero(const SubnormalsAsZero&) = delete;
    SubnormalsAsZero& operator=(const SubnormalsAsZero&) = delete;

  private:
#if defined(__SSE2__)
    static constexpr std::uint64_t kFlush = 0x8040;  // flush to zero, and denormals are zero
    static std::uint64_t control() {
        return _mm_getcsr();
    }
    static void set_control(std::uint64_t value) {
        _mm_setcsr(static_cast<unsigned>(value));
    }
#elif defined(__aarch64__)
    static constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;  // FZ
    static std::uint64_t control() {
        std::uint64_t value;
        asm volatile("mrs %0, fpcr" : "=r"(value));
        return value;
    }
    static void set_control(std::uint64_t value) {
        asm volatile("msr fpcr, %0" : : "r"(value));
    }
#else
    static constexpr std::uint64_t kFlush = 0;
    static std::uint64_t control() {
        return 0;
    }
    static void set_control(std::uint64_t) {}
#endif

    std::uint64_t before_;
};

}  // namespace zonal::core
