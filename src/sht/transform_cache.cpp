#include "sht/transform_cache.hpp"

#include <pthread.h>

#include <algorithm>
#include <limits>
#include <list>
#include <mutex>
#include <optional>

#include "grids/kept_grids.hpp"
#include "sht/array_checks.hpp"
#include "sht/cpu_transform.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

bool same(const ShtOptions& a, const ShtOptions& b) {
    return a.lmax == b.lmax && a.mmax == b.mmax && a.spin == b.spin && a.parts == b.parts &&
           a.threads == b.threads && a.device == b.device && a.accuracy == b.accuracy &&
           a.max_workspace_bytes == b.max_workspace_bytes;
}

/// About what a plan has for itself: geometry and recurrences.
std::int64_t bytes_of(const ShtPlan& plan) {
    constexpr std::int64_t bytes_of_ring = 1024, bytes_of_degree = 1024;
    return bytes_of_ring * plan.grid().n_rings() + bytes_of_degree * (plan.layout().lmax() + 1);
}

/// Whether its workspaces serve every plan of which this is true.
bool shares_workspaces(const ShtPlan& plan) {
    return dynamic_cast<const sht::CpuTransform*>(&plan.transform()) != nullptr;
}

class TransformCache {
  public:
    /// options: resolved.
    std::shared_ptr<const ShtPlan> plan(const Grid& grid, const ShtOptions& options) {
        {
            const std::lock_guard lock(mutex_);
            if (auto found = find(grid, options)) return found;
        }
        auto made = std::make_shared<const ShtPlan>(grid, options);
        const std::lock_guard lock(mutex_);
        if (auto found = find(grid, options)) return found;  // another thread was faster
        const auto bytes = bytes_of(*made);
        if (bytes > limit_) return made;  // for which all others would have to go
        plans_.push_front({made, bytes, ++uses_});
        bytes_ += bytes;
        shrink();
        return made;
    }

    std::optional<ShtWorkspace> take() {
        const std::lock_guard lock(mutex_);
        if (workspaces_.empty()) return {};
        std::optional<ShtWorkspace> workspace(std::move(workspaces_.front().kept));
        bytes_ -= workspaces_.front().bytes;
        workspaces_.pop_front();
        return workspace;
    }

    void leave(ShtWorkspace workspace) {
        const auto bytes = workspace.storage().bytes();
        const std::lock_guard lock(mutex_);
        if (bytes > limit_ / 2) return;
        workspaces_.push_front({std::move(workspace), bytes, ++uses_});
        bytes_ += bytes;
        shrink();
    }

    /// Where none fits, as much as will be taken anew is freed: what is kept adds nothing to the memory of a
    /// call that has no use for it.
    std::optional<core::Scratch> take_scratch(std::int64_t bytes) {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(scratch_.begin(), scratch_.end(), [&](const auto& one) {
            return one.bytes >= bytes && one.bytes <= bytes + bytes / 4;
        });
        if (found == scratch_.end()) {
            for (const auto wanted = bytes_ - bytes; bytes_ > wanted && !scratch_.empty();)
                drop_last(scratch_);
            return {};
        }
        std::optional<core::Scratch> memory(std::move(found->kept));
        bytes_ -= found->bytes;
        scratch_.erase(found);
        return memory;
    }

    void leave(core::Scratch memory) {
        const auto bytes = memory.bytes();
        const std::lock_guard lock(mutex_);
        if (bytes > limit_ / 2) return;
        scratch_.push_front({std::move(memory), bytes, ++uses_});
        bytes_ += bytes;
        shrink();
    }

    void set_limit(std::int64_t bytes) {
        const std::lock_guard lock(mutex_);
        limit_ = bytes;
        shrink();
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        plans_.clear();
        workspaces_.clear();
        scratch_.clear();
        bytes_ = 0;
    }
    void clear_workspaces() {
        const std::lock_guard lock(mutex_);
        while (!workspaces_.empty()) drop_last(workspaces_);
        while (!scratch_.empty()) drop_last(scratch_);
    }
    std::int64_t bytes() const {
        const std::lock_guard lock(mutex_);
        return bytes_;
    }
    /// For fork, whose child must not find it locked by a thread that only its parent has.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    template <class T>
    struct Entry {
        T kept;
        std::int64_t bytes;
        std::uint64_t use;  ///< number of the last one
    };

    std::shared_ptr<const ShtPlan> find(const Grid& grid, const ShtOptions& options) {
        const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const auto& one) {
            return same(one.kept->options(), options) && one.kept->grid() == grid;
        });
        if (found == plans_.end()) return nullptr;
        plans_.splice(plans_.begin(), plans_, found);
        found->use = ++uses_;
        return found->kept;
    }
    template <class T>
    void drop_last(std::list<Entry<T>>& entries) {
        bytes_ -= entries.back().bytes;
        entries.pop_back();
    }
    template <class T>
    static std::uint64_t last_use(const std::list<Entry<T>>& entries) {
        return entries.empty() ? std::numeric_limits<std::uint64_t>::max() : entries.back().use;
    }
    /// Drops what was used longest ago.
    void shrink() {
        while (bytes_ > limit_) {
            const auto oldest = std::min({last_use(plans_), last_use(workspaces_), last_use(scratch_)});
            if (oldest == last_use(plans_))
                drop_last(plans_);
            else if (oldest == last_use(workspaces_))
                drop_last(workspaces_);
            else
                drop_last(scratch_);
        }
    }

    mutable std::mutex mutex_;
    // What was used last comes first.
    std::list<Entry<std::shared_ptr<const ShtPlan>>> plans_;
    std::list<Entry<ShtWorkspace>> workspaces_;
    std::list<Entry<core::Scratch>> scratch_;
    std::int64_t bytes_ = 0;
    std::uint64_t uses_ = 0;
    std::int64_t limit_ = std::int64_t{240} << 20;  ///< set_cache_limit's 256 MiB without those of grids
};

TransformCache& cache() {
    // Never destroyed, as threads may still work when a process ends.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static auto* const all = [] {
        pthread_atfork([] { cache().lock(); }, [] { cache().unlock(); }, [] { cache().unlock(); });
        return new TransformCache;
    }();
    return *all;
}

}  // namespace

void clear_caches() {
    cache().clear();
    grids::forget_kept();
}
void clear_workspaces() {
    cache().clear_workspaces();
}
std::int64_t cached_bytes() {
    return cache().bytes() + grids::bytes_of_kept();
}
void set_cache_limit(std::int64_t bytes) {
    if (bytes < 0) throw InvalidArgument("bytes", bytes, "must be 0 or more");
    constexpr std::int64_t parts = 16;  // one of these is for grids
    cache().set_limit(bytes - bytes / parts);
    grids::limit_kept(bytes / parts);
}

std::shared_ptr<const ShtPlan> kept_plan(const Grid& grid, const ShtOptions& options) {
    const auto resolved = sht::resolve_options(options);
    if (resolved.device.kind() != Device::Kind::cpu) return std::make_shared<const ShtPlan>(grid, resolved);
    return cache().plan(grid, resolved);
}

ShtWorkspace take_workspace(const ShtPlan& plan, std::int64_t n_maps) {
    if (n_maps < 1 || !shares_workspaces(plan)) return plan.make_workspace(n_maps);
    auto workspace = cache().take();
    if (!workspace) return plan.make_workspace(n_maps);
    workspace->storage().seconds = {};
    return std::move(*workspace);
}

void leave_workspace(const ShtPlan& plan, ShtWorkspace workspace) {
    if (shares_workspaces(plan)) cache().leave(std::move(workspace));
}

namespace sht {

core::Scratch take_scratch(std::int64_t doubles) {
    constexpr std::int64_t size = sizeof(double);
    auto memory = cache().take_scratch(size * doubles).value_or(core::Scratch());
    memory.reserve(doubles);
    return memory;
}

void leave_scratch(core::Scratch memory) noexcept {
    try {
        if (memory.bytes() > 0) cache().leave(std::move(memory));
    } catch (const std::bad_alloc&) {  // there is no room to note it: it is freed
    }
}

}  // namespace sht
}  // namespace zonal
