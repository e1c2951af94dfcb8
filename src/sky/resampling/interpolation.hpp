#pragma once

#include <complex>
#include <cstdint>
#include <optional>

#include "sky/resampling/places.hpp"
#include "sky/smoothing_groups.hpp"
#include "zonal/sky/resampling.hpp"

namespace zonal::sky {

/// [batch, component, element] of a group's rows.
template <class T>
View<T, 3> batch_of(View<T, 2> rows, const Group& group) {
    return {rows.data(),
            {group.batch, group.components, rows.extent(1)},
            {group.components * rows.stride(0), rows.stride(0), rows.stride(1)}};
}
inline std::int64_t n_rows(const Group& group) {
    return group.batch * group.components;
}

/// Where derivatives go, [field, value] each; both empty for none.
struct Slopes {
    View<double, 2> by_theta{}, by_phi{};
    bool wanted() const { return by_theta.data() != nullptr; }
};

/// Throws InvalidArgument unless both or neither are there, of the values' shape.
void check_slopes(const Slopes& slopes, const View<double, 2>& values);

/// Fields of alm at places, by samples of them. rotation: of the field, before it is evaluated.
EvaluationReport interpolate(const AlmLayout& layout, View<const std::complex<double>, 2> alm, Fields fields,
                             const Places& places, const std::optional<RotationMatrix>& rotation,
                             const EvaluationOptions& options, View<double, 2> out, const Slopes& slopes);

}  // namespace zonal::sky
