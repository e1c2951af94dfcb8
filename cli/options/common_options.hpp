#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shell/program.hpp"
#include "shell/session.hpp"
#include "zonal/device.hpp"
#include "zonal/io/header.hpp"

/// Options that several subcommands have, by the same names and with the same meaning.
namespace zonal::cli {

/// The largest lmax, nside and so on that an option takes: beyond it no machine has the memory.
inline constexpr std::int64_t max_lmax = 1'000'000;

/// Throws UsageError on several ranks.
void require_one_process(const Session& session);
/// Throws UsageError where an option is given on several ranks that work in one process only. names: "--car".
void require_one_process(const Session& session, bool given, const std::string& names,
                         const std::string& reason);

/// Declares a subcommand with --help, --json, --verbose and --quiet. example: command lines, one each.
CLI::App& add_subcommand(CLI::App& root, Session& session, const std::string& name,
                         const std::string& description, const std::string& example);

/// --timeout, in seconds.
void add_timeout_option(CLI::App& app, std::optional<double>& timeout);
/// Throws UsageError for a timeout where there is no job.
void set_timeout(const std::optional<double>& timeout, Session& session);

/// Where a subcommand can do its work.
enum class WorkIn { one_process, jobs_too };

/// Declares the subcommand that `run` carries out with what `declare` reads of the command line. Where it
/// works in one process alone, it refuses to run on several ranks.
template <class Options>
void add_command(CLI::App& root, Session& session, Action& action, const std::string& name,
                 const std::string& description, const std::string& example,
                 void (*declare)(CLI::App&, Options&), void (*run)(Options&, Session&),
                 WorkIn where = WorkIn::one_process) {
    auto& app = add_subcommand(root, session, name, description, example);
    const auto options = std::make_shared<Options>();
    const auto timeout = std::make_shared<std::optional<double>>();
    declare(app, *options);
    if (where == WorkIn::jobs_too) add_timeout_option(app, *timeout);
    app.callback([options, timeout, run, where, &action] {
        action = [options, timeout, run, where](Session& running) {
            if (where == WorkIn::one_process) require_one_process(running);
            if (running.has_several_ranks()) running.report["ranks"] = running.ranks.size();
            set_timeout(*timeout, running);
            run(*options, running);
        };
    });
}

/// --threads and --device, and of jobs --shares and --explain.
struct RunOptions {
    std::int64_t threads = 0;  ///< 0: all CPUs, which the ranks of a machine divide among them
    Device device = Device::automatic();
    bool any_device = false;             ///< --device auto, which resolve() replaces
    Device rank_device = Device::cpu();  ///< of jobs: that this rank works on
    std::string shares;                  ///< "auto", or a number for each rank
    bool explain = false;                ///< report the ranks' shares
    std::vector<double> speeds = {};     ///< of the ranks, which resolve() finds; empty for auto

    int thread_count() const { return static_cast<int>(threads); }
    /// Reports the device and threads that the work runs on. Throws BackendUnavailable.
    void resolve(Session& session);
    /// Throws UsageError for --shares and --explain where alm are not transformed. path: of the alm.
    void require_no_shares(const std::string& path) const;

  private:
    void resolve_job(Session& session);
};
/// --shares, and --explain if the subcommand has none of its own.
enum class WithExplain { no, yes };
void add_job_options(CLI::App& app, RunOptions& options, WithExplain with_explain);
void add_run_options(CLI::App& app, RunOptions& options);
/// --threads alone.
void add_threads_option(CLI::App& app, std::int64_t& threads);
/// --device alone.
void add_device_option(CLI::App& app, Device& device);
/// What it stands for here. Throws BackendUnavailable, which names the option.
Device device_of_option(Device device);

enum class OutputFormat { fits, picture, json, csv_or_fits };

/// Whether the name of a table ends in .csv; else it is a FITS file.
bool is_csv_name(const std::string& path);

/// --overwrite.
struct OutputOptions {
    bool overwrite = false;

    /// Throws UsageError for a name that promises another format (map.jpg), and IoError when the file exists
    /// and may not be replaced, or its folder cannot be written: before any work is done. Leaves nothing
    /// behind.
    void require_writable(const std::string& path, OutputFormat format = OutputFormat::fits) const;
    io::WriteOptions write_options() const { return {overwrite}; }
};
void add_output_options(CLI::App& app, OutputOptions& options);

/// --precision, empty: as the input.
CLI::Option* add_precision(CLI::App& app, std::optional<io::Precision>& precision,
                           const std::string& default_text);

/// IN and OUT, and what commands from one to the other have in common.
struct FileOptions {
    std::string in, out;
    std::optional<FilePrecision> precision;  ///< --precision; empty: as the input
    OutputOptions output;
    RunOptions run;
    bool is_one_stream = false;  ///< OUT is written by one rank for all

    /// Throws where OUT cannot be written, before any work, and reports both.
    void name_output(Session& session) const;
    /// The same, and what the work runs on.
    void begin(Session& session);
};
/// IN and OUT alone: what they are.
void add_files(CLI::App& app, FileOptions& files, const std::string& in, const std::string& out);
/// --precision, --overwrite, --threads, --device.
void add_file_options(CLI::App& app, FileOptions& files,
                      const std::string& default_precision = "as the input");

/// Throws UsageError for a name in .gz on several ranks, which write their parts of the file.
void require_parts(const std::string& path, const Session& session);

/// Whether both paths lead to one file, which need not be there.
bool is_same_file(const std::string& a, const std::string& b);

/// Throws UsageError where two of these outputs, (option, path), are one file; an empty path is none.
void require_different_files(const std::vector<std::pair<const char*, std::string>>& outputs);

/// Cards that say how a file was made: version and command line. (The writers add CREATOR.)
std::vector<io::HeaderCard> provenance(const Session& session);

}  // namespace zonal::cli
