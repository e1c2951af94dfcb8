#pragma once

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "zonal/distributed/plan.hpp"
#include "zonal/memory.hpp"
#include "zonal/progress.hpp"

namespace zonal::cli {

using Json = nlohmann::ordered_json;

/// One run of the program: what it reports, and how.
class Session {
  public:
    std::string program;  ///< "zonal"
    std::string command;  ///< "smooth"; empty until a subcommand is chosen
    /// The command line in one line, as the shell would take it.
    std::string command_line;
    bool json = false;
    bool quiet = false;
    bool verbose = false;  ///< the whole report rather than its summary
    /// The ranks that do the work together: a process that was started alone is the only one.
    Communicator ranks = Communicator::threads(1).front();
    bool has_several_ranks() const { return ranks.size() > 1; }
    /// Collective. Does this rank's own work, and fails on all ranks with what goes wrong on one.
    template <class Work>
    void together(const std::string& call, const Work& work) const {
        has_several_ranks() ? ranks.together(call, work) : work();
    }
    /// Whether this process prints what happens, as the first rank does for all.
    bool speaks() const { return ranks.rank() == 0; }
    /// Returns the path of a file that each rank reads as a whole. Collective; throws IoError on all ranks
    /// where one finds other bytes in it than rank 0.
    const std::string& input(const std::string& path) const;

    /// What the run did. Printed at its end: one JSON object, or a line "key: value" each.
    Json report = Json::object();

    /// What is printed instead of the report unless all of it is asked for; empty: the report.
    std::vector<std::string> summary;

    /// Something that the user should know: on standard error, or in the report's "notes" with --json.
    /// Held back until the run succeeds, so that a failure is one line.
    void note(const std::string& text);
    void note(const std::vector<std::string>& texts);
    /// The same of a result that is not what was asked for: --quiet does not hide it.
    void warn(const std::string& text);

    /// A result that misses what was asked for: it is written and reported, and the exit status is 1.
    void miss(const std::string& text) { verdict_ = verdict_.empty() ? text : verdict_; }
    /// The first miss; empty where there is none.
    const std::string& verdict() const { return verdict_; }

    /// Throws OutOfMemory unless the process can take as many bytes more than it has by now. The report gets
    /// the largest sum of both.
    void require_memory(double bytes, const std::string& what);
    /// The same, to hand on.
    MemoryCheck memory_check() {
        return [this](double bytes, const std::string& what) { require_memory(bytes, what); };
    }

    /// The memory that another process was predicted to take for this one, and what it took.
    void note_memory(double predicted, double most) {
        predicted_memory_ = std::max(predicted_memory_, predicted);
        most_memory_ = std::max(most_memory_, most);
    }

    /// Draws a bar on a terminal and stops the work after a signal. stage: "smooth".
    Progress progress(const std::string& stage);

    /// Prints the report; a verdict that is negative in it, and as the one line of a failure. Throws IoError
    /// when standard output cannot be written.
    void finish(const std::string& negative_verdict = "");
    /// Prints the one line of a failure, and with --json the object {"error": ...}, if this process speaks.
    void fail(const std::string& message, int exit_code);
    /// Does the same in any case, and ends the process, or all ranks.
    [[noreturn]] void fail_at_once(const std::string& message, int exit_code);

  private:
    void clear_bar();
    void print_failure(const std::string& message, int exit_code);
    /// Ends all ranks, with this message unless another rank has said why.
    [[noreturn]] void fail_job(const std::string& message, int exit_code);
    std::vector<std::string> notes_, warnings_;  ///< notes_ holds the warnings, too
    std::string verdict_;
    double predicted_memory_ = 0;  ///< bytes
    double most_memory_ = 0;       ///< of other processes
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool bar_drawn_ = false;
};

/// Ends all ranks at once.
[[noreturn]] void end_all_ranks(int exit_code);

/// While it lives, what is reported goes to a part of the report.
class ReportTo {
  public:
    ReportTo(Json& part, Session& session) : part_(part), session_(session) { part_.swap(session_.report); }
    ~ReportTo() { part_.swap(session_.report); }
    ReportTo(const ReportTo&) = delete;
    ReportTo& operator=(const ReportTo&) = delete;

  private:
    Json& part_;
    Session& session_;
};

/// "key: value" lines of a report.
std::string readable(const Json& report);

}  // namespace zonal::cli
