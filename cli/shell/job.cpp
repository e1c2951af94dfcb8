#include "shell/job.hpp"

#include <algorithm>
#include <cstdlib>

#include "zonal/device.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {

std::shared_ptr<const Job> Job::join() {
    const auto ranks = Communicator::launched();
    if (!ranks || ranks->size() == 1) return nullptr;
    return std::make_shared<const Job>(*ranks);
}

Job::Job(const Communicator& ranks)
    : ranks_(ranks), threads_(std::max(1, static_cast<int>(available_cpus() * ranks.share_of_cpus()))) {}

void Job::abort(int exit_code) {
    io::AtomicFile::remove_unfinished();
    Communicator::abort_launched(exit_code);
    std::_Exit(exit_code);
}

}  // namespace zonal::cli
