#include "shell/program.hpp"

#include <fmt/core.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // the definitions of what App declares
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>

#include "options/argument_checks.hpp"
#include "options/parse.hpp"
#include "shell/completion.hpp"
#include "shell/error.hpp"
#include "shell/help.hpp"
#include "shell/interrupt.hpp"
#include "shell/version.hpp"
#include "zonal/device.hpp"

namespace zonal::cli {
namespace {

/// Lets malloc give arrays of 4 MB or more back to the system when they are freed. By itself, glibc does so
/// from 32 MB on once some have been freed: the arrays of maps of nside 512 then take up to a fifth more.
void return_large_arrays() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

/// The last lines of the help.
std::string footer(const Program& program) {
    return fmt::format(
        "{} SUBCOMMAND --help explains a subcommand and shows an example. {}\n"
        "Exit status: 0 success, 1 failure, 2 wrong use, 130 interrupted. A failure prints one line on "
        "standard "
        "error.\n"
        "Output files appear complete or not at all; an existing file is kept unless --overwrite is given.\n"
        "Angles need a unit: 10deg, 5arcmin, 30arcsec, 0.1rad, or 10\u00b0.",
        program.name, program.remark);
}

std::string version_text(const Program& program) {
    const auto report = version_report();
    auto text = fmt::format("{} {}\n", program.name, version());
    for (const auto& [name, value] : report["libraries"].items())
        text += fmt::format("{} {}\n", name, value.get<std::string>());
    return text + fmt::format("SIMD {}, compiler {}\n", report["simd"].get<std::string>(),
                              report["compiler"].get<std::string>());
}

/// Text that was asked for instead of work.
struct TextWanted {
    std::string text;
};

void declare(const Program& program, CLI::App& app, Session& session, Action& action) {
    app.description(program.description);
    app.formatter(std::make_shared<HelpFormatter>());
    app.footer(footer(program));
    app.require_subcommand(1);
    app.set_help_flag("-h,--help", "print this help and exit")->group("General");
    app.add_flag_callback(
           "--version", [&program] { throw TextWanted{version_text(program)}; }, "print versions and exit")
        ->group("General");
    app.add_flag_callback(
           "--man", [&app] { throw TextWanted{man_page(app, version())}; }, "print the manual page")
        ->group("");
    app.add_option_function<std::string>(
           "--completion",
           [&app](const std::string& shell) { throw TextWanted{completion_script(app, shell)}; },
           "print what makes the shell complete subcommands, options and their values; for bash: "
           "eval \"$(" +
               program.name + " --completion bash)\"")
        ->type_name("bash|zsh|fish")
        ->group("General");
    for (const auto add : program.subcommands) add(app, session, action);
}

std::string quoted(const std::string& argument) {
    constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
    if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
    std::string result = "'";
    for (const char character : argument)
        result += character == '\'' ? std::string("'\\''") : std::string(1, character);
    return result + "'";
}

/// Becomes a rank where mpirun started this process. Throws InvalidArgument where the ranks have different
/// command lines.
void join_job(Session& session) {
    if (const auto ranks = Communicator::launched()) session.ranks = *ranks;
    session.ranks.agree(session.command_line);
}

/// Reads what a message needs even if the command line is wrong elsewhere.
void read_ahead(int argc, char** argv, const CLI::App& app, Session& session) {
    session.command_line = session.program;
    for (int i = 1; i < argc; ++i) {
        session.command_line += " " + quoted(argv[i]);
        if (std::string_view(argv[i]) == "--json") session.json = true;
    }
    join_job(session);
    const std::string first = argc < 2 ? "" : argv[1];
    if (first.starts_with('-') && app.get_option_no_throw(first.substr(0, first.find('='))) != nullptr)
        return;
    require_subcommand(app, first);
    session.command = first;
    check_options(*app.get_subcommand(first), {argv + 2, argv + argc});
}

/// What is wrong, and how the subcommand is used.
std::string explain(const CLI::ParseError& error, const CLI::App& app, const Session& session) {
    if (session.command.empty()) return plain_message(error);
    const auto command = session.program + " " + session.command;
    return fmt::format("{}; usage: {}", plain_message(error),
                       usage(*app.get_subcommand(session.command), command));
}

int print_text(Session& session, const std::string& text) {
    if (!session.speaks()) return success;
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return success;
    session.fail("standard output: cannot be written", failure);
    return failure;
}

/// Why the program ends without success.
struct Failure {
    std::string message;
    int exit_code;
};

Failure failure_of(const std::exception_ptr& error, const CLI::App& app, const Session& session) {
    try {
        std::rethrow_exception(error);
    } catch (const CLI::ParseError& parse) {
        return {explain(parse, app, session), wrong_use};
    } catch (const UsageError& usage) {
        return {usage.what(), wrong_use};
    } catch (const InvalidArgument& argument) {
        return {argument.what(), wrong_use};
    } catch (const Cancelled&) {
        return {"interrupted", interrupted};
    } catch (const std::bad_alloc&) {
        return {"not enough memory", failure};
    } catch (const std::exception& other) {
        return {other.what(), failure};
    }
}

/// What the library takes for an error that ends with this exit code.
std::exception_ptr exception_of(const Failure& failed) {
    if (failed.exit_code == wrong_use) return std::make_exception_ptr(InvalidArgument(failed.message));
    if (failed.exit_code == interrupted) return std::make_exception_ptr(Cancelled(failed.message));
    return std::make_exception_ptr(Error(failed.message));
}

/// While it lives, the ranks have some time for agreeing on a failure of this one; then it ends them all.
class Deadline {
  public:
    Deadline(Session& session, const Failure& failed)
        : thread_([&session, failed](const std::stop_token& agreed) {
              constexpr std::chrono::milliseconds patience(1500), step(100);
              // The first of several that fail alike ends the others before they speak.
              const auto turn = std::min(session.ranks.rank(), 10) * step;
              std::mutex mutex;
              std::condition_variable_any wake;
              std::unique_lock lock(mutex);
              wake.wait_for(lock, agreed, patience + turn, [&] { return agreed.stop_requested(); });
              if (!agreed.stop_requested()) session.fail_at_once(failed.message, failed.exit_code);
          }) {}

    /// Waits for the end, where the ranks cannot agree.
    void expire() { thread_.join(); }

  private:
    std::jthread thread_;
};

/// What all ranks fail with, once this one has: unless they have agreed on it, they do so now.
Failure failure_of_job(const Failure& failed, const CLI::App& app, Session& session) {
    const auto& ranks = session.ranks;
    if (ranks.failed_together()) return failed;
    Deadline deadline(session, failed);
    try {
        ranks.agree("the command", exception_of(failed));
    } catch (...) {
        if (!ranks.failed_together()) deadline.expire();
        return failure_of(std::current_exception(), app, session);
    }
    return failed;
}

int fail(Session& session, const Failure& failed) {
    session.fail(failed.message, failed.exit_code);
    return failed.exit_code;
}

/// Does the work and prints the report, also where the answer is no.
int do_work(const Action& action, Session& session) {
    simd_target();  // fails where the kernels are for another processor
    std::string verdict;
    try {
        const InterruptWatch watch(session);
        action(session);
        verdict = session.verdict();
        session.ranks.agree("the command");
    } catch (const NegativeVerdict& negative) {
        verdict = negative.what();
    }
    session.finish(verdict);
    return verdict.empty() ? success : failure;
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
    catch_signals();
    return_large_arrays();
    Session session;
    session.program = program.name;
    Action action;
    CLI::App app("", program.name);
    declare(program, app, session, action);
    try {
        read_ahead(argc, argv, app, session);
        app.parse(argc, argv);
    } catch (const TextWanted& wanted) {
        return print_text(session, wanted.text);
    } catch (const CLI::CallForHelp&) {
        return print_text(session, app.help());
    } catch (...) {  // on all ranks alike, as they have the same command line
        return fail(session, failure_of(std::current_exception(), app, session));
    }
    try {
        return do_work(action, session);
    } catch (...) {
        const auto failed = failure_of(std::current_exception(), app, session);
        return fail(session, session.has_several_ranks() ? failure_of_job(failed, app, session) : failed);
    }
}

}  // namespace zonal::cli
