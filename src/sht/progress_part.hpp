#pragma once

#include "zonal/progress.hpp"

namespace zonal::sht {

/// Progress of a part of the work that takes the whole from `begin` to `end`; empty if `whole` is empty.
inline Progress part_of(const Progress& whole, double begin, double end) {
    if (!whole) return {};
    return [&whole, begin, end](double done) { return whole(begin + (end - begin) * done); };
}

}  // namespace zonal::sht
