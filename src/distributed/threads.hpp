#pragma once

#include <memory>
#include <vector>

#include "distributed/transport.hpp"

namespace zonal::distributed {

/// Transports whose ranks are threads of this process: result[i] is rank i's, to be used by one thread at a
/// time. A rank that is destroyed before its exchanges are done is gone: the others' calls, which would wait
/// for it, throw CommunicationError.
std::vector<std::unique_ptr<Transport>> connect_threads(int n_ranks);

/// A job with only one of its ranks: nothing is sent, what would be received stays as it is, and gather
/// returns this rank's bytes for every rank. It shows what one of many ranks computes and keeps in memory,
/// for benchmarks; results are wrong.
std::unique_ptr<Transport> make_solo(int rank, int n_ranks);

}  // namespace zonal::distributed
