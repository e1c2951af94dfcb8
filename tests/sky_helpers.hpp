#pragma once

#include <cstdint>

#include "zonal/sky/synfast.hpp"

/// Skies that tests simulate.
namespace zonal::test {

/// Falling spectra of T, E and B up to l = 30.
inline SkySpectra sky_spectra() {
    SkySpectra c;
    for (std::int64_t l = 0; l <= 30; ++l) {
        const double falling = 1.0 / static_cast<double>((l + 1) * (l + 1));
        c.tt.push_back(falling);
        c.ee.push_back(0.3 * falling);
        c.bb.push_back(0.1 * falling);
        c.te.push_back(0.2 * falling);
    }
    return c;
}

}  // namespace zonal::test
