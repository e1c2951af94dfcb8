#include "grids/kept_nodes.hpp"

#include <iterator>
#include <mutex>

namespace zonal::grids {
namespace {

struct KeptNodes {
    std::mutex mutex;
    Rule rule{};
    std::vector<Node> nodes;
    std::int64_t limit = std::int64_t{16} << 20;

    void forget() {
        rule = {};
        nodes = {};
    }
};

std::int64_t bytes_of(const std::vector<Node>& nodes) {
    return std::ssize(nodes) * static_cast<std::int64_t>(sizeof(Node));
}

KeptNodes& kept() {
    // Never destroyed, as threads may still work when a process ends.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static auto* const all = new KeptNodes;
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
        last.rule = rule;
        last.nodes = nodes;
    }
    return nodes;
}

void forget_nodes() {
    const std::lock_guard lock(kept().mutex);
    kept().forget();
}

std::int64_t bytes_of_kept_nodes() {
    const std::lock_guard lock(kept().mutex);
    return bytes_of(kept().nodes);
}

void limit_kept_nodes(std::int64_t bytes) {
    const std::lock_guard lock(kept().mutex);
    kept().limit = bytes;
    if (bytes_of(kept().nodes) > bytes) kept().forget();
}

}  // namespace zonal::grids
