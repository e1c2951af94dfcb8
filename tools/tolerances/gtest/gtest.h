#pragma once

// Stands in for GoogleTest's header where tools/tolerances.py builds the tests: EXPECT_LE, EXPECT_LT and
// EXPECT_NEAR of floating-point numbers, and their ASSERT_ forms, also note by how much they hold.

#include_next <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

namespace zonal_tolerances {

/// The closest call of each assertion, appended as lines "file:line limit reached calls" to $ZONAL_TOLERANCES
/// when the program ends.
class Record {
  public:
    ~Record() {
        const char* path = std::getenv("ZONAL_TOLERANCES");
        std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
        if (file == nullptr) return;
        for (const auto& [place, call] : calls_)
            std::fprintf(file, "%s:%d %.17g %.17g %lld\n", place.first, place.second, call.limit,
                         call.reached, call.count);
        std::fclose(file);
    }
    void note(std::pair<const char*, int> place, double reached, double limit) {
        const std::lock_guard lock(mutex_);
        Call& call = calls_[place];
        // reached / limit > call.reached / call.limit
        if (call.count++ == 0 || reached * call.limit > call.reached * limit)
            call.reached = reached, call.limit = limit;
    }

  private:
    struct Call {
        double reached = 0, limit = 0;
        long long count = 0;
    };
    std::mutex mutex_;
    std::map<std::pair<const char*, int>, Call> calls_;
};
inline Record record;

template <class A, class B>
void note(const char* file, int line, const A& reached, const B& limit) {
    if constexpr (std::is_floating_point_v<A> && std::is_arithmetic_v<B>)
        record.note({file, line}, static_cast<double>(reached), static_cast<double>(limit));
}

inline auto le(const char* file, int line) {
    return [=](const char* left, const char* right, const auto& a, const auto& b) {
        note(file, line, a, b);
        return ::testing::internal::CmpHelperLE(left, right, a, b);
    };
}
inline auto lt(const char* file, int line) {
    return [=](const char* left, const char* right, const auto& a, const auto& b) {
        note(file, line, a, b);
        return ::testing::internal::CmpHelperLT(left, right, a, b);
    };
}
inline auto near(const char* file, int line) {
    return [=](const char* left, const char* right, const char* limit, double a, double b, double most) {
        note(file, line, std::abs(a - b), most);
        return ::testing::internal::DoubleNearPredFormat(left, right, limit, a, b, most);
    };
}

}  // namespace zonal_tolerances

#undef EXPECT_LE
#undef EXPECT_LT
#undef EXPECT_NEAR
#undef ASSERT_LE
#undef ASSERT_LT
#undef ASSERT_NEAR
#define EXPECT_LE(a, b) EXPECT_PRED_FORMAT2(::zonal_tolerances::le(__FILE__, __LINE__), a, b)
#define EXPECT_LT(a, b) EXPECT_PRED_FORMAT2(::zonal_tolerances::lt(__FILE__, __LINE__), a, b)
#define EXPECT_NEAR(a, b, most) EXPECT_PRED_FORMAT3(::zonal_tolerances::near(__FILE__, __LINE__), a, b, most)
#define ASSERT_LE(a, b) ASSERT_PRED_FORMAT2(::zonal_tolerances::le(__FILE__, __LINE__), a, b)
#define ASSERT_LT(a, b) ASSERT_PRED_FORMAT2(::zonal_tolerances::lt(__FILE__, __LINE__), a, b)
#define ASSERT_NEAR(a, b, most) ASSERT_PRED_FORMAT3(::zonal_tolerances::near(__FILE__, __LINE__), a, b, most)
