#include "core/threads/abandonable.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "zonal/error.hpp"
#include "zonal/interruption.hpp"

namespace zonal::core {
namespace {

constexpr std::int64_t few = 2, many = 5000;  // columns

TEST(Abandonable, WorkThatTakesLongHasAThreadOfItsOwn) {
    const auto thread = [] { return std::this_thread::get_id(); };
    EXPECT_EQ(abandonable(few, thread), std::this_thread::get_id());
    EXPECT_NE(abandonable(many, thread), std::this_thread::get_id());
}

TEST(Abandonable, ResultsNeedNotBeCopiedAndErrorsReachTheCaller) {
    EXPECT_EQ(*abandonable(many, [] { return std::make_unique<int>(7); }), 7);
    EXPECT_THROW(abandonable(many, []() -> int { throw std::domain_error("singular"); }), std::domain_error);
}

TEST(Abandonable, AnInterruptionLeavesTheWorkToEndByItself) {
    struct Shared {
        std::atomic<bool> may_end = false, has_ended = false;
    };
    const auto shared = std::make_shared<Shared>();
    {
        const InterruptionCheck check([] { return true; });
        EXPECT_THROW(abandonable(many,
                                 [shared] {
                                     while (!shared->may_end) std::this_thread::yield();
                                     shared->has_ended = true;
                                     return 0;
                                 }),
                     Cancelled);
    }
    EXPECT_FALSE(shared->has_ended);
    shared->may_end = true;
    while (!shared->has_ended) std::this_thread::yield();  // else the test hangs
}

}  // namespace
}  // namespace zonal::core
