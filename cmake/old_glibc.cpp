// Wheels serve distributions with glibc 2.34 and the C++ library of GCC 11. The library takes two functions
// from newer ones, which gave them second versions: hypot (glibc 2.35, without errno), and
// condition_variable::wait (GCC 12, which may throw). The linker sends calls of them here (--wrap), and these
// take the first version.
namespace {

#if defined(__x86_64__)
extern "C" double first_hypot(double x, double y);
__asm__(".symver first_hypot, hypot@GLIBC_2.2.5");
#elif defined(__aarch64__)
extern "C" double first_hypot(double x, double y);
__asm__(".symver first_hypot, hypot@GLIBC_2.17");
#endif
extern "C" void first_wait(void* condition, void* lock);
__asm__(".symver first_wait, _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" double __wrap_hypot(double x, double y) {
    return first_hypot(x, y);
}

extern "C" void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(void* condition,
                                                                                 void* lock) {
    first_wait(condition, lock);
}
// NOLINTEND(bugprone-reserved-identifier)
