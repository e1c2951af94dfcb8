#pragma once

#include "planning/maps/fields_smoothing.hpp"

namespace zonal::planning {

/// Checks the memory that it takes to convolve these rows, without that of results that are there. A sky in
/// parts on ranks was checked when it was divided.
void check_memory(const FieldsRequest& fields, const RowsRequest& rows, const ConvolutionChoice& way,
                  const ConvolutionPlan& plan, double of_results);

}  // namespace zonal::planning
