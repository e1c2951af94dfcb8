#include "planning/maps/fields_memory.hpp"

#include <fmt/core.h>

#include "planning/request.hpp"
#include "zonal/mask.hpp"

namespace zonal::planning {

void check_memory(const FieldsRequest& fields, const RowsRequest& rows, const ConvolutionChoice& way,
                  const ConvolutionPlan& plan, double of_results) {
    if (!fields.map.is_whole() && !fields.map.is_patch()) return;
    const auto maps = fields.map.rows().slice(rows.first_row, rows.n_rows);
    // Sums over pixels take as much for masked maps as for others: they need no look at the pixels.
    bool masked = fields.options.mask.size() > 0 || plan.scratch_bytes(true) == plan.scratch_bytes(false);
    for (std::int64_t row = 0; !masked && row < rows.n_rows; ++row)
        masked = count_bad_pixels(fields.map.grid(), maps[row], fields.options.threads).unseen > 0;
    const auto what = fields.map.is_patch() && !is_sum(way.method) ? ", which needs the whole sky," : "";
    fields.options.check_memory(of_results + plan.scratch_bytes(masked),
                                fmt::format("{}: method {}{} for {} columns", fields.map.header().source,
                                            to_string(way.method), what, rows.n_rows));
}

}  // namespace zonal::planning
