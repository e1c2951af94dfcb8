#pragma once

#include "zonal/error.hpp"
#include "zonal/progress.hpp"

namespace zonal::split {

/// Says how much is done. Throws Cancelled where that is to be all.
inline void report(const Progress& progress, double done) {
    if (progress && !progress(done)) throw Cancelled("kernel split: cancelled");
}

/// Progress of the part of the work from `begin` to `end`, for as long as `whole` lives.
inline Progress part_of(const Progress& whole, double begin, double end) {
    if (!whole) return {};
    return [&whole, begin, end](double done) { return whole(begin + (end - begin) * done); };
}

}  // namespace zonal::split
