#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "shell/session.hpp"

namespace zonal::cli {

/// Does work that may be long in calls which look for no signal, in a thread of its own. Soon after a signal
/// the program ends, as interrupted, unless the work has ended before by itself: with Cancelled where it
/// looked. The work must write no files, of which a part would be left. Rethrows what it throws.
void do_interruptible(Session& session, const std::function<void()>& work);

/// The same of work with a result.
template <class Work>
auto interruptible(Session& session, Work&& work) {
    std::optional<decltype(work())> result;
    do_interruptible(session, [&] { result.emplace(work()); });
    return std::move(*result);
}

}  // namespace zonal::cli
