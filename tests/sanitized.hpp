#pragma once

/// Whether a sanitizer watches this build, in which the library takes 5 to 20 times as long. Tests of many
/// sizes leave the largest to other builds then, as it runs the same code as the others.
namespace zonal::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZONAL_SANITIZED
#endif
#endif

#ifdef ZONAL_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace zonal::test
