#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/interruption.hpp"
#include "core/threads/helpers.hpp"

namespace zonal::core {

/// Returns decompose(), which is at work on a matrix of n columns and cannot look for an interruption. If it
/// takes long, it runs in a thread of its own while this one looks. After an interruption that thread works
/// on until it is done, and drops its result: decompose must own all that it uses.
template <class Decompose>
auto abandonable(std::int64_t n, Decompose decompose) -> std::invoke_result_t<Decompose&> {
    constexpr std::int64_t most_quick = 200;  // columns whose eigenvalues take less than 50 ms
    if (n <= most_quick) return decompose();
    using Result = std::invoke_result_t<Decompose&>;
    const auto task = std::make_shared<std::packaged_task<Result()>>(std::move(decompose));
    auto result = task->get_future();
    try {
        start_thread([task] { (*task)(); });
    } catch (const std::system_error&) {
        (*task)();  // where no thread can be started, the caller waits
    }
    const InterruptionPoll poll;
    while (result.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) poll();
    return result.get();
}

}  // namespace zonal::core
