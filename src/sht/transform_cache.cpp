#include "sht/transform_cache.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "grids/kept_nodes.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// Workspaces above this are not kept: to take them anew costs little beside the transforms that they are
/// for.
constexpr std::int64_t largest_workspace = std::int64_t{32} << 20;

bool same(const Ring& a, const Ring& b) {
    return a.theta == b.theta && a.cos_theta == b.cos_theta && a.sin_theta == b.sin_theta &&
           a.phi_0 == b.phi_0 && a.weight == b.weight && a.n_pixels == b.n_pixels &&
           a.first_pixel == b.first_pixel;
}

bool same(const Grid& a, const Grid& b) {
    return a.n_pixels() == b.n_pixels() && a.n_rings() == b.n_rings() && a.name() == b.name() &&
           std::equal(a.rings().begin(), a.rings().end(), b.rings().begin(),
                      [](const Ring& one, const Ring& other) { return same(one, other); });
}

bool same(const ShtOptions& a, const ShtOptions& b) {
    return a.lmax == b.lmax && a.mmax == b.mmax && a.spin == b.spin && a.parts == b.parts &&
           a.threads == b.threads && a.device == b.device && a.accuracy == b.accuracy &&
           a.max_workspace_bytes == b.max_workspace_bytes;
}

/// About what a call has in scratch memory: its transform's, three maps and three sets of alm.
std::int64_t bytes_of_workspace(const ShtPlan& plan) {
    constexpr std::int64_t arrays = 3, bytes_of_pixel = 8, bytes_of_coefficient = 16;
    return plan.workspace_bytes() +
           arrays * (bytes_of_pixel * plan.map_components() * plan.grid().n_pixels() +
                     bytes_of_coefficient * plan.alm_components() * plan.layout().size());
}

/// About what a plan has for itself: geometry and recurrences.
std::int64_t bytes_of_plan(const ShtPlan& plan) {
    constexpr std::int64_t bytes_of_ring = 1024, bytes_of_degree = 1024;
    return bytes_of_ring * plan.grid().n_rings() + bytes_of_degree * (plan.layout().lmax() + 1);
}

class TransformCache {
  public:
    std::shared_ptr<const ShtPlan> plan(const Grid& grid, const ShtOptions& options) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
                return same(one.options, options) && same(one.plan->grid(), grid);
            });
            if (found != entries_.end()) {
                entries_.splice(entries_.begin(), entries_, found);  // used last
                return found->plan;
            }
        }
        auto made = std::make_shared<const ShtPlan>(grid, options);
        const std::lock_guard lock(mutex_);
        entries_.push_front({options, made, {}, bytes_of_plan(*made)});
        shrink();
        return made;
    }

    ShtWorkspace take(const std::shared_ptr<const ShtPlan>& plan) {
        {
            const std::lock_guard lock(mutex_);
            const auto entry = find(plan);
            if (entry != entries_.end() && !entry->workspaces.empty()) {
                auto workspace = std::move(entry->workspaces.back());
                entry->workspaces.pop_back();
                entry->bytes -= bytes_of_workspace(*plan);
                return workspace;
            }
        }
        return plan->make_workspace();
    }

    void leave(const std::shared_ptr<const ShtPlan>& plan, ShtWorkspace&& workspace) {
        const auto bytes = bytes_of_workspace(*plan);
        if (bytes > largest_workspace) return;
        const std::lock_guard lock(mutex_);
        const auto entry = find(plan);
        if (entry == entries_.end()) return;
        entry->workspaces.push_back(std::move(workspace));
        entry->bytes += bytes;
        shrink();
    }

    void set_limit(std::int64_t bytes) {
        const std::lock_guard lock(mutex_);
        limit_ = bytes;
        shrink();
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        entries_.clear();
    }
    std::int64_t bytes() const {
        const std::lock_guard lock(mutex_);
        return sum();
    }

  private:
    struct Entry {
        ShtOptions options;
        std::shared_ptr<const ShtPlan> plan;
        std::vector<ShtWorkspace> workspaces;
        std::int64_t bytes;
    };

    std::list<Entry>::iterator find(const std::shared_ptr<const ShtPlan>& plan) {
        return std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& one) { return one.plan == plan; });
    }
    std::int64_t sum() const {
        std::int64_t all = 0;
        for (const auto& entry : entries_) all += entry.bytes;
        return all;
    }
    /// Drops what was used longest ago.
    void shrink() {
        while (!entries_.empty() && sum() > limit_) entries_.pop_back();
    }

    mutable std::mutex mutex_;
    std::list<Entry> entries_;
    std::int64_t limit_ = std::int64_t{240} << 20;  ///< set_cache_limit's 256 MiB without those of nodes
};

TransformCache& cache() {
    // Never destroyed, as threads may still work when a process ends.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static auto* const all = new TransformCache;
    return *all;
}

}  // namespace

void clear_caches() {
    cache().clear();
    grids::forget_nodes();
}
std::int64_t cached_bytes() {
    return cache().bytes() + grids::bytes_of_kept_nodes();
}
void set_cache_limit(std::int64_t bytes) {
    if (bytes < 0) throw InvalidArgument("bytes", bytes, "must be 0 or more");
    constexpr std::int64_t parts = 16;  // one of these is for nodes
    cache().set_limit(bytes - bytes / parts);
    grids::limit_kept_nodes(bytes / parts);
}

std::shared_ptr<const ShtPlan> sht::kept_plan(const Grid& grid, const ShtOptions& options) {
    auto resolved = options;
    resolved.device = resolve_device(options.device);
    resolved.threads = core::resolve_threads(options.threads);
    if (resolved.device.kind() != Device::Kind::cpu) return std::make_shared<const ShtPlan>(grid, options);
    return cache().plan(grid, resolved);
}

ShtWorkspace sht::take_workspace(const std::shared_ptr<const ShtPlan>& plan) {
    return cache().take(plan);
}

void sht::leave_workspace(const std::shared_ptr<const ShtPlan>& plan, ShtWorkspace&& workspace) {
    cache().leave(plan, std::move(workspace));
}

}  // namespace zonal
