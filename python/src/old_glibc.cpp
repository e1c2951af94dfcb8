// Wheels serve distributions with glibc 2.34. All that the library takes from a newer one is hypot, which
// glibc 2.35 gave a second version without errno; the linker sends calls of it here (--wrap), and these take
// the first version.
namespace {

#if defined(__x86_64__)
extern "C" double first_hypot(double x, double y);
__asm__(".symver first_hypot, hypot@GLIBC_2.2.5");
#elif defined(__aarch64__)
extern "C" double first_hypot(double x, double y);
__asm__(".symver first_hypot, hypot@GLIBC_2.17");
#endif

}  // namespace

extern "C" double __wrap_hypot(double x,
                               double y) {  // NOLINT(bugprone-reserved-identifier): the linker's name
    return first_hypot(x, y);
}
