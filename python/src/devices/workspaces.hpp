#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "zonal/error.hpp"

namespace zonal::python {

/// A cudaStream_t of the caller's, or nothing: calls then wait until all is done.
using Stream = std::optional<std::uintptr_t>;

/// The scratch memory of a plan's calls, which are as many at once as there are threads that make them. What
/// is put on a stream may still be at work when a call returns, so each piece serves one stream alone.
template <class Workspace>
class Workspaces {
  public:
    /// Calls work(workspace) and keeps the memory for the next call, unless this one fails. make(n_maps): a
    /// new one, for this many maps at once. Where a device has no memory for several, they are done one by
    /// one.
    template <class Make, class Work>
    void lend(Stream stream, std::int64_t n_maps, const Make& make, const Work& work) const {
        Kept taken = take(stream, n_maps, make);
        try {
            work(taken.workspace);
        } catch (const OutOfDeviceMemory&) {
            if (taken.n_maps == 1) throw;
            taken = made(stream, 1, make);
            work(taken.workspace);
        }
        const std::lock_guard lock(mutex_);
        kept_.push_back(std::move(taken));
        if (kept_.size() > most_kept) kept_.pop_front();
    }

    /// Calls take(workspace) for all that are kept, which then are no longer.
    template <class Take>
    void give_away(const Take& take) {
        const std::lock_guard lock(mutex_);
        for (auto& one : kept_) take(std::move(one.workspace));
        kept_.clear();
    }

  private:
    struct Kept {
        Stream stream;
        std::int64_t n_maps;
        Workspace workspace;
    };

    template <class Make>
    Kept take(Stream stream, std::int64_t n_maps, const Make& make) const {
        {
            const std::lock_guard lock(mutex_);
            const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                            [&](const Kept& one) { return one.stream == stream; });
            if (found != kept_.rend()) {
                Kept taken = std::move(*found);
                kept_.erase(std::next(found).base());
                if (taken.n_maps >= n_maps) return taken;  // else a larger one takes its place
            }
        }
        return made(stream, n_maps, make);
    }
    template <class Make>
    static Kept made(Stream stream, std::int64_t n_maps, const Make& make) {
        Kept one{stream, n_maps, make(n_maps)};
        if constexpr (requires { one.workspace.use_stream(nullptr); })
            if (stream) one.workspace.use_stream(reinterpret_cast<void*>(*stream));
        return one;
    }

    /// More than the threads and streams that usually work at once; a program may make streams without end.
    static constexpr std::size_t most_kept = 64;

    mutable std::mutex mutex_;
    mutable std::deque<Kept> kept_;  ///< the last one that was used is the last
};

}  // namespace zonal::python
