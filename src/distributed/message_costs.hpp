#pragma once

#include "distributed/transport.hpp"

namespace zonal::distributed {

/// Collective. What messages between the ranks cost, the same on all of them: measured when it is first
/// asked for, and kept in the transport. Takes less than 50 ms where each rank has a core of its own.
MessageCosts message_costs(Transport& transport);

}  // namespace zonal::distributed
