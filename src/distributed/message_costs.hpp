#pragma once

#include "distributed/transport.hpp"

namespace zonal::distributed {

/// Collective. What messages between the ranks cost, the same on all of them: measured in less than 50 ms
/// when it is first asked for, and kept in the transport.
MessageCosts message_costs(Transport& transport);

}  // namespace zonal::distributed
