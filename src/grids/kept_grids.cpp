#include "grids/kept_grids.hpp"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <mutex>

namespace zonal::grids {
namespace {

std::int64_t bytes_of(const std::vector<Node>& nodes) {
    return std::ssize(nodes) * static_cast<std::int64_t>(sizeof(Node));
}
std::int64_t bytes_of(const Grid& grid) {
    return grid.n_rings() * static_cast<std::int64_t>(sizeof(Ring));
}

struct Kept {
    std::mutex mutex;
    Rule rule{};
    std::vector<Node> nodes;
    std::list<std::pair<GridKey, Grid>> grids;  ///< the first was used last
    std::int64_t bytes = 0;                     ///< of nodes and grids
    std::int64_t limit = std::int64_t{16} << 20;

    std::list<std::pair<GridKey, Grid>>::iterator find(const GridKey& key) {
        const auto found =
            std::find_if(grids.begin(), grids.end(), [&](const auto& one) { return one.first == key; });
        if (found != grids.end()) grids.splice(grids.begin(), grids, found);
        return found;
    }
    void set_nodes(const Rule& new_rule, const std::vector<Node>& new_nodes) {
        bytes += bytes_of(new_nodes) - bytes_of(nodes);
        rule = new_rule;
        nodes = new_nodes;
    }
    /// Drops the grids that were used longest ago, and nodes where that is not enough.
    void shrink() {
        while (bytes > limit && !grids.empty()) {
            bytes -= bytes_of(grids.back().second);
            grids.pop_back();
        }
        if (bytes > limit) set_nodes({}, {});
    }
};

Kept& kept() {
    // Never destroyed, as threads may still work when a process ends.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static auto* const all = [] {
        // A child of fork must not find it locked by a thread that only its parent has.
        pthread_atfork([] { kept().mutex.lock(); }, [] { kept().mutex.unlock(); },
                       [] { kept().mutex.unlock(); });
        return new Kept;
    }();
    return *all;
}

}  // namespace

std::vector<Node> kept_nodes(const Rule& rule) {
    auto& last = kept();
    {
        const std::lock_guard lock(last.mutex);
        if (rule == last.rule) return last.nodes;
    }
    auto nodes = rule.first(rule.second);
    const std::lock_guard lock(last.mutex);
    if (bytes_of(nodes) <= last.limit) {
        last.set_nodes(rule, nodes);
        last.shrink();
    }
    return nodes;
}

Grid kept_grid(const GridKey& key, const std::function<Grid()>& make) {
    auto& all = kept();
    {
        const std::lock_guard lock(all.mutex);
        if (const auto found = all.find(key); found != all.grids.end()) return found->second;
    }
    Grid grid = make();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.find(key); found != all.grids.end()) return found->second;
    if (bytes_of(grid) <= all.limit) {
        all.grids.emplace_front(key, grid);
        all.bytes += bytes_of(grid);
        all.shrink();
    }
    return grid;
}

void forget_kept() {
    const std::lock_guard lock(kept().mutex);
    kept().grids.clear();
    kept().set_nodes({}, {});
    kept().bytes = 0;
}

std::int64_t bytes_of_kept() {
    const std::lock_guard lock(kept().mutex);
    return kept().bytes;
}

void limit_kept(std::int64_t bytes) {
    const std::lock_guard lock(kept().mutex);
    kept().limit = bytes;
    kept().shrink();
}

}  // namespace zonal::grids
