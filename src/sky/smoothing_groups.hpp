#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "zonal/sky/smoothing.hpp"
#include "zonal/view.hpp"

/// Which fields a smoothing transforms together.
namespace zonal::sky {

/// Fields that are transformed together: a batch of scalars, or one pair Q, U.
struct Group {
    std::int64_t first;
    std::int64_t batch;
    std::int64_t components;  ///< of each element of the batch
    std::int64_t end() const { return first + batch * components; }
    int spin() const { return components == 2 ? 2 : 0; }
};

// As many maps at once as share one recurrence with gain, few enough that scratch memory stays a few maps.
inline constexpr std::int64_t most_scalars_at_once = 4;

inline std::vector<Group> make_groups(Fields fields, std::int64_t n) {
    if (fields == Fields::iqu) return {{0, 1, 1}, {1, 1, 2}};
    if (fields == Fields::qu) return {{0, 1, 2}};
    std::vector<Group> groups;
    for (std::int64_t first = 0; first < n; first += most_scalars_at_once)
        groups.push_back({first, std::min(most_scalars_at_once, n - first), 1});
    return groups;
}

inline std::string field_name(Fields fields, std::int64_t field) {
    if (fields == Fields::scalars) return fmt::format("map field {}", field);
    return fmt::format("map {}", (fields == Fields::iqu ? "IQU" : "QU")[field]);
}

/// Fields [first, first + count) as a batch [batch, components, pixel].
template <class T>
View<T, 3> as_batch(View<T, 2> fields, const Group& group) {
    return {&fields(group.first, 0),
            {group.batch, group.components, fields.extent(1)},
            {group.components * fields.stride(0), fields.stride(0), fields.stride(1)},
            fields.space()};
}

}  // namespace zonal::sky
