#pragma once

// All of the library zonal_io: files.
#include "zonal/io/alm.hpp"
#include "zonal/io/atomic_file.hpp"
#include "zonal/io/beam.hpp"
#include "zonal/io/events.hpp"
#include "zonal/io/header.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/kernel_split.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/profile.hpp"
#include "zonal/io/psf.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/io/solution.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/io/weights.hpp"
