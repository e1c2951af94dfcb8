#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "zonal/spectra/estimate.hpp"

namespace zonal::python {

/// As a NumPy array of rank N, which takes over the memory.
template <int N>
auto array_of(Array<double, N> values) {
    auto* const owned = new Array<double, N>(std::move(values));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Array<double, N>*>(p); });
    std::vector<std::size_t> shape;
    for (const auto extent : owned->extents()) shape.push_back(static_cast<std::size_t>(extent));
    return nb::ndarray<nb::numpy, double>(owned->data(), shape.size(), shape.data(), owner);
}

/// The two fields, names, C~, N~, bands, K^-1 B (None where it is not known), F, condition, and whether low
/// degrees have bands of their own. Takes the values over.
nb::tuple block_of(SpectraBlock& block);

}  // namespace zonal::python
