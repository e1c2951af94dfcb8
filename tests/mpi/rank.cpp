#include <fmt/core.h>

#include <csignal>
#include <string_view>
#include <thread>

#include "distributed/launch.hpp"
#include "zonal/error.hpp"

// rank WHAT: joins the job that mpirun started, then gathers the ranks and prints them; but rank 1 does WHAT,
// and the others wait for it: "gather" too, "throw" an exception, "abort" the job, "die".
namespace {

void work(std::string_view what) {
    const auto job = zonal::distributed::launched_job();
    if (!job) {
        fmt::print("alone\n");
        return;
    }
    std::vector<std::byte> bytes(10'000'000);
    if (job->rank() == 1) {
        if (what == "throw") throw zonal::Error("rank 1 gives up");
        if (what == "abort") zonal::distributed::abort_launched_job(7);
        if (what == "die") std::raise(SIGKILL);
    } else if (what == "throw" && job->rank() == 0) {
        job->exchange({}, {{1, bytes}})->wait();
    }
    std::string all;
    for (const auto& rank : job->gather(std::to_string(job->rank()))) all += rank + " ";
    if (job->rank() == 0) fmt::print("ranks {}\n", all);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        work(argc > 1 ? argv[1] : "gather");
        return 0;
    } catch (const zonal::CommunicationError& error) {
        fmt::print(stderr, "CommunicationError: {}\n", error.what());
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
    }
    return 3;
}
