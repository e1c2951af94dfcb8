#pragma once

#include "zonal/error.hpp"
#include "zonal/progress.hpp"

namespace zonal::split {

/// Says how much is done. Throws Cancelled where that is to be all.
inline void report(const Progress& progress, double done) {
    if (progress && !progress(done)) throw Cancelled("kernel split: cancelled");
}

}  // namespace zonal::split
