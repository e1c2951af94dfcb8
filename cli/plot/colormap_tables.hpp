#pragma once

namespace zonal::plot {

// 256 colours each, "rrggbb" in hexadecimal one after the other.
extern const char* const viridis_table;
extern const char* const magma_table;
extern const char* const inferno_table;
extern const char* const plasma_table;
extern const char* const cividis_table;

}  // namespace zonal::plot
