#pragma once

#include <exception>
#include <string>

#include "distributed/transport.hpp"

namespace zonal::distributed {

/// Throws, on all ranks alike, what went wrong on the first of them on which something did, with "rank N: "
/// before its text unless all ranks say the same; and InvalidArgument if the ranks' calls, which say what
/// they do, differ. error: what went wrong here, or null.
void agree(Transport& transport, const std::string& call, std::exception_ptr error);

}  // namespace zonal::distributed
