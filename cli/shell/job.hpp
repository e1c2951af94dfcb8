#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zonal/distributed/plan.hpp"

namespace zonal::cli {

/// The ranks of a job that mpirun started, each of which runs this program with the same command line.
class Job {
  public:
    /// Null where this process was started alone, or the job has one rank. Throws CommunicationError.
    static std::shared_ptr<const Job> join();
    explicit Job(const Communicator& ranks);

    const Communicator& ranks() const { return ranks_; }
    /// Whether this is the rank that reports.
    bool is_first() const { return ranks_.rank() == 0; }
    /// How many threads the CPUs of this rank's machine have for it, beside the machine's other ranks.
    int threads() const { return threads_; }

    /// Ends all ranks at once.
    [[noreturn]] static void abort(int exit_code);

  private:
    Communicator ranks_;
    int threads_;
};

}  // namespace zonal::cli
